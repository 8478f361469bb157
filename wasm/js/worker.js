// The package in a worker: the same sessions, every call a promise, the page never blocked.

import { need, whole } from "./check.js";

/** @typedef {import("./session.js").TrainerOptions} TrainerOptions */
/** @typedef {import("./session.js").Snapshot} Snapshot */
/** @typedef {import("./session.js").View} View */

/** A worker with the module loaded. It can hold several sessions and prepares data, too. */
export class Engine {
  #worker;
  #waiting = new Map();
  #last = 0;
  /** Why nothing is answered any more. */
  #stopped;

  constructor() {
    this.#worker = new Worker(new URL("./worker-host.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data: { id, value, error } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
    this.#worker.onerror = (event) => this.#fail(new Error(event.message || "the worker could not be started"));
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
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, call, args });
    });
  }

  /** Stops the worker; what is under way fails. */
  dispose() {
    this.#worker.terminate();
    this.#fail(new Error("the engine was disposed"));
  }
}

/** A session that lives in a worker. */
export class WorkerTrainer {
  #engine;
  #session;
  #owned;

  /** @param {Engine} engine @param {number} session @param {boolean} owned @param {string} backend @param {string} reason */
  constructor(engine, session, owned, backend, reason) {
    this.#engine = engine;
    this.#session = session;
    this.#owned = owned;
    /** What trains: "cpu-simd". */
    this.backend = backend;
    /** Why that and nothing else. */
    this.backendReason = reason;
  }

  /**
   * Trains for a slice and returns what it looks like then.
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
    need(whole(every, 1, Number.MAX_SAFE_INTEGER), "every", every, "a whole number from 1");
    for (let left = steps, done = false; left > 0 && !done; left -= every) {
      const snapshot = await this.advance({ steps: Math.min(every, left) }, view);
      done = snapshot.done;
      yield snapshot;
    }
  }

  /** Model parameters. @returns {Promise<Float32Array>} */
  params() {
    return this.#engine.call("params", this.#session);
  }

  /** Rows of the last batch. @returns {Promise<Uint32Array>} */
  batch() {
    return this.#engine.call("batch", this.#session);
  }

  /** Everything needed to go on later: `createTrainer({ ...options, bytes })`. @returns {Promise<Uint8Array>} */
  save() {
    return this.#engine.call("save", this.#session);
  }

  /** Gives the memory back, and the worker if it was made for this trainer. */
  dispose() {
    if (this.#owned) this.#engine.dispose();
    else this.#engine.call("dispose", this.#session).catch(() => {}); // (the engine may be gone before)
  }
}

/**
 * A trainer in a worker of its own, or in `engine`.
 * @param {TrainerOptions & { engine?: Engine }} options
 * @returns {Promise<WorkerTrainer>}
 */
export async function createTrainer({ engine, ...options }) {
  const owned = engine === undefined;
  const home = engine ?? new Engine();
  try {
    const { session, backend, reason } = await home.call("create", options);
    return new WorkerTrainer(home, session, owned, backend, reason);
  } catch (error) {
    if (owned) home.dispose();
    throw error;
  }
}
