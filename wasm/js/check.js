// What is refused before the modules see it: they would round it, wrap it, or stop.

import { UndercurveError } from "./error.js";

export const whole = (value, low, high) => Number.isInteger(value) && value >= low && value <= high;

/** A value as a message shows it. */
export function shown(value) {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return value.length > 60 ? `${value.slice(0, 60)}…` : value;
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return value.length === 0 ? "of no entries" : value.length <= 4 ? value.map(shown).join(",") : `an array of ${value.length}`;
  const name = value.constructor?.name ?? "object";
  return `${/^([AEIO]|U(?!int))/.test(name) ? "an" : "a"} ${name}`;
}

/** @param {boolean} holds @param {string} what @param {unknown} value @param {string} expected @param {import("./error.js").Place} [place] */
export function need(holds, what, value, expected, place) {
  if (holds) return;
  throw new UndercurveError(`${what} ${shown(value)}`.trim() + `: expected ${expected}`, { argument: what, ...place });
}

/** Refuses what is no object of options. */
export function object(value, what, expected = "an object") {
  need(typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !Array.isArray(value), what, value, expected);
}

/** Letters to change, to add or to leave out, between two words. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let k = 1; k <= a.length; k += 1) {
    const next = [k];
    for (let at = 1; at <= b.length; at += 1) next[at] = Math.min(row[at] + 1, next[at - 1] + 1, row[at - 1] + (a[k - 1] !== b[at - 1]));
    row = next;
  }
  return row[b.length];
}

/** What was meant, if a known name is no more than two letters away. */
function meant(name, known) {
  const far = known.map((other) => distance(name.toLowerCase(), other.toLowerCase()));
  const least = Math.min(...far);
  return least <= 2 && 2 * least < name.length ? `did you mean ${known[far.indexOf(least)]}?` : undefined;
}

/** Refuses an option that nothing reads. */
export function only(options, known, of) {
  if (options === undefined) return;
  object(options, of.slice(0, -1) || "options");
  const name = Object.keys(options).find((name) => !known.includes(name));
  if (name === undefined) return;
  throw new UndercurveError(`${of}${name}: no such option; ${meant(name, known) ?? `there are ${known.join(", ")}`}`, { code: 202, argument: `${of}${name}` });
}

/** Refuses a name that is not among those there are. */
export function among(name, known, what) {
  if (known.includes(name)) return;
  const hint = typeof name === "string" ? meant(name, known) : undefined;
  need(false, what, name, known.join(", ") + (hint ? `; ${hint}` : ""));
}

/** Losses of a pair, the default of `Exact` first. */
export const LOSSES = "squared-hinge hinge sigmoid logistic square exponential smoothed-hinge ramp".split(" ");

/** Methods for a metric, by what it may be called. */
const FOR = [
  [/^(roc)?au(ro)?c$/, "auc-exact, auc-pairwise"],
  [/^(ap|au(pr|prc|cpr)|averageprecision)$/, "ap-exact, soap"],
  [/^pa(uro|u)c$|^partialauc$/, "pauc-exact, agd-sbcd"],
];

/** An error of the module that lists every name of its own says which was meant instead, or where they are. */
export function nearest(error, others = []) {
  const [, head, name, list] = /^(no method|method \S+ has no parameter) "(.*)"; (?:there are|it has) (.*)$/.exec(error?.message) ?? [];
  if (!head) return error;
  const isMethod = head === "no method";
  const where = isMethod ? "METHODS of undercurve/methods lists them" : `it has ${list}`;
  const metric = isMethod && FOR.find(([called]) => called.test(name.toLowerCase().replace(/[-_ ]/g, "")));
  if (metric) return new UndercurveError(`no method "${name}"; for that metric there are ${metric[1]}`, { code: error.code, argument: error.argument ?? "method.name" });
  const { code, argument = isMethod ? "method.name" : "method.settings" } = error;
  return new UndercurveError(`${head} "${name}"; ${meant(name, [...list.split(", "), ...(isMethod ? others : [])]) ?? where}`, { code, argument });
}

const NUMBERS = [Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array];
const isNumbers = (values) => NUMBERS.some((Type) => values instanceof Type);

/**
 * Labels as the modules take them: numbers 0 and 1, −1 and 1, or booleans; of several classes their numbers. What is no
 * Uint8Array of that is copied.
 * @param {unknown} y @param {string} what @param {number} [classes]
 * @returns {Uint8Array}
 */
export function labelsOf(y, what, classes) {
  const several = classes !== undefined;
  const expected = several ? `class numbers below ${classes}` : "0 or 1 for each row (or −1 and 1, or booleans)";
  need(isNumbers(y) || Array.isArray(y), what, y, `an array of labels: ${expected}`);
  need(y.length > 0, what, "of length 0", "a label for each row", { code: 7 });
  const most = several ? classes - 1 : 1;
  if (y instanceof Uint8Array && y.every((label) => label <= most)) return y;
  const signed = !several && y.includes(-1) && !y.includes(0);
  const out = new Uint8Array(y.length);
  for (let row = 0; row < y.length; row += 1) {
    const label = y[row];
    const value = typeof label === "boolean" && !several ? Number(label) : signed && label === -1 ? 0 : label;
    if (!whole(value, 0, most)) {
      const also = !several && whole(value, 0, 255) ? ", or classes: the number of them" : "";
      throw new UndercurveError(`${what}: the label of row ${row} (from 0) is ${typeof label === "string" ? JSON.stringify(label) : shown(label)}: expected ${expected}${also}`, { code: 3, argument: what, row });
    }
    out[row] = value;
  }
  return out;
}

/** Refuses labels of one class alone. */
export function bothClasses(y, what) {
  for (const [label, name] of [[1, "positive"], [0, "negative"]]) {
    if (!y.includes(label)) throw new UndercurveError(`${what}: no row is ${name}; both positives and negatives are needed`, { code: 6, argument: what });
  }
}

/** Refuses labels where a class has no row: none of its metrics would be known. */
export function everyClass(labels, classes, what) {
  const rows = new Uint32Array(classes);
  for (const label of labels) rows[label] += 1;
  const absent = rows.indexOf(0);
  if (absent >= 0) throw new UndercurveError(`${what}: no row of class ${absent}, and classes is ${classes}`, { code: 6, argument: what });
}

/** What others have and the package does not have here, in its own words. */
const ELSEWHERE = {
  weights: "rows have no weights here, only in Exact, the command line, Rust and Python",
  groups: "a session trains with them, and Python's Objective",
  constraints: "a session trains with them, and Python's Objective",
};

/** Refuses these by name. */
export function refuse(options, names) {
  const name = names.find((name) => options[name] !== undefined);
  if (name !== undefined) throw new UndercurveError(`${name} ${name === "constraints" ? "" : "of rows"}`.trim() + `: expected none: ${ELSEWHERE[name]}`, { code: 202, argument: name });
}

/** Refuses what is no range of false-positive rates. */
export function checkRange(fpr, what = "fpr") {
  const fits = fpr === undefined || (Array.isArray(fpr) && fpr.length === 2 && fpr[0] >= 0 && fpr[0] < fpr[1] && fpr[1] <= 1);
  need(fits, what, fpr, "a range [low, high] in 0 … 1", { code: 9 });
}

/** Numbers in an array of this type; another array of numbers is copied. */
export function numbersOf(values, what, Type, expected = `a ${Type.name}, or an array of numbers`) {
  if (values instanceof Type) return values;
  need(isNumbers(values) || Array.isArray(values), what, values, expected);
  if (Array.isArray(values)) {
    const row = values.findIndex((value) => typeof value !== "number");
    if (row >= 0) {
      const nested = Array.isArray(values[row]) || ArrayBuffer.isView(values[row]);
      const flat = nested ? "one array, row after row: flatten it" : "a number";
      throw new UndercurveError(`${what}: entry ${row} is ${shown(values[row])}: expected ${flat}`, { argument: what, row });
    }
  }
  return Type.from(values);
}

/** Progress is told so often, in milliseconds. */
export const PROGRESS = 50;

/** Stops where a signal was given and says so. */
export const stopIf = (signal) => signal?.throwIfAborted();

/** Refuses what is no signal. */
export function checkSignal(signal) {
  need(signal === undefined || (typeof signal?.throwIfAborted === "function" && typeof signal.addEventListener === "function"), "signal", signal, "an AbortSignal");
}

/** A part of a run, with what watches it. */
export function checkSlice(slice) {
  object(slice, "slice", "an object with steps or milliseconds");
  // (Lanes say whether it is the last one.)
  const { last, ...own } = slice;
  only(own, ["steps", "milliseconds", "signal", "onProgress"], "slice.");
  const { steps = Infinity, milliseconds = Infinity } = slice;
  need(steps !== Infinity || milliseconds !== Infinity, "slice", "", "steps or milliseconds");
  need(steps === Infinity || whole(steps, 0, Number.MAX_SAFE_INTEGER), "steps", steps, "a whole number from 0");
  need(milliseconds >= 0, "milliseconds", milliseconds, "a number from 0");
  checkWatch(slice, Object.keys(slice));
  return { ...slice, steps, milliseconds };
}

/** A run as a walk of slices, with a snapshot after each. */
export function checkRun(run, usual) {
  only(run, ["steps", "every", "view", "signal"], "run.");
  const { steps = Infinity, every = 10, view = usual, signal } = run;
  need(steps === Infinity || whole(steps, 0, Number.MAX_SAFE_INTEGER), "run.steps", steps, "a whole number from 0");
  checkSignal(signal);
  return { steps, every, view, signal };
}

/** What watches a run. */
export function checkWatch(watch = {}, known = ["signal", "onProgress"]) {
  object(watch, "watch", "an object with signal or onProgress");
  only(watch, known, "");
  checkSignal(watch.signal);
  need(watch.onProgress === undefined || typeof watch.onProgress === "function", "onProgress", watch.onProgress, "a function");
}

/** What the cells of arrays are called: as the columns are, where these have names of their own. */
export const ownNames = (names) => (names.length && !names.every((name) => /^x\d+$/.test(name)) ? names : undefined);
