// All that decides what the page shows, in the address.

/** The bounds of the gap between groups that there are; null stands for none. */
export const BOUNDS = [0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, null];

/** The page of tools, and those of them that can be unfolded there. */
export const WORKBENCH = ["workbench", "steps", "grid", "all"];

/** How many runs of each lane there are to choose from. */
export const RUNS = [1, 20, 64, 256];

/** What exact gradients of all data are offered of: rows, objectives, losses of a pair, and what may compute them. */
export const ALL = {
  rows: [10_000, 100_000, 1_000_000],
  of: ["auc", "pauc", "ap"],
  loss: ["hinge", "squared-hinge", "sigmoid", "logistic"],
  on: ["auto", "cpu", "gpu", "gpu-software"],
};

/**
 * @typedef {object} All
 * @property {number} rows of the sample, one of `ALL.rows`, as are the next two
 * @property {string} of
 * @property {string} loss
 * @property {string} on what computes
 * @property {[number, number]} fpr the range of the partial AUC, in whole per cents
 * @property {[number, number] | null} w the scorer; none for that of lane A
 */

/**
 * @typedef {object} State
 * @property {string} data name of a drawn kind or of a sample; "file" for the visitor's own
 * @property {number} positives share in per cent, drawn data only
 * @property {number} noise
 * @property {number} flips share of the training labels that are flipped, in per cent
 * @property {number} seed
 * @property {string} edits what was done to the rows by hand, see `hands.js`
 * @property {number} runs of each lane, with the seeds from `seed` on, one of `RUNS`
 * @property {string} model "linear" or hidden widths, "16" or "16,16"; of two with / between, "linear/16", the second is lane B's
 * @property {number} steps length of a run
 * @property {string} speed steps a frame, or "max"
 * @property {[number, number]} fpr the range of false-positive rates of the partial AUC, in per cents and their tenths
 * @property {boolean} near whether the ROC curve is stretched near 0
 * @property {boolean} log whether the histograms have an axis of logarithms
 * @property {number} find the share of the positives that the cut through the rankings finds
 * @property {number | null} bound of the gap between groups, one of `BOUNDS`
 * @property {number} class of several, the one that curves show against all others
 * @property {boolean} sees whether the maps show what the losses see of a batch
 * @property {number | null} dial the direction that is turned by hand, in whole degrees
 * @property {"" | "dial" | "workbench" | "steps" | "grid" | "all"} story what is unfolded below the lanes; from "workbench" on that page
 * @property {string} scene the step of a scene that is open, "2.3"; none where it is empty
 * @property {All} all
 * @property {Record<"a" | "b", { method: string, settings: Record<string, string> }>} lanes
 */

/** What lane B begins with beside cross-entropy. (Rates on drawn data follow their surrogates closely: nearly all of the bound.) */
const BESIDE = { two: { method: "soap", settings: {} }, several: { method: "ppd-sg", settings: {} }, groups: { method: "sonex", settings: { aim: "0.8" } } };

/** What both lanes begin with. @param {"two" | "several" | "groups"} kind of data */
export const lanes = (kind) => structuredClone({ a: { method: "ce", settings: {} }, b: BESIDE[kind] });

/** Whether each lane has a model of its own. @param {string} model */
export const isPair = (model) => model.includes("/");

/** The model of a lane. @param {{ model: string }} state @param {string} lane */
export const modelOf = ({ model }, lane) => model.split("/").at(lane === "a" ? 0 : -1);

/** What lanes of two classes begin with where models come before losses: two models by cross-entropy, and then a loss beside it on one. @param {string} model */
export function modelsFirst(model) {
  const [a, b] = ["a", "b"].map((lane) => ({ method: modelOf({ model }, lane) === "linear" ? "ce-exact" : "ce", settings: {} }));
  return { a, b: isPair(model) ? b : lanes("two").b };
}

/** @returns {State} */
export function defaults() {
  return {
    data: "split",
    positives: 3,
    noise: 0,
    flips: 0,
    edits: "",
    seed: 1,
    runs: 1,
    model: "linear",
    steps: 300,
    speed: "10",
    fpr: [0, 5],
    near: false,
    log: true,
    find: 0.5,
    bound: 0.05,
    class: 0,
    sees: false,
    dial: null,
    story: "",
    scene: "",
    all: { rows: 100_000, of: "pauc", loss: "sigmoid", on: "auto", fpr: [0, 5], w: null },
    lanes: lanes("two"),
  };
}

/** A range in per cents, as an address has it. */
function range(text, pattern = /^(\d{1,3})-(\d{1,3})$/) {
  const [low, high] = text?.match(pattern)?.slice(1).map(Number) ?? [];
  return low < high && high <= 100 ? [low, high] : undefined;
}

/** Units of a hidden layer, and weights of a network, that an address may ask for: more would not answer for minutes. Characters of edits. */
export const MOST = { units: 256, weights: 100_000, edits: 4000 };

/** Whether a model, "linear" or hidden widths such as "16,16", is one that is offered. */
function fits(model) {
  if (model === "linear") return true;
  if (!/^[1-9]\d{0,2}(,[1-9]\d{0,2}){0,2}$/.test(model)) return false;
  const widths = model.split(",").map(Number);
  return widths.every((units) => units <= MOST.units) && widths.slice(1).reduce((sum, units, k) => sum + units * widths[k], 0) <= MOST.weights;
}

/**
 * Reads an address's part after #; what does not fit is left at its default, lanes that are not named are null.
 * @param {string} hash
 * @param {(text: string) => void} [refused] told of what is beyond a limit
 * @returns {State}
 */
export function read(hash, refused = () => {}) {
  const state = defaults();
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const between = (name, low, high, otherwise) => {
    const text = query.get(name);
    if (!text) return otherwise;
    const value = Number(text);
    if (!(value >= low && value <= high)) refused(`${name}=${text.slice(0, 40)} is not from ${low} to ${high}`);
    return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : otherwise;
  };
  state.data = query.get("data") ?? state.data;
  state.positives = between("positives", 0.5, 50, state.positives);
  state.noise = between("noise", 0, 2, state.noise);
  state.flips = Math.round(2 * between("flips", 0, 20, state.flips)) / 2;
  const edits = query.get("edits") ?? "";
  if (edits.length > MOST.edits) refused(`edits has more than ${MOST.edits} characters`);
  else state.edits = edits;
  state.seed = Math.trunc(between("seed", 0, 999999, state.seed));
  state.steps = Math.trunc(between("steps", 1, 100000, state.steps));
  const model = query.get("model") ?? "";
  const models = model.split("/");
  if (models.length < 3 && models.every(fits)) state.model = model;
  else if (model) refused(`model=${model.slice(0, 40)} is not “linear”, nor one to three layers of at most ${MOST.units} units and ${MOST.weights.toLocaleString("en")} weights`);
  if (["1", "10", "max"].includes(query.get("speed"))) state.speed = query.get("speed");
  state.fpr = range(query.get("fpr"), /^(\d{1,3}(?:\.\d)?)-(\d{1,3}(?:\.\d)?)$/) ?? state.fpr;
  state.near = query.get("near") === "1";
  state.log = query.get("log") !== "0";
  state.find = between("find", 0, 1, state.find);
  const bound = BOUNDS.find((one) => String(one ?? "none") === query.get("bound"));
  if (bound !== undefined) state.bound = bound;
  state.class = Math.trunc(between("class", 0, 255, state.class));
  if (["dial", ...WORKBENCH].includes(query.get("story"))) state.story = query.get("story");
  state.sees = query.get("sees") === "1";
  const dial = between("dial", -180, 180, NaN);
  if (Number.isFinite(dial)) state.dial = Math.round(dial);
  if (/^\d\.\d$/.test(query.get("scene") ?? "")) state.scene = query.get("scene");
  for (const [name, choices] of Object.entries(ALL)) state.all[name] = choices.find((one) => String(one) === query.get(`all.${name}`)) ?? state.all[name];
  state.all.fpr = range(query.get("all.fpr")) ?? state.all.fpr;
  const w = query.get("all.w")?.split(",").map(Number) ?? [];
  if (w.length === 2 && w.every((x) => Math.abs(x) <= 1000) && Math.hypot(...w) > 0) state.all.w = w;
  state.runs = RUNS.find((one) => String(one) === query.get("runs")) ?? state.runs;
  for (const lane of ["a", "b"]) {
    const method = query.get(lane);
    state.lanes[lane] = null;
    if (!method) continue;
    const settings = {};
    for (const [name, value] of query) if (name.startsWith(`${lane}.`)) settings[name.slice(2)] = value;
    state.lanes[lane] = { method, settings };
  }
  return state;
}

/** @param {State} state */
export function write(state) {
  const query = new URLSearchParams();
  if (state.scene) query.set("scene", state.scene);
  for (const name of ["data", "positives", "noise", "flips", "seed", "model", "steps", "speed"]) query.set(name, String(state[name]));
  if (state.edits) query.set("edits", state.edits);
  if (state.fpr.join("-") !== "0-5") query.set("fpr", state.fpr.join("-"));
  if (state.near) query.set("near", "1");
  if (!state.log) query.set("log", "0");
  if (state.find !== 0.5) query.set("find", String(Number(state.find.toFixed(4))));
  if (state.bound !== 0.05) query.set("bound", String(state.bound ?? "none"));
  if (state.runs > 1) query.set("runs", String(state.runs));
  if (state.class) query.set("class", String(state.class));
  if (state.sees) query.set("sees", "1");
  if (state.story) query.set("story", state.story);
  if (state.story === "dial" && state.dial !== null) query.set("dial", String(state.dial));
  if (state.story === "all") {
    const { all } = defaults();
    for (const name of Object.keys(ALL)) if (state.all[name] !== all[name]) query.set(`all.${name}`, String(state.all[name]));
    if (state.all.fpr.join("-") !== all.fpr.join("-")) query.set("all.fpr", state.all.fpr.join("-"));
    if (state.all.w) query.set("all.w", state.all.w.map((x) => Number(x.toPrecision(4))).join());
  }
  for (const lane of ["a", "b"]) {
    query.set(lane, state.lanes[lane].method);
    for (const [name, value] of Object.entries(state.lanes[lane].settings)) query.set(`${lane}.${name}`, value);
  }
  return `#${query}`;
}
