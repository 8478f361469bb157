import type { DenseRows } from "./session.js";

export { CLASS_METHODS, METHODS } from "./methods.js";
export type { Domain, MethodInfo } from "./methods.js";
export { NoGpu } from "./backend.js";
export type { Backend } from "./backend.js";
export { Exact } from "./exact.js";
export type { Curve, ExactMetrics, ExactOf, ExactOptions, ExactSum, PairLoss } from "./exact.js";
export { Lanes } from "./lanes.js";
export type { CurveBand, LanesOf, LanesOptions, LanesSnapshot, LanesSpec, LanesView, Reports, Run, Spread, Summary } from "./lanes.js";
export { Session } from "./session.js";
export type { ClassMetrics, ClassSnapshot, ClassView, ConstraintReport, DenseRows, Gap, Grid, GroupMetrics, GroupReport, Judged, JudgedConstraint, Method, Metrics, Model, Rows, Slice, Snapshot, Sparse, TrainerOptions, Verdict, View } from "./session.js";
export { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "./synthetics.js";

/**
 * Loads the WebAssembly module once: from beside the script, in Node from the package's folder. Where neither can be found,
 * give the bytes of `undercurve/undercurve_bg.wasm`.
 */
export declare function init(module?: BufferSource | WebAssembly.Module): Promise<void>;

/**
 * Loads the module with every method once, as `init` does, from `undercurve/undercurve_full_bg.wasm`: the exact methods,
 * the finite sums, several classes, groups and constraints need it. `Session.create` and the worker load it by themselves.
 */
export declare function initFull(module?: BufferSource | WebAssembly.Module): Promise<void>;

/** Thrown by `new Session` for what only the full module has, while that is not loaded. */
export declare class NeedsFull extends Error {}

/**
 * Training rows and held-out rows of one of `SYNTHETICS`, ready for `Session`: up to 10 million each, and never fewer than 4
 * (20 of several classes), so that each class has some.
 */
export declare function synthetic(
  kind: string,
  options?: { rows?: number; testRows?: number; positives?: number; noise?: number; seed?: number },
): DenseRows & { dims: number; test: DenseRows };

/** The same of one of `CLASS_SYNTHETICS`, with `classes`; by the full module, which must be loaded. */
export declare function syntheticClasses(
  kind: string,
  options?: { rows?: number; testRows?: number; noise?: number; seed?: number },
): DenseRows & { dims: number; classes: number; test: DenseRows };

/** The same of one of `GROUP_SYNTHETICS`, with `groups` and `groupNames`; by the full module, which must be loaded. */
export declare function syntheticGroups(
  kind: string,
  options?: { rows?: number; testRows?: number; positives?: number; noise?: number; seed?: number },
): DenseRows & { dims: number; groups: Uint32Array; groupNames: string[]; test: DenseRows & { groups: Uint32Array } };

/**
 * Labels with a share of them (0 … 1) turned over, as noise to train with. Which ones follows from the seed: those of a
 * smaller share are among those of a larger one, and each class keeps at least one row.
 */
export declare function flipLabels(y: Uint8Array, share: number, seed?: number): Uint8Array;
