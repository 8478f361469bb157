// An own file: read, looked at, and trained on. Loaded with the first.

import { inspect } from "./inspect.js";
import { choose, engines, place, restart } from "./runs.js";
import { modelsFirst } from "./state.js";
import { own, say } from "./store.js";

/** Models come first: a line beside a small network, for as long as the package trains the network without being told; of more columns, as
 * LIBSVM files have, a line. */
const MODELS = "linear/16";
const MOST_COLUMNS = 800;
const stepsOf = (rows) => Math.min(100_000, Math.max(6000, Math.ceil((20 * 0.6 * rows) / 64)));

/** What a file without rows to train on is, and where it belongs; nothing where that is not known. */
function notData(bytes, name) {
  const begins = String.fromCharCode(...bytes.subarray(0, 64));
  const [, kind] = begins.match(/^undercurve([a-z])\0/) ?? [];
  const takes = "The page takes data to train on: CSV or LIBSVM, plain or gzip, and Parquet.";
  if (kind) {
    return `${name} is a run that undercurve saved. ${takes} On the command line “undercurve eval ${name} DATA” measures a saved model, “undercurve train --resume” goes on with it.`;
  }
  if (/^\s*[[{]/.test(begins)) return `${name} looks like JSON. ${takes}`;
  return "";
}

/** What a table is begun with. */
function begun({ format, columns, rows }) {
  const wide = format === "LIBSVM" || columns.length > MOST_COLUMNS;
  return wide ? { model: "linear", lanes: modelsFirst("linear") } : { model: MODELS, lanes: modelsFirst(MODELS), steps: stepsOf(rows), speed: "max" };
}

/** Trains on what was chosen of a file; what was trained on it before stays as it was. */
function prepare(choice, table) {
  const before = place();
  if (own.peek() && own.peek().file !== choice.file) engines.a.call("close", own.peek().file);
  own.value = choice;
  choose({ data: "file" }, before, choice.positive === undefined ? {} : begun(table));
  say(null);
  restart({ play: true, step: true });
}

let described = null;
/** @param {import("./side.js").Side} side @param {File} file */
export async function openFile(side, file) {
  say(null);
  try {
    let bytes = new Uint8Array(await file.arrayBuffer());
    const other = notData(bytes, file.name);
    if (other) throw new Error(other);
    const parquet = String.fromCharCode(...bytes.subarray(0, 4)) === "PAR1";
    let texts = [];
    if (parquet) ({ bytes, texts } = await (await import("./parquet.js")).asCsv(bytes, file.name));
    const open = async (encoding) => ({ ...(await engines.a.call("open", bytes, file.name, { texts, encoding })), encoding });
    // (Spreadsheets on Windows write other text than the rest of the world.)
    const table = await open("utf8").catch((error) => (/is not UTF-8/.test(error.message) ? open("latin1") : Promise.reject(error)));
    if (parquet) table.format = "Parquet";
    if (described !== null && described !== own.peek()?.file) engines.a.call("close", described);
    described = table.file;
    inspect(side, table, (choice) => prepare(choice, table), (of) => engines.a.call("describe", table.file, of));
  } catch (error) {
    side.forget();
    say(error);
  }
}

