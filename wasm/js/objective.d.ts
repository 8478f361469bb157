import type { HeldApart, Labels, Numbers, Source } from "./common.js";
import type { ClassMethodSettings, MethodSettings, ObjectiveName } from "./pkg/names.js";

export type { ObjectiveName } from "./pkg/names.js";
export { UndercurveError } from "./error.js";
export { Exact } from "./exact.js";
export type { Curve, ExactMetrics, ExactOf, ExactOptions, ExactSum, ExactSync, PairLoss } from "./exact.js";

interface Common {
  /** The labels of all rows of the data: how many rows there are of each class is part of most objectives. */
  y: Labels;
  /**
   * How batches are drawn: from all rows alike (default), or so many rows of each class. The second weighs the rows of a batch back
   * to the shares of the data.
   */
  sampling?: "uniform" | "stratified";
  /** Of what an objective draws by itself. */
  seed?: number;
  /** What `commit` moves the auxiliary variables of min-max objectives by; default 0.1, some ten times the rate of a network. 0: not at all. */
  auxRate?: number;
}

/** An objective of two classes by name, with its settings. */
type OfTwo = {
  [N in ObjectiveName]: Common & {
    name: N;
    settings?: MethodSettings[N];
    classes?: undefined;
    /** Range of false-positive rates, of methods of partial AUC; default [0, 0.05]. */
    fpr?: [low: number, high: number];
  };
}[ObjectiveName];

/** An objective of several classes. */
type OfSeveral = {
  [N in keyof ClassMethodSettings]: Common & { name: N; settings?: ClassMethodSettings[N]; /** 3 … 256. */ classes: number; fpr?: undefined };
}[keyof ClassMethodSettings];

/** A method of `METHODS` whose objective is of scores, with its settings. Settings of steps, such as `lr`, are refused: steps are yours. */
export type ObjectiveOptions = OfTwo | OfSeveral;

/** The estimate on a batch, to be minimised. */
export interface Told<S> {
  value: number;
  /** Its derivative by each score, in the type of the scores: `Float32Array` for a `Float32Array`, else `Float64Array`. */
  gradient: S extends Float32Array ? Float32Array : Float64Array;
  /** By each auxiliary variable, so that descent is right for all; of most objectives empty. */
  auxGradient: Float64Array;
}

/**
 * The objective of a method, over scores from elsewhere. Calls answer at once, on the caller's thread; inside it computes in f64.
 * `rows` are the numbers of the batch's rows in the data, from 0, in the order of the scores; without them the scores are those of
 * all rows. A row may be there more than once. A batch that lacks a class which the objective needs has value and gradient 0.
 * With `classes` there is a score for each class, row after row.
 */
export declare class Objective implements HeldApart {
  /** Loads the module that has it. */
  static create(options: ObjectiveOptions): Promise<Objective>;
  /** Needs the loaded module: `initObjective`, or `initExact` for names that end in -exact. */
  constructor(options: ObjectiveOptions);
  readonly name: string;
  /** The estimate on a batch alone; what moves from batch to batch does not enter. */
  value(scores: Numbers, rows?: Numbers): number;
  /**
   * The estimate with its derivative, as if the state had moved by this batch (for SOAP: the averages of each positive). The state
   * stays until `commit`, so that a step may ask more than once. Costs a copy of the state: 16 bytes a positive, of SOAP.
   */
  gradient<S extends Numbers>(scores: S, rows?: Numbers): Told<S>;
  /** Moves the state by the batch of the last `gradient`, and auxiliary variables by `auxRate`. Throws without a `gradient` since the last. */
  commit(): void;
  /** The auxiliary variables: those that are minimised over, then those that are maximised over. For an optimizer of your own. */
  get aux(): Float64Array;
  set aux(values: Numbers);
  /** What moves from batch to batch, as bytes. */
  save(): Uint8Array;
  /** Goes on from there: with the same method, settings and labels. */
  load(bytes: Uint8Array): void;
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** As `Objective.create`. */
export declare function createObjective(options: ObjectiveOptions): Promise<Objective>;

/** Loads the module of objectives of batches once, like `init`, from `undercurve/undercurve_objective_bg.wasm`. */
export declare function initObjective(module?: Source | Promise<Source>): Promise<void>;

/** Loads the module of `Exact` once, from `undercurve/undercurve_pairs_bg.wasm`. */
export declare function initPairs(module?: Source | Promise<Source>): Promise<void>;

/** That of `Exact` with weights, and of objectives whose names end in -exact: `undercurve/undercurve_exact_bg.wasm`. */
export declare function initExact(module?: Source | Promise<Source>): Promise<void>;
