// The one error of the package.

import { CODES, TEXTS } from "./pkg/codes.js";

/** Errors that only JavaScript has, beside those of the core. */
const OWN = { 201: "Argument", 202: "Option", 203: "Disposed", 204: "NeedsFull", 205: "NoGpu", 206: "Failed" };

/** @typedef {{ code?: number, argument?: string, row?: number, column?: number, cause?: unknown }} Place */

/** What every entry throws: a number with its name, and the argument, the row and the column where there is one. */
export class UndercurveError extends Error {
  /** @param {string} message @param {Place} [place] */
  constructor(message, { code = 201, argument, row, column, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "UndercurveError";
    /** @type {number} */
    this.code = code;
    /** The code's name. @type {string} */
    this.kind = CODES[code] ?? OWN[code] ?? "Unknown";
    /** @type {string | undefined} */
    this.argument = argument;
    /** From 0; of a file the line, from 1. @type {number | undefined} */
    this.row = row;
    /** @type {number | undefined} */
    this.column = column;
  }
}

/** Thrown for what another module has, while it is not loaded. */
export class NeedsFull extends UndercurveError {
  constructor(message, { home, ...place } = {}) {
    super(message, { ...place, code: 204 });
    this.name = "NeedsFull";
    /** That module. @type {import("./modules.js").Home | undefined} */
    this.home = home;
  }
}

/** Thrown when a GPU is requested and none can be used. */
export class NoGpu extends UndercurveError {
  constructor(message, place) {
    super(message, { argument: "backend", ...place, code: 205 });
    this.name = "NoGpu";
  }
}

/** Arguments as JavaScript calls them. */
const NAMES = { labels: "y", data: "X", val: "X.val", col: "X.col", ptr: "X.ptr" };

/** What a constraint lacks. */
const LACKS = [[/the rows of this file are not given$|: no constraint names these rows$/, "files"], [/there is no model to start from/, "start"]];

/** What the modules throw. */
export function failed(code, argument, row, column, text) {
  const known = (at) => (Number.isNaN(at) ? undefined : at);
  const name = NAMES[argument] ?? (argument || ([3, 6].includes(code) ? "y" : LACKS.find(([says]) => says.test(text))?.[1]));
  const message = argument in NAMES ? text.replace(`${argument}:`, `${name}:`) : text;
  return new UndercurveError(message, { code, argument: name, row: known(row), column: known(column) });
}

/** Errors that name an argument. */
const NAMED = [1, 2, 5, 7, 9];
/** The same for errors whose text is here; numbers that a text has no place for mean nothing. */
export function refused(code, what, at, need, got) {
  const text = TEXTS[code].replace(/\{(\w+)\}/g, (_, name) => ({ what, at, need, got })[name]);
  return failed(code, CODES[code].startsWith("Checkpoint") ? "bytes" /* that were saved */ : NAMED.includes(code) ? what : "", at, NaN, text);
}

/** An error of any kind as one of these. */
export function asOurs(error) {
  if (error instanceof UndercurveError) return error;
  // A module that stops in the middle gives no sentence of its own.
  const stopped = error instanceof WebAssembly.RuntimeError;
  const text = stopped ? `the WebAssembly module stopped (${error.message}); the data may need more memory than it can have, 4 GB` : error?.message;
  return new UndercurveError(String(text ?? error), { code: 206, cause: error });
}

/** What crosses from a worker in place of an error, and back. */
export const packed = (error) => {
  const { message, code, argument, row, column } = asOurs(error);
  return { message, code, argument, row, column };
};
export function unpacked({ message, ...place }) {
  const Kind = { 204: NeedsFull, 205: NoGpu }[place.code] ?? UndercurveError;
  return new Kind(message, place);
}
