import type { Backend } from "./backend.js";
import type { Held, Signal } from "./common.js";
import type { Session, Slice, TrainerOptions } from "./session.js";

/** Which runs: a number of seeds, from `seed` on, or every point of a grid with `seeds` seeds each (default 1). At most 1024 runs. */
export type LanesSpec = number | { grid: Record<string, readonly (number | string)[]>; seeds?: number };

/** Training rows and the runs to train on them. Groups, constraints, their files and saved bytes are not supported. */
export interface LanesOptions<C extends number | undefined = number | undefined> extends Omit<TrainerOptions<C>, "bytes" | "start" | "groups" | "groupNames" | "constraints" | "files" | "objective"> {
  lanes: LanesSpec;
  backend?: Backend;
}

/** One run of the list. */
export interface Run {
  seed: number;
  /** The point of the grid: settings that differ between runs. */
  settings: Record<string, number | string>;
}

/** Reports of the runs, in their order; NaN for failed runs. */
export interface Reports {
  step: Uint32Array;
  /** 1 if the run has ended or failed. */
  done: Uint8Array;
  /** 1 if training failed to learn, as `collapsed` in a snapshot. */
  collapsed: Uint8Array;
  failed: Uint8Array;
  /** The errors of failed runs. */
  errors: (string | undefined)[];
  /** The objective's estimate on the last batch. */
  objective: Float64Array;
  /** By name as in `Metrics`: `auroc`, `ap`, `pauc`, `accuracy`; with several classes `handTill`, `auroc`, `ap`, `accuracy`. */
  metrics: Record<string, Float64Array>;
  /** Points of each curve, if the view asks for curves: runs × points, as in a snapshot. */
  curve?: number;
  roc?: Float32Array;
  pr?: Float32Array;
}

/** A figure over the runs that have it. */
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

/** Statistics over the runs that neither failed nor collapsed; NaN if there are none. */
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

/** The state of many runs. */
export interface LanesSnapshot {
  /** The step of the run that is furthest. */
  step: number;
  /** Whether all runs have ended. */
  done: boolean;
  /** Time per step of one run, over the last slice. */
  milliseconds: number;
  /** The backend, and the reason for it. If a GPU fails, the CPU continues. */
  backend: string;
  backendReason: string;
  reports: Reports;
  summary: Summary;
}

/** What to compute besides metrics. */
export interface LanesView {
  /** Points of the ROC and precision–recall curves. */
  curve?: number;
}

/** The interface of `Lanes` and `WorkerLanes`. */
export interface LanesOf<Trainer> extends Held {
  /** Seed and settings of each run, ordered by seed; the last parameter of a grid varies fastest. */
  readonly runs: readonly Run[];
  /** The backend: "cpu-simd", "gpu", "gpu-software". */
  readonly backend: string;
  /** The reason for this choice. */
  readonly backendReason: string;
  /**
   * Trains every run for a number of steps, or all of them together for a number of milliseconds. A run that fails stays where it
   * is and reports its error.
   */
  advance(slice: Slice, view?: LanesView): Promise<LanesSnapshot>;
  /** Trains to the end, or for `steps` steps, with a snapshot every `every` steps (default 10). */
  run(run?: { steps?: number; every?: number; view?: LanesView; signal?: Signal }): AsyncGenerator<LanesSnapshot, void, undefined>;
  /** Metrics of every run. */
  reports(view?: LanesView): Promise<Reports>;
  /** Medians and 10 % to 90 % ranges of the metrics. */
  summary(view?: LanesView): Promise<Summary>;
  /** The bytes of a run, to resume it: `createTrainer({ ...options, bytes })`. */
  save(lane: number): Promise<Uint8Array>;
  /** A trainer that continues from a copy of a run. */
  load(lane: number): Promise<Trainer>;
  /** Frees the memory. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/**
 * Many runs on the caller's thread, stepped in turn. The thread is released after every 10 ms of work, or after one step that takes
 * longer. Each run has the bits of a `Session` with its seed and settings.
 */
export declare class Lanes<C extends number | undefined = undefined> implements LanesOf<Session<C>> {
  private constructor();
  /** Loads the modules that the runs need. */
  static create<C extends number | undefined = undefined>(options: LanesOptions<C>): Promise<Lanes<C>>;
  readonly runs: readonly Run[];
  readonly backend: string;
  readonly backendReason: string;
  advance(slice: Slice, view?: LanesView): Promise<LanesSnapshot>;
  run(run?: { steps?: number; every?: number; view?: LanesView; signal?: Signal }): AsyncGenerator<LanesSnapshot, void, undefined>;
  reports(view?: LanesView): Promise<Reports>;
  summary(view?: LanesView): Promise<Summary>;
  save(lane: number): Promise<Uint8Array>;
  load(lane: number): Promise<Session<C>>;
  dispose(): void;
  [Symbol.dispose](): void;
}
