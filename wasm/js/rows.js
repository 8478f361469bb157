// Rows of JavaScript as the CSV file of the same rows, so that one rule says what a cell is.

import { need, shown } from "./check.js";
import { UndercurveError } from "./error.js";

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/** A cell as a file has it. */
function cell(value, row, column, name) {
  if (value === null || value === undefined || Number.isNaN(value)) return '""';
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "string" || typeof value === "boolean") return quoted(String(value));
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new UndercurveError(`${name}: row ${row} (from 0), column "${column}" ${shown(value)}: expected a number, a text, true or false, a Date or null`, { argument: name, row });
}

const isRow = (row) => typeof row === "object" && row !== null && !(row instanceof Date);
const isList = (row) => Array.isArray(row) || ArrayBuffer.isView(row);

/** Names of columns without a name: those of models of arrays in every language. */
const numbered = (width) => Array.from({ length: width }, (_, at) => `x${at + 1}`);

/**
 * The text of an array of rows: objects by column, or arrays of cells.
 * @param {readonly (object | ArrayLike<unknown>)[]} rows
 * @param {{ name?: string, names?: string[], beside?: [what: string, cells: ArrayLike<unknown> | undefined, as?: string][] }} [more] what errors call the rows;
 * what the cells of arrays are called; columns beside them, such as that of labels, and what these are called where it is known
 * @returns {{ bytes: Uint8Array, called: Record<string, string> }} with what the columns beside them are called
 */
export function bytesOfRows(rows, { name = "rows", names, beside = [] } = {}) {
  need(rows.length > 0, name, "of length 0", "a row or more", { code: 7 });
  const lists = isList(rows[0]);
  rows.forEach((row, at) => need(isRow(row) && isList(row) === lists, `${name}[${at}]`, row, lists ? "an array, as the first row is" : "an object, { column: cell }", { row: at }));
  const columns = lists ? (names ?? numbered(rows[0].length)) : [...new Set(rows.flatMap(Object.keys))];
  need(columns.length > 0, `${name}[0]`, "of no columns", "a column or more", { row: 0 });
  if (lists) rows.forEach((row, at) => need(row.length === columns.length, `${name}[${at}]`, `of length ${row.length}`, `${columns.length}, one cell for each column`, { code: 1, row: at }));
  const called = {};
  const more = beside.filter(([, cells]) => cells !== undefined);
  for (const [what, cells, as] of more) {
    need(cells.length === rows.length, what, `of length ${cells.length}`, `${rows.length}, one for each row`, { code: 1 });
    need(!columns.includes(as), what, "", `none: the rows have a column "${as}"`);
    called[what] = as ?? what;
    while (columns.includes(called[what])) called[what] += "_";
  }
  const line = (row, at) => {
    const cells = columns.map((column, k) => cell(row[lists ? k : column], at, column, name));
    for (const [what, of] of more) cells.push(cell(of[at], at, called[what], name));
    // (A line of one cell that is missing would be a blank one.)
    return cells.length > 1 ? cells.join(",") : `${cells[0]},0`;
  };
  const all = [...columns, ...Object.values(called)];
  const head = (all.length > 1 ? all : [columns[0], `${columns[0]}_`]).map(quoted).join(",");
  return { bytes: new TextEncoder().encode(`${head}\n${rows.map(line).join("\n")}\n`), called };
}

/** What `work` makes of such a text; an error then names the row, from 0. */
export function ofRows(rows, work, name = "rows") {
  try {
    return work(name);
  } catch (error) {
    if (error instanceof UndercurveError && error.row !== undefined && error.message.startsWith(`${name}:`)) {
      const said = (place) => name + error.message.slice(name.length).replace(/^:\d+(:\d+)?/, place);
      if (error.row < 2) {
        error.message = said("");
        [error.row, error.column, error.argument] = [undefined, undefined, name];
        throw error;
      }
      // (Cells may have lines of their own.)
      const lines = (row) => Object.values(row).reduce((sum, value) => sum + (typeof value === "string" ? value.split(/\r\n?|\n/).length - 1 : 0), 1);
      let [row, left] = [0, error.row - 2];
      while (row + 1 < rows.length && left >= lines(rows[row])) left -= lines(rows[row++]);
      error.message = said(`: row ${row} (from 0)`);
      [error.row, error.column, error.argument] = [row, undefined, name];
    }
    throw error;
  }
}
