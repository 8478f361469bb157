// The kinds of data, and what lanes are offered and measured by on each.

import { CLASS_METHODS, METHODS } from "undercurve/methods";
import { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "undercurve/synthetics";
import { range } from "./rates.js";
import { SAMPLES } from "./samples.js";

export const LANES = /** @type {const} */ (["a", "b"]);

/** Share of the held-out rows that are positive, or of a class. */
export const prevalence = ({ test }, one = 1) => test.y.filter((label) => label === one).length / test.y.length;

const half = () => 0.5;

export const TWO = {
  name: "two",
  methods: METHODS.filter(({ groups }) => !groups),
  metric: "ap",
  short: "AP",
  title: "Average precision",
  called: "average precision",
  // What is said beside it where it orders the lanes otherwise.
  other: ["auroc", "AUROC"],
  // The curve by step begins there.
  floor: 0,
  // What constant scores have, of both.
  chance: (rows) => prevalence(rows),
  otherChance: half,
};

export const SEVERAL = {
  name: "several",
  methods: CLASS_METHODS.map((method) => ({ ...method, title: method.title.replace(" on several classes", "") })),
  metric: "handTill",
  short: "Hand–Till",
  title: "Hand–Till AUC",
  called: "Hand–Till AUC",
  other: ["accuracy", "accuracy"],
  floor: 0.5,
  chance: half,
  otherChance: (rows) => Math.max(...rows.names.map((_, one) => prevalence(rows, one))),
  columns: [["handTill", "Hand–Till"], ["accuracy", "Accuracy"], ["auroc", "AUROC"], ["ap", "AP"]],
  hint: "Hand–Till: mean AUROC over all ordered pairs of classes. Accuracy: of the class with the highest score. AUROC and AP: means over the classes, each against all others.",
};

export const GROUPS = {
  name: "groups",
  methods: METHODS,
  metric: "worst",
  short: "worst AUROC",
  title: "AUROC of the worst group",
  called: "AUROC of the worst group",
  other: ["auroc", "AUROC of all rows"],
  floor: 0,
  chance: half,
  otherChance: half,
  columns: [["auroc", "AUROC, all rows"], ["worst", "worst group"], ["fprGap", "gap(fpr)", true], ["tprGap", "gap(tpr)", true]],
  hint: "Worst group: the least AUROC within a group. Gaps: the largest difference of the groups’ false- or true-positive rates over all thresholds; smaller is better.",
};

/** Whether a lane trains under the bound on the gap. */
export const isBound = ({ method, settings }) => settings.objective !== "cvar" && METHODS.some(({ name, groups, params }) => name === method && groups && params.some((param) => param.name === "aim"));

/** Whether a method trains for the range of false-positive rates. */
export const isOfRange = (name) => METHODS.some((method) => method.name === name && method.metric === "pauc");

/** What lanes with these methods are measured and compared by, in a range of false-positive rates in per cent. */
export function measures(kind, fpr, methods) {
  if (kind !== TWO) return kind;
  const [low, high] = fpr;
  const partial = { metric: "pauc", short: "pAUC", title: `Partial AUC, ${range(fpr)}`, called: `partial AUC (false positives ${range(fpr)})`, other: ["ap", "average precision"], chance: () => (low + high) / 200, otherChance: TWO.chance };
  return {
    ...TWO,
    ...(methods.some(isOfRange) && partial),
    columns: [["ap", "AP"], ["auroc", "AUROC"], ["pauc", `pAUC ${range(fpr)}`], ["accuracy", "Accuracy"]],
    hint: `pAUC: mean true-positive rate ${low > 0 ? `from ${low}\u00a0% to` : "up to"} ${high}\u00a0% false positives, the band on the ROC curve; drag its edges. Accuracy at score\u00a00.`,
  };
}

/** The drawn kind, or the sample, that the state names. */
export const drawnOf = ({ data }) => [...SYNTHETICS, ...CLASS_SYNTHETICS, ...GROUP_SYNTHETICS].find((one) => one.name === data);
export const sampleOf = ({ data }) => SAMPLES.find((one) => one.name === data);
/** Whether it is drawn with two classes. */
export const isPlain = ({ data }) => SYNTHETICS.some((one) => one.name === data);

/** What the state's data is, which may be the visitor's file. */
export function kindOf(state, own) {
  const chosen = state.data === "file" ? own : sampleOf(state);
  const several = chosen ? chosen.positive === undefined : CLASS_SYNTHETICS.includes(drawnOf(state));
  return several ? SEVERAL : !chosen && GROUP_SYNTHETICS.includes(drawnOf(state)) ? GROUPS : TWO;
}
