// Reading files and scoring by saved models: another module, which those who bring arrays never load.

import { once, taken } from "./load.js";
import * as glue from "./pkg/undercurve_files.js";

let loaded = false;

/**
 * Loads the module that reads files, once; as `init` of the package.
 * @type {ReturnType<typeof once>}
 */
export const initFiles = /* @__PURE__ */ once(
  "undercurve_files_bg.wasm",
  () => glue,
  () => (loaded = true),
);

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {number} missing the number of missing values
 * @property {[string, number][] | null} values the distinct values with their counts, if there are at most 100
 */

/**
 * @typedef {object} Choice
 * @property {string} label the label column
 * @property {string} positive the label value that is positive
 * @property {boolean} [impute] fill in missing values instead of refusing them
 * @property {number} [share] of the rows to train with, default 0.6; the others are held out
 * @property {number} [seed] of the split
 */

function rowsOf(data) {
  // Rows that are mostly zeros stay sparse.
  const X = (held) => (data.sparse ? { ptr: data.starts(held), col: data.columns(held), val: data.values(held) } : data.values(held));
  return {
    dims: data.dims,
    X: X(false),
    y: data.labels(false),
    test: { X: X(true), y: data.labels(true) },
    /** For `Model.of`. */
    preparation: data.preparation(),
    /** The first 2000 held-out rows on a plane: themselves if they have two features, else principal components. */
    plane: data.plane(2000),
  };
}

/** A CSV or LIBSVM file, plain or gzip. */
export class DataFile {
  #table;

  /**
   * Errors name file, line and column.
   * @param {Uint8Array} bytes
   * @param {string} name for errors
   */
  constructor(bytes, name) {
    if (!loaded) throw new Error("the module that reads files is not loaded: await initFiles() before");
    this.#table = new glue.Table(bytes, name);
  }

  /** @returns {{ name: string, format: "CSV" | "LIBSVM", rows: number, columns: Column[] }} */
  describe() {
    return JSON.parse(this.#table.describe());
  }

  /**
   * Splits (stratified), encodes and scales; both fitted on the training part. Ready for `Session`; LIBSVM rows that store
   * less than half of all values stay sparse.
   * @param {Choice} choice
   */
  prepare({ label, positive, impute = false, share = 0.6, seed = 1 }) {
    return taken(this.#table.prepare(label, positive, impute, share, seed), rowsOf);
  }

  /**
   * The same with a class for each value of the label column, in the order of their names.
   * @param {Omit<Choice, "positive">} choice
   */
  prepareClasses({ label, impute = false, share = 0.6, seed = 1 }) {
    return taken(this.#table.prepareClasses(label, impute, share, seed), (data) => {
      const names = JSON.parse(data.names());
      return { ...rowsOf(data), classes: names.length, names };
    });
  }

  /** Frees the memory. */
  dispose() {
    this.#table?.free();
    this.#table = undefined;
  }
}

/**
 * A model that `undercurve train --out` or `--save` wrote. It scores rows without the training data, in a page, a worker or Node.
 */
export class Model {
  #model;
  /** The method, the columns it reads, and its labels. */
  about;

  constructor(model) {
    this.#model = model;
    this.about = JSON.parse(model.describe());
  }

  /**
   * @param {Uint8Array} bytes of the file
   * @returns {Promise<Model>}
   */
  static async load(bytes) {
    await initFiles();
    return new Model(new glue.Model(bytes));
  }

  /**
   * The model of a session that was trained on the rows of a file.
   * @param {Uint8Array} preparation from `prepare`
   * @param {Uint8Array} session the bytes of `session.save()`
   * @returns {Promise<Model>}
   */
  static async of(preparation, session) {
    await initFiles();
    return new Model(glue.Model.of(preparation, session));
  }

  /**
   * A model file, which `load` and the command line read.
   * @returns {Uint8Array}
   */
  save() {
    return this.#model.save();
  }

  /**
   * Scores of the rows of a CSV or LIBSVM text, as the command line's `predict`.
   * @param {string | Uint8Array} text
   * @param {{ keep?: string[], name?: string }} [options] columns whose cells are returned in `kept`; the name of the text in errors
   */
  predict(text, { keep = [], name = "rows" } = {}) {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const found = this.#of(this.#model.predict(bytes, keep, name));
    const cells = this.#model.kept();
    const rows = keep.length ? cells.length / keep.length : 0;
    const row = (at) => Object.fromEntries(keep.map((column, k) => [column, cells[at * keep.length + k]]));
    return { ...found, kept: keep.length ? Array.from({ length: rows }, (_, at) => row(at)) : undefined };
  }

  /**
   * One row: `{ column: value }`, with numbers or texts; null or undefined is missing.
   * @param {Record<string, string | number | null | undefined>} row
   */
  predictOne(row) {
    const names = Object.keys(row);
    const { scores, probabilities, labels } = this.#of(this.#model.predictOne(names, names.map((name) => String(row[name] ?? ""))));
    const of = (values) => (this.about.classes.length ? values : values?.[0]);
    return { score: of(scores), probability: of(probabilities), label: labels?.[0] };
  }

  #of(values) {
    const { positive, negative, classes, single, probabilities } = this.about;
    const kind = single ? Float32Array : Float64Array;
    const name = (k) => (classes.length ? classes[k] : k === 1 ? positive : (negative ?? `not ${positive}`));
    const numbers = this.#model.classes(values);
    return {
      scores: kind.from(values),
      probabilities: probabilities ? kind.from(this.#model.probabilities(values)) : undefined,
      labels: numbers.length ? Array.from(numbers, name) : undefined,
    };
  }

  /** Frees the memory. */
  dispose() {
    this.#model?.free();
    this.#model = undefined;
  }
}
