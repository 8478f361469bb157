// A Parquet file as the text of a CSV file, which the page reads: loaded with the first such file.

import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

/** So many values at most: as a text they have to fit into memory beside themselves. */
const MOST = 20_000_000;

/** A cell of a CSV file. */
function cell(value, column) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "number" || typeof value === "bigint") return Number.isNaN(value) ? "" : String(value);
  if (value instanceof Date) {
    const text = value.toISOString();
    return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text;
  }
  if (typeof value !== "string") throw new Error(`column ${column} holds lists or structures; a table of numbers and texts can be trained on`);
  return /[",\n\r]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The names of the columns: the schema lists what is inside of each behind it. */
function columnsOf([root, ...rest]) {
  let at = 0;
  const next = () => {
    const { name, num_children: inside = 0 } = rest[at++];
    for (let k = 0; k < inside; k += 1) next();
    return name;
  };
  return Array.from({ length: root.num_children }, next);
}

/** The text, and the columns that are text in the file: they are not read again. @param {Uint8Array} bytes @param {string} name for errors @returns {Promise<{ bytes: Uint8Array, texts: string[] }>} */
export async function asCsv(bytes, name) {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  try {
    const metadata = await parquetMetadataAsync(file);
    const columns = columnsOf(metadata.schema);
    const rows = Number(metadata.num_rows);
    if (rows * columns.length > MOST) throw new Error(`${rows.toLocaleString("en")} rows × ${columns.length} columns are more than the page takes; the command line takes them`);
    const read = await parquetReadObjects({ file, metadata, compressors });
    const line = (row) => columns.map((column) => cell(row[column], column)).join(",");
    const text = `${[columns.map((column) => cell(column, column)).join(","), ...read.map(line)].join("\n")}\n`;
    return { bytes: new TextEncoder().encode(text), texts: columns.filter((column) => read.some((row) => typeof row[column] === "string")) };
  } catch (error) {
    throw new Error(`${name}: ${error.message ?? error}`);
  }
}
