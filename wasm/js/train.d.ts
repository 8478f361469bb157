import type { Source, Watch } from "./common.js";
import type { Bytes, Model, Reading, Row } from "./files.js";
import type { ClassMethodName, MethodName } from "./methods.js";
import type { ClassMethod, ClassMetrics, Method, Metrics, Model as ModelSpec } from "./session.js";

export type { Predictions, Row } from "./files.js";

/** Rows with their labels: the text or the bytes of a CSV or LIBSVM file, or an array. */
export type Given = string | Bytes | readonly Row[];

export interface TrainOptions extends Reading, Watch {
  /** The name of the label column, or, of an array of rows, an array with a label for each. */
  label?: string | ArrayLike<unknown>;
  /** The label that is positive. Default: the larger of two numbers; of two words yes, true or positive, else the rarer. */
  positive?: string;
  /** The share of the rows to train on; the others are held out for `test`. Default: all train. */
  split?: number;
  /**
   * The name of the column of groups, or, of an array of rows, an array with a group for each. The column is a feature, too, unless `ignore` has it. For methods and
   * constraints of groups.
   */
  groups?: string | ArrayLike<unknown>;
  /** As of a session: "gap(fpr) <= 0.05", "loss(first) <= old". */
  constraints?: string[];
  /** As of a session: "auc", "ce" or "cvar:SHARE". */
  objective?: string;
  /**
   * Rows that constraints name: in any form that `train` takes, with the same columns; of arrays without a label column `{ rows, label: [a label for each] }`. They are
   * encoded as the rows of training are, and with `split` the same share of them is held out.
   */
  files?: Record<string, Given | { rows: Given; label: ArrayLike<unknown> }>;
  /** A model to begin at, `old` in constraints: its model, its label and how it reads rows are taken over. Of f32. */
  start?: Model;
  /** What to minimise, and how. Default: cross-entropy, of linear models without `start` by `ce-exact`, else by `ce`. */
  method?: Method | ClassMethod | MethodName | ClassMethodName;
  /** Linear by default. */
  model?: ModelSpec;
  /** Length of the run. */
  steps?: number;
  /** Of the split and of all other random choices. */
  seed?: number;
  /** Fill in missing values; with false rows that have some are refused. Default: true. */
  impute?: boolean;
  /** Columns that are no features. */
  ignore?: string[];
  /** Columns of numbers that are categories. */
  categorical?: string[];
  /** What errors call the rows. */
  name?: string;
}

/** A model with what was measured in training. */
export type TrainedModel = Model & {
  /** Metrics of the rows that were held out. */
  readonly test?: Metrics | ClassMetrics;
  /** Columns that were left out, numbers that were rounded, what speaks against the model with what to try: as Python warns. */
  readonly warnings: string[];
};

/**
 * Trains a model as `undercurve train` of the command line does, with the same bits: on the text of a CSV or LIBSVM file, on a file that was
 * picked or fetched, or on an array of objects or of arrays, which are read as a CSV file of the same rows. Gives way to others every 50 ms. Loads the modules that it needs.
 */
export declare function train(rows: Given, options: TrainOptions): Promise<TrainedModel>;

/** A model that `save` here, the command line, Python, Rust or C saved. Loads its module. */
export declare function load(file: Bytes): Promise<Model>;

/** Loads the module that reads files, once, from `undercurve/undercurve_files_bg.wasm`. */
export declare function initFiles(module?: Source | Promise<Source>): Promise<void>;
