import type { Held, Signal, Source } from "./common.js";
import type { Rows } from "./session.js";

/** A session, or one in a worker. */
interface Trained {
  layout(): unknown;
  save(): Uint8Array | Promise<Uint8Array>;
}

export { UndercurveError } from "./error.js";

/** What bytes come in: at hand, picked, fetched, or as a stream. */
export type Bytes = Uint8Array | ArrayBuffer | { stream(): any; readonly size: number } | { readonly body: any; readonly ok: boolean } | { getReader(): any };

/** A row: cells by column, or in the order of the columns. */
export type Row = Readonly<Record<string, Cell>> | ArrayLike<Cell>;

/** Null, undefined and NaN are missing; a `Date` is a time, whose text is that of `toISOString`. */
export type Cell = string | number | bigint | boolean | Date | null | undefined;

/** A column of a file. */
export interface Column {
  name: string;
  /** The number of missing values. */
  missing: number;
  /** The distinct values with their counts, if there are at most 100. */
  values: [value: string, count: number][] | null;
  /** What its cells are read as; text becomes categories. */
  kind: "number" | "text";
  /** Whether it tells rows apart, and is left out. */
  identifier: boolean;
  /** Whether it has whole numbers beyond 2^53, which were rounded. */
  rounded: boolean;
  /** Whether its numbers are dates: days since the beginning of 1970. */
  dates: boolean;
  /** What cannot be told of its cells, such as whether day or month comes first: it is ignored, or among categorical. */
  doubt: string | null;
  /** Of its numbers. */
  range: [least: number, most: number] | null;
  /** The first cell, with its line, that makes a text of a column of numbers. */
  stray: [line: number, text: string] | null;
  /** Its AUROC alone against the label that was named, by whichever way of it ranks better; null below 50 rows or 10 of a class. From 0.99 on it gives the label away. */
  alone?: number | null;
}

/** How to read a file. */
export interface Choice {
  /** The label column. */
  label: string;
  /** The label value that is positive, or several with commas between them; without it the larger of two numbers, of two words yes, true or positive, else the rarer. */
  positive?: string;
  /** Fill in missing values instead of refusing them. */
  impute?: boolean;
  /** Columns that are no features. */
  ignore?: string[];
  /** Columns of numbers that are categories. */
  categorical?: string[];
  /** Columns whose values make groups of rows. */
  groups?: string[];
  /** How many rows a positive training row counts as, default 1: it is there so many times. */
  weight?: number;
  /** Share of the rows to train on, default 0.6; the others are held out, of 1 none. */
  share?: number;
  /** The seed of the split. */
  seed?: number;
}

/** Rows for `Session`. */
export interface Prepared extends Rows {
  dims: number;
  test?: Rows;
  groupNames?: string[];
  /** For `Model.of`. */
  preparation: Uint8Array;
  /** The first 2000 held-out rows on a plane: themselves if they have two features, else principal components. */
  plane: Float32Array;
  /** The columns that are features; none of LIBSVM. */
  sources: string[];
}

/** How the text of a file is read. */
export interface Reading {
  texts?: string[];
  na?: string[];
  skip?: number;
  encoding?: "utf8" | "latin1";
}

/** How the text of a file is read, in `DataFile`. */
export interface Labelled extends Reading {
  /** The label column: a first line that has this name is one of names. */
  label?: string;
  /** A `preparation`, or the bytes of a model file: the rows are read and encoded as its were, and of a choice only groups, share and seed count. */
  like?: Uint8Array;
}

/** Loads the module that reads files, once; as `init` of the package, from `undercurve/undercurve_files_bg.wasm`. */
export declare function initFiles(module?: Source | Promise<Source>): Promise<void>;

/** A CSV or LIBSVM file, plain or gzip. */
export declare class DataFile implements Held {
  /**
   * Errors name file, line and column. `texts`: columns that are text, whatever they hold. `na`: what stands for missing values, besides
   * empty cells and, among numbers and dates, the usual words: a text, or `COLUMN=TEXT`; `=` says that these words are none. `skip`: lines
   * before the first that counts. `encoding`: with "latin1" text that is no UTF-8 is Windows-1252.
   */
  constructor(bytes: Uint8Array, name: string, options?: Labelled);
  /** Reads a file that is picked, fetched or at hand: a `Blob`, a `Response`, a `ReadableStream`, or bytes. Loads the module. */
  static open(
    file: Bytes,
    options?: Labelled & { name?: string; signal?: Signal; /** After every piece; `of` where the size is known. */ onProgress?: (at: { bytes: number; of?: number }) => void },
  ): Promise<DataFile>;
  /** With a label also what each column alone knows of it. */
  describe(of?: { label: string; positive?: string }): { name: string; format: "CSV" | "LIBSVM"; rows: number; columns: Column[] };
  /**
   * Splits (stratified), encodes and scales, both fitted on the training part. Ready for `Session`; LIBSVM rows that store
   * less than half of all values stay sparse.
   */
  prepare(choice: Choice): Prepared;
  /**
   * The same with a class for each value of the label column: `classes` is their number, `names` their names in order. There
   * are at least two, with two rows each.
   */
  prepareClasses(choice: Omit<Choice, "positive" | "weight">): Prepared & { classes: number; names: string[] };
  /** Frees the memory. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Predictions for rows; with several classes rows × classes, row-major. */
export interface Predictions {
  /** In the model's precision; with several classes log-odds. */
  scores: Float32Array | Float64Array;
  /** If the method gives probabilities or the model is calibrated. */
  probabilities?: Float32Array | Float64Array;
  /** By the model's threshold, or the class with the highest score; none for regression. */
  labels?: string[];
  /** For each row the cells of the columns `keep`. */
  kept?: Record<string, string>[];
}

/**
 * A model that `undercurve train --out` or `--save` wrote. It scores rows without the training data, in a page, a worker or Node.
 */
export declare class Model implements Held {
  private constructor();
  /** Also loads the module that reads files. */
  static load(file: Bytes): Promise<Model>;
  /** From a session trained on the rows of a file: the `preparation` of the rows, and the session or the bytes of its `save()`. */
  static of(preparation: Uint8Array, session: Uint8Array | Trained): Promise<Model>;
  /**
   * From a session trained on your own arrays. `columns` are their names, as in the files that the model is to score; models of sparse
   * rows have none and score LIBSVM files. `label` is the name of the label column in such files, default "label"; `classes` is what
   * is written there: of negatives and positives, default ["0", "1"], or of each class.
   */
  static of(rows: { columns?: string[]; label?: string; classes?: string[] }, session: Trained): Promise<Model>;
  /** A model file, which `load` and the command line read. */
  save(): Uint8Array;
  /** The method, the columns it reads, and its labels. */
  readonly about: {
    method: string;
    model: string;
    /** Whether it computes in f32 (otherwise f64). */
    single: boolean;
    /** The label column; none of LIBSVM. */
    label: string | null;
    columns: { name: string; categorical: boolean }[];
    positive: string | null;
    negative: string | null;
    classes: string[];
    threshold: number | null;
    /** How the threshold was chosen: `fpr<=0.05`, `precision>=0.9`, `recall>=0.8`, `alerts<=100`, `alerts<=2%`, `youden`, `f1`, `mcc`, `costs:1:20`, or a score. */
    rule: string | null;
    /** Whether it gives probabilities, by its method or by calibration. */
    probabilities: boolean;
    /** How scores were calibrated, if they were: `platt`, `isotonic` or `beta`. */
    calibration: string | null;
    /** Whether it is a regression. */
    numbers: boolean;
  };
  /** Parameters, of a model of f32. */
  params(): Float32Array | undefined;
  /** As `undercurve export` writes it. `numeric`: of f32 numbers alone, also where there are categories, dates or f64. */
  toOnnx(options?: { numeric?: boolean }): Uint8Array;
  /**
   * Scores of the rows of a CSV or LIBSVM text (not compressed), with or without a label column, or of an array of objects or arrays. `keep`: columns whose cells are
   * returned as they are. `name`: the name of the text in errors.
   */
  predict(rows: string | Uint8Array | readonly Row[], options?: { keep?: string[]; name?: string }): Predictions;
  /** One row: `{ column: value }`; null and undefined are missing values. With several classes score and probability are arrays. */
  predictOne(row: Record<string, string | number | null | undefined>): {
    score: number | Float32Array | Float64Array;
    probability?: number | Float32Array | Float64Array;
    label?: string;
  };
  /** Frees the memory. */
  dispose(): void;
  [Symbol.dispose](): void;
}
