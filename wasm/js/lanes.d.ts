import type { Backend } from "./backend.js";
import type { Session, Slice, TrainerOptions } from "./session.js";

/** Which runs: seeds from `seed` on; or every point of a grid, with so many seeds each, 1 unless given. 1024 runs at most. */
export type LanesSpec = number | { grid: Record<string, readonly (number | string)[]>; seeds?: number };

/** Training rows, and the runs to make on them. Without groups, constraints and saved bytes. */
export interface LanesOptions<C extends number | undefined = number | undefined> extends Omit<TrainerOptions<C>, "bytes" | "groups" | "groupNames" | "constraints" | "objective"> {
  lanes: LanesSpec;
  backend?: Backend;
}

/** One run of the list. */
export interface Run {
  seed: number;
  /** Those that differ from run to run: a point of the grid. */
  settings: Record<string, number | string>;
}

/** What runs report, each at the place of its run; NaN of one that failed. */
export interface Reports {
  step: Uint32Array;
  /** 1 where the run is over, or failed. */
  done: Uint8Array;
  /** 1 where the run says of itself that it is no result. */
  collapsed: Uint8Array;
  failed: Uint8Array;
  /** Why, of those that failed. */
  errors: (string | undefined)[];
  /** Estimate on the last batch. */
  objective: Float64Array;
  /** By name as in `Metrics`: `auroc`, `ap`, `pauc`, `accuracy`; of several classes `handTill`, `auroc`, `ap`, `accuracy`. */
  metrics: Record<string, Float64Array>;
  /** Points of each curve, where the view asks for curves: runs × points, as in a snapshot. */
  curve?: number;
  roc?: Float32Array;
  pr?: Float32Array;
}

/** Of so many runs that have the figure. */
export interface Spread {
  runs: number;
  mean: number;
  /** Standard deviation (n − 1). */
  sd: number;
  /** 10 %. */
  low: number;
  median: number;
  /** 90 %. */
  high: number;
}

/** The same of curves, point by point. */
export interface CurveBand {
  low: Float32Array;
  median: Float32Array;
  high: Float32Array;
}

/** What runs come to: figures of those that neither failed nor collapsed, NaN where there are none. */
export interface Summary {
  runs: number;
  failed: number;
  collapsed: number;
  done: boolean;
  metrics: Record<string, Spread>;
  objective: Spread;
  roc?: CurveBand;
  pr?: CurveBand;
}

/** Many runs at a step. */
export interface LanesSnapshot {
  /** That of the run that is furthest. */
  step: number;
  /** Whether all are over. */
  done: boolean;
  /** Per step of one run, over the last slice. */
  milliseconds: number;
  /** What trains now, and why: a GPU that fails leaves the rest to the CPU. */
  backend: string;
  backendReason: string;
  reports: Reports;
  summary: Summary;
}

/** What to look at beside metrics. */
export interface LanesView {
  /** Points of the ROC and precision–recall curves. */
  curve?: number;
}

/** What `Lanes` and `WorkerLanes` have in common. */
export interface LanesOf<Trainer> {
  /** Seed and settings of each: seed by seed, the last parameter of a grid fastest. */
  readonly runs: readonly Run[];
  /** What trains: "cpu-simd", "gpu", "gpu-software". */
  readonly backend: string;
  /** Why that and nothing else. */
  readonly backendReason: string;
  /**
   * Trains every run by so many steps, or all of them for about so many milliseconds together. A run that fails stays where it
   * is, and its error is told.
   */
  advance(slice: Slice, view?: LanesView): Promise<LanesSnapshot>;
  /** Trains to the end, or for so many steps if that is before, with a snapshot every so many, 10 unless given. */
  run(run?: { steps?: number; every?: number; view?: LanesView }): AsyncGenerator<LanesSnapshot, void, undefined>;
  /** Metrics of every run. */
  reports(view?: LanesView): Promise<Reports>;
  /** Medians and 10 to 90 % of them. */
  summary(view?: LanesView): Promise<Summary>;
  /** Everything needed to go on with a run: `createTrainer({ ...options, bytes })`. */
  save(lane: number): Promise<Uint8Array>;
  /** A trainer that goes on from a run, which stays here as it is. */
  load(lane: number): Promise<Trainer>;
  /** Gives the memory back. */
  dispose(): void;
}

/**
 * Many runs on the thread of whoever makes them, stepped in turn: after every 10 ms of work, or one step that takes longer, others get the thread. The bits
 * of each are those of a `Session` with its seed and settings.
 */
export declare class Lanes<C extends number | undefined = undefined> implements LanesOf<Session<C>> {
  private constructor();
  /** Loads the modules that the runs need, where they are not loaded yet. */
  static create<C extends number | undefined = undefined>(options: LanesOptions<C>): Promise<Lanes<C>>;
  readonly runs: readonly Run[];
  readonly backend: string;
  readonly backendReason: string;
  advance(slice: Slice, view?: LanesView): Promise<LanesSnapshot>;
  run(run?: { steps?: number; every?: number; view?: LanesView }): AsyncGenerator<LanesSnapshot, void, undefined>;
  reports(view?: LanesView): Promise<Reports>;
  summary(view?: LanesView): Promise<Summary>;
  save(lane: number): Promise<Uint8Array>;
  load(lane: number): Promise<Session<C>>;
  dispose(): void;
}
