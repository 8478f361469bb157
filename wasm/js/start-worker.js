// Starting a worker, in a page or in Node.

import { UndercurveError } from "./error.js";

/** @typedef {import("./load.js").Source} Source */

/** Node's workers, with the events of a page's. */
function nodeWorker(Worker, from, how) {
  const worker = new Worker(from, how);
  const made = { postMessage: (message) => worker.postMessage(message), terminate: () => worker.terminate() };
  worker.on("message", (data) => made.onmessage({ data })).on("error", (error) => made.onerror(error));
  // A worker that nothing waits for keeps no program running.
  worker.unref();
  made.hold = (busy) => (busy ? worker.ref() : worker.unref());
  return made;
}

/**
 * A worker that runs a script, as the page or Node has them.
 * @param {URL | string} url
 * @param {{ type?: "module" | "classic", text?: string }} [script] its text, for Node
 */
export function startWorker(url, { type = "module", text } = {}) {
  if (globalThis.Worker) return new Worker(url, { type });
  const threads = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (!threads) throw new UndercurveError("there are no workers here: use Session instead", { code: 206, argument: "worker" });
  return text === undefined ? nodeWorker(threads.Worker, url) : nodeWorker(threads.Worker, text, { eval: true });
}

/** What an engine runs where it is not told. */
export const defaults = {
  worker: () => {
    // (Bundlers find the script of a page's worker by this line as it is.)
    if (globalThis.Worker) return new Worker(new URL("./worker-host.js", import.meta.url), { type: "module" });
    return startWorker(new URL("./worker-host.js", import.meta.url));
  },
  /** @type {(() => Record<string, Source | Promise<Source>>) | undefined} */
  wasm: undefined,
};
