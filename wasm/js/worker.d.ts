import type { Backend } from "./backend.js";
import type { ExactMetrics, ExactOf, ExactOptions, ExactSum, PairLoss } from "./exact.js";
import type { LanesOf, LanesOptions, LanesSnapshot, LanesView, Reports, Run, Summary } from "./lanes.js";
import type { DataFile, Reading } from "./files.js";
import type { flipLabels, synthetic, syntheticClasses, syntheticGroups } from "./index.js";
import type { HeldApart, Numbers, Signal, Source } from "./common.js";
import type { Slice, SnapshotOf, Sparse, TrainerOptions, ViewOf } from "./session.js";

export type { ClassMetrics, ClassSnapshot, ClassView, ConstraintReport, DenseRows, Gap, Grid, GroupMetrics, GroupReport, Judged, JudgedConstraint, Method, Metrics, Model, Rows, Slice, Snapshot, Sparse, TrainerOptions, Verdict, View } from "./session.js";

export { NoGpu, UndercurveError } from "./error.js";
export type { Backend } from "./backend.js";
export type { Curve, ExactMetrics, ExactOf, ExactOptions, ExactSum, PairLoss } from "./exact.js";
export type { CurveBand, LanesOf, LanesOptions, LanesSnapshot, LanesSpec, LanesView, Reports, Run, Spread, Summary } from "./lanes.js";

/** Where a worker and its modules come from, where a bundler does not find them. */
export interface Apart {
  /** A `Worker` that runs `undercurve/worker-host`. Default: that beside the package's scripts. */
  worker?: () => { postMessage(message: any): void; terminate(): unknown };
  /** `undercurve_bg.wasm`, `undercurve_whole_bg.wasm`, … and `undercurve_exact_bg.wasm`: compiled here, once, and given to the worker. */
  wasm?: { train?: Source | Promise<Source>; whole?: Source | Promise<Source>; sums?: Source | Promise<Source>; groups?: Source | Promise<Source>; pairs?: Source | Promise<Source>; exact?: Source | Promise<Source> };
}

/** What an engine does besides training: arguments are copied to the worker, answers come as promises. */
export interface EngineCalls {
  /** As the functions of `undercurve`; `plane` has the first held-out features. */
  synthetic(...of: Parameters<typeof synthetic>): ReturnType<typeof synthetic> & { plane: Float32Array };
  syntheticClasses(...of: Parameters<typeof syntheticClasses>): ReturnType<typeof syntheticClasses> & { names: string[]; plane: Float32Array };
  syntheticGroups(...of: Parameters<typeof syntheticGroups>): ReturnType<typeof syntheticGroups> & { plane: Float32Array };
  /** `flipLabels`. */
  flip(...of: Parameters<typeof flipLabels>): Uint8Array;
  /** Reads a file, which stays open in the worker, and describes it. */
  open(bytes: Uint8Array, name: string, options?: Reading): ReturnType<DataFile["describe"]> & { file: number };
  /** What an open file holds, as of `DataFile`. */
  describe(file: number, ...of: Parameters<DataFile["describe"]>): ReturnType<DataFile["describe"]>;
  /** Rows of an open file, as of `DataFile`. */
  prepare(file: number, ...of: Parameters<DataFile["prepare"]>): ReturnType<DataFile["prepare"]>;
  prepareClasses(file: number, ...of: Parameters<DataFile["prepareClasses"]>): ReturnType<DataFile["prepareClasses"]>;
  /** Frees the memory of a file. */
  close(file: number): void;
}

/** A worker with the module loaded. It can hold several sessions, and it prepares data. */
export declare class Engine implements HeldApart {
  constructor(how?: Apart);
  call<Name extends keyof EngineCalls>(call: Name, ...args: Parameters<EngineCalls[Name]>): Promise<ReturnType<EngineCalls[Name]>>;
  /** Stops the worker; calls in progress fail. */
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A session in a worker. */
export declare class WorkerTrainer<C extends number | undefined = undefined> implements HeldApart {
  /** The backend: "cpu-simd". */
  readonly backend: string;
  /** The reason for this choice. */
  readonly backendReason: string;
  /** Trains for a slice and returns a snapshot. */
  advance(slice: Slice, view?: ViewOf<C>): Promise<SnapshotOf<C>>;
  /** Trains to the end of the run, or for `steps` steps, with a snapshot every `every` steps (default 10). */
  run(run?: { steps?: number; every?: number; view?: ViewOf<C>; signal?: Signal }): AsyncGenerator<SnapshotOf<C>, void, undefined>;
  params(): Promise<Float32Array>;
  /** As `Session.columns`. */
  columns(): Promise<[shift: number, factor: number][] | undefined>;
  /** What `Model.of` reads. */
  layout(): Promise<object>;
  batch(): Promise<Uint32Array>;
  /** As `Session.score`. Rows are copied to the worker. */
  score(X: Numbers | Sparse): Promise<Float32Array>;
  save(): Promise<Uint8Array>;
  /** Frees the memory, and stops the worker if it belongs to this trainer. */
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Many runs in a worker. Trainers loaded from them are in the same worker. */
export declare class WorkerLanes<C extends number | undefined = undefined> implements LanesOf<WorkerTrainer<C>>, HeldApart {
  readonly runs: readonly Run[];
  readonly backend: string;
  readonly backendReason: string;
  advance(slice: Slice, view?: LanesView): Promise<LanesSnapshot>;
  run(run?: { steps?: number; every?: number; view?: LanesView; signal?: Signal }): AsyncGenerator<LanesSnapshot, void, undefined>;
  reports(view?: LanesView): Promise<Reports>;
  summary(view?: LanesView): Promise<Summary>;
  save(lane: number): Promise<Uint8Array>;
  load(lane: number): Promise<WorkerTrainer<C>>;
  /** Frees the memory, and stops the worker if it belongs to these runs. */
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Many runs in a new worker, or in `engine`. */
export declare function createTrainer<C extends number | undefined = undefined>(
  options: LanesOptions<C> & Apart & { engine?: Engine },
): Promise<WorkerLanes<C>>;
/** A trainer in a new worker, or in `engine`. */
export declare function createTrainer<C extends number | undefined = undefined>(
  options: TrainerOptions<C> & Apart & { engine?: Engine; backend?: Backend; lanes?: undefined },
): Promise<WorkerTrainer<C>>;

/** `Exact` in a worker. Scores are copied to it. */
export declare class WorkerExact implements ExactOf {
  readonly backend: string;
  readonly backendReason: string;
  metrics(scores: Numbers): Promise<ExactMetrics>;
  auc<S extends Numbers>(scores: S, of?: PairLoss): Promise<ExactSum<S>>;
  pauc<S extends Numbers>(scores: S, fpr: [number, number], of?: PairLoss): Promise<ExactSum<S>>;
  ap<S extends Numbers>(scores: S, of?: PairLoss): Promise<ExactSum<S>>;
  /** Frees the memory, and stops the worker if it belongs to these rows. */
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `Exact` in a new worker, or in `engine`. */
export declare function createExact(options: ExactOptions & Apart & { engine?: Engine }): Promise<WorkerExact>;
