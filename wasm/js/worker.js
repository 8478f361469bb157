// The package in a worker: the same sessions, every call a promise, the page never blocked.

import { chosen } from "./backend.js";
import { checkRun, checkSignal, checkSlice, need, object, only, stopIf } from "./check.js";
import { disposable } from "./dispose.js";
import { UndercurveError, asOurs, unpacked } from "./error.js";
import { homeOf } from "./homes.js";
import { bytesOf } from "./load.js";
import { slices } from "./slices.js";
import { defaults } from "./start-worker.js";

export { NoGpu, UndercurveError } from "./error.js";

/** @typedef {import("./session.js").TrainerOptions} TrainerOptions */
/** @typedef {import("./session.js").Snapshot} Snapshot */
/** @typedef {import("./session.js").View} View */

/** @typedef {import("./load.js").Source} Source */
/** @typedef {{ engine?: Engine, worker?: () => Worker, wasm?: { train?: Source | Promise<Source>, whole?: Source | Promise<Source>, sums?: Source | Promise<Source>, groups?: Source | Promise<Source>, pairs?: Source | Promise<Source>, exact?: Source | Promise<Source> } }} Apart */

/** Compiled, so that it is not compiled again in the worker. */
async function compiled(source) {
  const bytes = await bytesOf(source);
  return bytes instanceof WebAssembly.Module ? bytes : WebAssembly.compile(bytes);
}

/** The modules that a worker takes. */
const MODULES = ["train", "whole", "sums", "groups", "pairs", "exact"];

/** A worker with the module loaded. It can hold several sessions, and it prepares data. */
export class Engine {
  #worker;
  #waiting = new Map();
  #last = 0;
  /** Why nothing is answered any more. */
  #stopped;
  /** Until the modules that were given are there. */
  #ready;

  /**
   * @param {{ worker?: () => Worker, wasm?: Apart["wasm"] }} [how]
   * @param {import("./homes.js").Home | "pairs" | "exact"} [first] the module to load at once
   */
  constructor(how = {}, first = "train") {
    only(how, ["worker", "wasm"], "");
    const { worker = defaults.worker, wasm = defaults.wasm?.() } = how;
    need(typeof worker === "function", "worker", worker, "a function that makes a Worker");
    if (wasm !== undefined) only(wasm, MODULES, "wasm.");
    this.#worker = worker();
    need(typeof this.#worker?.postMessage === "function", "worker", this.#worker, "a function that makes a Worker");
    this.#worker.onmessage = ({ data: { id, value, error } }) => {
      // (Nobody waits any more where the engine was stopped.)
      if (!this.#waiting.has(id)) return;
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#worker.hold?.(false);
      if (error === undefined) resolve(value);
      else reject(unpacked(error));
    };
    this.#worker.onerror = (event) => this.#fail(new UndercurveError(event.message || "the worker could not be started", { code: 206, argument: "worker" }));
    if (wasm) this.#ready = this.#give(wasm, first);
    // Whether the default worked is told with the first call.
    (this.#ready ?? this.#post("modules", [{}, first])).catch((error) => wasm && this.#fail(error));
  }

  async #give(wasm, first) {
    const given = await Promise.all(MODULES.map(async (name) => [name, wasm[name] && (await compiled(wasm[name]))]));
    await this.#post("modules", [Object.fromEntries(given), first]);
  }

  #fail(error) {
    this.#stopped ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /**
   * @param {string} call
   * @param {...unknown} args copied to the worker
   * @returns {Promise<any>}
   */
  call(call, ...args) {
    if (this.#stopped) return Promise.reject(this.#stopped);
    return this.#ready ? this.#ready.then(() => this.#post(call, args)) : this.#post(call, args);
  }

  #post(call, args) {
    if (this.#stopped) return Promise.reject(this.#stopped);
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      try {
        this.#worker.postMessage({ id, call, args });
      } catch (error) {
        // (A function, say, cannot be sent.)
        reject(new UndercurveError(error.message, { cause: error }));
        return;
      }
      this.#waiting.set(id, { resolve, reject });
      this.#worker.hold?.(true);
    });
  }

  /** Stops the worker; calls in progress fail. */
  dispose() {
    this.#worker.terminate();
    this.#fail(new UndercurveError("the engine was disposed", { code: 203 }));
  }
}

/** Milliseconds of a piece of work that may be stopped: of one run, and of many, whose metrics take longer. */
const PIECE = 20;
const PIECE_OF_LANES = 100;

/** A slice in pieces, where it is watched: a worker that is at work hears nothing. */
async function inPieces(part, { steps, milliseconds, signal, onProgress }, view, piece) {
  const start = performance.now();
  const left = () => milliseconds - (performance.now() - start);
  let at = await part({ steps: 0 }, {});
  const last = at.step + steps;
  while (!at.done && at.step < last && left() > 0) {
    stopIf(signal);
    at = await part({ steps: last - at.step, milliseconds: Math.min(piece, left()) }, {});
    onProgress?.({ step: at.step, done: at.done });
  }
  stopIf(signal);
  return part({ steps: 0 }, view);
}

/** A session in a worker. */
export class WorkerTrainer {
  #engine;
  #session;
  #owned;

  /** @param {Engine} engine @param {number} session @param {boolean} owned @param {{ backend: string, reason: string }} how */
  constructor(engine, session, owned, { backend, reason }) {
    this.#engine = engine;
    this.#session = session;
    this.#owned = owned;
    /** The backend: "cpu-simd". */
    this.backend = backend;
    /** The reason for this choice. */
    this.backendReason = reason;
  }

  /**
   * Trains for a slice and returns a snapshot.
   * @param {{ steps?: number, milliseconds?: number, signal?: AbortSignal, onProgress?: (at: { step: number, done: boolean }) => void }} slice
   * @param {View} [view]
   * @returns {Promise<Snapshot>}
   */
  async advance(slice, view) {
    const { steps, milliseconds, signal, onProgress } = checkSlice(slice);
    const part = (slice, view) => this.#engine.call("advance", this.#session, slice, view);
    if (!signal && !onProgress) return part({ steps, milliseconds }, view);
    return inPieces(part, { steps, milliseconds, signal, onProgress }, view, PIECE);
  }

  /**
   * Trains to the end of the run, or for so many steps if that is before, with a snapshot every so many.
   * @param {{ steps?: number, every?: number, view?: View, signal?: AbortSignal }} [run]
   * @returns {AsyncGenerator<Snapshot>}
   */
  async *run(run = {}) {
    const { steps, every, view, signal } = checkRun(run, { curve: 129 });
    yield* slices((left) => this.advance({ steps: left, signal }, view), steps, every);
  }

  /** Model parameters. @returns {Promise<Float32Array>} */
  params() {
    return this.#engine.call("params", this.#session);
  }

  /** As that of a session. @returns {Promise<[shift: number, factor: number][] | undefined>} */
  columns() {
    return this.#engine.call("columns", this.#session);
  }

  layout() {
    return this.#engine.call("layout", this.#session);
  }

  /** As that of a session; the rows are copied to the worker. @param {Float32Array | import("./session.js").Sparse} X @returns {Promise<Float32Array>} */
  score(X) {
    return this.#engine.call("score", this.#session, X);
  }

  /** Rows of the last batch. @returns {Promise<Uint32Array>} */
  batch() {
    return this.#engine.call("batch", this.#session);
  }

  /** Everything needed to go on later: `createTrainer({ ...options, bytes })`. @returns {Promise<Uint8Array>} */
  save() {
    return this.#engine.call("save", this.#session);
  }

  /** Frees the memory, and stops the worker if it belongs to this trainer. */
  dispose() {
    leave(this.#engine, this.#session, this.#owned);
  }
}

/** Many runs that live in a worker: as `Lanes`. */
export class WorkerLanes {
  #engine;
  #session;
  #owned;

  /** @param {Engine} engine @param {boolean} owned @param {{ session: number, runs: import("./lanes.js").Run[], backend: string, reason: string }} made */
  constructor(engine, owned, { session, runs, backend, reason }) {
    this.#engine = engine;
    this.#session = session;
    this.#owned = owned;
    /** Seed and settings of each. */
    this.runs = runs;
    this.backend = backend;
    this.backendReason = reason;
  }

  /**
   * Trains every run for a slice, and says what they look like then.
   * @param {{ steps?: number, milliseconds?: number, signal?: AbortSignal, onProgress?: (at: { step: number, done: boolean }) => void }} slice
   * @param {{ curve?: number }} [view]
   */
  async advance(slice, view) {
    const { signal, onProgress, ...own } = checkSlice(slice);
    stopIf(signal);
    const part = async (slice, view) => {
      const shot = await this.#engine.call("advanceLanes", this.#session, slice, view);
      [this.backend, this.backendReason] = [shot.backend, shot.backendReason];
      return shot;
    };
    return signal || onProgress ? inPieces(part, { ...own, signal, onProgress }, view, PIECE_OF_LANES) : part(own, view);
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
    return this.#engine.call("saveLane", this.#session, lane);
  }

  /** A trainer in the same worker that continues from a copy of a run. @param {number} lane */
  async load(lane) {
    const { session } = await this.#engine.call("loadLane", this.#session, lane);
    return new WorkerTrainer(this.#engine, session, false, chosen());
  }

  /** Frees the memory, and stops the worker if it belongs to these runs, with the trainers loaded from them. */
  dispose() {
    leave(this.#engine, this.#session, this.#owned);
  }
}

/** `Exact` in a worker. */
export class WorkerExact {
  #engine;
  #session;
  #owned;

  /** @param {Engine} engine @param {boolean} owned @param {{ session: number, backend: string, reason: string }} made */
  constructor(engine, owned, { session, backend, reason }) {
    this.#engine = engine;
    this.#session = session;
    this.#owned = owned;
    this.backend = backend;
    this.backendReason = reason;
  }

  async #call(...args) {
    const { answer, backend, reason } = await this.#engine.call("exact", this.#session, ...args);
    [this.backend, this.backendReason] = [backend, reason];
    return answer;
  }

  /** @param {Float32Array} scores copied to the worker */
  metrics(scores) {
    return this.#call("metrics", scores);
  }

  /** @param {Float32Array} scores @param {{ loss?: string, param?: number }} [of] */
  auc(scores, of) {
    return this.#call("auc", scores, of);
  }

  /** @param {Float32Array} scores @param {[number, number]} fpr @param {{ loss?: string, param?: number }} [of] */
  pauc(scores, fpr, of) {
    return this.#call("pauc", scores, fpr, of);
  }

  /** @param {Float32Array} scores @param {{ loss?: string, param?: number }} [of] */
  ap(scores, of) {
    return this.#call("ap", scores, of);
  }

  /** Frees the memory, and stops the worker if it belongs to these rows. */
  dispose() {
    leave(this.#engine, this.#session, this.#owned);
  }
}

/** Gives a session back, and the worker if it is its own. */
function leave(engine, session, owned) {
  if (owned) engine.dispose();
  else engine.call("dispose", session).catch(() => {}); // (the engine may be gone before)
}

/** What `make` makes in a worker that is stopped if it fails, or if a signal says so before. */
async function inWorker({ engine, worker, wasm, signal }, first, make) {
  checkSignal(signal);
  stopIf(signal);
  need(engine === undefined || engine instanceof Engine, "engine", engine, "an Engine");
  need(engine === undefined || (worker === undefined && wasm === undefined), "engine", "with worker or wasm", "one of the two: an engine has its own");
  const owned = engine === undefined;
  const home = engine ?? new Engine({ ...(worker && { worker }), ...(wasm && { wasm }) }, first);
  let stop;
  const stopped = new Promise((_, reject) => signal?.addEventListener("abort", (stop = () => reject(signal.reason)), { once: true }));
  const made = make(home, owned);
  try {
    return await (signal ? Promise.race([made, stopped]) : made);
  } catch (error) {
    // (What comes too late is given back.)
    made.then((late) => late.dispose()).catch(() => {});
    if (owned) home.dispose();
    throw signal?.aborted ? signal.reason : asOurs(error);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * A trainer in a new worker, or in `engine`; with `lanes` many runs.
 * @param {TrainerOptions & Apart & { backend?: "auto" | "cpu" | "gpu" | "gpu-software", lanes?: number | object, signal?: AbortSignal }} options
 * @returns {Promise<WorkerTrainer | WorkerLanes>}
 */
export async function createTrainer(options) {
  object(options, "options", "an object with X, y and dims");
  const { engine, worker, wasm, backend, signal, ...given } = options;
  const how = given.lanes === undefined ? chosen(backend) : undefined;
  return inWorker({ engine, worker, wasm, signal }, homeOf(given), async (home, owned) => {
    if (given.lanes !== undefined) return new WorkerLanes(home, owned, await home.call("createLanes", { ...given, backend }));
    const { session } = await home.call("create", given);
    return new WorkerTrainer(home, session, owned, how);
  });
}

/**
 * `Exact` in a new worker, or in `engine`.
 * @param {{ y: Uint8Array, backend?: "auto" | "cpu" | "gpu" | "gpu-software", signal?: AbortSignal } & Apart} options
 * @returns {Promise<WorkerExact>}
 */
export async function createExact(options) {
  object(options, "options", "an object with y");
  const { engine, worker, wasm, signal, ...given } = options;
  return inWorker({ engine, worker, wasm, signal }, given.weights === undefined ? "pairs" : "exact", async (home, owned) => new WorkerExact(home, owned, await home.call("createExact", given)));
}

disposable(Engine, WorkerTrainer, WorkerLanes, WorkerExact);
