import type { Backend } from "./backend.js";

/** Rows of two classes, by label alone. */
export interface ExactOptions {
  /** 1 for positives, 0 for negatives: up to 2²⁴ rows, some of each. */
  y: Uint8Array;
  /** `auto` takes a GPU where a trial of .1 s with as many rows finds it faster, never one in software. */
  backend?: Backend;
}

/** The loss of a pair, of a positive's score less a negative's. */
export interface PairLoss {
  /** `squared-hinge` unless given. */
  loss?: "hinge" | "squared-hinge" | "sigmoid" | "logistic";
  /** The margin of hinges, the scale of the others: 1 unless given, 2 of `sigmoid`. */
  param?: number;
}

/** Points of both curves, by descending threshold: up to 510, at even steps of either class. Recall is `tpr`. */
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
  /** Average precision; from a GPU within 10⁻⁶. */
  ap: number;
  /** Pairs whose positive has the higher score. */
  wins: number;
  ties: number;
  pairs: number;
  curve: Curve;
  milliseconds: number;
  /** What computed it. */
  backend: string;
}

/** A sum over pairs. */
export interface ExactSum {
  value: number;
  /** Its derivative by every score; from a GPU within 2·10⁻⁶ of the largest of its class. */
  gradient: Float32Array;
  milliseconds: number;
  /** What computed it: the CPU what the kernels refuse, such as losses whose squares leave f32. */
  backend: string;
}

/** What `Exact` and `WorkerExact` have in common. Scores are finite, one for each label, and read at the call; a wrong call is an error. */
export interface ExactOf {
  /** What computes: "cpu-simd", "gpu", "gpu-software"; where the device failed, the CPU from then on. */
  readonly backend: string;
  /** Why that and nothing else. */
  readonly backendReason: string;
  /** AUROC, average precision, counts of pairs and points of the curves. */
  metrics(scores: Float32Array): Promise<ExactMetrics>;
  /** The mean loss of all pairs of a positive and a negative. */
  auc(scores: Float32Array, of?: PairLoss): Promise<ExactSum>;
  /** The same of the negatives ranked in `fpr`, a range in 0 … 1, those on its ends by their part. */
  pauc(scores: Float32Array, fpr: [number, number], of?: PairLoss): Promise<ExactSum>;
  /** The loss of average precision, −1/n₊ Σ g₁/g₂ with sums of losses over positives and over all rows; −1 at best. */
  ap(scores: Float32Array, of?: PairLoss): Promise<ExactSum>;
  /** Gives the memory back. */
  dispose(): void;
}

/**
 * Exact metrics, and values and gradients of pairwise losses, of scores of all rows: near-linear in them, not in their pairs. On
 * the CPU a call holds its thread until it is done, some .1 s of 10⁶ rows: `createExact` of `undercurve/worker` holds up nobody.
 */
export declare class Exact implements ExactOf {
  private constructor();
  /** Loads the modules that it needs, where they are not loaded yet. Refused with `NoGpu` where a GPU is asked for in vain. */
  static create(options: ExactOptions): Promise<Exact>;
  readonly backend: string;
  readonly backendReason: string;
  metrics(scores: Float32Array): Promise<ExactMetrics>;
  auc(scores: Float32Array, of?: PairLoss): Promise<ExactSum>;
  pauc(scores: Float32Array, fpr: [number, number], of?: PairLoss): Promise<ExactSum>;
  ap(scores: Float32Array, of?: PairLoss): Promise<ExactSum>;
  dispose(): void;
}
