// Reading files and scoring by saved models: another module, which those who bring arrays never load.

import { checkSignal, need, object, only, ownNames, stopIf, whole } from "./check.js";
import { disposable, spoken } from "./dispose.js";
import { UndercurveError, asOurs } from "./error.js";
import { once, taken } from "./load.js";
import { bytesOfRows, ofRows } from "./rows.js";
import * as glue from "./pkg/undercurve_files.js";

export { UndercurveError } from "./error.js";

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
 * @property {"number" | "text"} kind what its cells are read as; text becomes categories
 * @property {boolean} identifier whether it tells rows apart and is left out
 * @property {boolean} rounded whether it has whole numbers beyond 2^53, which were rounded
 * @property {boolean} dates whether its numbers are dates, days since the beginning of 1970
 * @property {string | null} doubt what cannot be told of its cells, so that it trains as categories or not at all
 * @property {[number, number] | null} range of its numbers
 * @property {[number, string] | null} stray the first cell, with its line, that makes a text of a column of numbers
 * @property {number | null} [alone] its AUROC against the label that was named, by whichever way of it ranks better
 */

/**
 * @typedef {object} Choice
 * @property {string} label the label column
 * @property {string} [positive] the label value that is positive, by the rule of the core without it
 * @property {boolean} [impute] fill in missing values instead of refusing them
 * @property {string[]} [ignore] columns that are no features
 * @property {string[]} [categorical] columns of numbers that are categories
 * @property {string[]} [groups] columns whose values make groups of rows
 * @property {number} [weight] how many rows a positive training row counts as, default 1
 * @property {number} [share] of the rows to train with, default 0.6; the others are held out, of 1 none
 * @property {number} [seed] of the split
 */

function rowsOf(data) {
  // Rows that are mostly zeros stay sparse.
  const X = (held) => (data.sparse ? { ptr: data.starts(held), col: data.columns(held), val: data.values(held) } : data.values(held));
  const groupNames = data.groupNames();
  const part = (held) => ({ X: X(held), y: data.labels(held), ...(groupNames.length && { groups: data.groups(held) }) });
  return {
    dims: data.dims,
    ...part(false),
    ...(groupNames.length && { groupNames }),
    ...(data.holdsOut && { test: part(true) }),
    /** For `Model.of`. */
    preparation: data.preparation(),
    /** The first 2000 held-out rows on a plane: themselves if they have two features, else principal components. */
    plane: data.plane(2000),
    /** The columns that are features, of named ones. */
    sources: data.sources(),
  };
}

/** A call of the module; what is no error of its own becomes one. */
function called(work) {
  try {
    return work();
  } catch (error) {
    const ours = asOurs(error);
    for (const [says, hint] of HINTS) ours.message = ours.message.replace(says, `$&${hint}`);
    throw ours;
  }
}

/** What errors say, with the way out in words of this package. */
const HINTS = [
  [/is not UTF-8$/, ' (encoding: "latin1" reads Western European text of Windows)'],
  [/value (".*") in column (".*") of numbers \(.*$/, "; texts: [$2] takes it as text, na: [$1] takes the cell for missing"],
  [/of column (".*") are the same number$/, " (texts: [$1] keeps them apart)"],
  [/or name the positive one$/, ' (positive), or train all of them (method: "ce")'],
];

/** All of a file, piece by piece. */
async function bytesOfFile(file, signal, onProgress) {
  if (file instanceof Uint8Array) return file;
  const isResponse = typeof Response === "function" && file instanceof Response;
  if (isResponse && !file.ok) throw new UndercurveError(`${file.url}: ${file.status} ${file.statusText}`, { code: 206, argument: "file" });
  const stream = isResponse ? file.body : typeof file?.stream === "function" ? file.stream() : file;
  need(typeof stream?.getReader === "function", "file", file, "a Uint8Array, a Blob, a Response or a ReadableStream");
  const of = file.size ?? (Number(file.headers?.get("content-length")) || undefined);
  const reader = stream.getReader();
  const pieces = [];
  let bytes = 0;
  try {
    for (;;) {
      stopIf(signal);
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      bytes += value.length;
      onProgress?.({ bytes, of });
    }
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw signal?.aborted ? signal.reason : asOurs(error);
  }
  const out = new Uint8Array(bytes);
  pieces.reduce((at, piece) => (out.set(piece, at), at + piece.length), 0);
  return out;
}

/** What a preparation is asked for. */
function choice(asked, classes) {
  object(asked, "choice", "an object with label");
  only(asked, ["label", ...(classes ? [] : ["positive", "weight"]), "impute", "ignore", "categorical", "groups", "share", "seed"], "choice.");
  const { label, positive, impute = false, ignore = [], categorical = [], groups = [], weight = 1, share = 0.6, seed = 1 } = asked;
  need(label === undefined || typeof label === "string", "label", label, "the name of the label column");
  need(positive === undefined || typeof positive === "string", "positive", positive, "the label value that is positive, as text");
  need(typeof impute === "boolean", "impute", impute, "true or false");
  for (const [name, columns] of Object.entries({ ignore, categorical, groups })) need(Array.isArray(columns) && columns.every((column) => typeof column === "string"), name, columns, "an array of column names");
  need(whole(weight, 1, 10_000), "weight", weight, "a whole number from 1 to 10000");
  need(share > 0 && share <= 1, "share", share, "a number between 0 and 1, or 1: all train", { code: 9 });
  need(whole(seed, 0, Number.MAX_SAFE_INTEGER), "seed", seed, "a whole number from 0");
  return { label, positive, impute, ignore, categorical, groups, weight, share: share < 1 ? share : undefined, seed };
}

/** How to read a file. */
function reading(options) {
  object(options, "options", "an object of texts, na, skip and encoding");
  only(options, READING, "options.");
  const { texts = [], na = [], skip = 0, encoding = "utf8", label, like } = options;
  need(whole(skip, 0, 1_000_000), "options.skip", skip, "a number of lines");
  need(["utf8", "latin1"].includes(encoding), "options.encoding", encoding, "utf8 or latin1");
  for (const [name, list] of Object.entries({ texts, na })) need(Array.isArray(list) && list.every((text) => typeof text === "string"), `options.${name}`, list, "an array of texts");
  need(label === undefined || typeof label === "string", "options.label", label, "the name of the label column");
  need(like === undefined || like instanceof Uint8Array, "options.like", like, "a preparation that prepare gave, or the bytes of a model file");
  return { texts, na, skip, encoding, label, like };
}

/** The names of these. */
const READING = ["texts", "na", "skip", "encoding", "label", "like"];

/** The table of a file. */
function read({ bytes, name, texts, na, skip, encoding, label, like }) {
  const latin1 = encoding === "latin1";
  return called(() => (like ? glue.Table.again(bytes, name, like, skip, latin1) : new glue.Table(bytes, name, texts, na, skip, latin1, label)));
}

/** A CSV or LIBSVM file, plain or gzip. */
export class DataFile {
  #table;
  /** What it was read from, to be read anew where categories are asked for that were read as numbers. */
  #from;

  /**
   * Errors name file, line and column.
   * @param {Uint8Array} bytes
   * @param {string} name for errors
   * @param {{ texts?: string[], na?: string[], skip?: number, encoding?: "utf8" | "latin1", like?: Uint8Array }} [options] columns that are text, whatever they
   * hold; what stands for missing values; lines before the first that counts; what text that is no UTF-8 is; a preparation that rows are read and encoded by
   */
  constructor(bytes, name, options = {}) {
    if (!loaded) throw new UndercurveError("the module that reads files is not loaded: await initFiles() before", { code: 204 });
    need(bytes instanceof Uint8Array, "bytes", bytes, "a Uint8Array of the file");
    need(typeof name === "string", "name", name, "the name of the file, for errors");
    this.#from = { bytes, name, ...reading(options) };
    this.#table = read(this.#from);
  }

  /**
   * Reads a file that is picked, fetched or at hand.
   * @param {Uint8Array | Blob | Response | ReadableStream<Uint8Array>} file
   * @param {{ name?: string, texts?: string[], na?: string[], skip?: number, encoding?: "utf8" | "latin1", signal?: AbortSignal, onProgress?: (at: { bytes: number, of?: number }) => void }} [options]
   * @returns {Promise<DataFile>}
   */
  static async open(file, options = {}) {
    only(options, ["name", ...READING, "signal", "onProgress"], "options.");
    const { name = file?.name ?? "file", signal, onProgress, ...how } = options;
    checkSignal(signal);
    need(onProgress === undefined || typeof onProgress === "function", "onProgress", onProgress, "a function");
    stopIf(signal);
    const [bytes] = await Promise.all([bytesOfFile(file, signal, onProgress), initFiles()]);
    stopIf(signal);
    return new DataFile(bytes, name, how);
  }

  /**
   * A table of an array of rows, and what its columns of labels and groups are called.
   * @param {readonly (object | ArrayLike<unknown>)[]} rows
   */
  static async ofRows(rows, { signal, name, beside, names, label, ...how }) {
    await initFiles();
    stopIf(signal);
    const { bytes, called } = bytesOfRows(rows, { name, names, beside });
    const file = ofRows(rows, (name) => new DataFile(bytes, name, { ...how, label: called.label ?? label }), name);
    file.#from.rows = rows;
    return { file, label, ...called };
  }

  /**
   * @param {{ label: string, positive?: string }} [of] a label, against which each column is measured alone
   * @returns {{ name: string, format: "CSV" | "LIBSVM", rows: number, columns: Column[] }}
   */
  describe(of) {
    const table = this.#held();
    if (of !== undefined) {
      object(of, "of", "an object with label");
      only(of, ["label", "positive"], "of.");
      need(typeof of.label === "string", "of.label", of.label, "the name of the label column");
    }
    const alone = of && this.#called(() => table.alone(of.label, of.positive));
    const [told, ranges] = [JSON.parse(table.describe()), table.ranges()];
    const range = (k) => (ranges[2 * k] <= ranges[2 * k + 1] ? [ranges[2 * k], ranges[2 * k + 1]] : null);
    return { ...told, columns: told.columns.map((column, k) => ({ ...column, range: range(k), ...(alone && { alone: alone[k] >= 0 ? alone[k] : null }) })) };
  }

  /**
   * Splits (stratified), encodes and scales; both fitted on the training part. Ready for `Session`; LIBSVM rows that store
   * less than half of all values stay sparse.
   * @param {Choice} choice
   */
  prepare(asked) {
    const { label, positive, impute, ignore, categorical, groups, weight, share, seed } = choice(asked, false);
    const table = this.#chosen(ignore, categorical, groups);
    return this.#called(() => {
      return taken(table.prepare(label, positive, false, impute, share, seed), (data) => {
        if (weight > 1) data.weigh(weight);
        return rowsOf(data);
      });
    });
  }

  /**
   * The same with a class for each value of the label column, in the order of their names.
   * @param {Omit<Choice, "positive" | "weight">} choice
   */
  prepareClasses(asked) {
    const { label, impute, ignore, categorical, groups, share, seed } = choice(asked, true);
    const table = this.#chosen(ignore, categorical, groups);
    return taken(this.#called(() => table.prepare(label, undefined, true, impute, share, seed)), (data) => {
      const names = JSON.parse(data.names());
      return { ...rowsOf(data), classes: names.length, names };
    });
  }

  #held() {
    if (!this.#table) throw new UndercurveError("the file was disposed", { code: 203 });
    return this.#table;
  }

  #called(work) {
    const { rows, name } = this.#from;
    return rows ? ofRows(rows, () => called(work), name) : called(work);
  }

  get told() {
    if (!this.#table) return "disposed";
    const { name, format, rows, columns } = this.describe();
    return `${name}: ${format}, ${rows} rows, ${columns.length} columns`;
  }

  /** The table with these choices; categories are what is written. */
  #chosen(ignore, categorical, groups) {
    this.#held();
    const { texts } = this.#from;
    const more = categorical.filter((column) => !texts.includes(column));
    if (more.length) {
      const from = { ...this.#from, texts: [...texts, ...more] };
      const table = read(from);
      this.#table.free();
      [this.#table, this.#from] = [table, from];
    }
    this.#table.choose(ignore, categorical, groups);
    return this.#table;
  }

  /** Frees the memory. */
  dispose() {
    this.#table?.free();
    this.#table = this.#from = undefined;
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
   * @param {Uint8Array | ArrayBuffer | Blob | Response | ReadableStream<Uint8Array>} file
   * @returns {Promise<Model>}
   */
  static async load(file) {
    const given = file instanceof ArrayBuffer ? new Uint8Array(file) : file;
    const [bytes] = await Promise.all([bytesOfFile(given), initFiles()]);
    return new Model(called(() => new glue.Model(bytes)));
  }

  /**
   * The model of a session.
   * @param {Uint8Array | { columns?: string[], label?: string, classes?: string[] }} rows the preparation from `prepare`, or what the
   * columns of your own arrays are called: those of dense rows by name; sparse rows have none
   * @param {Uint8Array | { layout(): any, save(): any }} session the session, or, with a preparation, the bytes of `session.save()`
   * @returns {Promise<Model>}
   */
  static async of(rows, session) {
    const own = !(rows instanceof Uint8Array);
    if (own) {
      object(rows, "rows", "the preparation of prepare(), or { columns: [names] } for your own arrays");
      only(rows, ["columns", "label", "classes"], "rows.");
    }
    const isSession = typeof session?.save === "function" && typeof session.layout === "function";
    need(isSession || (!own && session instanceof Uint8Array), "session", session, own ? "the session itself: its bytes do not say how columns were scaled" : "a session, or the bytes of session.save()");
    const [layout, bytes] = await Promise.all([own ? session.layout() : null, isSession ? session.save() : session, initFiles()]);
    if (!own) return new Model(called(() => glue.Model.of(rows, bytes)));
    const { dims, classes, sparse, unit, shifts, divisors } = layout;
    const { columns, label = "label", classes: names = classes ? Array.from({ length: classes }, (_, k) => String(k)) : ["0", "1"] } = rows;
    const distinct = (list) => Array.isArray(list) && list.every((name) => typeof name === "string" && name !== "") && new Set(list).size === list.length;
    if (sparse) need(columns === undefined, "rows.columns", columns, "none: models of sparse rows read LIBSVM files, whose columns are numbers");
    else need(distinct(columns) && columns.length === dims, "rows.columns", columns, `${dims} different names, one for each column`);
    need(typeof label === "string" && label !== "" && !columns?.includes(label), "rows.label", label, "the name of the label column, which is none of columns");
    need(distinct(names) && names.length === (classes ?? 2), "rows.classes", names, classes ? `${classes} different names` : 'two different names, of negatives and positives, such as ["no", "yes"]');
    return new Model(called(() => glue.Model.ofArrays(columns ?? [], unit, shifts, divisors, sparse ? undefined : label, names, bytes)));
  }

  /**
   * A model file, which `load` and the command line read.
   * @returns {Uint8Array}
   */
  save() {
    return this.#held().save();
  }

  /** Parameters of the model, where it computes in f32. @returns {Float32Array | undefined} */
  params() {
    return this.#held().params();
  }

  /**
   * The model as ONNX, as `undercurve export` writes it.
   * @param {{ numeric?: boolean }} [options] of f32 numbers alone, also where there are categories, dates or f64
   * @returns {Uint8Array}
   */
  toOnnx(options = {}) {
    only(options, ["numeric"], "options.");
    const { numeric = false } = options;
    need(typeof numeric === "boolean", "options.numeric", numeric, "true or false");
    const model = this.#held();
    return called(() => model.toOnnx(numeric));
  }

  /**
   * Scores of rows, as the command line's `predict`: of a CSV or LIBSVM text, or of an array of objects or of arrays.
   * @param {string | Uint8Array | readonly (object | ArrayLike<unknown>)[]} text
   * @param {{ keep?: string[], name?: string }} [options] columns whose cells are returned in `kept`; the name of the text in errors
   */
  predict(text, options = {}) {
    only(options, ["keep", "name"], "options.");
    const { keep = [], name = "rows" } = options;
    const rows = Array.isArray(text) ? text : undefined;
    need(rows || typeof text === "string" || text instanceof Uint8Array, "rows", text, "an array of objects or arrays, the text of a CSV or LIBSVM file, or its bytes");
    need(Array.isArray(keep) && keep.every((column) => typeof column === "string"), "keep", keep, "an array of column names");
    need(typeof name === "string", "name", name, "a name for errors");
    const model = this.#held();
    const bytes = rows ? bytesOfRows(rows, { names: ownNames(this.about.columns.map(({ name }) => name)) }).bytes : typeof text === "string" ? new TextEncoder().encode(text) : text;
    const scored = (name) => called(() => model.predict(bytes, keep, name));
    const found = this.#of(rows ? ofRows(rows, scored) : scored(name));
    const cells = this.#model.kept();
    const count = keep.length ? cells.length / keep.length : 0;
    const row = (at) => Object.fromEntries(keep.map((column, k) => [column, cells[at * keep.length + k]]));
    return { ...found, kept: keep.length ? Array.from({ length: count }, (_, at) => row(at)) : undefined };
  }

  /**
   * One row: `{ column: value }`, with numbers or texts; null or undefined is missing.
   * @param {Record<string, string | number | null | undefined>} row
   */
  predictOne(row) {
    object(row, "row", "an object of columns and their cells");
    const model = this.#held();
    const names = Object.keys(row);
    for (const name of names) need(["string", "number", "undefined"].includes(typeof row[name]) || row[name] === null, name, row[name], "a number, a text, or null");
    const { scores, probabilities, labels } = this.#of(called(() => model.predictOne(names, names.map((name) => String(row[name] ?? "")))));
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

  #held() {
    if (!this.#model) throw new UndercurveError("the model was disposed", { code: 203 });
    return this.#model;
  }

  get told() {
    const { method, model, columns, positive, classes } = this.about;
    const read = columns.map(({ name }) => name);
    const more = read.length > 4 ? `${read.slice(0, 4).join(", ")} and ${read.length - 4} more` : read.join(", ");
    const of = classes.length ? `classes ${classes.slice(0, 4).join(", ")}` : positive === null ? "" : `positive is ${positive}`;
    return [`${method}, ${model}`, more && `reads ${more}`, of, this.#model ? "" : "disposed"].filter(Boolean).join("; ");
  }

  /** Frees the memory. */
  dispose() {
    this.#model?.free();
    this.#model = undefined;
  }
}

disposable(DataFile, Model);
spoken(DataFile, Model);
