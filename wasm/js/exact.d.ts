import type { Backend } from "./backend.js";
import type { HeldApart, Labels, Numbers, Signal } from "./common.js";
import type { LossName } from "./pkg/names.js";

/** The labels of the rows. */
export interface ExactOptions {
  /** Of both classes, at most 2²⁴ rows. */
  y: Labels;
  /** A weight for each row, 0 or more: the pair (i, j) then counts w_i·w_j, and a row of weight 2 is two rows. On the CPU alone. */
  weights?: Numbers;
  /** `auto` times a hardware GPU and the CPU for .1 s and takes the faster one. */
  backend?: Backend;
  /** Stops loading. */
  signal?: Signal;
}

/** The loss of a pair: a function of the positive's score minus the negative's. */
export interface PairLoss {
  /** Default `squared-hinge`. */
  loss?: LossName;
  /**
   * The margin of `square`, the hinges and `ramp`, the smoothing of `smoothed-hinge`, the scale of the others. Default 1, for
   * `sigmoid` 2.
   */
  param?: number;
}

/** Points of both curves, by descending threshold: at most 510, evenly spaced in both classes. Recall is `tpr`. */
export interface Curve {
  threshold: Float64Array;
  fpr: Float64Array;
  tpr: Float64Array;
  precision: Float64Array;
}

/** Metrics of all rows. */
export interface ExactMetrics {
  /** (wins + ties / 2) / pairs. */
  auroc: number;
  /** Average precision; on a GPU to 10⁻⁶. */
  ap: number;
  /** Pairs whose positive has the higher score; with weights, the products of theirs. */
  wins: number;
  ties: number;
  pairs: number;
  curve: Curve;
  milliseconds: number;
  /** The backend of this call. */
  backend: string;
}

/** A sum over pairs. */
export interface ExactSum<S = Float32Array> {
  value: number;
  /**
   * Its derivative by each score, in the type of the scores: `Float32Array` for a `Float32Array`, else `Float64Array`. On a GPU the
   * error is at most 2·10⁻⁶ of the largest of the class.
   */
  gradient: S extends Float32Array ? Float32Array : Float64Array;
  milliseconds: number;
  /** The backend of this call. What the kernels refuse, such as losses whose squares overflow f32, runs on the CPU. */
  backend: string;
}

/** The same calls, which answer at once, on the CPU. They block the thread. */
export interface ExactSync {
  metrics(scores: Numbers): Omit<ExactMetrics, "milliseconds" | "backend">;
  auc<S extends Numbers>(scores: S, of?: PairLoss): Pick<ExactSum<S>, "value" | "gradient">;
  pauc<S extends Numbers>(scores: S, fpr: [number, number], of?: PairLoss): Pick<ExactSum<S>, "value" | "gradient">;
  ap<S extends Numbers>(scores: S, of?: PairLoss): Pick<ExactSum<S>, "value" | "gradient">;
}

/** The interface of `Exact` and `WorkerExact`. Scores are finite, one for each label, and are read during the call. */
export interface ExactOf extends HeldApart {
  /** The backend: "cpu-simd", "gpu", "gpu-software". After a failure of the device, the CPU. */
  readonly backend: string;
  /** The reason for this choice. */
  readonly backendReason: string;
  /** AUROC, average precision, pair counts and points of the curves. */
  metrics(scores: Numbers): Promise<ExactMetrics>;
  /** The mean loss over all pairs of a positive and a negative. */
  auc<S extends Numbers>(scores: S, of?: PairLoss): Promise<ExactSum<S>>;
  /** The same over the negatives ranked within `fpr`, a range in 0 … 1; negatives at its ends count in part. */
  pauc<S extends Numbers>(scores: S, fpr: [number, number], of?: PairLoss): Promise<ExactSum<S>>;
  /** The loss of average precision, −1/n₊ Σ g₁/g₂, with sums of losses over positives and over all rows; −1 is best. */
  ap<S extends Numbers>(scores: S, of?: PairLoss): Promise<ExactSum<S>>;
  /** Frees the memory. */
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Exact metrics, and values and gradients of pairwise losses over all pairs, in time near-linear in the rows. On the CPU a call
 * blocks its thread, about .1 s for 10⁶ rows; `createExact` of `undercurve/worker` does not.
 */
export declare class Exact implements ExactOf {
  private constructor();
  /** Loads the modules that it needs. Throws `NoGpu` if a GPU is requested and none can be used. */
  static create(options: ExactOptions): Promise<Exact>;
  readonly backend: string;
  readonly backendReason: string;
  metrics(scores: Numbers): Promise<ExactMetrics>;
  auc<S extends Numbers>(scores: S, of?: PairLoss): Promise<ExactSum<S>>;
  pauc<S extends Numbers>(scores: S, fpr: [number, number], of?: PairLoss): Promise<ExactSum<S>>;
  ap<S extends Numbers>(scores: S, of?: PairLoss): Promise<ExactSum<S>>;
  /** For frameworks that want an answer at once, such as `customGrad` of TensorFlow.js. */
  readonly sync: ExactSync;
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}
