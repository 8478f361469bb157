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
  prepare(choice: Choice): Rows & { dims: number; test: Rows; plane: Float32Array };
  /**
   * The same with every value of the label column a class of its own: `classes` of them, called `names` in the order of
   * their numbers. At least two, with two rows each.
   */
  prepareClasses(choice: Omit<Choice, "positive">): Rows & { dims: number; classes: number; names: string[]; test: Rows; plane: Float32Array };
  /** Gives the memory back. */
  dispose(): void;
}
