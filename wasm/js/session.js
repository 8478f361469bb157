// One training session: options in, snapshots out. Runs wherever the module is loaded, in a worker or not.

import { PROGRESS, among, bothClasses, checkRange, checkSignal, checkSlice, checkWatch, everyClass, labelsOf, need, numbersOf, object, only, refuse, stopIf, whole } from "./check.js";
import { disposable } from "./dispose.js";
import { UndercurveError, asOurs } from "./error.js";
import { byGroup, checkAsked, constraintsOf, grouped, judge, rocs } from "./groups.js";
import { hasPreset, homeOf } from "./homes.js";
import { taken } from "./load.js";
import { LOADS, NeedsFull, withModule } from "./modules.js";
import { named, pictures } from "./view.js";

/**
 * @typedef {object} Model
 * @property {"linear" | "mlp" | "mlp-tanh"} kind "mlp" is a multilayer perceptron with ReLU, "mlp-tanh" one with tanh
 * @property {"auto" | "linear" | "random"} [init] where a network "mlp" of two classes begins: at a linear model of the rows, at
 *   random weights, or, by default, where a trial on some of the rows is better
 * @property {number[]} [hidden] units of each hidden layer
 */

/**
 * @typedef {object} Method
 * @property {string} name as in `methods()`
 * @property {[number, number]} [fpr] range of false-positive rates of the partial AUC, default [0, 0.05]
 * @property {Record<string, number | string>} [settings] parameters of the method that differ from their defaults
 * @property {string} [preset] "paper": the settings of the method's paper come before `settings`; or a method with settings and
 *   constraints for a purpose
 */

/**
 * Features of sparse rows.
 * @typedef {object} Sparse
 * @property {Uint32Array} ptr where each row starts in `col` and `val`, and where the last one ends
 * @property {Uint32Array} col column of each value, from 0, ascending within a row
 * @property {Float32Array} val the values
 */

/**
 * @typedef {object} Rows
 * @property {Float32Array | Sparse} X row-major, rows × dims; or sparse rows
 * @property {Uint8Array} y 1 for positives, 0 for negatives; with several classes the class number, from 0
 * @property {Uint32Array | string[]} [groups] the group of each row, by number from 0 or by name
 */

/**
 * @typedef {object} TrainerOptions
 * @property {Float32Array | Sparse} [X] training features, row-major, rows × dims; or sparse rows
 * @property {Uint8Array} [y] training labels
 * @property {number} [dims] features per row
 * @property {number} [classes] the number of classes, 3 … 256; left out for two classes
 * @property {Uint32Array | string[]} [groups] the group of each training row
 * @property {string[]} [groupNames] the names of numbered groups
 * @property {string[]} [constraints] constraints such as "gap(fpr) <= 0.05", for methods that train under them
 * @property {Record<string, { X: Float32Array | Sparse, y: Uint8Array }>} [files] rows that constraints such as "loss(NAME) <= old" name
 * @property {string} [objective] what such a method minimises: "auc", "ce" or "cvar:SHARE"
 * @property {Rows} [test] held-out rows; without them metrics are those of the training rows
 * @property {Model} [model] linear by default
 * @property {Method | string} [method] a method or its name; default `ce`; for several classes one of `CLASS_METHODS`
 * @property {number} [seed] decides the start, the batches and all other random choices
 * @property {number} [steps] length of the run; the learning rate falls over it
 * @property {"standard" | "unit" | "none"} [scale] columns of dense rows are brought to mean 0 and deviation 1 over `X` (those of 0
 *   and 1 alone stay), rows are divided by their length, or taken as they are, which is the default for every
 *   method
 * @property {Uint8Array} [bytes] saved session to resume, on the same data with the same `scale`; model, method,
 *   seed and steps are those of the saved session
 */

/**
 * What to compute for a snapshot besides the metrics.
 * @typedef {object} View
 * @property {{ x: [number, number], y: [number, number], columns: number, rows: number, scores?: boolean }} [surface] 2-D data only:
 *   share of held-out negatives scored below each point of a grid, and with `scores` the score of each
 * @property {number} [bins] of the score histogram
 * @property {boolean} [sum] finite sums: objective, gradient, step sizes and curvature
 * @property {number} [curve] points of the ROC and PR curves, at equally spaced false-positive rates and recalls
 * @property {number} [ranks] the same share for the first `ranks` held-out rows
 * @property {string[]} [judge] constraints to measure, trained under or not
 */

/**
 * The same for several classes.
 * @typedef {object} ClassView
 * @property {{ x: [number, number], y: [number, number], columns: number, rows: number }} [surface] 2-D data only: the class
 *   that wins each point of a grid
 * @property {number} [class] the class that curves and histogram show against all others, default 0
 * @property {number} [bins] of the histogram of its scores
 * @property {number} [curve] points of its ROC and PR curves
 * @property {number} [winners] the class with the highest score for each of the first `winners` held-out rows
 */

/**
 * @typedef {object} Snapshot
 * @property {number} step
 * @property {boolean} done whether the run has ended
 * @property {number} pretraining the number of steps of cross-entropy before those of the method
 * @property {number} pass passes over the training rows
 * @property {number} objective estimate on the last batch, NaN before the first step and for finite sums
 * @property {number} milliseconds training time per step, over the last call
 * @property {{ auroc: number, ap: number, pauc: number, accuracy: number }} test
 * @property {string} [warning] a warning about the model, and what to try
 * @property {boolean} [collapsed] whether training failed: the scores do not separate the rows, or training cannot continue
 * @property {object[]} [constraints] the constraints that are trained under
 * @property {object[]} [judged] the constraints that the view names
 * @property {{ train: object, test?: object }} [byGroup] gaps and metrics of rows with groups
 * @property {Float32Array} [roc] true-positive rate at curve[k] = k / (points − 1)
 * @property {Float32Array} [pr] precision where the recall reaches k / (points − 1)
 * @property {Float32Array} [histogram] lowest score, highest score, negatives per bin, positives per bin (as shares)
 * @property {Float32Array} [surface] rows × columns
 * @property {Float32Array} [surfaceScores] rows × columns
 * @property {Float32Array} [ranks]
 * @property {{ objective: number, gradNormSq: number, alpha: number, alphaMax: number, curvature: number }} [sum] over all
 *   training rows, at the iterate; the curvature is the Hessian's largest eigenvalue
 */

/** Every row divided by its length; rows of zeros stay. @template {Float32Array | Sparse} X @param {X} x @returns {X} */
function unitRows(x, dims) {
  const { ptr, val } = isDense(x) ? { val: x } : x;
  const out = val.slice();
  for (let row = 0, to = 0; to < out.length; row += 1) {
    const from = to;
    to = ptr ? ptr[row + 1] : from + dims;
    if (!(to >= from)) break; // (refused where the rows are taken)
    const part = out.subarray(from, to);
    const norm = Math.sqrt(part.reduce((sum, value) => sum + value * value, 0));
    if (norm > 0) for (let k = 0; k < part.length; k += 1) part[k] /= norm;
  }
  return ptr ? { ...x, val: out } : out;
}

/**
 * What the columns of `X` are shifted and divided by, to have mean 0 and deviation 1; those that hold 0 and 1 alone stay as they are,
 * and constant ones become 0, by the divisor 0.
 * @param {Float32Array} X @param {number} dims @returns {[shift: number, divisor: number][]}
 */
function standard(X, dims) {
  const rows = X.length / dims;
  return Array.from({ length: dims }, (_, column) => {
    let [sum, square, indicates] = [0, 0, true];
    for (let at = column; at < X.length; at += dims) {
      sum += X[at];
      indicates &&= X[at] === 0 || X[at] === 1;
    }
    const mean = sum / rows;
    for (let at = column; at < X.length; at += dims) square += (X[at] - mean) ** 2;
    const deviation = Math.sqrt(square / rows);
    return indicates && deviation > 0 ? [0, 1] : [mean, deviation];
  });
}

const isDense = (X) => X instanceof Float32Array;
/** Features as the modules take them; other arrays of numbers are copied. */
function featuresOf(X, what) {
  if (isDense(X) || isSparse(X)) return X;
  const sparse = typeof X === "object" && X !== null && !Array.isArray(X) && !ArrayBuffer.isView(X);
  for (const [part, Type] of sparse ? [["ptr", Uint32Array], ["col", Uint32Array], ["val", Float32Array]] : []) {
    need(X[part] instanceof Type, `${what}.${part}`, X[part], `a ${Type.name}, of sparse rows { ptr, col, val }`);
  }
  return numbersOf(X, what, Float32Array, "features, row after row: a Float32Array or an array of numbers, or sparse rows { ptr, col, val }");
}

/** Refuses what is no number, by row and column; scaled it would be others, too. */
function finite(X, what, dims) {
  const values = X.val ?? X;
  const at = values.findIndex((x) => x - x !== 0);
  if (at < 0) return;
  const [row, column] = isDense(X) ? [Math.floor(at / dims), at % dims] : [X.ptr.findIndex((start) => start > at) - 1, X.col[at]];
  need(false, what, `of row ${row}, column ${column} (from 0) ${values[at]}`, "a number", { code: 2, row, column });
}

const isSparse = (X) => X?.ptr instanceof Uint32Array && X.col instanceof Uint32Array && X.val instanceof Float32Array;

const OPTIONS = "X y dims classes groups groupNames constraints files objective test model method seed steps scale bytes start".split(" ");
const VIEW = "surface curve bins ranks scores winners judge class sum".split(" ");

/** A byte numbers them. */
const MOST_CLASSES = 256;

/** Refuses what the module would silently round or wrap. */
const check = ({ dims, classes, seed, steps, model, method, scale, bytes }) => {
  const most = 2 ** 32 - 1;
  need(whole(dims, 1, most), "dims", dims, "a whole number of features from 1");
  need(whole(seed, 0, Number.MAX_SAFE_INTEGER), "seed", seed, "a whole number from 0");
  need(steps === undefined || whole(steps, 1, most), "steps", steps, "a whole number from 1 to 2^32 - 1");
  need(method.preset !== null, "method.preset", null, "the name of a preset");
  need(typeof method.name === "string" || (hasPreset(method) && method.name === undefined), "method.name", method.name, "the name of a method");
  checkRange(method.fpr, "method.fpr");
  if (method.settings !== undefined) object(method.settings, "method.settings", "an object of settings");
  for (const [name, value] of Object.entries(method.settings ?? {})) need(["string", "number"].includes(typeof value), `method.settings.${name}`, value, "a number or a word");
  among(model.kind, ["linear", "mlp", "mlp-tanh"], "model.kind");
  if (model.init !== undefined) among(model.init, ["auto", "linear", "random"], "model.init");
  if (scale !== undefined) among(scale, ["standard", "unit", "none"], "scale");
  if (classes !== undefined) {
    need(whole(classes, 3, MOST_CLASSES), "classes", classes, `a whole number from 3 to ${MOST_CLASSES}; two need no classes`);
    need(!method.fpr, "method.fpr", method.fpr, "none: the partial AUC is one of two classes");
  }
  need(model.hidden === undefined || Array.isArray(model.hidden) || ArrayBuffer.isView(model.hidden), "model.hidden", model.hidden, "an array of widths");
  for (const width of model.hidden ?? []) need(whole(width, 1, most), "model.hidden", width, "whole numbers from 1");
  need(bytes === undefined || bytes instanceof Uint8Array, "bytes", bytes, "a Uint8Array that save gave");
};

/** Rows as the modules take them, with as many labels as rows. */
function rowsOf({ X, y }, what, dims, classes) {
  for (const [name, value] of [["X", X], ["y", y]]) need(value !== undefined && value !== null, `${what}${name}`, value, name === "X" ? "the features of the rows" : "the labels of the rows");
  const rows = { X: featuresOf(X, `${what}X`), y: labelsOf(y, `${what}y`, classes) };
  if (isSparse(rows.X)) need(rows.X.ptr.length > 0, `${what}X.ptr`, "", "rows + 1 starts; it is empty", { code: 7 });
  if (isDense(rows.X)) need(rows.X.length % dims === 0, `${what}X`, `of length ${rows.X.length}`, `a multiple of dims, which is ${dims}`, { code: 1 });
  const count = isDense(rows.X) ? rows.X.length / dims : rows.X.ptr.length - 1;
  need(count === rows.y.length, `${what}y`, `of length ${rows.y.length}`, `a label for each of ${count} rows: X has ${isDense(rows.X) ? `length ${rows.X.length}` : `${count} + 1 starts`}, dims is ${dims}`, { code: 1 });
  return rows;
}

/** The most points, bins or cells of a grid that a picture has. */
const MOST_POINTS = 2 ** 24;

/** The same for what a snapshot is asked for. */
const checkView = ({ surface, curve, bins, ranks, scores, winners, judge: asked, class: one = 0 }, dims, classes) => {
  if (classes === undefined) need(winners === undefined, "view.winners", winners, "none of two classes");
  else need(ranks === undefined, "view.ranks", ranks, "none of several classes");
  for (const [what, count] of Object.entries({ curve, bins, ranks, scores, winners })) {
    need(count === undefined || whole(count, 0, MOST_POINTS), `view.${what}`, count, "a whole number from 0");
  }
  need(asked === undefined || (Array.isArray(asked) && asked.every((text) => typeof text === "string")), "view.judge", asked, "an array of constraints");
  if (classes !== undefined) need(whole(one, 0, classes - 1), "view.class", one, `a whole number from 0 to ${classes - 1}`);
  if (!surface) return;
  need(dims === 2, "view.surface", `of ${dims} features`, "two");
  const { x, y, columns, rows } = surface;
  const range = (ends) => ends?.length === 2 && Number.isFinite(ends[0]) && Number.isFinite(ends[1]);
  need(range(x) && range(y), "view.surface", `from ${x} by ${y}`, "x: [left, right] and y: [bottom, top]");
  need(whole(columns, 1, MOST_POINTS) && whole(rows, 1, MOST_POINTS / columns), "view.surface", `of ${columns} × ${rows} cells`, "columns and rows from 1");
};

/** A trainer that begins at parameters; where they are of a wrong number, that is said of what was given. */
function startingAt(Trainer, settings, rows, start) {
  try {
    return Trainer.startingAt(settings, rows, start);
  } catch (error) {
    if (error.argument !== "params") throw error;
    const { code, row, column } = error;
    throw new UndercurveError(error.message.replace(/\bparams\b/, "start"), { code, argument: "start", row, column });
  }
}

/** Refuses to resume a run under other constraints than its own, however they are spaced. */
function sameConstraints(constraints, trainer) {
  const plain = (text) => text.replace(/\s+/g, "").replace(/\d*\.?\d+(e[+-]?\d+)?/gi, Number);
  const own = trainer.constraints?.() ?? [];
  if (constraints.map(plain).sort().join() === own.map(plain).sort().join()) return;
  need(false, "constraints", constraints, `those of the saved session (${own.join(", ") || "none"}), or leave them out`, { code: 115 });
}

/** The trainer of a session, for those who make its steps: only in this package. */
export const TRAINER = Symbol("trainer");

/** Training on the CPU in slices, with snapshots. */
export class Session {
  #data;
  #trainer;
  #name;
  #labels;
  #columns;
  #scale;
  #sparse;
  #dims;
  #classes;
  #grouping;
  #hasTest;
  #take;
  #milliseconds = 0;

  /**
   * Loads the module that has the method.
   * @param {TrainerOptions} options
   */
  static async create(options) {
    object(options, "options", "an object with X, y and dims");
    const { signal } = options;
    checkSignal(signal);
    stopIf(signal);
    await LOADS[homeOf(options)]();
    stopIf(signal);
    try {
      return new Session(options);
    } catch (error) {
      if (!(error instanceof NeedsFull)) throw error;
      // (Of saved bytes only a module can tell.)
      await LOADS[error.home]();
    }
    stopIf(signal);
    return new Session(options);
  }

  /**
   * @param {TrainerOptions} options
   * @param {Session} [like] one on the same rows, whose memory it shares
   */
  constructor(options, like) {
    object(options, "options", "an object with X, y and dims");
    refuse(options, ["weights"]);
    // (Rows of a file bring more, and drawn ones in a worker.)
    const { elsewhere, preparation, plane, names, sources, signal, ...own } = options;
    only(own, OPTIONS, "");
    checkSignal(signal);
    stopIf(signal);
    const { dims, classes, model = { kind: "linear" }, seed = 1, steps, scale, constraints = [], files = {}, objective, bytes, start } = options;
    const several = classes !== undefined;
    const { method: chosen = "ce" } = options;
    const method = typeof chosen === "string" ? { name: chosen } : chosen;
    only(model ?? null, ["kind", "init", "hidden"], "model.");
    only(method ?? null, ["name", "fpr", "settings", "preset"], "method.");
    only(options.test, ["X", "y", "groups"], "test.");
    check({ dims, classes, seed, steps, model, method, scale, bytes });
    need(start === undefined || (start instanceof Float32Array && !bytes), "start", start, "a Float32Array of parameters, without bytes");
    checkAsked(options);
    const { X, y } = rowsOf(options, "", dims, classes);
    const test = options.test && { ...options.test, ...rowsOf(options.test, "test.", dims, classes) };
    const grouping = grouped({ ...options, y, test });
    for (const [what, labels] of Object.entries(test ? { y, "test.y": test.y } : { y })) {
      if (several) everyClass(labels, classes, what);
      else bothClasses(labels, what);
    }
    object(files, "files");
    const beside = Object.entries(files).map(([name, rows]) => {
      only(rows, ["X", "y"], `files.${name}.`);
      return [name, rowsOf(rows ?? {}, `files.${name}.`, dims)];
    });
    this.#name = method.name ?? method.preset;
    this.#labels = test?.y ?? y;
    this.#dims = dims;
    this.#classes = classes;
    this.#grouping = grouping;
    this.#hasTest = Boolean(test);
    const asks = constraints.length > 0 || objective !== undefined || beside.length > 0 || hasPreset(method);
    [this.#data, this.#trainer] = withModule(({ Data, Options, Trainer }) => {
      if ((several || asks) && !Data.prototype.ofClasses) return "groups";
      if (like && !(like.#data instanceof Data)) return homeOf(options);
      const settings = bytes ? Options.saved(bytes) : new Options(method.name ?? "", seed);
      let data;
      let trainer;
      let made;
      try {
        if (bytes && several) need(settings.several, "bytes", "of two classes", "a session of several; leave classes out");
        else need(!settings.several, "bytes", "of several classes", "a session of two; say how many with classes");
        const home = [undefined, "whole", "sums", "groups"][settings.elsewhere];
        if (home && (several || asks)) throw new UndercurveError(`method ${this.#name} trains ${several ? "two classes" : "under no constraints"}`, { code: 121, argument: "method" });
        if (home) return home;
        if (grouping && !Data.prototype.ofGroups) return "groups";
        if ((elsewhere || start || method.preset) && !settings.paper) return "whole";
        if (model.kind !== "linear") settings.hidden(Uint32Array.from(model.hidden ?? [16]), model.kind === "mlp-tanh");
        if ((model.init ?? "auto") !== "auto") settings.init(model.init === "random");
        if (steps !== undefined) settings.steps(steps);
        if (method.fpr) settings.fpr(method.fpr[0], method.fpr[1]);
        if (hasPreset(method)) bytes || settings.preset(String(method.preset), !constraints.length);
        else if (method.preset) settings.paper(several);
        if (!bytes && objective !== undefined) settings.objective(objective);
        for (const [name, value] of Object.entries(method.settings ?? {})) {
          settings.set(name, String(value));
        }
        if (!bytes) for (const constraint of constraints) settings.constraint(constraint);
        if (settings.needsGroups && !grouping) throw new UndercurveError(`method ${bytes ? "of the saved session" : this.#name} is of groups: give the group of each row as groups`, { argument: "groups" });
        if (scale === "standard" && !isDense(X)) throw new UndercurveError("scale standard: is for dense rows", { argument: "scale", code: 11 });
        const columns = scale === "standard" ? standard(X, dims) : undefined;
        // (As a model file does it.)
        const affine = (x) => x.map((value, at) => {
          const [shift, divisor] = columns[at % dims];
          return divisor && (value - shift) / divisor;
        });
        const scaled = scale === "unit" ? (x) => unitRows(x, dims) : columns ? affine : (x) => x;
        this.#columns = columns;
        this.#scale = scale;
        this.#sparse = !isDense(X);
        // (What is no number stays none, scaled or not.)
        const take = (X, y, what) => {
          try {
            const x = scaled(X);
            return isDense(x) ? Data.dense(x, y, dims) : Data.sparse(x.ptr, x.col, x.val, y, dims);
          } catch (error) {
            finite(X, what, dims);
            throw error;
          }
        };
        const none = new Uint8Array();
        this.#take = (X) => take(X, none, "X");
        const labelled = ({ X, y }, part, what) => {
          if (several) return take(X, none, what).ofClasses(y, classes);
          const rows = take(X, y, what);
          return grouping ? rows.ofGroups(grouping[part], part === "train" ? grouping.names.slice(0, grouping.known) : grouping.names) : rows;
        };
        if (!like) {
          data = labelled({ X, y }, "train", "X");
          if (test) data.holdOut(labelled(test, "test", "test.X"));
          for (const [name, { X, y }] of beside) data.beside(name, take(X, y, `files.${name}.X`));
        }
        const rows = data ?? like.#data;
        trainer = bytes ? Trainer.load(bytes, rows) : start ? startingAt(Trainer, settings, rows, start) : new Trainer(settings, rows);
        if (bytes && constraints.length > 0) sameConstraints(constraints, trainer);
        made = [data, trainer];
        return made;
      } finally {
        if (!made) [trainer, data].forEach((one) => one?.free());
        settings.free();
      }
    });
  }

  /**
   * Trains for `steps` steps or about `milliseconds`, whichever ends first, and never past the end of the run. Stops early
   * when the numbers leave the number type; the error names the step.
   * @param {{ steps?: number, milliseconds?: number, signal?: AbortSignal, onProgress?: (at: { step: number, done: boolean }) => void }} slice
   * @returns {number} the number of steps done; 0 in a short slice does not mean that the run has ended
   */
  advance(slice) {
    const { steps, milliseconds, ...watch } = checkSlice(slice);
    return this.#train(steps, milliseconds, watch);
  }

  /**
   * Trains to the end of the run. This blocks the thread; slices do not: `while (!session.done)
   * session.advance({ milliseconds: 10 })`, with a pause in between.
   * @param {View | ClassView} [view]
   * @param {{ signal?: AbortSignal, onProgress?: (at: { step: number, done: boolean }) => void }} [watch] `onProgress` is called
   *   every 50 ms
   * @returns {Snapshot | import("./session.js").ClassSnapshot} the last
   */
  run(view, watch) {
    this.#held();
    checkWatch(watch);
    this.#train(Infinity, Infinity, watch);
    return this.snapshot(view);
  }

  get [TRAINER]() {
    return this.#held();
  }

  /** Whether the run has ended: all steps are done, or the method has converged. @returns {boolean} */
  get done() {
    return this.#held().done;
  }

  #train(steps, milliseconds, { signal, onProgress } = {}) {
    const trainer = this.#held();
    stopIf(signal);
    const start = performance.now();
    const first = trainer.stepsDone;
    let done = 0;
    let now = start;
    let told = start;
    try {
      // (A call may be a piece of a walk over all rows, which is no step.)
      while (done < steps && now - start < milliseconds) {
        if (!trainer.step()) break;
        done = trainer.stepsDone - first;
        now = performance.now();
        if (now - told < PROGRESS) continue;
        told = now;
        onProgress?.({ step: trainer.stepsDone, done: trainer.done });
        stopIf(signal);
        // (It may have been disposed there.)
        this.#held();
      }
    } catch (error) {
      throw error instanceof WebAssembly.RuntimeError ? asOurs(error) : error;
    }
    if (done) this.#milliseconds = (now - start) / done;
    onProgress?.({ step: trainer.stepsDone, done: trainer.done });
    return done;
  }

  /**
   * @param {View | ClassView} [view]
   * @returns {Snapshot | import("./session.js").ClassSnapshot}
   */
  snapshot(view = {}) {
    const trainer = this.#held();
    only(view, VIEW, "view.");
    checkView(view, this.#dims, this.#classes);
    const classes = this.#classes;
    const test = named(trainer.metrics(), classes !== undefined);
    const snapshot = { step: trainer.stepsDone, done: trainer.done, pretraining: trainer.pretraining, pass: trainer.pass, objective: trainer.objective, milliseconds: this.#milliseconds, test };
    const warning = trainer.warning();
    if (warning !== undefined) Object.assign(snapshot, { warning, collapsed: trainer.collapsed });
    const held = { scores: () => trainer.scores(), labels: this.#labels, classes, score: (X) => this.score(X) };
    Object.assign(snapshot, pictures(view, held), this.#ofGroups(trainer, view));
    const sum = view.sum && trainer.sum?.();
    if (sum) {
      const [objective, gradNormSq, alpha, alphaMax, curvature] = sum;
      snapshot.sum = { objective, gradNormSq, alpha, alphaMax, curvature };
    }
    return snapshot;
  }

  /** What a snapshot says of groups and of constraints. */
  #ofGroups(trainer, { curve, judge: asked }) {
    const [grouping, held] = [this.#grouping, this.#hasTest];
    const names = grouping?.names;
    const out = {};
    if (trainer.constraints?.().length) out.constraints = constraintsOf(trainer, names, held);
    need(!asked || trainer.judge, "view.judge", asked, "none without groups or constraints");
    if (asked) out.judged = judge(trainer, asked, names, held);
    if (!grouping) return out;
    out.byGroup = { train: byGroup(trainer, grouping, false), ...(held && { test: byGroup(trainer, grouping, true) }) };
    if (curve) {
      const { groups } = out.byGroup[held ? "test" : "train"];
      rocs(curve, trainer.scores(), this.#labels, grouping[held ? "test" : "train"], names.length).forEach((roc, k) => (groups[k].roc = roc));
    }
    return out;
  }

  /**
   * Scores of any rows; of several classes the log-odds of each, rows × classes, row-major.
   * @param {Float32Array | Sparse} X row-major or sparse, with the columns of the training rows; scaled as they were
   * @returns {Float32Array}
   */
  score(X) {
    const trainer = this.#held();
    return taken(this.#take(featuresOf(X, "X")), (data) => trainer.score(data));
  }

  /** Rows of the last batch. @returns {Uint32Array} */
  batch() {
    return this.#held().batch();
  }

  /** Model parameters. @returns {Float32Array} */
  params() {
    return this.#held().params();
  }

  /**
   * With `scale: "standard"`: the shift of each column and the factor that follows.
   * @returns {[shift: number, factor: number][] | undefined}
   */
  columns() {
    return this.#columns?.map(([shift, divisor]) => [shift, divisor && 1 / divisor]);
  }

  /** What a model file is to know of the rows. */
  layout() {
    const [shifts, divisors] = [0, 1].map((part) => Float64Array.from(this.#columns ?? [], (column) => column[part]));
    return { dims: this.#dims, classes: this.#classes, sparse: this.#sparse, unit: this.#scale === "unit", shifts, divisors };
  }

  /** Everything needed to go on later. @returns {Uint8Array} */
  save() {
    return this.#held().save();
  }

  get told() {
    return `${this.#name}, ${this.#labels.length} rows, step ${this.#trainer?.stepsDone ?? "-: disposed"}`;
  }

  /** The trainer, while there is one. */
  #held() {
    if (!this.#trainer) throw new UndercurveError("the session was disposed", { code: 203 });
    return this.#trainer;
  }

  /** Frees the memory. */
  dispose() {
    this.#trainer?.free();
    this.#data?.free();
    this.#trainer = this.#data = undefined;
  }
}

disposable(Session);
