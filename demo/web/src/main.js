// The page: state in the address ─► data ─► two trainers in workers ─► pictures.

import "./style.css";
import { CLASS_METHODS, METHODS } from "undercurve/methods";
import { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "undercurve/synthetics";
import { Engine, createTrainer } from "undercurve/worker";
import { Band, range } from "./band.js";
import { Classes } from "./classes.js";
import { $, brief, colours as readColours, count, download, h, segments, three } from "./dom.js";
import { BANDS, LANES as LINES, chart } from "./draw/charts.js";
import { strip } from "./draw/strip.js";
import { DRAWS, stands, summarise } from "./draws.js";
import { GridMap } from "./grid.js";
import { Groups, compare, constraint, linesOf } from "./groups.js";
import { Lane } from "./lane.js";
import { SAMPLES, fetchSample } from "./samples.js";
import { Side } from "./side.js";
import * as address from "./state.js";
import { Steps } from "./steps.js";
import * as told from "./told.js";

const LANES = /** @type {const} */ (["a", "b"]);
const ROWS = 2000;
const HELD_OUT = 6000;
/** In groups: gaps are seen within a few hundredths. */
const IN_GROUPS = { rows: 20_000, testRows: 30_000 };
/** The draws behind the headline are trained unasked where they take about so many seconds, and so many values, at most. */
const UNASKED = { seconds: 20, values: 5_000_000 };
/** Of training between two looks at whether the draws are still wanted. */
const SLICE = 25;
/** Directions are tried on data with so many held-out rows at most. */
const MOST_TRIED = 100_000;

/** Training follows a drag on data with so many values at most, so often, and with pictures after so many milliseconds of it. */
const FOLLOWED = { values: 200_000, milliseconds: 200, slice: 50 };

/** What is offered and shown of data with two classes, with several, and with groups. */
const TWO = {
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
};
const SEVERAL = {
  name: "several",
  methods: CLASS_METHODS.map((method) => ({ ...method, title: method.title.replace(" on several classes", "") })),
  metric: "handTill",
  short: "Hand–Till",
  title: "Hand–Till AUC",
  called: "Hand–Till AUC",
  other: ["accuracy", "accuracy"],
  floor: 0.5,
  columns: [["handTill", "Hand–Till"], ["accuracy", "Accuracy"], ["auroc", "AUROC"], ["ap", "AP"]],
  hint: "Hand–Till: mean AUROC over all ordered pairs of classes. Accuracy: of the class with the highest score. AUROC and AP: means over the classes, each against all others.",
};

const GROUPS = {
  name: "groups",
  methods: METHODS,
  metric: "worst",
  short: "worst AUROC",
  title: "AUROC of the worst group",
  called: "AUROC of the worst group",
  other: ["auroc", "AUROC of all rows"],
  floor: 0,
  columns: [["auroc", "AUROC, all rows"], ["worst", "worst group"], ["fprGap", "gap(fpr)", true], ["tprGap", "gap(tpr)", true]],
  hint: "Worst group: the least AUROC within a group. Gaps: the largest difference of the groups’ false- or true-positive rates over all thresholds; smaller is better.",
};

/** Whether a lane trains under the bound on the gap. */
const isBound = ({ method, settings }) => settings.objective !== "cvar" && METHODS.some(({ name, groups, params }) => name === method && groups && params.some((param) => param.name === "aim"));

/** Whether a method trains for the range of false-positive rates. */
const isOfRange = (name) => METHODS.some((method) => method.name === name && method.metric === "pauc");

/** What lanes with these methods are measured and compared by, in a range of false-positive rates in per cent. */
function measures(kind, fpr, methods) {
  if (kind !== TWO) return kind;
  const [low, high] = fpr;
  const partial = { metric: "pauc", short: "pAUC", title: `Partial AUC, ${range(fpr)}`, called: `partial AUC (false positives ${range(fpr)})`, other: ["ap", "average precision"] };
  return {
    ...TWO,
    ...(methods.some(isOfRange) && partial),
    columns: [["ap", "AP"], ["auroc", "AUROC"], ["pauc", `pAUC ${range(fpr)}`], ["accuracy", "Accuracy"]],
    hint: `pAUC: mean true-positive rate ${low > 0 ? `from ${low}\u00a0% to` : "up to"} ${high}\u00a0% false positives, the band on the ROC curve; drag its edges. Accuracy at score\u00a00.`,
  };
}

let state = address.defaults();
let colours = readColours();
let data = null;
/** Whether `data` is not what `state` says, since that could not be loaded. */
let stale = true;
/** The visitor's file as it is trained on, and the one described last; the worker keeps both. */
let own = null;
let described = null;
let trainers = null;
/** Many runs of each lane, where there are to be more than one. */
let ensembles = null;
let history = null;
/** Lanes of the kind of data that is not shown, for when it comes back. */
const kept = new Map();
let playing = false;
let busy = false;
/** Grows with every change of what is trained; answers of an older run are dropped. */
let run = 0;
const timings = { main: [] };
/** The draws behind the headline: what they are of, and those done; `stopped` where nobody waits for them any more. */
let many = null;

const engines = { a: new Engine(), b: new Engine() };
/** The best direction of the data that was asked for, by data. */
const directions = new WeakMap();
let finder = null;
let lanes = null;
let side = null;
let steps = null;
let gridMap = null;
let allData = null;
let classes = null;
const band = new Band($("band"), { moved: (fpr) => follow({ fpr: [...fpr] }), settled: (fpr) => settle({ fpr }) });
const groups = new Groups({ moved: (bound) => follow({ bound }), settled: (bound) => settle({ bound }) });
const charts = {
  roc: chart($("roc"), { x: [0, 1], y: [0, 1.02], placed: (area) => band.place(area) }),
  pr: chart($("pr"), { x: [0, 1], y: [0, 1.02] }),
  ap: chart($("ap"), { x: null, y: null }),
  objective: chart($("objective"), { x: null, y: null }),
};

/** On a screen without motion the pictures are drawn when a run ends, not while it runs. */
const still = matchMedia("(prefers-reduced-motion: reduce)");

function problem(error) {
  let text = error ? String(error.message ?? error) : "";
  // The worker that it ran in holds nothing to go on with.
  if (text.includes("WebAssembly module stopped")) text += ". Reload the page to continue.";
  $("problem").textContent = text;
  $("problem").hidden = !text;
  if (text) $("problem").scrollIntoView({ block: "nearest" });
}

const sample = () => SAMPLES.find((one) => one.name === state.data);
const drawnOf = () => [...SYNTHETICS, ...CLASS_SYNTHETICS, ...GROUP_SYNTHETICS].find((one) => one.name === state.data);
/** What the state's data is. */
function kind() {
  const chosen = state.data === "file" ? own : sample();
  const several = chosen ? chosen.positive === undefined : CLASS_SYNTHETICS.includes(drawnOf());
  return several ? SEVERAL : !chosen && GROUP_SYNTHETICS.includes(drawnOf()) ? GROUPS : TWO;
}

/** What the lanes that the state asks for are measured by. */
const measured = () => measures(kind(), state.fpr, LANES.map((name) => state.lanes[name].method));

/** Takes over what the address says; what does not exist is replaced by the default, and named. */
function readAddress() {
  state = address.read(location.hash);
  if (!drawnOf() && !sample() && !(state.data === "file" && own)) {
    if (state.data === "file") problem("This link was made with a file that stayed on its owner's machine; here is the default data.");
    else problem(`There is no data called “${state.data}”; here is the default.`);
    state.data = address.defaults().data;
    // A file of several classes has methods, and parameters of methods, that the default does not.
    const fits = ({ method, settings }) => METHODS.some(({ name, params }) => name === method && Object.keys(settings).every((set) => params.some((param) => param.name === set)));
    for (const name of LANES) if (state.lanes[name] && !fits(state.lanes[name])) state.lanes[name] = null;
  }
  const usual = address.lanes(kind().name);
  for (const name of LANES) {
    const lane = state.lanes[name] ?? usual[name];
    const known = kind().methods.some((one) => one.name === lane.method);
    const other = !known && METHODS.find((one) => one.name === lane.method);
    if (other) problem(kind() === SEVERAL ? `${lane.method} trains two classes, and this data has more.` : `${lane.method} is of groups, and this data has none.`);
    else if (!known) problem(`There is no method called “${lane.method}”.`);
    state.lanes[name] = known ? lane : usual[name];
  }
}

/** Methods whose step sizes follow the curvature: they want a smooth network. */
const SMOOTH = /sarah|^svrg$|-sum$/;

/** How many runs each lane has: one of several classes and of groups, and while training follows a drag. */
const runsOf = () => (kind() === TWO && !following.under ? state.runs : 1);

/** Other data; where it is of the other kind, with the lanes that it had last. */
function choose(part, before = kind()) {
  const { lanes: of } = state;
  Object.assign(state, part);
  if (kind() === before) return;
  kept.set(before, of);
  state.lanes = kept.get(kind()) ?? address.lanes(kind().name);
}

const options = (lane, { X, y, dims, classes, groups, groupNames, test } = data, seed = state.seed) => ({
  X,
  y,
  dims,
  classes,
  groups,
  groupNames,
  constraints: groups && isBound(state.lanes[lane]) ? [constraint(state.bound)] : undefined,
  test,
  model: state.model === "linear" ? { kind: "linear" } : { kind: SMOOTH.test(state.lanes[lane].method) ? "mlp-tanh" : "mlp", hidden: state.model.split(",").map(Number) },
  method: { name: state.lanes[lane].method, settings: state.lanes[lane].settings, ...(classes === undefined && { fpr: state.fpr.map((rate) => rate / 100) }) },
  seed,
  steps: state.steps,
  // (Maps stay in the data's own units. Files are scaled already, and the columns of towns as drawn.)
  scale: drawnOf() && kind() !== GROUPS ? "standard" : "none",
  engine: engines[lane],
});

/** The rows that the state asks for, with the training labels as they are trained on. */
async function loadData(seed = state.seed) {
  const { flips } = state;
  const rows = await loadRows(seed);
  if (!flips || rows.names) return { ...rows, flipped: 0 };
  const y = await engines.a.call("flip", rows.y, flips / 100, seed);
  return { ...rows, y, flipped: y.reduce((sum, label, row) => sum + (label !== rows.y[row]), 0) };
}

async function loadRows(seed) {
  const prepare = kind() === SEVERAL ? "prepareClasses" : "prepare";
  const prepared = async (file, choice) => {
    const begin = performance.now();
    const rows = await engines.a.call(prepare, file, { ...choice, share: 0.6, seed });
    return { ...rows, milliseconds: performance.now() - begin };
  };
  if (state.data === "file") return prepared(own.file, own);
  const { name, ...choice } = sample() ?? {};
  if (name) {
    const { file } = await engines.a.call("open", await fetchSample(name), `${name}.csv`);
    try {
      return await prepared(file, { ...choice, impute: false });
    } finally {
      engines.a.call("close", file);
    }
  }
  const drawn = { rows: ROWS, testRows: HELD_OUT, noise: state.noise, seed };
  if (kind() === SEVERAL) return engines.a.call("syntheticClasses", state.data, drawn);
  if (kind() === GROUPS) return engines.a.call("syntheticGroups", state.data, { ...drawn, ...IN_GROUPS });
  return engines.a.call("synthetic", state.data, { ...drawn, positives: state.positives / 100 });
}

/** What trains, and why: a GPU that fails leaves the rest to the CPU. */
function showBackend() {
  const both = LANES.map((name) => (ensembles ?? trainers)[name]);
  const [names, reasons] = [both.map(({ backend }) => backend.replaceAll("cpu-simd", "CPU · SIMD").replace("gpu", "GPU")), both.map(({ backendReason }) => backendReason)];
  $("backend").textContent = names[0] === names[1] ? names[0] : `A ${names[0]}, B ${names[1]}`;
  $("reason").textContent = reasons[0] === reasons[1] ? `${reasons[0]}.` : LANES.map((name, k) => `Lane ${name.toUpperCase()}: ${reasons[k]}.`).join(" ");
}

/** Everything from the start: data, trainers, pictures of step 0. Plays on if asked. */
async function restart({ fresh = true, play = false } = {}) {
  const mine = ++run;
  document.documentElement.dataset.state = "busy";
  leave();
  pause();
  const made = {};
  const crowd = {};
  const unmake = () => [made, crowd].forEach((all) => Object.values(all).forEach((one) => one.dispose()));
  try {
    if (fresh || stale) {
      stale = true;
      const next = await loadData();
      if (mine !== run) return;
      data = next;
      stale = false;
      if (state.class >= (data.names?.length ?? 1)) state.class = 0;
      for (const name of LANES) lanes[name].show(data);
      steps.show(data, state.seed, state.story === "steps");
    }
    findDirection();
    history_push();
    for (const name of LANES) {
      made[name] = await createTrainer(options(name)).catch((error) => {
        throw lanes[name].explain(error);
      });
    }
    if (runsOf() > 1) for (const name of LANES) crowd[name] = await createTrainer({ ...options(name), lanes: runsOf(), backend: "auto" });
    if (mine !== run) return unmake();
    for (const name of LANES) [trainers, ensembles].forEach((all) => all?.[name].dispose());
    trainers = { ...made };
    ensembles = crowd.a ? { ...crowd } : null;
    history = { kind: measured(), data, step: [], metric: { a: [], b: [] }, objective: { a: [], b: [] }, groups: { a: [], b: [] }, milliseconds: { a: 0, b: 0 }, timed: 0, bands: { a: [], b: [] } };
    pause();
    buildTable();
    nameCharts();
    for (const name of LANES) lanes[name].measure(history.kind.metric, history.kind.short);
    classes.show(data.names, state.class);
    groups.show(data.groupNames, data.test.groups);
    $("each").hidden = !(data.names ?? data.groupNames);
    showBackend();
    showGrid();
    await advance(0, mine);
    if (play && mine === run) start();
    showAll();
  } catch (error) {
    if (trainers?.a !== made.a) unmake();
    if (mine !== run) return;
    problem(error);
    $("sentence").textContent = "Nothing was trained with these choices.";
    $("about").textContent = "";
    $("note").textContent = `The message says which one to change${history ? "; the pictures are of what was trained before" : ""}.`;
    $("play").disabled = $("step").disabled = $("seeds").disabled = true;
    return;
  }
  $("play").disabled = $("step").disabled = $("seeds").disabled = false;
}

function history_push() {
  const next = address.write(state);
  if (next !== location.hash) window.history.replaceState(null, "", next);
  configure();
}

function configure() {
  side.configure(state, { positives: SYNTHETICS.includes(drawnOf()), noise: Boolean(drawnOf()), flips: kind() !== SEVERAL });
  for (const name of LANES) {
    lanes[name].offer(kind().methods);
    lanes[name].configure(state.lanes[name]);
    table[name].title.textContent = titleOf(name);
  }
  band.show(state.fpr, kind() === TWO);
  groups.configure(state.bound);
  $("seed").value = state.seed;
  $("runs-field").hidden = kind() !== TWO;
  segments($("runs"), address.RUNS.map((runs) => [String(runs), count(runs)]), String(state.runs), (runs) => change({ runs: Number(runs) }));
  segments($("speed"), [["1", "1×"], ["10", "10×"], ["max", "Max"]], state.speed, (speed) => {
    state.speed = speed;
    history_push();
  });
}

/** What the grid of parameters is trained on. */
function showGrid() {
  gridMap.show({
    // (Runs of other rows or lengths are no longer those of the map.)
    of: [data, state.model, state.steps, state.seed, history.kind.metric, ...LANES.map((name) => state.lanes[name].method)],
    hidden: kind() !== TWO,
    open: state.story === "grid",
    linear: state.model === "linear",
    steps: state.steps,
    options,
    lane: (name) => ({ method: lanes[name].method, settings: state.lanes[name].settings }),
    measured: { metric: history.kind.metric, called: history.kind.called },
  });
}

/** All data, of the kinds that can be drawn: loaded when it is unfolded. */
async function showAll() {
  $("all").hidden = !SYNTHETICS.includes(drawnOf());
  const open = !$("all").hidden && state.story === "all";
  if ($("all").open !== open) $("all").open = open; // (comes back by its event)
  if (!open && !allData) return;
  allData ??= import("./all.js").then(({ AllData }) => new AllData({
    changed: (part) => {
      state.all = part;
      history_push();
    },
    // (Of a run on its way, what it comes to.)
    laneOf: async (name) => {
      while (playing || busy) await new Promise((resolve) => setTimeout(resolve, 50));
      // (In the data's units.)
      const [params, columns] = await Promise.all([trainers[name].params(), trainers[name].columns()]);
      const [x, y] = [0, 1].map((k) => params[k] * (columns?.[k][1] ?? 1));
      return state.model === "linear" && Math.hypot(x, y) > 0 ? [x, y] : null;
    },
  }));
  let shown;
  try {
    shown = await allData;
  } catch (error) {
    allData = undefined;
    return problem(error);
  }
  // (It may have been folded or hidden meanwhile.)
  if ($("all").hidden || state.story !== "all") return shown.close();
  shown.restyle(colours);
  shown.show(state.all, { kind: state.data, positives: state.positives / 100, noise: state.noise, seed: state.seed }, state.model === "linear");
}

const titleOf = (name) => `${name.toUpperCase()}  ${lanes[name].method.title}`;

/** Whether the trainers have the data that the lanes show: new data comes before the trainers of it, if these come at all. */
const together = () => history?.data === data;

/** Both lanes by so many steps, then one picture. A lane whose method has nothing more to do stays where it ended. */
async function advance(steps, mine = run) {
  if ((busy && steps) || !together()) return;
  busy = true;
  try {
    const shown = state.class;
    const judge = history.data.groups && [constraint(state.bound)];
    const crowd = ensembles && Promise.all(LANES.map((name) => ensembles[name].advance({ steps }, { curve: grid.length })));
    crowd?.catch(() => {}); // (told where it is waited for)
    const shots = await Promise.all(LANES.map((name) => trainers[name].advance({ steps }, lanes[name].view(shown, judge))));
    const many = await crowd;
    if (mine !== run || !together()) return;
    if (ensembles) showBackend();
    history.crowd = many && { a: many[0], b: many[1] };
    for (const shot of shots) compare(shot).shown = shown;
    const begin = performance.now();
    const step = (history.step.at(-1) ?? 0) + steps;
    // The clock of a worker is coarse: the mean over the run says more than the last slice. The first slice warms up.
    if (history.step.length > 1) history.timed += steps;
    LANES.forEach((name, k) => {
      if (history.step.length > 1) history.milliseconds[name] += shots[k].milliseconds * steps;
      if (history.timed) shots[k].milliseconds = history.milliseconds[name] / history.timed;
    });
    show({ a: shots[0], b: shots[1] }, step);
    timings.main.push(performance.now() - begin);
  } finally {
    busy = false;
  }
}

function show(shots, step) {
  if (history.step.at(-1) !== step) {
    history.step.push(step);
    for (const name of LANES) {
      history.metric[name].push(shots[name].test[history.kind.metric]);
      if (history.crowd) history.bands[name].push(history.crowd[name].summary.metrics[history.kind.metric]);
      history.objective[name].push(Number.isFinite(shots[name].objective) ? shots[name].objective : null);
      if (shots[name].byGroup) history.groups[name].push([shots[name].test.auroc, ...shots[name].byGroup.test.groups.map(({ auroc }) => auroc)]);
    }
  }
  history.last = shots;
  if (!(still.matches && playing && step < state.steps)) {
    for (const name of LANES) lanes[name].draw(colours, shots[name]);
    drawCharts(shots);
    drawTable(shots);
  }
  $("progress").replaceChildren("Step ", h("b", { textContent: count(step) }), ` / ${count(state.steps)}`);
  $("track").style.width = `${Math.min(100, (100 * step) / state.steps)}%`;
  if (step >= state.steps) {
    pause();
    if (many?.of !== subject() && cheap() && !ensembles) trainDraws();
    tell(shots, step);
    document.documentElement.dataset.state = "done";
    if (!timings.first) {
      timings.first = performance.now();
      document.documentElement.dataset.first = timings.first.toFixed(0);
    }
  } else if (!playing || step === 0) {
    tell(shots, step);
  }
  document.documentElement.dataset.step = step;
}

const grid = Array.from({ length: 201 }, (_, k) => k / 200);

/** What the four charts are of, and their lines. */
function nameCharts() {
  const of = history.data.groupNames;
  const titles = of
    ? LANES.flatMap((name) => [["ROC by group", `lane ${name.toUpperCase()}`], ["AUROC by step", `lane ${name.toUpperCase()}, by group`]])
    : [["ROC", "true against false positives"], [history.kind.title, "by step"], ["Precision–recall", "dotted: chance"], ["Objective", "relative to the first"]];
  // (The two of lane A stand first, and on the left.)
  ["roc", "ap", "pr", "objective"].forEach((name, k) => {
    $(`${name}-title`).textContent = titles[k][0];
    $(`${name}-of`).textContent = titles[k][1];
  });
  const lines = of ? linesOf(of) : LINES;
  for (const [name, one] of Object.entries(charts)) one.show(ensembles && name !== "objective" ? BANDS : lines);
  if (ensembles) for (const name of ["roc", "pr", "ap"]) $(`${name}-of`).textContent = `median of ${count(ensembles.a.runs.length)} runs, 10–90\u00a0%`;
}

/** The groups of each lane over each other: their ROC curves now, and their AUROC along the run. */
function drawGroups(shots) {
  const titles = Object.fromEntries(LANES.map((name) => [name, lanes[name].method.title]));
  for (const [name, roc, byStep] of [["a", charts.roc, charts.ap], ["b", charts.pr, charts.objective]]) {
    const { test, byGroup, roc: all } = shots[name];
    const each = byGroup.test.groups;
    const said = `${three(test.auroc)} of all rows${each.map(({ group, auroc }) => `, ${three(auroc)} in group ${group}`).join("")}`;
    roc.draw(grid, [grid, [...all], ...each.map((one) => one.roc && [...one.roc])], `ROC curves by group, lane ${name.toUpperCase()}, ${titles[name]}: AUROC ${said}`);
    const along = history.groups[name];
    byStep.draw(history.step, [null, ...along[0].map((_, k) => along.map((values) => values[k]))], `AUROC over ${history.step.at(-1)} steps, lane ${name.toUpperCase()}: now ${said}`, state.steps);
  }
  const under = Object.fromEntries(LANES.map((name) => [name, isBound(state.lanes[name])]));
  const step = history.step.at(-1);
  groups.measure(shots, { bound: state.bound, titles, under, begun: step > 0, rests: !playing || step >= state.steps });
}

function drawCharts({ a, b }) {
  if (history.data.groupNames) {
    drawGroups({ a, b });
    return;
  }
  const { metric, title } = history.kind;
  const name = history.data.names?.[a.shown];
  const [ours, theirs] = [a, b].map((shot) => (name === undefined ? shot.test : shot.test.classes[shot.shown]));
  const of = name === undefined ? "" : ` of class ${name} against all others`;
  const share = prevalence(name === undefined ? 1 : a.shown);
  if (history.crowd) {
    drawBands(share);
    drawObjective();
    return;
  }
  charts.roc.draw(grid, [grid, [...a.roc], [...b.roc]], `ROC curves${of}: AUROC ${three(ours.auroc)} for lane A, ${three(theirs.auroc)} for lane B`);
  charts.pr.draw(grid, [grid.map(() => share), [...a.pr], [...b.pr]], `Precision–recall curves${of}: average precision ${three(ours.ap)} for lane A, ${three(theirs.ap)} for lane B, ${three(share)} by chance`);
  charts.ap.draw(history.step, [null, history.metric.a, history.metric.b], `${title} over ${history.step.at(-1)} steps: now ${three(a.test[metric])} for lane A, ${three(b.test[metric])} for lane B`, state.steps, history.kind.floor);
  if (name !== undefined) {
    $("roc-of").textContent = `class ${brief(name)} against all others`;
    $("pr-of").textContent = `class ${brief(name)}; dotted: chance`;
  }
  drawObjective();
}

/** Medians of many runs, with bands from 10 to 90 % around them. */
function drawBands(share) {
  const { metric, title, floor } = history.kind;
  const { a, b } = history.crowd;
  const runs = count(a.summary.runs);
  const said = (key) => ["a", "b"].map((name) => {
    const { median, low, high } = history.crowd[name].summary.metrics[key] ?? {};
    return `lane ${name.toUpperCase()} ${three(median)}, 10–90 % ${three(low)} to ${three(high)}`;
  }).join("; ");
  // (None where every run broke off or collapsed.)
  const plain = (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
  const lines = (of) => [plain(of(a).median), plain(of(b).median), ...[a, b].flatMap((one) => [plain(of(one).high), plain(of(one).low)])];
  charts.roc.draw(grid, [grid, ...lines(({ summary }) => summary.roc)], `ROC curves of ${runs} runs, median and band: AUROC of ${said("auroc")}`);
  charts.pr.draw(grid, [grid.map(() => share), ...lines(({ summary }) => summary.pr)], `Precision–recall curves of ${runs} runs, median and band: average precision of ${said("ap")}; ${three(share)} by chance`);
  const along = (name, key) => plain(history.bands[name].map((band) => band?.[key] ?? NaN));
  const ends = LANES.flatMap((name) => [along(name, "high"), along(name, "low")]);
  charts.ap.draw(history.step, [null, along("a", "median"), along("b", "median"), ...ends], `${title} of ${runs} runs over ${history.step.at(-1)} steps: ${said(metric)}`, state.steps, floor);
}

function drawObjective() {
  const scaled = (values) => {
    const first = values.find((value) => value !== null && value !== 0);
    return values.map((value) => (value === null || !first ? null : (value - first) / Math.abs(first)));
  };
  charts.objective.draw(history.step, [null, scaled(history.objective.a), scaled(history.objective.b)], "Objective of each lane as its method reports it, as the change since the first step", state.steps);
}

/** Share of the held-out rows that are positive, or of a class. */
const prevalence = (one = 1) => history.data.test.y.filter((label) => label === one).length / history.data.test.y.length;

/** The table's cells; they are made for a kind of data and then only filled. */
const table = Object.fromEntries(LANES.map((name) => [name, { title: h("span"), cells: [...SEVERAL.columns, "pass", "milliseconds"].map(() => h("td", { textContent: "–" })) }]));
function buildTable({ columns, hint } = history.kind) {
  $("metrics").replaceChildren(
    h("thead", {}, h("tr", {}, ...["Lane", ...columns.map(([, title]) => title), "Passes", "ms a step"].map((text) => h("th", { scope: "col", textContent: text })))),
    h("tbody", {}, ...LANES.map((name) => h("tr", { "data-lane": name }, h("th", { scope: "row" }, h("i"), table[name].title), ...table[name].cells))),
  );
  $("metrics-hint").textContent = hint;
}

function drawTable(shots) {
  const { columns } = history.kind;
  if (history.kind === SEVERAL) classes.measure(shots);
  for (const [name, other] of [["a", "b"], ["b", "a"]]) {
    const { cells } = table[name];
    columns.forEach(([key, , least], k) => {
      const [own, theirs] = [name, other].map((lane) => Number(three(shots[lane].test[key])));
      cells[k].textContent = three(shots[name].test[key]);
      cells[k].className = !shots[name].collapsed && (shots[other].collapsed || (least ? own < theirs : own > theirs)) ? "best" : "";
    });
    const [pass, milliseconds] = cells.slice(columns.length);
    pass.textContent = shots[name].pass.toFixed(1);
    milliseconds.textContent = shots[name].milliseconds ? shots[name].milliseconds.toFixed(3) : "–";
  }
}

/** What the draws are of: two lanes on one kind of data, of which a run shows the first. */
function subject() {
  const of = address.write({ ...state, speed: "", class: 0, story: "" });
  return state.data === "file" ? `${of} ${JSON.stringify(own)}` : of;
}

/** Milliseconds that the slower lane takes for a step, from the shown run; NaN before that is known. */
const pace = () => (history.timed ? Math.max(...LANES.map((name) => history.milliseconds[name])) / history.timed : NaN);

/** About how long the draws take, from what the shown one took; NaN before that is known. */
const secondsOfDraws = () => (DRAWS * (state.steps * pace() + (data.milliseconds ?? 0))) / 1000;

/** Whether the draws are so cheap that nobody need ask for them. (Runs too short to be timed are.) */
function cheap() {
  const { length } = data.X.val ?? data.X;
  return length <= UNASKED.values && !(secondsOfDraws() > UNASKED.seconds);
}

/** One lane on one draw, in slices; nothing where it is not wanted any more. @returns {Promise<import("./draws.js").Outcome | undefined>} */
async function outcome(name, rows, seed, slice, wanted) {
  const { metric, other } = measured();
  const { steps } = state;
  let trainer;
  try {
    trainer = await createTrainer(options(name, rows, seed));
    let shot = compare(await trainer.advance({ steps: 0 }));
    for (let done = 0; done < steps && wanted(); ) {
      const asked = Math.min(slice, steps - done);
      const before = shot.step;
      shot = compare(await trainer.advance({ steps: asked }));
      done += asked;
      // (A method that has nothing more to do stays where it ended.)
      if (shot.step - before < asked) break;
    }
    if (!wanted()) return undefined;
    return { value: shot.test[metric], other: shot.test[other[0]], steps: shot.step, collapsed: Boolean(shot.collapsed), warning: shot.warning };
  } catch (error) {
    return { value: NaN, other: NaN, steps: NaN, collapsed: false, error: String(error.message ?? error) };
  } finally {
    trainer?.dispose();
  }
}

/** Both lanes on new draws of the data, with new starts, while nothing else happens; the headline is made of them. */
async function trainDraws() {
  const mine = { of: subject(), draws: [], stopped: false, summary: null };
  many = mine;
  const wanted = () => many === mine && !mine.stopped;
  // (Where it is not known yet, few steps.)
  const slice = pace() > 0 ? Math.max(1, Math.floor(SLICE / pace())) : 50;
  drawsState();
  try {
    for (let seed = state.seed; mine.draws.length < DRAWS; seed += 1) {
      const rows = seed === state.seed ? data : await loadData(seed);
      if (!wanted()) return;
      const [best, a, b] = await Promise.all([bestOf(rows), ...LANES.map((name) => outcome(name, rows, seed, slice, wanted))]);
      if (!wanted()) return;
      mine.draws.push({ seed, a, b, ...(best && { best: Math.max(best.ap, ...[a.value, b.value].filter(Number.isFinite)) }) });
      drawsState();
    }
    mine.summary = summarise(mine.draws);
  } catch (error) {
    if (!wanted()) return;
    mine.stopped = true;
    problem(`The ${DRAWS} draws ended early: ${error.message ?? error}`);
  }
  drawsState();
  showDraws();
  if (together() && !playing) tell(history.last, history.step.at(-1));
}

/** Ends what nobody waits for any more; what is done stays for when the same is shown again. */
function leave() {
  if (many && (!many.summary || many.of !== subject())) {
    many.stopped = true;
    many = null;
  }
  drawsState();
  showDraws();
}

/** The button, and how far the draws are. */
function drawsState() {
  const under = many && !many.summary && !many.stopped;
  const done = many?.draws.length ?? 0;
  $("seeds").textContent = under ? `Stop ${done}/${DRAWS}` : `${DRAWS} seeds`;
  $("seeds").title = under ? "Stop training new draws" : "Train both lanes on new draws of the data";
  document.documentElement.dataset.draws = under ? "busy" : many?.summary ? "done" : many ? "stopped" : "";
}

/** Every draw, so that the headline can be checked. */
function showDraws() {
  const { summary, draws } = many ?? {};
  $("draws").hidden = !summary;
  if (!summary) return;
  const also = (cell) => (summary.best ? [cell] : []);
  const text = ({ value, collapsed, error }) => `${three(value)}${collapsed ? " (collapsed)" : error ? " (broke off)" : ""}`;
  const line = (head, cells) => h("tr", {}, h("th", { scope: "row", textContent: head }), ...cells.map((cell) => h("td", { textContent: cell })));
  const result = (outcome) => (stands(outcome) ? outcome.value : NaN);
  const values = draws.map(({ a, b }) => ({ a: result(a), b: result(b) }));
  const known = summary.a.runs + summary.b.runs > 0;
  $("draws-chart").replaceChildren(...(known ? [strip({ values, mean: { a: summary.a.mean, b: summary.b.mean } }, `Held-out ${measured().called}`)] : []));
  $("draws-of").textContent = measured().title;
  $("draws-table").replaceChildren(
    h("caption", { textContent: `Held-out ${measured().called} of each draw; mean and deviation over the runs that have a result.${summary.best ? " Best direction: of those tried on the draw’s held-out rows, the lanes’ own among them, the one that their labels choose." : ""}` }),
    h("thead", {}, h("tr", {}, ...["Seed", ...LANES.map(titleOf), ...(summary.best ? ["Best direction"] : [])].map((head) => h("th", { scope: "col", textContent: head })))),
    h("tbody", {}, ...draws.map(({ seed, a, b, best }) => line(seed, [text(a), text(b), ...also(three(best))]))),
    h("tfoot", {},
      line("Mean", [three(summary.a.mean), three(summary.b.mean), ...also(three(summary.best?.mean))]),
      line("Deviation", [three(summary.a.deviation), three(summary.b.deviation), ...also(three(summary.best?.deviation))]),
      line("Ahead", [summary.ahead.a, summary.ahead.b, ...also("")])),
  );
}

/** The best direction of a linear model on the held-out rows of a plane, tried once for each data; nothing of other data. */
async function bestOf(rows) {
  const { dims, names, test } = rows;
  // (What they are the best by is average precision.)
  if (measured().metric !== "ap" || dims !== 2 || names || state.model !== "linear" || !(test.X instanceof Float32Array) || test.y.length > MOST_TRIED) return null;
  if (!directions.has(rows)) {
    finder ??= new Worker(new URL("./directions-worker.js", import.meta.url), { type: "module" });
    const of = { found: null };
    of.asked = new Promise((resolve) => {
      finder.addEventListener("error", () => resolve(null), { once: true });
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data: found }) => {
        port1.close();
        resolve((of.found = found));
      };
      finder.postMessage({ X: test.X, y: test.y, port: port2 }, [port2]);
    });
    directions.set(rows, of);
  }
  return directions.get(rows).asked;
}

/** That of the data shown, told when it is known. */
async function findDirection() {
  const of = data;
  if ((await bestOf(of)) && of === data && together() && !playing && history.last) tell(history.last, history.step.at(-1));
}

/** The sentence and the note, from the numbers. */
function tell(shots, step) {
  const { metric, called, other } = history.kind;
  const titles = { a: lanes.a.method.title, b: lanes.b.method.title };
  const drawn = Boolean(drawnOf());
  const summary = step > 0 && many?.of === subject() ? many.summary : null;
  const parts = summary
    ? told.ofDraws({ titles, summary, title: called, drawn })
    : told.ofRun({ titles, shots, metric, title: called, step, steps: state.steps });
  const text = parts.map((part) => part.text ?? part).join("");
  // (What is said already is not said again to who listens.)
  if ($("sentence").textContent !== text) {
    $("sentence").replaceChildren(...parts.map((part) => (part.lane ? h(part.number ? "b" : "span", { className: part.lane, textContent: part.text }) : part)));
  }
  for (const name of LANES) {
    const said = step > 0 ? shots[name] : null;
    lanes[name].warn(said);
    table[name].title.textContent = `${titleOf(name)}${said?.collapsed ? ", collapsed" : ""}`;
  }
  const notes = [told.ended({ titles, shots, step })];
  if (history.crowd && step > 0) notes.push(told.ofRuns({ titles, crowd: history.crowd, metric, called, seed: state.seed }));
  const of = (key) => LANES.map((name) => shots[name].test[key]);
  if (summary) {
    notes.push(told.besideDraws({ titles, summary, seed: state.seed, step, steps: state.steps, called: other[1] }));
  } else if (step > 0) {
    if (!shots.a.collapsed && !shots.b.collapsed) notes.push(told.reversed({ titles, of: of(metric), by: of(other[0]), called: other[1] }));
    if (step >= state.steps) notes.push(told.ofWaiting({ under: document.documentElement.dataset.draws === "busy", seconds: secondsOfDraws(), drawn }));
  }
  const best = metric === "ap" && state.model === "linear" && step > 0 && directions.get(data)?.found;
  if (best) notes.push(told.ofDirections(best, of("ap"), summary?.best));
  $("note").textContent = notes.filter(Boolean).join(" ");
  const about = [];
  if (state.data === "split") about.push("This kind of data was found by searching for a large gap between cross-entropy and SOAP: try others.");
  else if (drawn) about.push(drawnOf().about);
  const train = `${count(data.y.length)} rows${drawn ? "" : ` × ${count(data.dims)} features`} train`;
  const most = data.names && Math.max(...data.names.map((_, one) => prevalence(one)));
  const positive = count(data.test.y.reduce((sum, y) => sum + y, 0));
  const constant = data.names
    ? `a constant score has 0.500, and naming the largest class is right for ${three(most)}`
    : data.groupNames
    ? `${positive} positive; a constant score has AUROC 0.500 in each group`
    : `${positive} positive; a constant score has ${three(prevalence())}`;
  about.push(`${train}, ${count(data.test.y.length)} are held out${data.names ? "; " : ", "}${constant}.`);
  if (data.flipped) about.push(`${count(data.flipped)} of the ${count(data.y.length)} training labels are flipped, no held-out one.`);
  $("about").textContent = about.join(" ");
}

function start() {
  if (playing || !together()) return;
  if (history?.step.at(-1) >= state.steps) {
    restart({ fresh: false, play: true });
    return;
  }
  playing = true;
  $("play").textContent = "Pause";
  requestAnimationFrame(tick);
}

function pause() {
  playing = false;
  $("play").textContent = history?.step.at(-1) >= state.steps ? "Replay" : "Play";
}

/** Stops where the run is, with the sentence of that step. */
function halt() {
  const step = history?.step.at(-1);
  const ran = playing;
  pause();
  if (ran && step > 0) {
    show(history.last, step);
    tell(history.last, step);
  }
}

async function tick() {
  const mine = run;
  if (!playing) return;
  const left = state.steps - history.step.at(-1);
  const chosen = state.speed === "max" ? Math.max(10, Math.ceil(state.steps / 30)) : Number(state.speed);
  const most = following.under && following.pace > 0 ? Math.max(chosen, Math.floor(FOLLOWED.slice / following.pace)) : chosen;
  try {
    await advance(Math.min(left, most));
  } catch (error) {
    // (Trainers that a new run has put away have nothing to say to it.)
    if (mine !== run) return;
    pause();
    problem(error);
    return;
  }
  if (mine === run && playing) requestAnimationFrame(tick);
}

/** What a file without rows to train on is, and where it belongs; nothing where that is not known. */
function notData(bytes, name) {
  const begins = String.fromCharCode(...bytes.subarray(0, 64));
  const [, kind] = begins.match(/^undercurve([a-z])\0/) ?? [];
  const takes = "The page takes data to train on: CSV or LIBSVM, plain or gzip.";
  if (kind) {
    return `${name} is a run that undercurve saved. ${takes} On the command line “undercurve eval ${name} DATA” measures a saved model, “undercurve train --resume” goes on with it.`;
  }
  if (/^\s*[[{]/.test(begins)) return `${name} looks like JSON. ${takes}`;
  return "";
}

async function openFile(file) {
  problem(null);
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const other = notData(bytes, file.name);
    if (other) throw new Error(other);
    const table = await engines.a.call("open", bytes, file.name);
    if (described !== null && described !== own?.file) engines.a.call("close", described);
    described = table.file;
    side.inspect(table);
  } catch (error) {
    side.forget();
    problem(error);
  }
}

/**
 * While the band, or the bound, is dragged: both lanes again with it, as often as they can be followed, and where it rests. Of each
 * run as much as there is time for: what a drag shows is not to be its first steps.
 */
const following = { under: false, since: 0, next: 0, pace: 0 };
function follow(part) {
  Object.assign(state, part);
  following.under = true;
  following.pace = pace() || following.pace;
  catchUp();
}

/** Trains as the state says, unless that was begun a moment ago: then in a moment. */
function catchUp() {
  clearTimeout(following.next);
  const { length } = data?.X.val ?? data?.X ?? [];
  if (!together() || length > FOLLOWED.values) return;
  const wait = following.since + FOLLOWED.milliseconds - performance.now();
  if (wait > 0) {
    following.next = setTimeout(catchUp, wait);
    return;
  }
  following.since = performance.now();
  restart({ fresh: false, play: true });
}

/** It was let go. */
function settle(part) {
  clearTimeout(following.next);
  following.under = false;
  change(part);
}

function change(part) {
  problem(null);
  choose(part);
  if ("data" in part) side.forget();
  restart({ fresh: "data" in part || "positives" in part || "noise" in part || "flips" in part || "seed" in part, play: true });
}

async function thumbnails() {
  for (const kind of SYNTHETICS) {
    side.thumbnail(kind.name, await engines.a.call("synthetic", kind.name, { rows: 10, testRows: 500, positives: 0.25 }), colours);
  }
}

function restyle() {
  colours = readColours();
  for (const one of Object.values(charts)) one.restyle(colours);
  steps.restyle(colours);
  allData?.then((shown) => shown.restyle(colours));
  if (history?.last && !stale) {
    for (const name of LANES) lanes[name].draw(colours);
    drawCharts(history.last);
  }
}

/** Every run's metrics, for the export. */
const runsTold = () => Object.fromEntries(LANES.map((name) => [name, ensembles[name].runs.map(({ seed }, at) => {
  const { metrics, errors } = history.crowd[name].reports;
  return { seed, error: errors[at], ...Object.fromEntries(Object.entries(metrics).map(([key, values]) => [key, values[at]])) };
})]));

function wire() {
  $("play").onclick = () => {
    problem(null);
    if (playing) halt();
    else start();
  };
  $("step").onclick = () => {
    halt();
    if (together() && history.step.at(-1) < state.steps) advance(1).catch(problem);
  };
  $("reset").onclick = () => restart({ fresh: false });
  $("seed").onchange = () => change({ seed: Math.min(999999, Math.max(0, Math.trunc(Number($("seed").value) || 0))) });
  $("dice").onclick = () => change({ seed: Math.floor(Math.random() * 1000) });
  $("seeds").onclick = () => {
    problem(null);
    if (!together()) return;
    if (many && !many.summary && !many.stopped) {
      many.stopped = true;
      drawsState();
      if (!playing) tell(history.last, history.step.at(-1));
    } else if (many?.of !== subject() || !many.summary) trainDraws();
  };
  $("share").onclick = async () => {
    const copied = await Promise.resolve(navigator.clipboard?.writeText(location.href) ?? Promise.reject()).then(() => true, () => false);
    $("share").textContent = copied ? "Copied" : "See address";
    setTimeout(() => ($("share").textContent = "Copy link"), 1500);
  };
  $("export-json").onclick = () => download("undercurve.json", JSON.stringify({ state, metrics: { a: history.last.a.test, b: history.last.b.test }, byGroup: { a: history.last.a.byGroup, b: history.last.b.byGroup }, constraints: { a: history.last.a.judged, b: history.last.b.constraints ?? history.last.b.judged }, draws: many?.of === subject() ? many.draws : [], runs: history.crowd && runsTold(), classes: history.data.names, history: { step: history.step, [history.kind.metric]: history.metric, objective: history.objective } }, null, 2), "application/json");
  for (const name of LANES) {
    $(`export-${name}`).onclick = async () => download(`undercurve-${name}.json`, JSON.stringify({ model: state.model, dims: history.data.dims, classes: history.data.names, method: state.lanes[name], columns: await trainers[name].columns(), params: [...(await trainers[name].params())] }), "application/json");
  }
  addEventListener("pointerup", () => (following.under = false));
  addEventListener("keydown", (event) => {
    // What is focused keeps the keys that it uses itself; a button has no use for arrows and letters.
    const focused = event.target.closest?.("input, select, textarea, button, summary, a");
    const field = focused && !focused.matches("button, summary, a");
    if (event.ctrlKey || event.metaKey || event.altKey || field || (focused && event.key === " ")) return;
    if (event.repeat && event.key !== "ArrowRight") return;
    const button = { " ": "play", ArrowRight: "step", r: "reset", R: "reset" }[event.key];
    if (!button) return;
    event.preventDefault();
    $(button).click();
  });
  addEventListener("hashchange", () => {
    problem(null);
    readAddress();
    restart({ play: true });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    restyle();
    thumbnails();
  });
}

async function open() {
  lanes = {};
  for (const name of LANES) {
    lanes[name] = new Lane(name, (choice) => {
      problem(null);
      state.lanes[name] = choice;
      restart({ fresh: false, play: true });
    });
  }
  classes = new Classes((one) => {
    // (The legend of what was trained before says nothing of data that is on its way.)
    if (!together()) return;
    state.class = one;
    history_push();
    classes.show(data.names, one);
    // A run on its way shows it with its next picture.
    if (!playing) advance(0).catch(problem);
  });
  buildTable(measures(TWO, state.fpr, []));
  readAddress();
  side = new Side($("side"), {
    kinds: SYNTHETICS,
    several: CLASS_SYNTHETICS,
    groups: GROUP_SYNTHETICS,
    change,
    file: openFile,
    prepare: (choice) => {
      if (own && own.file !== choice.file) engines.a.call("close", own.file);
      const before = kind();
      own = choice;
      choose({ data: "file" }, before);
      problem(null);
      restart({ play: true });
    },
  });
  steps = new Steps({
    engine: engines.a,
    toggled: (open) => {
      if (open || state.story === "steps") state.story = open ? "steps" : "";
      history_push();
    },
  });
  gridMap = new GridMap({
    toggled: (open) => {
      if (open || state.story === "grid") state.story = open ? "grid" : "";
      history_push();
    },
    load: (name, settings) => {
      problem(null);
      const { method, settings: before } = state.lanes[name];
      state.lanes[name] = { method, settings: { ...before, ...settings } };
      restart({ fresh: false, play: true });
      $("play").scrollIntoView({ block: "nearest" });
    },
  });
  $("all").ontoggle = () => {
    const { open } = $("all");
    if (open || state.story === "all") state.story = open ? "all" : "";
    history_push();
    showAll();
  };
  wire();
  restyle();
  await restart({ play: true });
  await thumbnails();
  for (const sample of SAMPLES) fetchSample(sample.name).catch(() => {});
}
open().catch(problem).then(() => {
  // After one visit the page opens without a network too. (Not while developing: a module's address changes with each edit.)
  if (import.meta.env.PROD) return navigator.serviceWorker?.register("./offline.js");
}).catch(() => {});

// For the tests: how long the page itself works on a frame, and what is trained on.
globalThis.undercurve = { timings, rows: () => data, shots: () => history.last, draws: () => many?.draws, direction: () => directions.get(data)?.found, crowd: () => history.crowd, batches: () => Promise.all(LANES.map((name) => trainers[name].batch())) };
