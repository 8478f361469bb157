// Metrics, and exact values and gradients of pairwise losses, over all rows: on the CPU, or on a graphics adapter by one sort and
// scans. Scores in, the derivative by each score out.

import { NoGpu, check, noAdapter, onCpu } from "./backend.js";
import { among, bothClasses, checkRange, checkSignal, labelsOf, LOSSES, need, numbersOf, object, only, stopIf } from "./check.js";
import { disposable } from "./dispose.js";
import { UndercurveError, asOurs } from "./error.js";
import { called, exactModule, initExact, initPairs, pairsModule } from "./objective-module.js";

/** So many rows at most: what the kernels count exactly in f32. */
const MOST = 2 ** 24;
/** For which each side is tried, in milliseconds, and of how many rows the CPU first. */
const TRIAL = 50;
const FIRST = 2 ** 14;


/** The time, as soon as the clock moves: in some browsers it does so in steps of many milliseconds. */
function tick() {
  const start = performance.now();
  let now;
  do now = performance.now();
  while (now === start);
  return now;
}

/** How much faster, in words. */
const faster = (ratio, where, than) => (ratio.toFixed(1) === "1.0" ? `about as fast${where} as ${than}` : `${ratio.toFixed(1)} times faster${where} than ${than}`);

const words = (error) => String(error?.message ?? error);

/** Scores like those of no model, to try both sides with: the same each time. */
function anyScores(y) {
  const scores = new Float32Array(y.length);
  for (let row = 0; row < y.length; row += 1) scores[row] = y[row] + (Math.imul(row + 1, 2654435761) >>> 8) / 2 ** 23;
  return scores;
}

/** A weight for each row. */
function weightsOf(weights, y) {
  const rows = y.length;
  const held = numbersOf(weights, "weights", Float64Array, "an array of numbers, one for each row");
  need(held.length === rows, "weights", `of length ${held.length}`, `${rows}, one for each label`, { code: 1 });
  const row = held.findIndex((weight) => !(weight >= 0 && weight < Infinity));
  need(row < 0, "weights", `of row ${row} (from 0) ${held[row]}`, "a number of 0 or more", { code: 4, row });
  const counts = [false, false];
  held.forEach((weight, row) => (counts[y[row]] ||= weight > 0));
  need(counts[0] && counts[1], "weights", "", "some above 0 of positives and of negatives", { code: 6 });
  return held;
}

/** The loss of a pair. */
function lossOf(of = {}) {
  only(of, ["loss", "param"], "of.");
  const { loss = LOSSES[0], param } = of;
  among(loss, LOSSES, "loss");
  need(param === undefined || (Number.isFinite(param) && param > 0), "param", param, "a number above 0", { code: 9 });
  return { loss, param };
}

/** What a side says of metrics. */
function told(out) {
  const [wins, ties, pairs, ap] = out;
  const points = (out.length - 4) / 4;
  const column = (at) => Float64Array.from({ length: points }, (_, k) => out[4 + 4 * k + at]);
  const curve = { threshold: column(0), fpr: column(1), tpr: column(2), precision: column(3) };
  return { auroc: (wins + ties / 2) / pairs, ap, wins, ties, pairs, curve };
}

/** The same calls, which answer at once: on the CPU. */
class Sync {
  #side;
  #scores;

  /** @param {() => object} side @param {(scores: unknown) => Float32Array | Float64Array} scores */
  constructor(side, scores) {
    this.#side = side;
    this.#scores = scores;
  }

  /** @param {Float32Array | Float64Array | number[]} scores */
  metrics(scores) {
    const side = this.#side();
    return told(called(() => side.metrics(wide(this.#scores(scores)))));
  }

  /** @param {Float32Array | Float64Array | number[]} scores @param {{ loss?: string, param?: number }} [of] */
  auc(scores, of) {
    return this.#sum("auc", scores, [0, 1], of);
  }

  /** @param {Float32Array | Float64Array | number[]} scores @param {[number, number]} fpr @param {{ loss?: string, param?: number }} [of] */
  pauc(scores, fpr, of) {
    needRange(fpr);
    return this.#sum("pauc", scores, fpr, of);
  }

  /** @param {Float32Array | Float64Array | number[]} scores @param {{ loss?: string, param?: number }} [of] */
  ap(scores, of) {
    return this.#sum("ap", scores, [0, 1], of);
  }

  #sum(sum, scores, [low, high], of) {
    const { loss, param } = lossOf(of);
    const side = this.#side();
    const held = this.#scores(scores);
    const gradient = called(() => side.sum(sum, loss, param, low, high, wide(held)));
    return { value: side.value, gradient: as(held, gradient) };
  }
}

const wide = (scores) => (scores instanceof Float64Array ? scores : Float64Array.from(scores));
const narrow = (scores) => (scores instanceof Float32Array ? scores : Float32Array.from(scores));
/** A gradient in the type of the scores. */
const as = (scores, gradient) => (scores instanceof Float32Array ? narrow(gradient) : wide(gradient));

function needRange(fpr) {
  need(fpr !== undefined, "fpr", fpr, "a range [low, high] in 0 … 1");
  checkRange(fpr);
}

/** Exact metrics and sums, on the caller's thread. */
export class Exact {
  #cpu;
  /** What computes, if it is not this thread. */
  #gpu;
  #kernel;
  #failure;
  #rows;
  /** Calls come one after the other. */
  #turn = Promise.resolve();
  #disposed = false;

  /**
   * @param {{ y: Uint8Array | number[] | boolean[], weights?: Float64Array | number[], backend?: "auto" | "cpu" | "gpu" | "gpu-software", signal?: AbortSignal }} options
   * @returns {Promise<Exact>}
   */
  static async create(options) {
    object(options, "options", "an object with y");
    only(options, ["y", "weights", "backend", "signal"], "");
    const { y: given, weights, backend = "auto", signal } = options;
    check(backend);
    checkSignal(signal);
    stopIf(signal);
    const y = labelsOf(given, "y");
    need(y.length <= MOST, "y", `of length ${y.length}`, `${MOST} labels at most`, { code: 1 });
    bothClasses(y, "y");
    const masses = weights === undefined ? new Float64Array() : weightsOf(weights, y);
    // Nothing is downloaded for an adapter that there is not.
    const lack = backend === "cpu" ? "as asked for" : weights !== undefined ? "the kernels take no weights" : await noAdapter(backend);
    if (lack && backend.startsWith("gpu")) throw new NoGpu(`backend ${backend}: ${lack}`);
    await (weights === undefined ? initPairs() : initExact());
    stopIf(signal);
    const made = new Exact(called(() => new (weights === undefined ? pairsModule() : exactModule()).Exact(y, masses)), y.length, onCpu(lack));
    try {
      if (!lack) await made.#open(backend, y);
      stopIf(signal);
    } catch (error) {
      made.dispose();
      throw error;
    }
    return made;
  }

  constructor(cpu, rows, how) {
    if (!how) throw new UndercurveError("new Exact: expected await Exact.create({ y })", { code: 204 });
    this.#cpu = cpu;
    this.#rows = rows;
    this.#be(how);
    /** The same calls, which answer at once: on the CPU. */
    this.sync = new Sync(() => this.#held(), (scores) => this.#scoresOf(scores));
  }

  get told() {
    return `of ${this.#rows} rows${this.#disposed ? ", disposed" : ""}`;
  }

  #held() {
    if (this.#disposed) throw new UndercurveError("the rows were disposed", { code: 203 });
    return this.#cpu;
  }

  #scoresOf(scores) {
    const held = numbersOf(scores, "scores", scores instanceof Float32Array ? Float32Array : Float64Array, `an array of ${this.#rows} numbers, such as a Float32Array`);
    need(held.length === this.#rows, "scores", `of length ${held.length}`, `${this.#rows}, one for each label`, { code: 1 });
    return held;
  }

  #be({ backend, reason }) {
    /** The backend: "cpu-simd", "gpu", "gpu-software". */
    this.backend = backend;
    /** The reason for this choice. */
    this.backendReason = reason;
  }

  /** Takes the adapter: as asked for, or where it is found to be faster. */
  async #open(asked, y) {
    let gpu;
    let kernel;
    let why;
    let ratio;
    try {
      const module = await import("./kernels.js");
      gpu = await module.openGpu(asked === "gpu-software");
      kernel = await module.kernels.GpuExact.create(gpu, y);
      if (asked === "auto") ratio = await tried(kernel, y);
    } catch (error) {
      why = words(error);
    }
    if (why !== undefined || ratio <= 1) {
      const name = gpu?.name;
      kernel?.free();
      gpu?.free();
      if (asked !== "auto") throw new NoGpu(`backend ${asked}: ${why}`);
      this.#be(onCpu(why ?? `${faster(1 / ratio, " here", `on ${name}`)}, tried for .1 s`));
      return;
    }
    [this.#gpu, this.#kernel] = [gpu, kernel];
    const how = ratio === undefined ? "as asked for" : `${faster(ratio, "", "this CPU")}, tried for .1 s`;
    this.#be({ backend: gpu.software ? "gpu-software" : "gpu", reason: `GPU, ${gpu.name}: all rows in one sort, ${how}` });
  }

  /**
   * AUROC from its counts of pairs, average precision, and points of the curves.
   * @param {Float32Array} scores
   */
  async metrics(scores) {
    const { out, milliseconds, backend } = await this.#call(scores, (side, held) => side.metrics(held));
    return { ...told(out), milliseconds, backend };
  }

  /**
   * The mean loss of all pairs, and its derivative by every score.
   * @param {Float32Array} scores
   * @param {{ loss?: string, param?: number }} [of]
   */
  auc(scores, of) {
    return this.#sum("auc", scores, [0, 1], of);
  }

  /**
   * The same of the negatives in a range of false-positive rates.
   * @param {Float32Array} scores
   * @param {[number, number]} fpr
   * @param {{ loss?: string, param?: number }} [of]
   */
  async pauc(scores, fpr, of) {
    needRange(fpr);
    return this.#sum("pauc", scores, fpr, of);
  }

  /**
   * The average-precision loss, −1 at best, and its derivative by every score.
   * @param {Float32Array} scores
   * @param {{ loss?: string, param?: number }} [of]
   */
  ap(scores, of) {
    return this.#sum("ap", scores, [0, 1], of);
  }

  async #sum(sum, scores, [low, high], of) {
    const { loss, param } = lossOf(of);
    const { held, out, value, milliseconds, backend } = await this.#call(scores, (side, held) => side.sum(sum, loss, param, low, high, held));
    return { value, gradient: as(held, out), milliseconds, backend };
  }

  /** What one side answers, the CPU where the device cannot. */
  #call(scores, work) {
    // (A copy: whoever calls may write on before its turn.)
    const given = ArrayBuffer.isView(scores) || Array.isArray(scores) ? scores.slice() : scores;
    const answer = this.#turn.then(async () => {
      this.#held();
      const held = this.#scoresOf(given);
      const on = async (side, numbers, backend) => {
        const start = performance.now();
        const out = await work(side, numbers);
        return { held, out, value: side.value, milliseconds: performance.now() - start, backend };
      };
      if (this.#kernel) {
        try {
          return await on(this.#kernel, narrow(held), this.backend);
        } catch (error) {
          // (What the kernels have no sum for, the CPU may have; what is wrong with a call it says, too.)
          if (this.#kernel.failed) this.#leave(words(error));
        }
      }
      return on(this.#cpu, wide(held), "cpu-simd").catch((error) => {
        throw asOurs(error);
      });
    });
    this.#turn = answer.catch(() => {});
    return answer;
  }

  /** The device no longer takes part. */
  #leave(failure) {
    this.#be({ backend: `${this.backend}, then cpu-simd`, reason: `${this.backendReason}, until it failed (${failure}); since then CPU` });
    this.#free();
  }

  #free() {
    this.#kernel?.free();
    this.#gpu?.free();
    this.#kernel = this.#gpu = undefined;
  }

  /** Frees the memory. */
  dispose() {
    this.#disposed = true;
    // (A device may be at work on it.)
    this.#turn = this.#turn.then(() => {
      this.#free();
      this.#cpu?.free();
      this.#cpu = undefined;
    });
  }
}

/** How many times faster the device is, each side tried for 50 ms: the CPU on as many of the rows as it can do in that. */
async function tried(kernel, y) {
  const { Exact: Side } = pairsModule();
  const scores = anyScores(y);
  const args = ["auc", "squared-hinge", undefined, 0, 1];
  // (What is built once is not counted.)
  await kernel.sum(...args, scores);
  let calls = 0;
  const start = tick();
  do {
    await kernel.sum(...args, scores);
    calls += 1;
  } while (performance.now() - start < TRIAL);
  const there = (performance.now() - start) / calls;
  // Both classes are among the first rows of each part.
  const order = [y.indexOf(0), y.indexOf(1)];
  let here = Infinity;
  for (let rows = Math.min(FIRST, y.length), spent = 0, took = 0; ; rows = Math.min(4 * rows, y.length)) {
    const part = { y: y.slice(0, rows), scores: wide(scores.slice(0, rows)) };
    order.forEach((row, k) => [part.y[k], part.scores[k]] = [y[row], scores[row]]);
    const cpu = new Side(part.y, new Float64Array());
    try {
      const begin = tick();
      let end;
      let sums = 0;
      // (So long that the clock tells.)
      do {
        cpu.sum(...args, part.scores);
        sums += 1;
        end = performance.now();
      } while (end - begin < 1);
      took = (end - begin) / sums;
      spent += end - begin;
    } finally {
      cpu.free();
    }
    // Its cost is that of a sort: about proportional to the rows.
    here = (took * y.length) / rows;
    if (rows === y.length || spent + 5 * took > TRIAL) break;
  }
  return here / there;
}

disposable(Exact);
