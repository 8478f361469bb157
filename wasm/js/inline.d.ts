export type * from "./index.js";
export type { Apart } from "./worker.js";
export { CLASS_METHODS, METHODS, NoGpu, Exact, Lanes, Session, CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "./index.js";
export { compare, decide, initDecide, initJudge, metrics } from "./judge.js";
export { NeedsFull, Objective, UndercurveError, createObjective, flipLabels, init, initExact, initFull, initGroups, initObjective, initPairs, initSums, initWhole, synthetic, syntheticClasses, syntheticGroups } from "./index.js";
export { initFiles, load, train } from "./train.js";
export { Engine, WorkerExact, WorkerLanes, WorkerTrainer, createExact, createTrainer } from "./worker.js";
