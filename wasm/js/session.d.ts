/** The model to train; linear unless one is given. */
export interface Model {
  /** A multilayer perceptron has max(·, 0) between its layers, or tanh. */
  kind: "linear" | "mlp" | "mlp-tanh";
  /** Units of each hidden layer. */
  hidden?: number[];
  /**
   * Where a network "mlp" of two classes begins: at a linear model of its rows, at random, or at what a trial on some of the
   * rows finds better, as it does unless this is given.
   */
  init?: "auto" | "linear" | "random";
}

/** What to minimise, and how. */
export interface Method {
  /** As in `METHODS`. */
  name: string;
  /** Range of false-positive rates of the partial AUC; [0, 0.05] unless given. */
  fpr?: [low: number, high: number];
  /** Parameters of the method that differ from their defaults. */
  settings?: Record<string, number | string>;
  /** The settings of the method's paper, `paper_settings` in `METHODS`; `settings` override them. By the full module. */
  preset?: "paper";
}

/** Features of sparse rows: row k has `val[ptr[k] … ptr[k + 1]]` in the columns `col[…]`, from 0 and ascending. */
export interface Sparse {
  /** One more than there are rows. */
  ptr: Uint32Array;
  col: Uint32Array;
  val: Float32Array;
}

/** Rows with their labels. */
export interface Rows {
  /** Features, row-major, rows × dims; or sparse rows. */
  X: Float32Array | Sparse;
  /** 1 for positives, 0 for negatives; where `classes` is given, the number of the row's class, from 0. */
  y: Uint8Array;
  /** Of two classes: the group of each row, by number from 0 or by name. Held-out rows have them as the training rows do. */
  groups?: Uint32Array | string[];
}

/** Rows that are not sparse. */
export interface DenseRows extends Rows {
  X: Float32Array;
}

/**
 * Training rows, and what to do with them. Two classes are trained unless `classes` says how many; `C` is the type of that.
 */
export interface TrainerOptions<C extends number | undefined = number | undefined> extends Rows {
  /** Features per row. */
  dims: number;
  /** How many classes `y` numbers and the model scores, 3 … 256, each with a row; left out for two. */
  classes?: C;
  /** Held-out rows; without them metrics are those of the training rows. */
  test?: Rows;
  /** Linear by default. */
  model?: Model;
  /** Or its name alone. `soap` by default; of several classes `ppd-sg`, and one of `CLASS_METHODS`. */
  method?: Method | string;
  /** What groups with numbers are called; by their numbers unless given. Names are numbered in their order. */
  groupNames?: string[];
  /**
   * What has to hold, as on the command line, for methods that train under constraints (`METHODS[k].groups`): "gap(fpr) <= 0.05",
   * "recall[South] >= 0.8". Without any, both gaps of the rates are to be at most 0.05. Rates are from score 0.
   */
  constraints?: string[];
  /** What such a method minimises: "auc", "ce", or "cvar:SHARE", the mean loss of the worst share of the groups. */
  objective?: string;
  /** Start, batches and everything random follow from it. */
  seed?: number;
  /** Length of the run, over which a learning rate falls. */
  steps?: number;
  /**
   * Columns of dense rows are brought to mean 0 and deviation 1 over `X` (those that hold 0 and 1 alone stay), rows are divided by
   * their length, or taken as they are ("none"), which is the default for every method.
   */
  scale?: "standard" | "unit" | "none";
  /** A saved session to go on with, on the same data with the same `scale`; its model, method, constraints, seed and steps are its own. */
  bytes?: Uint8Array;
}

/** How far to train: so many steps, or about so many milliseconds, whichever ends first. */
export interface Slice {
  steps?: number;
  milliseconds?: number;
}

/** A grid over two features; values belong to the middles of its cells, row by row. */
export interface Grid {
  x: [left: number, right: number];
  y: [bottom: number, top: number];
  columns: number;
  rows: number;
}

/** What to look at in a snapshot beside the metrics. */
export interface View {
  /** Two features only: share of the held-out negatives scored below each point. */
  surface?: Grid;
  /** Bins of the score histogram. */
  bins?: number;
  /** Points of the ROC and precision–recall curves. */
  curve?: number;
  /** As `surface`, for the first so many held-out rows. */
  ranks?: number;
  /** Finite sums: objective, gradient, step sizes and curvature. */
  sum?: boolean;
  /** Constraints to measure, whether they are trained under or not; of sessions with groups or constraints. */
  judge?: string[];
}

/** What to look at in a snapshot of several classes beside the metrics. */
export interface ClassView {
  /** Two features only: the class that wins each point. */
  surface?: Grid;
  /** The class that curves and histogram show against all others; 0 unless given. */
  class?: number;
  /** Bins of the histogram of its scores. */
  bins?: number;
  /** Points of its ROC and precision–recall curves. */
  curve?: number;
  /** The class that wins each of the first so many held-out rows. */
  winners?: number;
}

/** Exact metrics of the held-out rows. */
export interface Metrics {
  auroc: number;
  /** Average precision. */
  ap: number;
  /** Mean true-positive rate over the range of false-positive rates. */
  pauc: number;
  /** Where a score of 0 or more predicts the positive class. */
  accuracy: number;
}

/** Whether a constraint holds: by more than the noise of so few rows, or else it cannot be told. */
export type Verdict = "met" | "not met" | "cannot tell";

/** A constraint, measured exactly on some rows. */
export interface Judged {
  /** None without rows to tell it from. */
  value?: number;
  bound: number;
  /** What the value moves by at most in 95 of 100 samples of so many rows; none without rows. */
  noise?: number;
  verdict: Verdict;
  /** Of a gap: between which groups it is. */
  groups?: [string, string];
  /** Rows that the value is of; of a gap those of each group. */
  rows: number | [number, number];
}

/** A constraint on the training rows and on those that are held out, if there are any; the verdict is of the latter. */
export interface JudgedConstraint {
  target: string;
  verdict: Verdict;
  train: Judged;
  test?: Judged;
}

/** What is said of a constraint that is trained under. */
export interface ConstraintReport extends JudgedConstraint {
  /** Tracked along the run from batches, at most 0 where the constraint holds; none before the method's own steps. */
  surrogate?: number;
  /** What the constraint weighs, and the most that it may, if that is bounded. */
  dual?: number;
  dualBound?: number;
  /** The share of the run's last quarter in which it weighed that much and was violated; none before. */
  atBound?: number;
  /** Whether that was so in most of it, and the training rows violate the constraint: it cannot be met beside the others. */
  conflict: boolean;
}

/** The largest difference of a rate between two groups, over all thresholds. */
export interface Gap {
  value: number;
  /** What it would stay below in 95 of 100 samples if the groups did not differ. */
  noise: number;
  groups: [string, string];
  /** Rows of each that have the rate's label. */
  rows: [number, number];
  /** Where it is: scores from here up. */
  threshold: number;
}

/** The rows of one group. What there are no rows for is left out. */
export interface GroupMetrics {
  group: string;
  rows: number;
  positives: number;
  auroc?: number;
  /** Mean logistic loss. */
  loss?: number;
  /** These from score 0. */
  accuracy?: number;
  tpr?: number;
  fpr?: number;
  /** Whether the training rows have this group. */
  inTraining: boolean;
  /** As in the snapshot, where the view asks for curves: of the held-out rows, or else of the training rows. */
  roc?: Float32Array;
}

/** Rows by group. */
export interface GroupReport {
  /** The largest gaps of the false- and the true-positive rate; none where fewer than two groups have such rows. */
  gaps: { fpr?: Gap; tpr?: Gap };
  groups: GroupMetrics[];
}

/** What a session looks like at a step. */
export interface Snapshot {
  step: number;
  /** Whether the run is over. */
  done: boolean;
  /** Of the run's steps, the first ones that are of cross-entropy, before the method's own; 0 for most methods. */
  pretraining: number;
  /** Passes over the training rows. */
  pass: number;
  /** Estimate on the last batch; NaN before the first step and for finite sums. */
  objective: number;
  /** Of training per step, over the last slice. */
  milliseconds: number;
  test: Metrics;
  /** What is to be said against the model, and what to try; not before the first step. */
  warning?: string;
  /** With a warning: whether the model is no result, as its scores do not tell rows apart or training cannot go on from it. */
  collapsed?: boolean;
  /** True-positive rate at the false-positive rate k / (points − 1). */
  roc?: Float32Array;
  /** Precision where the recall reaches k / (points − 1). */
  pr?: Float32Array;
  /** Lowest score, highest score, share of the negatives per bin, share of the positives per bin. */
  histogram?: Float32Array;
  /** Rows × columns of the grid. */
  surface?: Float32Array;
  ranks?: Float32Array;
  /** What is said of each constraint that is trained under. */
  constraints?: ConstraintReport[];
  /** And of those that the view names. */
  judged?: JudgedConstraint[];
  /** Gaps and metrics of rows with groups. */
  byGroup?: { train: GroupReport; test?: GroupReport };
  sum?: { objective: number; gradNormSq: number; alpha: number; alphaMax: number; curvature: number };
}

/** Exact metrics of the held-out rows of several classes. */
export interface ClassMetrics {
  /** The AUC of Hand and Till: the mean over all ordered pairs of classes of the AUROC of one against the other. */
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

/** What a session of several classes looks like at a step. */
export interface ClassSnapshot {
  step: number;
  /** Whether the run is over. */
  done: boolean;
  /** Of the run's steps, the first ones that are of cross-entropy, before the method's own; 0 for most methods. */
  pretraining: number;
  /** Passes over the training rows. */
  pass: number;
  /** Estimate on the last batch; NaN before the first step. */
  objective: number;
  /** Of training per step, over the last slice. */
  milliseconds: number;
  test: ClassMetrics;
  /** What is to be said against the model, and what to try; not before the first step. */
  warning?: string;
  /** With a warning: whether the model is no result, as its scores do not tell rows apart or training cannot go on from it. */
  collapsed?: boolean;
  /** Of the view's class: true-positive rate at the false-positive rate k / (points − 1). */
  roc?: Float32Array;
  /** Of the view's class: precision where the recall reaches k / (points − 1). */
  pr?: Float32Array;
  /** Of the view's class: lowest score, highest score, share of the other rows per bin, share of its own rows per bin. */
  histogram?: Float32Array;
  /**
   * Rows × columns of the grid: the class with the highest score, its log-odds against all others, and how far those of the
   * next class are below.
   */
  surface?: { winner: Uint8Array; odds: Float32Array; lead: Float32Array };
  winners?: Uint8Array;
}

/** Snapshot and view of sessions with so many classes, or of two where that is left out. */
export type SnapshotOf<C> = C extends number ? ClassSnapshot : Snapshot;
export type ViewOf<C> = C extends number ? ClassView : View;

/** Training on the CPU in slices, with snapshots. Errors are exceptions with one sentence. */
export declare class Session<C extends number | undefined = undefined> {
  /** Loads the modules that the session needs, where they are not loaded yet. */
  static create<C extends number | undefined = undefined>(options: TrainerOptions<C>): Promise<Session<C>>;
  /** Of loaded modules: after `init`; for the exact methods, the finite sums and several classes after `initFull`. */
  constructor(options: TrainerOptions<C>);
  /**
   * Trains, never past the end of the run; returns the steps done. (A finite sum also walks over all rows, which is no step:
   * a short slice may do none before the end. `done` tells that.)
   */
  advance(slice: Slice): number;
  /** Trains to the end of the run and returns what it looks like then; holds up whoever calls it. */
  run(view?: ViewOf<C>): SnapshotOf<C>;
  /** Whether the run is over: its steps are done, or the method has nothing more to do. */
  readonly done: boolean;
  snapshot(view?: ViewOf<C>): SnapshotOf<C>;
  /**
   * Scores of any rows, row-major or sparse, with the columns of the training rows; scaled as they were. Of several classes
   * the log-odds of each against all others, rows × classes, row-major.
   */
  score(X: Float32Array | Sparse): Float32Array;
  /** Rows of the last batch. */
  batch(): Uint32Array;
  /** Model parameters. */
  params(): Float32Array;
  /** With `scale: "standard"`, what each column is shifted by and then multiplied with before the model sees it. */
  columns(): [shift: number, factor: number][] | undefined;
  /** Everything needed to go on later. */
  save(): Uint8Array;
  /** Gives the memory back. */
  dispose(): void;
}
