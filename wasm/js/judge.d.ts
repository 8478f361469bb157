import type { Numbers, Source } from "./common.js";

/** Two ends. */
export type Ends = [low: number, high: number];

/**
 * Two of any kind: the larger of two numbers is positive; of two words yes, true or positive, else the rarer. With `queries` they may be more
 * than two numbers from 0 to 100, how relevant each row is; those above 0 are positive.
 */
export type AnyLabels = ArrayLike<unknown>;

/** What else is known of rows. */
export interface JudgedRows {
  /** The label that counts as positive. */
  positive?: unknown;
  /** What each row counts, 0 or more. */
  weights?: Numbers;
  /** Equal values for rows of one cluster (a patient, a site), of which only whole ones are independent. */
  clusters?: ArrayLike<unknown>;
}

export interface MetricsOptions extends JudgedRows {
  /** Names as of the command line's `--metric`: `"auroc,mcclish:0.1,precision-at:2%"`, or an array. Default: auroc, ap, pauc. */
  metrics?: string | readonly string[];
  /** With what stands behind each value: its 95 % interval, and the groups of a gap. */
  intervals?: boolean;
  /** The range of false-positive rates of `pauc`, or its end. Default: [0, .05]. */
  fpr?: Ends | number;
  /** Of `f1` and other metrics at a threshold that is not named. */
  threshold?: number;
  /** The query of each row, for `map`, `ndcg`, `mrr`. */
  queries?: ArrayLike<unknown>;
  /** The group of each row, for `gap(tpr)`, `worst-auroc` and their like. */
  groups?: ArrayLike<unknown>;
}

/** What a metric says. */
export interface Measured {
  /** Undefined where there are no rows to tell it from. */
  value?: number;
  /** The 95 % interval of a metric that has one. */
  interval?: Ends;
  /** The group, or the two groups, that it is of. */
  groups?: unknown[];
  /** Of a gap what 95 of 100 samples of groups that do not differ stay below. */
  noise?: number;
}

/**
 * Exact metrics by name, of scores that are higher for rather positive rows; those from 0 to 1 are probabilities, too. A value is undefined
 * where there are no rows to tell it from. Loads its module.
 */
export declare function metrics(y: AnyLabels, scores: Numbers, options: MetricsOptions & { intervals: true }): Promise<Record<string, Measured>>;
export declare function metrics(y: AnyLabels, scores: Numbers, options?: MetricsOptions & { intervals?: false }): Promise<Record<string, number | undefined>>;

export interface CompareOptions extends JudgedRows {
  /** Of auroc, ap, pauc, mcclish, precision-at and recall-at. */
  metrics?: string | readonly string[];
  fpr?: Ends | number;
}

/** A metric of two scores of the same rows. */
export interface Difference {
  values: [number, number];
  intervals: [Ends | undefined, Ends | undefined];
  /** The first less the second, with its 95 % interval. */
  difference: number;
  interval?: Ends;
  /** The difference over its deviation, and how often scores that are equally good differ by as much or more. */
  z?: number;
  p?: number;
}

/** Metrics of two scores of the same rows, with their differences, 95 % intervals and p-values. Loads its module. */
export declare function compare(y: AnyLabels, a: Numbers, b: Numbers, options?: CompareOptions): Promise<Record<string, Difference>>;

/** `fpr<=A`, `precision>=P`, `recall>=R`, with `@90%` behind it on other rows like these; `alerts<=K`, `youden`, `f1`, `mcc`, `costs:FP:FN`. */
export type Rule = string;

/** A threshold, and what it comes to on these rows. */
export interface Decision {
  rule: string;
  /** Scores from here up are decided positive, midway between two scores; infinite where none is. */
  threshold: number;
  truePositives: number;
  falsePositives: number;
  trueNegatives: number;
  falseNegatives: number;
  /** 95 % intervals, as of a threshold that was fixed before. */
  intervals: { fpr: Ends; recall: Ends; precision: Ends };
}

/** The threshold that a rule asks for; throws where none keeps it, or none can be promised. Loads its module. */
export declare function decide(y: AnyLabels, scores: Numbers, rule: Rule, options?: JudgedRows): Promise<Decision>;

/** Loads the module once, from `undercurve/undercurve_judge_bg.wasm`. */
export declare function initJudge(module?: Source | Promise<Source>): Promise<void>;
/** Likewise that of `decide`, from `undercurve/undercurve_decide_bg.wasm`. */
export declare function initDecide(module?: Source | Promise<Source>): Promise<void>;
