// From rows to a model in one call. The module that reads files and the one that has the method are loaded when it is called.

import { checkSignal, checkWatch, need, object, only, ownNames, stopIf } from "./check.js";
import { UndercurveError } from "./error.js";
import { Session } from "./session.js";
import { rest } from "./slices.js";

const files = () => import("./files.js");

/** Between two rests, in milliseconds. */
const PIECE = 50;

const READING = "name texts na skip encoding".split(" ");
const CHOICE = "positive impute ignore categorical".split(" ");
const RUN = "method model steps seed constraints objective".split(" ");
const OPTIONS = [...READING, ...CHOICE, ...RUN, ..."label groups files start split signal onProgress".split(" ")];

const picked = (options, names) => Object.fromEntries(names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));

const isList = (cells) => Array.isArray(cells) || ArrayBuffer.isView(cells);

/**
 * A table of what is given, and what its columns of labels and groups are called. `like`: of rows that are encoded as others were, the bytes of
 * their preparation, with the names of label and features.
 */
async function opened(rows, { label, groups, signal, name = "rows", ...reading }, like) {
  const { DataFile } = await files();
  const known = like && { like: like.bytes };
  if (!Array.isArray(rows)) {
    for (const [what, given] of Object.entries({ label, groups })) need(given === undefined || typeof given === "string", what, given, `the name of the ${what} column`);
    const file = await DataFile.open(typeof rows === "string" ? new TextEncoder().encode(rows) : rows, { name, ...reading, label, signal, ...known });
    return { file, label, groups };
  }
  need(label !== undefined || like, "label", label, "the name of the label column, or an array with a label for each row");
  for (const [what, given] of Object.entries({ label, groups })) {
    need(given === undefined || typeof given === "string" || isList(given), what, given, `the name of the ${what} column, or an array with a ${what === "label" ? what : "group"} for each row`);
  }
  const beside = [["label", label, like?.label], ["groups", groups]].filter(([, cells]) => isList(cells));
  const named = typeof label === "string" ? label : undefined;
  return { groups, ...(await DataFile.ofRows(rows, { name, ...reading, label: named, signal, beside, names: like && ownNames(like.sources), ...known })) };
}

/** The model that a run begins at: what its rows are read as, and its parameters. */
function startOf(start, options) {
  if (start === undefined) return undefined;
  need(typeof start?.params === "function" && start.about, "start", start, "a model, of train or load");
  const params = start.params();
  need(params, "start", "of f64", "a model of f32, as those that are trained here");
  const other = [...READING, ...CHOICE].find((name) => options[name] !== undefined && !["name", "skip", "encoding"].includes(name));
  const { label, columns, model, classes, numbers } = start.about;
  need(!numbers, "start", "of a regression", "a model of classes");
  need(other === undefined, other, options[other], "nothing beside start, whose model says how rows are read");
  need(typeof options.label !== "string" || options.label === label, "label", options.label, `${label}, that of start, or leave it out`);
  const [kind, hidden] = model.split(":");
  const spec = hidden ? { kind, hidden: hidden.split(",").map(Number) } : { kind };
  return { params, model: spec, several: classes.length > 0, like: { bytes: start.save(), label, sources: columns.map(({ name }) => name) } };
}

/** Rows that constraints name, as the rows of training are encoded. */
async function besides(given = {}, like, { signal }, choice) {
  object(given, "files", 'an object of rows by name, { first: rows } for "loss(first) <= old"');
  const made = {};
  for (const [name, rows] of Object.entries(given)) {
    // (Rows with an array of labels beside them are an object of both.)
    const pair = typeof rows === "object" && rows !== null && !Array.isArray(rows) && Object.hasOwn(rows, "rows");
    if (pair) only(rows, ["rows", "label"], `files.${name}.`);
    const { file } = await opened(pair ? rows.rows : rows, { ...(pair && { label: rows.label }), signal, name: `files.${name}` }, like);
    try {
      const { X, y } = file.prepare(choice);
      made[name] = { X, y };
    } finally {
      file.dispose();
    }
  }
  return made;
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
function lost({ columns }, { about }, known) {
  const read = new Set(about.columns.map(({ name }) => name));
  const told = (says, found) => (found.length ? [`${says} ${found.map(({ name }) => name).join(", ")}`] : []);
  return [
    ...told("columns that tell rows apart are left out:", columns.filter(({ name }) => !known.includes(name) && !read.has(name))),
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
  const { split, onProgress, signal } = options;
  checkWatch({ signal, onProgress });
  checkSignal(signal);
  stopIf(signal);
  need(split === undefined || (split > 0 && split < 1), "split", split, "the share of the rows to train on, between 0 and 1; the others are held out", { code: 9 });
  const { Model } = await files();
  const start = startOf(options.start, options);
  const { file, label, groups } = await opened(rows, { ...picked(options, READING), label: options.label, groups: options.groups, signal }, start?.like);
  let session;
  try {
    const classes = start ? start.several : await hasClasses(file, label, options);
    const drawn = { share: split ?? 1, ...picked(options, ["seed"]) };
    // (Groups that were given beside the rows are no feature.)
    const ignore = [...(options.ignore ?? []), ...(isList(options.groups) ? [groups] : [])];
    const choice = { impute: true, ...picked(options, CHOICE), ...drawn, label, ignore, ...(groups !== undefined && { groups: [groups] }) };
    const ready = classes ? file.prepareClasses(choice) : file.prepare(choice);
    const others = await besides(options.files, { bytes: ready.preparation, label: start?.like.label ?? label, sources: ready.sources }, options, drawn);
    const model = options.model ?? start?.model;
    // (Without a method cross-entropy, as the command line has it.)
    const method = options.method ?? (!start && (model?.kind ?? "linear") === "linear" ? "ce-exact" : "ce");
    // (Few rows for plain cross-entropy are told of by the module that has exact methods.)
    const elsewhere = (method.name ?? method) === "ce" && !classes;
    session = await Session.create({ ...ready, ...picked(options, RUN), ...(model && { model }), files: others, ...(start && { start: start.params }), method, elsewhere, signal });
    while (!session.done) {
      session.advance({ milliseconds: PIECE, signal, onProgress });
      await rest();
    }
    const { test, warning, collapsed } = session.snapshot();
    if (collapsed) throw new UndercurveError(`training failed: ${warning}`, { code: 206, argument: "method" });
    const made = await Model.of(ready.preparation, session);
    if (ready.test) made.test = test;
    const known = [label, groups, ...ignore];
    made.warnings = [...(start ? [] : lost(file.describe(), made, known)), ...(warning === undefined ? [] : [warning])];
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
