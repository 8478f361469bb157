// The package without a worker: `await init()` once, then sessions.

export { NoGpu } from "./backend.js";
export { Exact } from "./exact.js";
export { Lanes } from "./lanes.js";
export { NeedsFull, init, initFull } from "./modules.js";
export { CLASS_METHODS, METHODS } from "./pkg/methods.js";
export { Session } from "./session.js";
export { flipLabels, synthetic, syntheticClasses, syntheticGroups } from "./synthetic.js";
export { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "./synthetics.js";
