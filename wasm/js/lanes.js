// Many runs of a method at a time: seeds, or the points of a grid. On the CPU they are stepped in turn, in short pieces that leave
// the thread to others in between.

import { PROGRESS, checkRun, checkSignal, checkSlice, need, object, only, stopIf, whole } from "./check.js";
import { disposable } from "./dispose.js";
import { UndercurveError } from "./error.js";
import { NoGpu, check, noAdapter, onCpu } from "./backend.js";
import { Session, TRAINER } from "./session.js";
import { rest, slices } from "./slices.js";

/** @typedef {import("./session.js").TrainerOptions} TrainerOptions */

/** So many runs at most. */
const MOST = 1024;
/** Of work between two rests, in milliseconds. */
const PIECE = 10;
/** For which each side is tried, where the faster one is to be found. */
const TRIAL = 50;

/**
 * @typedef {object} Run
 * @property {number} seed
 * @property {Record<string, number | string>} settings those that differ between runs
 */

/**
 * The runs that `lanes` asks for, seed by seed; the last parameter of a grid runs fastest.
 * @param {number | { grid: Record<string, (number | string)[]>, seeds?: number }} lanes
 * @param {number} seed of the first
 * @param {Record<string, unknown>} set
 * @returns {Run[]}
 */
export function runsOf(lanes, seed = 1, set = {}) {
  const { grid, seeds = 1 } = typeof lanes === "number" ? { grid: {}, seeds: lanes } : lanes ?? {};
  need(whole(seeds, 1, MOST), typeof lanes === "number" ? "lanes" : "lanes.seeds", seeds, `a whole number from 1 to ${MOST}`);
  need(grid !== null && typeof grid === "object" && (typeof lanes === "number" || Object.keys(grid).length > 0), "lanes.grid", grid, "parameters with their values, like { lr: [0.01, 0.1] }");
  let points = [{}];
  for (const [name, values] of Object.entries(grid)) {
    const fit = Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === "string" || Number.isFinite(value));
    need(fit, `lanes.grid.${name}`, values, "an array of numbers or words");
    need(new Set(values.map(String)).size === values.length, `lanes.grid.${name}`, values, "every value once");
    need(!(name in set), `lanes.grid.${name}`, set[name], "it not to be in method.settings, too");
    need(points.length * values.length * seeds <= MOST, "lanes", points.length * values.length * seeds, `${MOST} runs at most`);
    points = points.flatMap((point) => values.map((value) => ({ ...point, [name]: value })));
  }
  need(whole(seed + seeds - 1, 0, Number.MAX_SAFE_INTEGER), "seed", seed, "seeds that are whole numbers");
  return Array.from({ length: seeds * points.length }, (_, at) => ({ seed: seed + Math.floor(at / points.length), settings: points[at % points.length] }));
}

/** The point below which a share of ascending values lies, on the line between two of them. */
function quantile(values, share) {
  const place = share * (values.length - 1);
  const low = Math.floor(place);
  return values[low] + (values[Math.ceil(place)] - values[low]) * (place - low);
}

/** Of the values that are numbers. @param {ArrayLike<number>} all */
function spread(all) {
  const values = Float64Array.from(all).filter(Number.isFinite).sort();
  const runs = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / runs;
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, runs - 1));
  return { runs, mean, sd, low: runs ? quantile(values, 0.1) : NaN, median: runs ? quantile(values, 0.5) : NaN, high: runs ? quantile(values, 0.9) : NaN };
}

/** The band of curves with as many points each, one after the other. */
function bandOf(curves, points) {
  const out = { low: new Float32Array(points), median: new Float32Array(points), high: new Float32Array(points) };
  const column = new Float32Array(curves.length / points);
  for (let k = 0; k < points; k += 1) {
    for (let lane = 0; lane < column.length; lane += 1) column[lane] = curves[lane * points + k];
    const { low, median, high } = spread(column);
    [out.low[k], out.median[k], out.high[k]] = [low, median, high];
  }
  return out;
}

/**
 * Medians, 10 and 90 % and the like of what runs report; of those that neither failed nor collapsed.
 * @param {import("./lanes.js").Reports} reports
 */
function summarise(reports) {
  const { step, done, collapsed, failed, metrics, objective, curve = 0, roc, pr } = reports;
  const total = (flags) => flags.reduce((sum, one) => sum + one, 0);
  const kept = (values, points = 1) => values.filter((_, at) => !collapsed[Math.floor(at / points)]);
  const out = { runs: step.length, failed: total(failed), collapsed: total(collapsed), done: done.every(Boolean), metrics: {}, objective: spread(kept(objective)) };
  for (const [name, values] of Object.entries(metrics)) out.metrics[name] = spread(kept(values));
  if (curve) Object.assign(out, { roc: bandOf(kept(roc, curve), curve), pr: bandOf(kept(pr, curve), curve) });
  return out;
}

/** Many runs on the caller's thread. */
export class Lanes {
  #options;
  #sessions;
  #errors;
  #milliseconds = 0;
  /** What makes the steps, if it is not this thread. @type {import("./gpu-runs.js").GpuRuns | undefined} */
  #gpu;
  /** When the runs were last looked at on a device, and what they looked like. */
  #looked = { at: -Infinity, view: "", seen: undefined };
  /** Calls come one after the other. */
  #turn = Promise.resolve();
  #disposed = false;

  /**
   * @param {TrainerOptions & { lanes: number | { grid: Record<string, (number | string)[]>, seeds?: number }, backend?: "auto" | "cpu" | "gpu" | "gpu-software" }} options
   * @returns {Promise<Lanes>}
   */
  static async create(given) {
    object(given, "options", "an object with X, y, dims and lanes");
    const { lanes, backend = "auto", ...options } = given;
    check(backend);
    checkSignal(options.signal);
    stopIf(options.signal);
    need(options.method === undefined || typeof options.method === "string" || (typeof options.method === "object" && options.method !== null), "method", options.method, "a method or its name");
    const method = typeof options.method === "string" ? { name: options.method } : options.method ?? { name: "ce" };
    need(options.bytes === undefined, "bytes", "of one session", "none with lanes");
    need(options.start === undefined, "start", "of one session", "none with lanes");
    need(["groups", "constraints", "files"].every((name) => options[name] === undefined), "groups, constraints, files", "with lanes", "one run at a time");
    const runs = runsOf(lanes, options.seed, method.settings);
    // Nothing is downloaded for an adapter that there is not.
    const lack = backend === "cpu" ? "as asked for" : runs.length === 1 && backend === "auto" ? "one run is faster here than on a GPU" : await noAdapter(backend);
    if (lack && backend.startsWith("gpu")) throw new NoGpu(`backend ${backend}: ${lack}`);
    const made = new Lanes(runs, onCpu(lack, runs.length), (at) => ({ ...options, elsewhere: !lack, seed: runs[at].seed, method: { ...method, settings: { ...method.settings, ...runs[at].settings } } }));
    try {
      await made.#make();
      if (!lack) await made.#open(backend);
    } catch (error) {
      made.dispose();
      throw error;
    }
    return made;
  }

  constructor(runs, { backend, reason }, options) {
    /** Seed and settings of each. */
    this.runs = runs;
    /** The backend: "cpu-simd", "gpu", "gpu-software". */
    this.backend = backend;
    /** The reason for this choice. */
    this.backendReason = reason;
    this.#options = options;
    this.#sessions = [];
    this.#errors = runs.map(() => undefined);
  }

  /** Takes the adapter: as asked for, or where it is found to be faster. */
  async #open(asked) {
    let since = performance.now();
    const rested = async () => (since = await this.#rested(since));
    let gpu;
    let why;
    try {
      const [{ GpuRuns }, { openGpu }] = await Promise.all([import("./gpu-runs.js"), import("./kernels.js")]);
      gpu = new GpuRuns(await openGpu(asked === "gpu-software"), this.#sessions.map((session) => session[TRAINER]), rested);
      why = gpu.refusal(0);
    } catch (error) {
      why = String(error?.message ?? error);
    }
    let ratio;
    if (why === undefined && asked === "auto") [ratio, why] = await this.#tried(gpu);
    if (why !== undefined || ratio <= 1) {
      gpu?.dispose();
      if (asked !== "auto") throw new NoGpu(`backend ${asked}: ${why}`);
      why ??= `${(1 / ratio).toFixed(1)} times faster here than on ${gpu.name}, tried for .1 s`;
      this.#be(onCpu(why, this.runs.length));
      return;
    }
    this.#gpu = gpu;
    const how = ratio === undefined ? "as asked for" : `${ratio.toFixed(1)} times faster than this CPU, tried for .1 s`;
    this.#be({ backend: gpu.software ? "gpu-software" : "gpu", reason: `GPU, ${gpu.name}: ${this.runs.length} runs side by side, ${how}` });
  }

  #be({ backend, reason }) {
    [this.backend, this.backendReason] = [backend, reason];
  }

  /** How many times faster the device is than stepping in turn, each tried for 50 ms; or why not. The runs are as before. */
  async #tried(gpu) {
    const trainers = this.#sessions.map((session) => session[TRAINER]);
    const before = trainers.map((trainer) => trainer.snapshot());
    const back = () => {
      trainers.forEach((trainer, at) => trainer.restore(before[at]));
      gpu.forget();
    };
    const timed = async (work) => {
      const start = performance.now();
      let steps = 0;
      for (let count = 8; performance.now() - start < TRIAL; count *= 2) {
        const made = await work(count);
        if (!made) break;
        steps += made;
      }
      return steps / (performance.now() - start);
    };
    try {
      // (What is built once is not counted.)
      await gpu.advance(8);
      await gpu.sync();
      const there = await timed(async (count) => {
        const made = await gpu.advance(count);
        await gpu.sync();
        return made;
      });
      const sound = gpu.errors.findIndex((error) => !error);
      if (gpu.failure || sound < 0) return [undefined, gpu.failure ?? "no run went well in a trial"];
      back();
      const one = trainers[sound];
      const here = await timed((count) => {
        let made = 0;
        for (const start = performance.now(); made < count && performance.now() - start < PIECE && one.step(); ) made += 1;
        return made;
      });
      return there > 0 && here > 0 ? [there / here] : [undefined, "these runs are over before a trial is"];
    } finally {
      back();
      before.forEach((memory) => memory.free());
    }
  }

  async #make() {
    let since = performance.now();
    for (let at = 0; at < this.runs.length; at += 1) {
      this.#sessions.push(at === 0 ? await Session.create(this.#options(0)) : new Session(this.#options(at), this.#sessions[0]));
      since = await this.#rested(since);
    }
  }

  /** Rests where it is time to; gives since when the thread has been worked on. */
  async #rested(since) {
    if (performance.now() - since < PIECE) return since;
    await rest();
    this.#held();
    return performance.now();
  }

  #held() {
    if (this.#disposed) throw new UndercurveError("the lanes were disposed", { code: 203 });
    return this.#sessions;
  }

  /** Does work after that which is under way. */
  #next(work) {
    const result = this.#turn.then(() => {
      this.#held();
      return work();
    });
    this.#turn = result.catch(() => {});
    return result;
  }

  /**
   * Trains every run for a number of steps, or all of them together for a number of milliseconds, whichever ends first, and returns
   * a snapshot. A run that fails stays where it is and reports its error; the others continue.
   * @param {{ steps?: number, milliseconds?: number, signal?: AbortSignal, onProgress?: (at: { step: number, done: boolean }) => void }} slice
   * @param {{ curve?: number }} [view]
   */
  advance(slice, view) {
    return this.#next(async () => {
      const { steps, milliseconds, last = false, signal, onProgress } = checkSlice(slice);
      only(view, ["curve"], "view.");
      stopIf(signal);
      const told = signal || onProgress ? this.#watched(signal, onProgress) : undefined;
      await (this.#gpu ? this.#trainOnGpu(steps, milliseconds, told) : this.#train(steps, milliseconds, told));
      onProgress?.(this.#at());
      return this.#gpu ? this.#lookAtGpu(last || steps === 0, view) : this.#look(view);
    });
  }

  /** How far the runs are. */
  #at() {
    const sessions = this.#held();
    return { step: Math.max(...sessions.map((session) => session[TRAINER].stepsDone)), done: sessions.every((session, at) => session.done || Boolean(this.#errors[at])) };
  }

  /** What is called between rounds: stops where the signal says so, and tells progress. */
  #watched(signal, onProgress) {
    let since = performance.now();
    return () => {
      if (performance.now() - since < PROGRESS) return;
      since = performance.now();
      onProgress?.(this.#at());
      stopIf(signal);
      this.#held();
    };
  }

  /** Round after round of a few steps of each, so that the runs stay beside each other. */
  async #train(steps, milliseconds, told) {
    const start = performance.now();
    let since = start;
    let done = 0;
    const open = () => this.#sessions.some((session, at) => !this.#errors[at] && !session.done);
    for (let left = steps; left > 0 && performance.now() - start < milliseconds && open(); ) {
      // (Against the clock of one step each.)
      const round = milliseconds < Infinity || told ? 1 : Math.min(left, 16);
      for (let at = 0; at < this.#sessions.length; at += 1) {
        for (let more = round; more > 0 && !this.#errors[at] && !this.#sessions[at].done; ) {
          try {
            // (A piece of a walk over all rows is no step.)
            const stepped = this.#sessions[at].advance({ steps: more, milliseconds: PIECE });
            [more, done] = [more - stepped, done + stepped];
          } catch (error) {
            this.#errors[at] = String(error?.message ?? error);
          }
          since = await this.#rested(since);
        }
      }
      left -= round;
      told?.();
    }
    if (done) this.#milliseconds = (performance.now() - start) / done;
  }

  async #trainOnGpu(steps, milliseconds, told) {
    const start = performance.now();
    const gpu = this.#gpu;
    let done = 0;
    for (let left = steps; left > 0 && performance.now() - start < milliseconds && !this.#sessions.every((session, at) => session.done || this.#errors[at]); ) {
      const count = Math.min(left, milliseconds < Infinity ? 16 : 64);
      done += await gpu.advance(count);
      this.#held();
      this.#errors = gpu.errors;
      left -= count;
      told?.();
    }
    if (done) this.#milliseconds = (performance.now() - start) / done;
    this.#told();
  }

  /** The states of a device are read ten times a second at most, unless somebody asks for them or the runs are over. */
  async #lookAtGpu(fresh, view) {
    const key = JSON.stringify(view ?? {});
    const { at, view: before, seen } = this.#looked;
    const over = this.#sessions.every((session, k) => session.done || this.#errors[k]);
    if (!(seen && before === key) || over || fresh || performance.now() - at >= 100) {
      const gpu = this.#gpu;
      await gpu.sync();
      this.#held();
      this.#errors = gpu.errors;
      this.#told();
      this.#looked = { at: performance.now(), view: key, seen: await this.#look(view) };
    }
    // (A worker gives its arrays away.)
    return structuredClone(this.#looked.seen);
  }

  /** Says what trains since the device failed, if it did. */
  #told() {
    const { failure } = this.#gpu;
    if (failure && !this.backend.endsWith("cpu-simd")) this.#be({ backend: `${this.backend}, then cpu-simd`, reason: `${this.backendReason}, until it failed (${failure}); since then CPU` });
  }

  async #look({ curve = 0 } = {}) {
    const runs = this.runs.length;
    const numbers = () => new Float64Array(runs).fill(NaN);
    const reports = { step: new Uint32Array(runs), done: new Uint8Array(runs), collapsed: new Uint8Array(runs), failed: new Uint8Array(runs), errors: [...this.#errors], objective: numbers(), metrics: {} };
    if (curve) Object.assign(reports, { curve, roc: new Float32Array(runs * curve).fill(NaN), pr: new Float32Array(runs * curve).fill(NaN) });
    let since = performance.now();
    for (let at = 0; at < runs; at += 1) {
      if (this.#errors[at]) [reports.failed[at], reports.done[at]] = [1, 1];
      else {
        const { step, done, collapsed = false, objective, test, roc, pr } = this.#sessions[at].snapshot(curve ? { curve } : {});
        [reports.step[at], reports.done[at], reports.collapsed[at], reports.objective[at]] = [step, done, collapsed, objective];
        for (const [name, value] of Object.entries(test)) if (typeof value === "number") (reports.metrics[name] ??= numbers())[at] = value;
        if (curve) {
          reports.roc.set(roc, at * curve);
          reports.pr.set(pr, at * curve);
        }
      }
      since = await this.#rested(since);
    }
    return { step: Math.max(...reports.step), done: reports.done.every(Boolean), milliseconds: this.#milliseconds, backend: this.backend, backendReason: this.backendReason, reports, summary: summarise(reports) };
  }

  /** Metrics of every run, as typed arrays. @param {{ curve?: number }} [view] */
  async reports(view) {
    return (await this.advance({ steps: 0 }, view)).reports;
  }

  /** Medians and 10 % to 90 % ranges of the metrics. @param {{ curve?: number }} [view] */
  async summary(view) {
    return (await this.advance({ steps: 0 }, view)).summary;
  }

  /**
   * Trains to the end, or for `steps` steps, with a snapshot every `every` steps.
   * @param {{ steps?: number, every?: number, view?: { curve?: number }, signal?: AbortSignal }} [run]
   */
  async *run(run = {}) {
    const { steps, every, view, signal } = checkRun(run);
    yield* slices((count, last) => this.advance({ steps: count, last, signal }, view), steps, every);
  }

  /** The bytes of a run, to resume it. @param {number} lane @returns {Promise<Uint8Array>} */
  save(lane) {
    return this.#next(async () => {
      await this.#gpu?.sync();
      return this.#lane(lane).save();
    });
  }

  /** A session that continues from a copy of a run. @param {number} lane @returns {Promise<Session>} */
  load(lane) {
    return this.#next(async () => {
      await this.#gpu?.sync();
      const bytes = this.#lane(lane).save();
      return new Session({ ...this.#options(lane), bytes });
    });
  }

  #lane(lane) {
    need(whole(lane, 0, this.runs.length - 1), "lane", lane, `a whole number from 0 to ${this.runs.length - 1}`);
    return this.#held()[lane];
  }

  /** Frees the memory. */
  dispose() {
    const [gpu, sessions] = [this.#gpu, this.#sessions];
    [this.#disposed, this.#gpu, this.#sessions] = [true, undefined, []];
    const free = () => {
      gpu?.dispose();
      for (const session of sessions) session.dispose();
    };
    // (A device may be at work on them.)
    if (gpu) this.#turn.then(free);
    else free();
  }
}

disposable(Lanes);
