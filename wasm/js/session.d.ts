import type { Held, Labels, Numbers, Signal, Watch } from "./common.js";
import type { ClassMethodName, ClassMethodSettings, MethodName, MethodSettings } from "./methods.js";
import type { Presets } from "./pkg/names.js";

/** The model to train; default linear. */
export interface Model {
  /** "mlp" is a multilayer perceptron with ReLU, "mlp-tanh" one with tanh. */
  kind: "linear" | "mlp" | "mlp-tanh";
  /** Units of each hidden layer. */
  hidden?: number[];
  /**
   * Where a network "mlp" of two classes begins: at a linear model of the rows, at random weights, or, by default, where a trial on
   * some of the rows is better.
   */
  init?: "auto" | "linear" | "random";
}

interface MethodOf<N, S> {
  /** As in `METHODS`. */
  name: N;
  /** Range of false-positive rates of the partial AUC, which is trained for or measured; default [0, 0.05]. */
  fpr?: [low: number, high: number];
  /** Parameters of the method that differ from their defaults. */
  settings?: S;
  /** The settings of the method's paper, `paper_settings` in `METHODS`; `settings` override them. */
  preset?: "paper";
}

/** A method with settings for a purpose, and with constraints where none are given. */
interface PresetOf<P extends keyof Presets> extends Omit<MethodOf<Presets[P], MethodSettings[Presets[P]]>, "name" | "preset"> {
  name?: Presets[P];
  /** Of the command line: as `Presets` describes them. */
  preset: P;
}

/** What to minimise, and how: for two classes. */
export type Method = { [N in MethodName]: MethodOf<N, MethodSettings[N]> }[MethodName] | { [P in keyof Presets]: PresetOf<P> }[keyof Presets];
/** The same for several classes. */
export type ClassMethod = { [N in ClassMethodName]: MethodOf<N, ClassMethodSettings[N]> }[ClassMethodName];

/** Features of sparse rows: row k has `val[ptr[k] … ptr[k + 1]]` in the columns `col[…]`, from 0 and ascending. */
export interface Sparse {
  /** Length: rows + 1. */
  ptr: Uint32Array;
  col: Uint32Array;
  val: Float32Array;
}

/** Rows with their labels. */
export interface Rows {
  /** Features, row-major, rows × dims; or sparse rows. */
  X: Float32Array | Sparse;
  /** 1 for positives, 0 for negatives; with `classes` the number of the row's class, from 0. */
  y: Uint8Array;
  /** For two classes: the group of each row, a number from 0 or a name. If training rows have groups, held-out rows have them too. */
  groups?: Uint32Array | string[];
}

/** Rows as they are taken: what is not of the types of `Rows` is copied. */
export interface GivenRows {
  /** Features, row-major, rows × dims; or sparse rows. */
  X: Numbers | Sparse;
  y: Labels;
  groups?: Uint32Array | string[];
}

/** Rows that are not sparse. */
export interface DenseRows extends Rows {
  X: Float32Array;
}

/**
 * Training rows and options. There are two classes unless `classes` gives their number; `C` is its type.
 */
export interface TrainerOptions<C extends number | undefined = number | undefined> extends GivenRows {
  /** Features per row. */
  dims: number;
  /** The number of classes, 3 … 256, each with at least one row; left out for two classes. */
  classes?: C;
  /** Held-out rows; without them metrics are of the training rows. */
  test?: GivenRows;
  /** Linear by default. */
  model?: Model;
  /**
   * A method or its name. Default `ce` (of few rows and many columns the command line's
   * `ce-exact` ranks better); for several classes one of `CLASS_METHODS`.
   */
  method?: C extends number ? ClassMethod | ClassMethodName : Method | MethodName;
  /** The names of numbered groups; default their numbers. */
  groupNames?: string[];
  /**
   * Constraints as on the command line, for methods that train under them (`METHODS[k].groups`): "gap(fpr) <= 0.05",
   * "recall[South] >= 0.8". By default both gaps are at most 0.05. Rates use the threshold 0.
   */
  constraints?: string[];
  /**
   * Rows that constraints name, as `"loss(first) <= old"` does `{ first: { X, y } }`: of two classes or of one, in the columns of
   * `X`, scaled as it is. They serve these constraints alone; `old` is the model of `start`.
   */
  files?: Record<string, Omit<GivenRows, "groups">>;
  /** What such a method minimises: "auc", "ce", or "cvar:SHARE", the mean loss of the worst share of the groups. */
  objective?: string;
  /** Decides the start, the batches and all other random choices. */
  seed?: number;
  /** Length of the run; the learning rate falls over it. */
  steps?: number;
  /**
   * "standard": columns of dense rows get mean 0 and standard deviation 1 over `X`, except columns of 0 and 1. "unit": rows are
   * divided by their length. Default "none", for every method.
   */
  scale?: "standard" | "unit" | "none";
  /** A saved session to resume, on the same data with the same `scale`. Model, method, constraints, seed and steps are those of the saved session. */
  bytes?: Uint8Array;
  /**
   * Parameters to begin at, `old` in constraints, of a session with the same model, columns and `scale` (`params()`). Methods that
   * begin with cross-entropy then do not, unless their `pretrain` is set.
   */
  start?: Float32Array;
  /** Stops loading. */
  signal?: Signal;
}

/** How far to train: a number of steps, or about a number of milliseconds, whichever ends first. */
export interface Slice extends Watch {
  steps?: number;
  milliseconds?: number;
}

/** A grid over two features; values are for the centres of its cells, row by row. */
export interface Grid {
  x: [left: number, right: number];
  y: [bottom: number, top: number];
  columns: number;
  rows: number;
}

/** What to compute for a snapshot besides the metrics. */
export interface View {
  /** Two features only: share of the held-out negatives scored below each point; with `scores` also the score of each. */
  surface?: Grid & { scores?: boolean };
  /** Bins of the score histogram. */
  bins?: number;
  /** Points of the ROC and precision–recall curves. */
  curve?: number;
  /** The same share for the first `ranks` held-out rows. */
  ranks?: number;
  /** The scores of the first `scores` held-out rows. */
  scores?: number;
  /** Finite sums: objective, gradient, step sizes and curvature. */
  sum?: boolean;
  /** Constraints to measure, trained under or not. Needs a session with groups or constraints. */
  judge?: string[];
}

/** The same for several classes. */
export interface ClassView {
  /** Two features only: the class with the highest score at each point. */
  surface?: Grid;
  /** The class that curves and histogram show against all others; default 0. */
  class?: number;
  /** Bins of the histogram of its scores. */
  bins?: number;
  /** Points of its ROC and precision–recall curves. */
  curve?: number;
  /** The class with the highest score for each of the first `winners` held-out rows. */
  winners?: number;
  /** The scores of the first `scores` held-out rows, rows × classes. */
  scores?: number;
}

/** Exact metrics of the held-out rows. */
export interface Metrics {
  auroc: number;
  /** Average precision. */
  ap: number;
  /** Mean true-positive rate over the range of false-positive rates. */
  pauc: number;
  /** At the threshold 0. */
  accuracy: number;
}

/** Whether a constraint is met; "cannot tell" within the noise of so few rows. */
export type Verdict = "met" | "not met" | "cannot tell";

/** An exact measurement of a constraint. */
export interface Judged {
  /** Absent without rows. */
  value?: number;
  bound: number;
  /** In 95 of 100 samples of so many rows the value moves by less than this; absent without rows. */
  noise?: number;
  verdict: Verdict;
  /** For a gap: the two groups. */
  groups?: [string, string];
  /** The number of rows; for a gap of each group. */
  rows: number | [number, number];
}

/** A constraint on the training rows and on the held-out rows, if there are any. The verdict is for the latter. */
export interface JudgedConstraint {
  target: string;
  verdict: Verdict;
  train: Judged;
  test?: Judged;
}

/** A constraint that is trained under. */
export interface ConstraintReport extends JudgedConstraint {
  /** Tracked from batches during the run, at most 0 where the constraint holds; absent before the method's own steps. */
  surrogate?: number;
  /** The multiplier of the constraint, and its upper bound if it has one. */
  dual?: number;
  dualBound?: number;
  /** The share of the last quarter of the run in which the multiplier was at its bound and the constraint violated; absent before. */
  atBound?: number;
  /** Whether that was so in most of it and the training rows violate the constraint: it conflicts with the others. */
  conflict: boolean;
}

/** The largest difference of a rate between two groups, over all thresholds. */
export interface Gap {
  value: number;
  /** In 95 of 100 samples of groups that do not differ, the gap is below this. */
  noise: number;
  groups: [string, string];
  /** Rows of each group with the label of the rate. */
  rows: [number, number];
  /** The threshold of the gap. */
  threshold: number;
}

/** Metrics of one group. Without rows they are absent. */
export interface GroupMetrics {
  group: string;
  rows: number;
  positives: number;
  auroc?: number;
  /** Mean logistic loss. */
  loss?: number;
  /** At the threshold 0, as the next two. */
  accuracy?: number;
  tpr?: number;
  fpr?: number;
  /** Whether the group occurs in the training rows. */
  inTraining: boolean;
  /** As in the snapshot, if the view asks for curves: of the held-out rows, otherwise of the training rows. */
  roc?: Float32Array;
}

/** Metrics by group. */
export interface GroupReport {
  /** The largest gaps of the false- and the true-positive rate; absent if fewer than two groups have such rows. */
  gaps: { fpr?: Gap; tpr?: Gap };
  groups: GroupMetrics[];
}

/** The state of a session at a step. */
export interface Snapshot {
  step: number;
  /** Whether the run has ended. */
  done: boolean;
  /** The number of steps of cross-entropy before those of the method; 0 for most methods. */
  pretraining: number;
  /** Passes over the training rows. */
  pass: number;
  /** The objective's estimate on the last batch; NaN before the first step and for finite sums. */
  objective: number;
  /** Training time per step, over the last slice. */
  milliseconds: number;
  test: Metrics;
  /** A warning about the model, and what to try; absent before the first step. */
  warning?: string;
  /** With a warning: whether training failed, because the scores do not separate the rows or training cannot continue. */
  collapsed?: boolean;
  /** True-positive rate at the false-positive rate k / (points − 1). */
  roc?: Float32Array;
  /** Precision where the recall reaches k / (points − 1). */
  pr?: Float32Array;
  /** Lowest score, highest score, share of the negatives per bin, share of the positives per bin. */
  histogram?: Float32Array;
  /** Rows × columns of the grid. */
  surface?: Float32Array;
  surfaceScores?: Float32Array;
  ranks?: Float32Array;
  scores?: Float32Array;
  /** The constraints that are trained under. */
  constraints?: ConstraintReport[];
  /** The constraints that the view names. */
  judged?: JudgedConstraint[];
  /** Gaps and metrics of rows with groups. */
  byGroup?: { train: GroupReport; test?: GroupReport };
  sum?: { objective: number; gradNormSq: number; alpha: number; alphaMax: number; curvature: number };
}

/** Exact metrics of the held-out rows of several classes. */
export interface ClassMetrics {
  /** The AUC of Hand and Till: the mean AUROC over all ordered pairs of classes. */
  handTill: number;
  /** Mean over the classes. */
  auroc: number;
  /** Mean over the classes. */
  ap: number;
  /** Share of the rows whose own class has the highest score. */
  accuracy: number;
  /** Each class against all others. */
  classes: { rows: number; auroc: number; ap: number }[];
}

/** The state of a session of several classes at a step. */
export interface ClassSnapshot {
  step: number;
  /** Whether the run has ended. */
  done: boolean;
  /** The number of steps of cross-entropy before those of the method; 0 for most methods. */
  pretraining: number;
  /** Passes over the training rows. */
  pass: number;
  /** The objective's estimate on the last batch; NaN before the first step. */
  objective: number;
  /** Training time per step, over the last slice. */
  milliseconds: number;
  test: ClassMetrics;
  /** A warning about the model, and what to try; absent before the first step. */
  warning?: string;
  /** With a warning: whether training failed, because the scores do not separate the rows or training cannot continue. */
  collapsed?: boolean;
  /** For the view's class: true-positive rate at the false-positive rate k / (points − 1). */
  roc?: Float32Array;
  /** For the view's class: precision where the recall reaches k / (points − 1). */
  pr?: Float32Array;
  /** For the view's class: lowest score, highest score, share of the other rows per bin, share of its own rows per bin. */
  histogram?: Float32Array;
  /**
   * Rows × columns of the grid: the class with the highest score, its log-odds against all others, and how far the next class
   * is below.
   */
  surface?: { winner: Uint8Array; odds: Float32Array; lead: Float32Array };
  winners?: Uint8Array;
  scores?: Float32Array;
}

/** Snapshot and view for this number of classes; for two if it is absent. */
export type SnapshotOf<C> = C extends number ? ClassSnapshot : Snapshot;
export type ViewOf<C> = C extends number ? ClassView : View;

/** Training on the CPU in slices, with snapshots. Errors are `UndercurveError`s with a one-sentence message. */
export declare class Session<C extends number | undefined = undefined> implements Held {
  /** Loads the modules that the session needs. */
  static create<C extends number | undefined = undefined>(options: TrainerOptions<C>): Promise<Session<C>>;
  /** Needs a loaded module: `init`, or `initWhole`, `initSums` or `initGroups`; throws `NeedsFull` where it is another. */
  constructor(options: TrainerOptions<C>);
  /**
   * Trains, at most to the end of the run, and returns the number of steps done. A finite sum also computes full gradients, which are
   * not steps, so a short slice may return 0; `done` says whether the run has ended.
   */
  advance(slice: Slice): number;
  /** Trains to the end of the run and returns a snapshot. It blocks the thread; `onProgress` may abort the signal. */
  run(view?: ViewOf<C>, watch?: Watch): SnapshotOf<C>;
  /** Whether the run has ended: all steps are done, or the method has converged. */
  readonly done: boolean;
  snapshot(view?: ViewOf<C>): SnapshotOf<C>;
  /**
   * Scores of any rows with the columns of the training rows, row-major or sparse; they are scaled in the same way. With several
   * classes the log-odds of each against all others, rows × classes, row-major.
   */
  score(X: Numbers | Sparse): Float32Array;
  /** Row numbers of the last batch. */
  batch(): Uint32Array;
  /** Model parameters. */
  params(): Float32Array;
  /** With `scale: "standard"`: the shift of each column and the factor that follows. */
  columns(): [shift: number, factor: number][] | undefined;
  /** What `Model.of` reads. */
  layout(): object;
  /** The bytes of the session, to resume it. */
  save(): Uint8Array;
  /** Frees the memory. */
  dispose(): void;
  [Symbol.dispose](): void;
}
