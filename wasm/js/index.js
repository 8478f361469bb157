// The package without a worker: `await init()` once, then sessions.

import { once } from "./load.js";
import load, { initSync } from "./pkg/undercurve.js";

export { METHODS } from "./pkg/methods.js";
export { Session } from "./session.js";
export { synthetic } from "./synthetic.js";
export { SYNTHETICS } from "./synthetics.js";

/**
 * Loads the WebAssembly module once. In a browser and in a bundle nothing need be given; elsewhere (Node) give the bytes
 * of `undercurve/undercurve_bg.wasm`.
 * @type {(module?: BufferSource | WebAssembly.Module) => Promise<void>}
 */
export const init = /* @__PURE__ */ once(load, initSync);
