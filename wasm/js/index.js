// The package without a worker: `await init()` once, then sessions.

import "./words.js";
export { NeedsFull, NoGpu, UndercurveError } from "./error.js";
export { Exact } from "./exact.js";
export { compare, decide, initDecide, initJudge, metrics } from "./judge.js";
export { Lanes } from "./lanes.js";
export { init, initFull, initGroups, initSums, initWhole } from "./modules.js";
export { Objective, createObjective, initExact, initObjective, initPairs } from "./objective.js";
export { CLASS_METHODS, METHODS } from "./pkg/methods.js";
export { Session } from "./session.js";
export { flipLabels, synthetic, syntheticClasses, syntheticGroups } from "./synthetic.js";
export { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "./synthetics.js";
export { initFiles, load, train } from "./train.js";
