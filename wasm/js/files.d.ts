import type { Rows } from "./session.js";

/** What is known of a file's column. */
export interface Column {
  name: string;
  /** How many values are. */
  missing: number;
  /** Different values and how often, where there are at most 100. */
  values: [value: string, count: number][] | null;
}

/** What to make of a file. */
export interface Choice {
  /** The label's column. */
  label: string;
  /** Its value that is positive. */
  positive: string;
  /** Fill in missing values instead of refusing them. */
  impute?: boolean;
  /** Share of the rows to train with, 0.6 unless given; the others are held out. */
  share?: number;
  /** Of the split. */
  seed?: number;
}

/** Loads the module that reads files, once; as `init` of the package, from `undercurve/undercurve_files_bg.wasm`. */
export declare function initFiles(module?: BufferSource | WebAssembly.Module): Promise<void>;

/** A CSV or LIBSVM file, plain or gzip. */
export declare class DataFile {
  /** Errors name file, line and column. */
  constructor(bytes: Uint8Array, name: string);
  describe(): { name: string; format: "CSV" | "LIBSVM"; rows: number; columns: Column[] };
  /**
   * Splits (stratified), encodes and scales, both fitted on the training part. Ready for `Session`; LIBSVM rows that store
   * less than half of all values stay sparse.
   */
  prepare(choice: Choice): Rows & { dims: number; test: Rows; preparation: Uint8Array; plane: Float32Array };
  /**
   * The same with every value of the label column a class of its own: `classes` of them, called `names` in the order of
   * their numbers. At least two, with two rows each.
   */
  prepareClasses(choice: Omit<Choice, "positive">): Rows & { dims: number; classes: number; names: string[]; test: Rows; preparation: Uint8Array; plane: Float32Array };
  /** Gives the memory back. */
  dispose(): void;
}

/** What is known of rows: of several classes rows × classes, row by row. */
export interface Predictions {
  /** In the model's precision; of several classes log-odds. */
  scores: Float32Array | Float64Array;
  /** Of methods that fit some, and of models whose scores are calibrated. */
  probabilities?: Float32Array | Float64Array;
  /** By the model's threshold, or the class of the highest score; not for numbers. */
  labels?: string[];
  /** For each row its cells of the columns `keep`, by column. */
  kept?: Record<string, string>[];
}

/**
 * A model that `undercurve train --out` or `--save` wrote: scores of rows as they come, without training data. In a page, a
 * worker or Node.
 */
export declare class Model {
  /** Loads the module that reads files, too. */
  static load(bytes: Uint8Array): Promise<Model>;
  /** Of a session that was trained on the rows of a file: the `preparation` that came with them, and what its `save` gave. */
  static of(preparation: Uint8Array, session: Uint8Array): Promise<Model>;
  /** A model file, which `load` and the command line read. */
  save(): Uint8Array;
  /** What it is, which columns it reads, which labels it tells apart. */
  readonly about: {
    method: string;
    model: string;
    /** Whether its numbers have 32 bits. */
    single: boolean;
    columns: { name: string; categorical: boolean }[];
    positive: string | null;
    negative: string | null;
    classes: string[];
    threshold: number | null;
    /** How the threshold was chosen: `fpr<=0.05`, `precision>=0.9`, `recall>=0.8`, `top:100`, `top:2%`, `costs:1:20`, or a score. */
    rule: string | null;
    /** Whether there are any: of the method, or by calibration. */
    probabilities: boolean;
    /** How scores were made probabilities, where the method fits none (or it was asked for): `platt` or `isotonic`. */
    calibration: string | null;
    /** Whether it tells numbers. */
    numbers: boolean;
  };
  /**
   * Scores of the rows of a CSV or LIBSVM text (not packed), with a label or without; `keep`: columns whose cells come back as
   * they are written; `name`: what errors, which name line and column, call the text.
   */
  predict(text: string | Uint8Array, options?: { keep?: string[]; name?: string }): Predictions;
  /** One row: `{ column: value }`; null or undefined is missing. Of several classes score and probability are arrays. */
  predictOne(row: Record<string, string | number | null | undefined>): {
    score: number | Float32Array | Float64Array;
    probability?: number | Float32Array | Float64Array;
    label?: string;
  };
  /** Gives the memory back. */
  dispose(): void;
}
