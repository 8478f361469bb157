// The package without a worker: `await init()` once, then sessions.

export { NeedsFull, init, initFull } from "./modules.js";
export { CLASS_METHODS, METHODS } from "./pkg/methods.js";
export { Session } from "./session.js";
export { flipLabels, synthetic } from "./synthetic.js";
export { SYNTHETICS } from "./synthetics.js";
