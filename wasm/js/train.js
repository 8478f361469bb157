// From rows to a model in one call. The module that reads files and the one that has the method are loaded when it is called.

import { checkSignal, checkWatch, need, object, only, stopIf } from "./check.js";
import { UndercurveError } from "./error.js";
import { Session } from "./session.js";
import { rest } from "./slices.js";

const files = () => import("./files.js");

/** Between two rests, in milliseconds. */
const PIECE = 50;

const READING = "name texts na skip encoding".split(" ");
const CHOICE = "label positive impute ignore categorical seed".split(" ");
const RUN = "method model steps seed".split(" ");
const OPTIONS = [...new Set([...READING, ...CHOICE, ...RUN, "split", "signal", "onProgress"])];

const picked = (options, names) => Object.fromEntries(names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));

/** A table of what is given, and the name of its label column. */
async function opened(rows, options) {
  const { DataFile } = await files();
  const { label, signal } = options;
  const reading = { ...picked(options, READING), signal };
  if (!Array.isArray(rows)) {
    need(label === undefined || typeof label === "string", "label", label, "the name of the label column");
    const file = await DataFile.open(typeof rows === "string" ? new TextEncoder().encode(rows) : rows, { name: "rows", ...reading, label });
    return { file, label };
  }
  need(label !== undefined, "label", label, "the name of the label column, or an array with a label for each row");
  return DataFile.ofRows(rows, typeof label === "string" ? { ...reading, label } : { ...reading, labels: label });
}

/** Whether the labels are of several classes, and the method trains them. */
async function hasClasses(file, label, { positive, method }) {
  if (positive !== undefined || method === undefined || label === undefined) return false;
  const column = file.describe().columns.find(({ name }) => name === label);
  if (!column || column.values?.length <= 2) return false;
  const { CLASS_METHODS } = await import("./pkg/methods.js");
  return CLASS_METHODS.some(({ name }) => name === (method.name ?? method));
}

/** What was lost on the way from a file to a model: columns, or digits. */
function lost({ columns }, { about }, { label, ignore = [] }) {
  const read = new Set(about.columns.map(({ name }) => name));
  const told = (says, found) => (found.length ? [`${says} ${found.map(({ name }) => name).join(", ")}`] : []);
  return [
    ...told("columns that tell rows apart are left out:", columns.filter(({ name }) => name !== label && !ignore.includes(name) && !read.has(name))),
    ...told("whole numbers beyond 2^53 were rounded (texts: [column] takes them as they are):", columns.filter(({ name, rounded }) => rounded && read.has(name))),
  ];
}

/**
 * Trains a model on rows, as `undercurve train` of the command line.
 * @param {string | Uint8Array | Blob | Response | ReadableStream | object[] | ArrayLike<unknown>[]} rows
 * @param {import("./train.d.ts").TrainOptions} options
 * @returns {Promise<import("./files.js").Model>}
 */
export async function train(rows, options = {}) {
  object(options, "options", "an object with label");
  only(options, OPTIONS, "");
  const { split, model, onProgress, signal } = options;
  checkWatch({ signal, onProgress });
  checkSignal(signal);
  stopIf(signal);
  need(split === undefined || (split > 0 && split < 1), "split", split, "the share of the rows to train on, between 0 and 1; the others are held out", { code: 9 });
  const { Model } = await files();
  const { file, label } = await opened(rows, options);
  let session;
  try {
    const classes = await hasClasses(file, label, options);
    const choice = { ...picked(options, CHOICE), label, impute: options.impute ?? true, share: split ?? 1 };
    const ready = classes ? file.prepareClasses(choice) : file.prepare(choice);
    // (Without a method cross-entropy, as the command line has it.)
    const method = options.method ?? ((model?.kind ?? "linear") === "linear" ? "ce-exact" : "ce");
    // (Few rows for plain cross-entropy are told of by the module that has exact methods.)
    const elsewhere = (method.name ?? method) === "ce" && !classes;
    session = await Session.create({ ...ready, ...picked(options, RUN), method, elsewhere, signal });
    while (!session.done) {
      session.advance({ milliseconds: PIECE, signal, onProgress });
      await rest();
    }
    const { test, warning, collapsed } = session.snapshot();
    if (collapsed) throw new UndercurveError(`training failed: ${warning}`, { code: 206, argument: "method" });
    const made = await Model.of(ready.preparation, session);
    if (ready.test) made.test = test;
    made.warnings = [...lost(file.describe(), made, { ...options, label }), ...(warning === undefined ? [] : [warning])];
    return made;
  } finally {
    session?.dispose();
    file.dispose();
  }
}

/**
 * A model that was saved: by `save` here, by the command line, Python, Rust or C.
 * @param {Uint8Array | ArrayBuffer | Blob | Response | ReadableStream<Uint8Array>} file
 * @returns {Promise<import("./files.js").Model>}
 */
export async function load(file) {
  return (await files()).Model.load(file);
}

/**
 * Loads the module that reads files, once.
 * @param {import("./load.js").Source | Promise<import("./load.js").Source>} [module]
 */
export async function initFiles(module) {
  return (await files()).initFiles(module);
}
