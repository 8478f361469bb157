// The package without a worker: `await init()` once, then the classes of the core.

import load, { initSync } from "./pkg/undercurve.js";

export { Data, Options, Table, Trainer, methods, synthetics } from "./pkg/undercurve.js";
export { Session } from "./session.js";

let loading;

/**
 * Loads the WebAssembly module once. In a browser and in a bundle nothing need be given; elsewhere (Node) give the bytes
 * of `undercurve/undercurve_bg.wasm`.
 * @param {BufferSource | WebAssembly.Module} [module]
 * @returns {Promise<void>}
 */
export function init(module) {
  loading ??= module === undefined ? load() : Promise.resolve(initSync({ module }));
  return loading.then(() => undefined);
}
