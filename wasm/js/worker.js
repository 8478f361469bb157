// The package in a worker: the same sessions, every call a promise, the page never blocked.

import { NoGpu, chosen } from "./backend.js";
import { bytesOf } from "./load.js";
import { slices } from "./slices.js";
import { defaults } from "./start-worker.js";

export { NoGpu } from "./backend.js";

/** @typedef {import("./session.js").TrainerOptions} TrainerOptions */
/** @typedef {import("./session.js").Snapshot} Snapshot */
/** @typedef {import("./session.js").View} View */

/** @typedef {import("./load.js").Source} Source */
/** @typedef {{ engine?: Engine, worker?: () => Worker, wasm?: { train?: Source | Promise<Source>, full?: Source | Promise<Source> } }} Apart */

/** Compiled, so that it is not compiled again in the worker. */
async function compiled(source) {
  const bytes = await bytesOf(source);
  return bytes instanceof WebAssembly.Module ? bytes : WebAssembly.compile(bytes);
}

/** A worker with the module loaded. It can hold several sessions, and it prepares data. */
export class Engine {
  #worker;
  #waiting = new Map();
  #last = 0;
  /** Why nothing is answered any more. */
  #stopped;
  /** Until the modules that were given are there. */
  #ready;

  /** @param {{ worker?: () => Worker, wasm?: { train?: Source | Promise<Source>, full?: Source | Promise<Source> } }} [how] */
  constructor({ worker = defaults.worker, wasm = defaults.wasm?.() } = {}) {
    this.#worker = worker();
    this.#worker.onmessage = ({ data: { id, value, error, name } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#worker.hold?.(false);
      if (error === undefined) resolve(value);
      else reject(name === "NoGpu" ? new NoGpu(error) : new Error(error));
    };
    this.#worker.onerror = (event) => this.#fail(new Error(event.message || "the worker could not be started"));
    if (wasm) this.#ready = this.#give(wasm);
    // Whether the default worked is told with the first call.
    (this.#ready ?? this.#post("modules", [])).catch((error) => wasm && this.#fail(error));
  }

  async #give(wasm) {
    const modules = await Promise.all(["train", "full"].map((name) => wasm[name] && compiled(wasm[name])));
    await this.#post("modules", modules);
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
      this.#waiting.set(id, { resolve, reject });
      this.#worker.hold?.(true);
      this.#worker.postMessage({ id, call, args });
    });
  }

  /** Stops the worker; calls in progress fail. */
  dispose() {
    this.#worker.terminate();
    this.#fail(new Error("the engine was disposed"));
  }
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
   * @param {{ steps?: number, milliseconds?: number }} slice
   * @param {View} [view]
   * @returns {Promise<Snapshot>}
   */
  advance(slice, view) {
    return this.#engine.call("advance", this.#session, slice, view);
  }

  /**
   * Trains to the end of the run, or for so many steps if that is before, with a snapshot every so many.
   * @param {{ steps?: number, every?: number, view?: View }} [run]
   * @returns {AsyncGenerator<Snapshot>}
   */
  async *run({ steps = Infinity, every = 10, view = { curve: 129 } } = {}) {
    yield* slices((left) => this.advance({ steps: left }, view), steps, every);
  }

  /** Model parameters. @returns {Promise<Float32Array>} */
  params() {
    return this.#engine.call("params", this.#session);
  }

  /** As that of a session. @returns {Promise<[shift: number, factor: number][] | undefined>} */
  columns() {
    return this.#engine.call("columns", this.#session);
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
   * @param {{ steps?: number, milliseconds?: number }} slice
   * @param {{ curve?: number }} [view]
   */
  async advance(slice, view) {
    const shot = await this.#engine.call("advanceLanes", this.#session, slice, view);
    [this.backend, this.backendReason] = [shot.backend, shot.backendReason];
    return shot;
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
   * @param {{ steps?: number, every?: number, view?: { curve?: number } }} [run]
   */
  async *run({ steps = Infinity, every = 10, view } = {}) {
    yield* slices((count, last) => this.advance({ steps: count, last }, view), steps, every);
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

/**
 * A trainer in a new worker, or in `engine`; with `lanes` many runs.
 * @param {TrainerOptions & Apart & { backend?: "auto" | "cpu" | "gpu" | "gpu-software", lanes?: number | object }} options
 * @returns {Promise<WorkerTrainer | WorkerLanes>}
 */
export async function createTrainer({ engine, worker, wasm, backend, ...options }) {
  const how = options.lanes === undefined ? chosen(backend) : undefined;
  const owned = engine === undefined;
  const home = engine ?? new Engine({ worker, wasm });
  try {
    if (options.lanes !== undefined) return new WorkerLanes(home, owned, await home.call("createLanes", { ...options, backend }));
    const { session } = await home.call("create", options);
    return new WorkerTrainer(home, session, owned, how);
  } catch (error) {
    if (owned) home.dispose();
    throw error;
  }
}

/**
 * `Exact` in a new worker, or in `engine`.
 * @param {{ y: Uint8Array, backend?: "auto" | "cpu" | "gpu" | "gpu-software" } & Apart} options
 * @returns {Promise<WorkerExact>}
 */
export async function createExact({ engine, worker, wasm, ...options }) {
  const owned = engine === undefined;
  const home = engine ?? new Engine({ worker, wasm });
  try {
    return new WorkerExact(home, owned, await home.call("createExact", options));
  } catch (error) {
    if (owned) home.dispose();
    throw error;
  }
}
