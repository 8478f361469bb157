// Judging scores from elsewhere: metrics by name, two scores of the same rows, and thresholds by rules.

import { need, numbersOf, only, shown } from "./check.js";
import { UndercurveError } from "./error.js";
import { once, taken } from "./load.js";
import { called } from "./objective-module.js";

/** @type {typeof import("./pkg/undercurve_judge.js") | undefined} */
let judging;

/**
 * Loads the module that judges, once.
 * @type {ReturnType<typeof once>}
 */
export const initJudge = /* @__PURE__ */ once(
  "undercurve_judge_bg.wasm",
  () => import("./pkg/undercurve_judge.js"),
  (glue) => (judging = glue),
);

/** @type {typeof import("./pkg/undercurve_decide.js") | undefined} */
let deciding;

/**
 * Loads the module with the rules of thresholds, once.
 * @type {ReturnType<typeof once>}
 */
export const initDecide = /* @__PURE__ */ once(
  "undercurve_decide_bg.wasm",
  () => import("./pkg/undercurve_decide.js"),
  (glue) => (deciding = glue),
);

const missing = (value) => value === null || value === undefined || Number.isNaN(value);

/** An array of values, one for each row, none missing; as Python and the command line say it of labels. */
function column(values, what, rows) {
  need(Array.isArray(values) || ArrayBuffer.isView(values), what, values, "an array, one value for each row");
  need(rows === undefined || values.length === rows, what, `of length ${values.length}`, `${rows}, one for each label`, { code: 1 });
  const row = Array.prototype.findIndex.call(values, missing);
  if (row >= 0) throw new UndercurveError(`${what}: row ${row} (from 0)${what === "y" ? ": the label" : ""} is missing`, { argument: what, row });
  return values;
}

/** Numbers from 0 in place of values, and the values. */
function numbered(values, what, rows) {
  if (values === undefined) return { of: new Uint32Array(), names: [] };
  const known = new Map();
  const of = Uint32Array.from(column(values, what, rows), (value) => known.get(value) ?? (known.set(value, known.size), known.size - 1));
  return { of, names: [...known.keys()] };
}

/**
 * 1 for the positive labels: the larger of two numbers; of two words yes, true or positive, else the rarer; or the one that is named.
 * @param {ArrayLike<unknown>} labels @param {unknown} positive
 */
function labelsOf(labels, positive) {
  const { of, names } = numbered(labels, "y");
  need(of.length > 0, "y", "of length 0", "a label for each row", { code: 7 });
  let one = positive === undefined ? -1 : names.indexOf(positive);
  if (positive !== undefined) need(one >= 0, "positive", positive, `one of ${names.slice(0, 16).map(shown).join(", ")}`);
  else {
    const third = of.indexOf(2);
    if (third >= 0) throw new UndercurveError(`y: row ${third} (from 0): the third of more than two label values (${names.slice(0, 16).map((name) => `"${shown(name)}"`).join(", ")}); correct a wrong one, or name the positive one`, { code: 3, argument: "y", row: third });
    if (names.length < 2) throw new UndercurveError(`y: every label is "${shown(names[0])}", and two classes are needed`, { code: 6, argument: "y" });
    if (names.every((name) => typeof name === "string")) {
      const second = of.reduce((sum, label) => sum + label, 0);
      const [first, other, rows, others] = names[0] < names[1] ? [names[0], names[1], of.length - second, second] : [names[1], names[0], second, of.length - second];
      one = names.indexOf((judging ?? deciding).firstIsPositive(first, other, rows, others) ? first : other);
    } else {
      const kind = typeof names[0];
      need(["number", "boolean", "bigint"].includes(kind) && typeof names[1] === kind, "y", `of row ${of.indexOf(1)} (from 0) ${shown(names[1])}`, `a ${kind}, as ${shown(names[0])} is, or two numbers, texts, true and false`, { code: 3 });
      one = names[0] > names[1] ? 0 : 1;
    }
  }
  return Uint8Array.from(of, (label) => Number(label === one));
}

function scoresOf(scores, what, rows) {
  const held = numbersOf(scores, what, Float64Array, "an array of numbers, one for each label");
  need(held.length === rows, what, `of length ${held.length}`, `${rows}, one for each label`, { code: 1 });
  return held;
}

/** Labels, 1 or 0, with gains, weights and clusters, or none of these. (Graded labels are numbers, and all above 0 are positive.) */
function truthOf(y, { weights, clusters, positive, queries }) {
  const graded = queries !== undefined && positive === undefined && new Set(column(y, "y")).size > 2;
  const gains = graded ? numbersOf(y, "y", Float64Array) : new Float64Array();
  const labels = graded ? Uint8Array.from(gains, (gain) => Number(gain > 0)) : labelsOf(y, positive);
  const masses = weights === undefined ? new Float64Array() : scoresOf(weights, "weights", labels.length);
  return { labels, gains, masses, clustered: () => numbered(clusters, "clusters", labels.length).of };
}

/** What rows of any labels may have. */
const OF_ROWS = ["weights", "clusters", "positive"];

/** What a call is of: labels with weights and clusters, in memory of the module until `work` is done. */
async function judged(y, scores, options, known, work) {
  only(options, [...OF_ROWS, ...known], "options.");
  await initJudge();
  const { fpr = [0, 0.05], threshold, queries, groups } = options;
  const { labels, gains, masses, clustered } = truthOf(y, options);
  const rows = labels.length;
  const range = typeof fpr === "number" ? [0, fpr] : fpr;
  need(Array.isArray(range) && range[0] >= 0 && range[0] < range[1] && range[1] <= 1, "fpr", fpr, "a range [low, high] in 0 … 1, or its end", { code: 9 });
  const [ranked, grouped] = [numbered(queries, "queries", rows), numbered(groups, "groups", rows)];
  const given = Object.entries(scores).map(([name, of]) => scoresOf(of, name, rows));
  return called(() => {
    const single = scores.scores instanceof Float32Array;
    const { Beside, Judge } = judging;
    return taken(new Beside(Float64Array.from(range), single, threshold, ranked.of, gains, grouped.of, grouped.names.length), (beside) =>
      taken(new Judge(labels, masses, clustered()), (judge) => work(judge, given, beside, grouped.names)),
    );
  });
}

/** Names of metrics. */
function namesOf(metrics = "auroc,ap,pauc") {
  const names = typeof metrics === "string" ? metrics.split(",") : metrics;
  need(Array.isArray(names) && names.every((name) => typeof name === "string"), "metrics", metrics, 'names, as ["auroc", "precision-at:100"]');
  return names;
}

const number = (value) => (Number.isNaN(value) ? undefined : value);
const interval = ([low, high]) => (Number.isNaN(low) ? undefined : [low, high]);

/** What each of `width` numbers says, by name. */
const byName = (judge, found, width, told) => Object.fromEntries(judge.names().map((name, at) => [name, told(found.subarray(width * at, width * (at + 1)))]));

/**
 * Metrics by name.
 * @param {ArrayLike<unknown>} y @param {ArrayLike<number>} scores @param {import("./judge.d.ts").MetricsOptions} [options]
 */
export async function metrics(y, scores, options = {}) {
  return judged(y, { scores }, options, ["metrics", "intervals", "fpr", "threshold", "queries", "groups"], (judge, [given], beside, groups) => {
    const { intervals = false } = options;
    need(typeof intervals === "boolean", "options.intervals", intervals, "true or false");
    const found = judge.measure(given, beside, namesOf(options.metrics));
    return byName(judge, found, 6, ([value, low, high, noise, ...of]) => {
      if (!intervals) return number(value);
      const named = of.filter((group) => !Number.isNaN(group)).map((group) => groups[group]);
      return { value: number(value), interval: interval([low, high]), ...(named.length > 0 && { groups: named, noise: number(noise) }) };
    });
  });
}

/**
 * Metrics of two scores of the same rows, their differences and p-values.
 * @param {ArrayLike<unknown>} y @param {ArrayLike<number>} a @param {ArrayLike<number>} b @param {import("./judge.d.ts").CompareOptions} [options]
 */
export async function compare(y, a, b, options = {}) {
  return judged(y, { a, b }, options, ["metrics", "fpr"], (judge, given, beside) => {
    const found = judge.compare(...given, beside, namesOf(options.metrics));
    return byName(judge, found, 11, (all) => ({
      values: [all[0], all[1]],
      intervals: [interval(all.subarray(2, 4)), interval(all.subarray(4, 6))],
      difference: all[8],
      interval: interval(all.subarray(6, 8)),
      z: number(all[9]),
      p: number(all[10]),
    }));
  });
}

/**
 * The threshold that a rule asks for.
 * @param {ArrayLike<unknown>} y @param {ArrayLike<number>} scores @param {string} rule @param {import("./judge.d.ts").JudgedRows} [options]
 */
export async function decide(y, scores, rule, options = {}) {
  need(typeof rule === "string", "rule", rule, 'a text, as "fpr<=0.05"');
  only(options, OF_ROWS, "options.");
  await initDecide();
  const { labels, masses, clustered } = truthOf(y, options);
  const given = scoresOf(scores, "scores", labels.length);
  return called(() => {
    const [threshold, truePositives, falsePositives, trueNegatives, falseNegatives, ...ends] = deciding.decide(labels, masses, clustered(), given, rule);
    const intervals = { fpr: [ends[0], ends[1]], recall: [ends[2], ends[3]], precision: [ends[4], ends[5]] };
    return { rule: rule.trim(), threshold, truePositives, falsePositives, trueNegatives, falseNegatives, intervals };
  });
}
