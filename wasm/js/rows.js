// Rows of JavaScript as the CSV file of the same rows, so that one rule says what a cell is.

import { need, shown } from "./check.js";
import { UndercurveError } from "./error.js";

/** What errors call them. */
const NAME = "rows";

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** A cell as a file has it. */
function cell(value, row, column) {
  if (value === null || value === undefined || Number.isNaN(value)) return '""';
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "string" || typeof value === "boolean") return quoted(String(value));
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new UndercurveError(`rows: row ${row} (from 0), column "${column}" ${shown(value)}: expected a number, a text, true or false, a Date or null`, { argument: "rows", row });
}

const isRow = (row) => typeof row === "object" && row !== null && !(row instanceof Date);
const isList = (row) => Array.isArray(row) || ArrayBuffer.isView(row);

/** Names of columns without a name: those of models of arrays in every language. */
const numbered = (width) => Array.from({ length: width }, (_, at) => `x${at + 1}`);

/**
 * The text of an array of rows: objects by column, or arrays of cells.
 * @param {readonly (object | ArrayLike<unknown>)[]} rows
 * @param {{ names?: string[], label?: ArrayLike<unknown> }} [more] what the cells of arrays are called; a label for each row
 * @returns {{ bytes: Uint8Array, label?: string }}
 */
export function bytesOfRows(rows, { names, label } = {}) {
  need(rows.length > 0, NAME, "of length 0", "a row or more", { code: 7 });
  const lists = isList(rows[0]);
  rows.forEach((row, at) => need(isRow(row) && isList(row) === lists, `rows[${at}]`, row, lists ? "an array, as the first row is" : "an object, { column: cell }", { row: at }));
  const columns = lists ? (names ?? numbered(rows[0].length)) : [...new Set(rows.flatMap(Object.keys))];
  need(columns.length > 0, "rows[0]", "of no columns", "a column or more", { row: 0 });
  if (lists) rows.forEach((row, at) => need(row.length === columns.length, `rows[${at}]`, `of length ${row.length}`, `${columns.length}, one cell for each column`, { code: 1, row: at }));
  let called;
  if (label !== undefined) {
    need(label.length === rows.length, "label", `of length ${label.length}`, `${rows.length}, one for each row`, { code: 1 });
    called = "label";
    while (columns.includes(called)) called += "_";
  }
  const line = (row, at) => {
    const cells = columns.map((column, k) => cell(row[lists ? k : column], at, column));
    if (called !== undefined) cells.push(cell(label[at], at, called));
    // (A line of one cell that is missing would be a blank one.)
    return cells.length > 1 ? cells.join(",") : `${cells[0]},0`;
  };
  const all = [...columns, ...(called === undefined ? [] : [called])];
  const head = (all.length > 1 ? all : [columns[0], `${columns[0]}_`]).map(quoted).join(",");
  return { bytes: new TextEncoder().encode(`${head}\n${rows.map(line).join("\n")}\n`), label: called };
}

/** What `work` makes of such a text; an error then names the row, from 0. */
export function ofRows(rows, work) {
  try {
    return work(NAME);
  } catch (error) {
    if (error instanceof UndercurveError && error.row !== undefined && error.message.startsWith(`${NAME}:`)) {
      if (error.row < 2) {
        error.message = error.message.replace(/^rows:\d+(:\d+)?/, NAME);
        [error.row, error.column, error.argument] = [undefined, undefined, NAME];
        throw error;
      }
      // (Cells may have lines of their own.)
      const lines = (row) => Object.values(row).reduce((sum, value) => sum + (typeof value === "string" ? value.split(/\r\n?|\n/).length - 1 : 0), 1);
      let [row, left] = [0, error.row - 2];
      while (row + 1 < rows.length && left >= lines(rows[row])) left -= lines(rows[row++]);
      error.message = error.message.replace(/^rows:\d+(:\d+)?/, `rows: row ${row} (from 0)`);
      [error.row, error.column, error.argument] = [row, undefined, "rows"];
    }
    throw error;
  }
}
