import type { Labels, Source } from "./common.js";
import type { DenseRows } from "./session.js";

export { CLASS_METHODS, METHODS } from "./methods.js";
export type { ClassMethodName, Domain, LossName, MethodInfo, MethodName } from "./methods.js";
export { NeedsFull, NoGpu, UndercurveError } from "./error.js";
export type { ErrorKind } from "./error.js";
export type { Labels, Numbers, Signal, Source, Watch } from "./common.js";
export { Objective, createObjective, initExact, initObjective, initPairs } from "./objective.js";
export type { ObjectiveName, ObjectiveOptions, Told } from "./objective.js";
export type { Backend } from "./backend.js";
export { Exact } from "./exact.js";
export type { Curve, ExactMetrics, ExactOf, ExactOptions, ExactSum, ExactSync, PairLoss } from "./exact.js";
export { compare, decide, initDecide, initJudge, metrics } from "./judge.js";
export type { AnyLabels, CompareOptions, Decision, Difference, Ends, JudgedRows, Measured, MetricsOptions, Rule } from "./judge.js";
export { Lanes } from "./lanes.js";
export type { CurveBand, LanesOf, LanesOptions, LanesSnapshot, LanesSpec, LanesView, Reports, Run, Spread, Summary } from "./lanes.js";
export { Session } from "./session.js";
export type { ClassMetrics, ClassSnapshot, ClassView, ConstraintReport, DenseRows, Gap, GivenRows, Grid, GroupMetrics, GroupReport, Judged, JudgedConstraint, Method, Metrics, Model, Rows, Slice, Snapshot, Sparse, TrainerOptions, Verdict, View } from "./session.js";
export { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "./synthetics.js";
export { initFiles, load, train } from "./train.js";
export type { Predictions, Row, TrainOptions, TrainedModel } from "./train.js";

/**
 * Loads the WebAssembly module once: from beside the script, in Node from the package's folder. If neither works, pass
 * `undercurve/undercurve_bg.wasm`.
 */
export declare function init(module?: Source | Promise<Source>): Promise<void>;

/**
 * Loads the module with exact methods, those of partial AUC, given starts and the settings of papers once, like `init`, from
 * `undercurve/undercurve_whole_bg.wasm`. `Session.create` and the worker load it themselves, and the two others.
 */
export declare function initWhole(module?: Source | Promise<Source>): Promise<void>;

/** The same with finite sums: `undercurve/undercurve_sums_bg.wasm`. */
export declare function initSums(module?: Source | Promise<Source>): Promise<void>;

/** The same with several classes, and methods of groups and constraints: `undercurve/undercurve_groups_bg.wasm`. */
export declare function initGroups(module?: Source | Promise<Source>): Promise<void>;

/** Loads all that train, for `new Session` with any options. */
export declare function initFull(): Promise<void>;

/**
 * Training rows and held-out rows of one of `SYNTHETICS`, ready for `Session`: 4 (with several classes 20) to 10 million each, with
 * rows of each class.
 */
export declare function synthetic(
  kind: string,
  options?: { rows?: number; testRows?: number; positives?: number; noise?: number; seed?: number },
): DenseRows & { dims: number; test: DenseRows };

/** The same of one of `CLASS_SYNTHETICS`, with `classes`. Needs `initGroups`. */
export declare function syntheticClasses(
  kind: string,
  options?: { rows?: number; testRows?: number; noise?: number; seed?: number },
): DenseRows & { dims: number; classes: number; test: DenseRows };

/** The same of one of `GROUP_SYNTHETICS`, with `groups` and `groupNames`. Needs `initGroups`. */
export declare function syntheticGroups(
  kind: string,
  options?: { rows?: number; testRows?: number; positives?: number; noise?: number; seed?: number },
): DenseRows & { dims: number; groups: Uint32Array; groupNames: string[]; test: DenseRows & { groups: Uint32Array } };

/**
 * Labels with a share of them (0 … 1) flipped, as label noise. The seed decides which; those of a smaller share are among those
 * of a larger one, and each class keeps at least one row.
 */
export declare function flipLabels(y: Labels, share: number, seed?: number): Uint8Array;
