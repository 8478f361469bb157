// Objectives of methods over scores that come from elsewhere: a model of the caller's, in any framework.

import { among, bothClasses, checkRange, everyClass, labelsOf, LOSSES, nearest, need, numbersOf, object, only, refuse, whole } from "./check.js";
import { disposable } from "./dispose.js";
import { UndercurveError } from "./error.js";
import { isExact } from "./homes.js";
import { EXACT } from "./pkg/homes.js";
import { called, exactModule, initExact, initObjective, objectiveModule } from "./objective-module.js";

export { UndercurveError } from "./error.js";
export { Exact } from "./exact.js";
export { initExact, initObjective, initPairs } from "./objective-module.js";

const OPTIONS = "name settings y classes sampling fpr seed auxRate".split(" ");
const MOST_CLASSES = 256;
/** What the variables of min-max objectives move by. */
const AUX_RATE = 0.1;

/** Scores in f64, in the type that the gradient goes back in. */
function scoresOf(scores) {
  const held = numbersOf(scores, "scores", Float64Array, "an array of numbers, such as a Float32Array");
  return { held, back: scores instanceof Float32Array ? (grad) => Float32Array.from(grad) : (grad) => grad };
}

/** An objective with its state. Its calls answer at once. */
export class Objective {
  #core;
  #rows;
  #auxRate;

  /**
   * Loads the module that has it, and makes one.
   * @param {ObjectiveOptions} options
   */
  static async create(options) {
    object(options, "options", "an object with name and y");
    await (isExact(options.name) ? initExact() : initObjective());
    return new Objective(options);
  }

  /** @param {ObjectiveOptions} options */
  constructor(options) {
    object(options, "options", "an object with name and y");
    refuse(options, "weights groups constraints".split(" "));
    only(options, OPTIONS, "");
    const { name, settings = {}, y, classes, sampling = "uniform", fpr, seed = 1, auxRate = AUX_RATE } = options;
    need(typeof name === "string", "name", name, "the name of a method");
    object(settings, "settings", "an object of settings");
    if (classes !== undefined) need(whole(classes, 3, MOST_CLASSES), "classes", classes, `a whole number from 3 to ${MOST_CLASSES}; two need no classes`);
    const labels = labelsOf(y, "y", classes);
    if (classes === undefined) bothClasses(labels, "y");
    else everyClass(labels, classes, "y");
    among(sampling, ["uniform", "stratified"], "sampling");
    checkRange(fpr);
    need(whole(seed, 0, Number.MAX_SAFE_INTEGER), "seed", seed, "a whole number from 0");
    need(Number.isFinite(auxRate) && auxRate >= 0, "auxRate", auxRate, "a number from 0");
    for (const [of, value] of Object.entries(settings)) need(["string", "number"].includes(typeof value), `settings.${of}`, value, "a number or a word");
    if (settings.surrogate !== undefined) among(settings.surrogate, LOSSES, "settings.surrogate");
    const module = isExact(name) ? exactModule() : objectiveModule();
    const asked = new module.Asked(name, labels, classes ?? 2);
    for (const [of, value] of Object.entries(settings)) asked.set(of, String(value));
    if (fpr) asked.fpr(fpr[0], fpr[1]);
    if (sampling === "stratified") asked.stratified();
    asked.seed(seed);
    try {
      // (This takes what was asked for, and frees it.)
      this.#core = called(() => new module.Objective(asked));
    } catch (error) {
      throw nearest(error, EXACT);
    }
    this.#rows = labels.length;
    this.#auxRate = auxRate;
    /** The method. */
    this.name = name;
  }

  /**
   * The estimate on a batch alone, to be minimised; the state does not enter.
   * @param {Float32Array | Float64Array | number[]} scores
   * @param {Uint32Array | number[]} [rows] their numbers in the data; all of it without
   * @returns {number}
   */
  value(scores, rows) {
    const core = this.#held();
    const numbers = this.#rowsOf(rows);
    return called(() => core.valueOf(scoresOf(scores).held, numbers));
  }

  /**
   * The estimate on a batch with its derivative by each score, as if the state had moved by this batch; `commit` moves it.
   * @param {Float32Array | Float64Array | number[]} scores
   * @param {Uint32Array | number[]} [rows]
   * @returns {{ value: number, gradient: Float32Array | Float64Array, auxGradient: Float64Array }}
   */
  gradient(scores, rows) {
    const core = this.#held();
    const { held, back } = scoresOf(scores);
    const numbers = this.#rowsOf(rows);
    const gradient = back(called(() => core.gradient(held, numbers)));
    return { value: core.value, gradient, auxGradient: core.auxGradient() };
  }

  /** Moves the state by the batch of the last `gradient`, and the auxiliary variables by `auxRate` times their derivatives. */
  commit() {
    const core = this.#held();
    called(() => core.commit(this.#auxRate));
  }

  /** Auxiliary variables of min-max objectives. @returns {Float64Array} */
  get aux() {
    return this.#held().aux();
  }

  set aux(values) {
    const core = this.#held();
    const numbers = numbersOf(values, "aux", Float64Array);
    called(() => core.setAux(numbers));
  }

  /** What moves from batch to batch. @returns {Uint8Array} */
  save() {
    return this.#held().save();
  }

  /** Goes on from what `save` gave, of the same method, settings and labels. @param {Uint8Array} bytes */
  load(bytes) {
    const core = this.#held();
    need(bytes instanceof Uint8Array, "bytes", bytes, "a Uint8Array that save gave");
    called(() => core.load(bytes));
  }

  #rowsOf(rows) {
    if (rows === undefined) return undefined;
    if (rows instanceof Uint32Array) return rows;
    const numbers = numbersOf(rows, "rows", Float64Array, "an array of row numbers, such as a Uint32Array");
    const row = numbers.findIndex((number) => !whole(number, 0, this.#rows - 1));
    if (row >= 0) throw new UndercurveError(`rows: entry ${row} is ${numbers[row]}: expected whole numbers from 0 to ${this.#rows - 1}`, { code: 5, argument: "rows", row });
    return Uint32Array.from(numbers);
  }

  get told() {
    return `${this.name} of ${this.#rows} rows${this.#core ? "" : ", disposed"}`;
  }

  #held() {
    if (!this.#core) throw new UndercurveError("the objective was disposed", { code: 203 });
    return this.#core;
  }

  /** Frees the memory. */
  dispose() {
    this.#core?.free();
    this.#core = undefined;
  }
}

/**
 * The objective of a method over the caller's scores.
 * @param {ObjectiveOptions} options
 * @returns {Promise<Objective>}
 */
export const createObjective = (options) => Objective.create(options);

disposable(Objective);
