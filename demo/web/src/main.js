// The page: state in the address ─► data ─► two trainers in workers ─► pictures.

import "./style.css";
import { CLASS_METHODS, METHODS } from "undercurve/methods";
import { CLASS_SYNTHETICS, SYNTHETICS } from "undercurve/synthetics";
import { Engine, createTrainer } from "undercurve/worker";
import { Classes } from "./classes.js";
import { $, brief, colours as readColours, count, download, h, segments, three } from "./dom.js";
import { chart } from "./draw/charts.js";
import { Lane } from "./lane.js";
import { SAMPLES, fetchSample } from "./samples.js";
import { Side } from "./side.js";
import * as address from "./state.js";
import { Steps } from "./steps.js";

const LANES = /** @type {const} */ (["a", "b"]);
const ROWS = 2000;
const HELD_OUT = 6000;
/** Known of the default set: the best average precision of any direction, found by trying all of them. */
const BEST_DIRECTION = 0.573;

/** What is offered and shown of data with two classes, and of data with several. */
const TWO = {
  methods: METHODS,
  metric: "ap",
  title: "Average precision",
  // Closer than this is called the same; the curve by step begins at the floor.
  close: 0.01,
  floor: 0,
  columns: [["ap", "AP"], ["auroc", "AUROC"], ["pauc", "pAUC ≤ 5 %"], ["accuracy", "Accuracy"]],
  hint: "pAUC: mean true-positive rate up to 5\u00a0% false positives. Accuracy at score\u00a00.",
};
const SEVERAL = {
  methods: CLASS_METHODS.map((method) => ({ ...method, title: method.title.replace(" on several classes", "") })),
  metric: "handTill",
  title: "Hand–Till AUC",
  close: 0.005,
  floor: 0.5,
  columns: [["handTill", "Hand–Till"], ["accuracy", "Accuracy"], ["auroc", "AUROC"], ["ap", "AP"]],
  hint: "Hand–Till: mean AUROC over all ordered pairs of classes. Accuracy: of the class with the highest score. AUROC and AP: means over the classes, each against all others.",
};

let state = address.defaults();
let colours = readColours();
let data = null;
/** Whether `data` is not what `state` says, since that could not be loaded. */
let stale = true;
/** The visitor's file as it is trained on, and the one described last; the worker keeps both. */
let own = null;
let described = null;
let trainers = null;
let history = null;
/** Lanes of the kind of data that is not shown, for when it comes back. */
const kept = new Map();
let playing = false;
let busy = false;
/** Grows with every change of what is trained; answers of an older run are dropped. */
let run = 0;
const timings = { main: [] };

const engines = { a: new Engine(), b: new Engine() };
let lanes = null;
let side = null;
let steps = null;
let classes = null;
const charts = {
  roc: chart($("roc"), { x: [0, 1], y: [0, 1.02], reference: "diagonal" }),
  pr: chart($("pr"), { x: [0, 1], y: [0, 1.02], reference: "chance" }),
  ap: chart($("ap"), { x: null, y: null }),
  objective: chart($("objective"), { x: null, y: null }),
};

/** On a screen without motion the pictures are drawn when a run ends, not while it runs. */
const still = matchMedia("(prefers-reduced-motion: reduce)");

function problem(error) {
  let text = error ? String(error.message ?? error) : "";
  // The worker that it ran in holds nothing to go on with.
  if (text.includes("WebAssembly module stopped")) text += ". Reload the page to go on.";
  $("problem").textContent = text;
  $("problem").hidden = !text;
  if (text) $("problem").scrollIntoView({ block: "nearest" });
}

const sample = () => SAMPLES.find((one) => one.name === state.data);
const drawnOf = () => [...SYNTHETICS, ...CLASS_SYNTHETICS].find((one) => one.name === state.data);
/** What the state's data is. */
function kind() {
  const chosen = state.data === "file" ? own : sample();
  const several = chosen ? chosen.positive === undefined : CLASS_SYNTHETICS.includes(drawnOf());
  return several ? SEVERAL : TWO;
}

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
  const usual = address.lanes(kind() === SEVERAL);
  for (const name of LANES) {
    const lane = state.lanes[name] ?? usual[name];
    const known = kind().methods.some((one) => one.name === lane.method);
    if (!known && METHODS.some((one) => one.name === lane.method)) problem(`${lane.method} trains two classes, and this data has more.`);
    else if (!known) problem(`There is no method called “${lane.method}”.`);
    state.lanes[name] = known ? lane : usual[name];
  }
}

/** Other data; where it is of the other kind, with the lanes that it had last. */
function choose(part, before = kind()) {
  const { lanes: of } = state;
  Object.assign(state, part);
  if (kind() === before) return;
  kept.set(before, of);
  state.lanes = kept.get(kind()) ?? address.lanes(kind() === SEVERAL);
}

const options = (lane) => ({
  X: data.X,
  y: data.y,
  dims: data.dims,
  classes: data.classes,
  test: data.test,
  model: state.model === "linear" ? { kind: "linear" } : { kind: "mlp", hidden: state.model.split(",").map(Number) },
  method: { name: state.lanes[lane].method, settings: state.lanes[lane].settings, ...(data.classes === undefined && { fpr: [0, 0.05] }) },
  seed: state.seed,
  steps: state.steps,
  // The maps are drawn in the data's own units.
  scale: "none",
  engine: engines[lane],
});

/** The rows that the state asks for, with the training labels as they are trained on. */
async function loadData() {
  const rows = await loadRows();
  if (!state.flips || rows.names) return { ...rows, flipped: 0 };
  const y = await engines.a.call("flip", rows.y, state.flips / 100, state.seed);
  return { ...rows, y, flipped: y.reduce((sum, label, row) => sum + (label !== rows.y[row]), 0) };
}

async function loadRows() {
  const prepare = kind() === SEVERAL ? "prepareClasses" : "prepare";
  if (state.data === "file") return engines.a.call(prepare, own.file, { ...own, share: 0.6, seed: state.seed });
  const { name, ...choice } = sample() ?? {};
  if (name) {
    const { file } = await engines.a.call("open", await fetchSample(name), `${name}.csv`);
    try {
      return await engines.a.call(prepare, file, { ...choice, impute: false, share: 0.6, seed: state.seed });
    } finally {
      engines.a.call("close", file);
    }
  }
  const drawn = { rows: ROWS, testRows: HELD_OUT, noise: state.noise, seed: state.seed };
  if (kind() === SEVERAL) return engines.a.call("syntheticClasses", state.data, drawn);
  return engines.a.call("synthetic", state.data, { ...drawn, positives: state.positives / 100 });
}

/** Everything from the start: data, trainers, pictures of step 0. Plays on if asked. */
async function restart({ fresh = true, play = false } = {}) {
  const mine = ++run;
  document.documentElement.dataset.state = "busy";
  pause();
  const made = {};
  const unmake = () => Object.values(made).forEach((one) => one.dispose());
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
    history_push();
    for (const name of LANES) {
      made[name] = await createTrainer(options(name)).catch((error) => {
        throw lanes[name].explain(error);
      });
    }
    if (mine !== run) return unmake();
    for (const name of LANES) trainers?.[name].dispose();
    trainers = { ...made };
    history = { kind: kind(), data, step: [], metric: { a: [], b: [] }, objective: { a: [], b: [] }, milliseconds: { a: 0, b: 0 }, timed: 0 };
    pause();
    buildTable();
    classes.show(data.names, state.class);
    $("backend").textContent = "CPU · SIMD";
    $("reason").textContent = trainers.a.backendReason;
    await advance(0, mine);
    if (play && mine === run) start();
  } catch (error) {
    if (trainers?.a !== made.a) unmake();
    if (mine !== run) return;
    problem(error);
    $("sentence").textContent = "Nothing was trained with these choices.";
    $("note").textContent = `The message says which one to change${history ? "; the pictures are of what was trained before" : ""}.`;
    $("play").disabled = $("step").disabled = true;
    return;
  }
  $("play").disabled = $("step").disabled = false;
}

function history_push() {
  const next = address.write(state);
  if (next !== location.hash) window.history.replaceState(null, "", next);
  configure();
}

function configure() {
  side.configure(state, { positives: SYNTHETICS.includes(drawnOf()), noise: Boolean(drawnOf()), flips: kind() === TWO });
  for (const name of LANES) {
    lanes[name].offer(kind().methods);
    lanes[name].configure(state.lanes[name]);
    table[name].title.textContent = `${name.toUpperCase()}  ${lanes[name].method.title}`;
  }
  $("seed").value = state.seed;
  segments($("speed"), [["1", "1×"], ["10", "10×"], ["max", "Max"]], state.speed, (speed) => {
    state.speed = speed;
    history_push();
  });
}

/** Whether the trainers have the data that the lanes show: new data comes before the trainers of it, if these come at all. */
const together = () => history?.data === data;

/** Both lanes by so many steps, then one picture. A lane whose method has nothing more to do stays where it ended. */
async function advance(steps, mine = run) {
  if ((busy && steps) || !together()) return;
  busy = true;
  try {
    const shown = state.class;
    const shots = await Promise.all(LANES.map((name) => trainers[name].advance({ steps }, lanes[name].view(shown))));
    if (mine !== run || !together()) return;
    for (const shot of shots) shot.shown = shown;
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
      history.objective[name].push(Number.isFinite(shots[name].objective) ? shots[name].objective : null);
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

function drawCharts({ a, b }) {
  const { metric, title } = history.kind;
  const name = history.data.names?.[a.shown];
  const [ours, theirs] = [a, b].map((shot) => (name === undefined ? shot.test : shot.test.classes[shot.shown]));
  const of = name === undefined ? "" : ` of class ${name} against all others`;
  const share = prevalence(name === undefined ? 1 : a.shown);
  charts.roc.draw(grid, grid, [...a.roc], [...b.roc], `ROC curves${of}: AUROC ${three(ours.auroc)} for lane A, ${three(theirs.auroc)} for lane B`);
  charts.pr.draw(grid, grid.map(() => share), [...a.pr], [...b.pr], `Precision–recall curves${of}: average precision ${three(ours.ap)} for lane A, ${three(theirs.ap)} for lane B, ${three(share)} by chance`);
  charts.ap.draw(history.step, null, history.metric.a, history.metric.b, `${title} over ${history.step.at(-1)} steps: now ${three(a.test[metric])} for lane A, ${three(b.test[metric])} for lane B`, state.steps, history.kind.floor);
  $("roc-of").textContent = name === undefined ? "true against false positives" : `class ${brief(name)} against all others`;
  $("pr-of").textContent = name === undefined ? "dotted: chance" : `class ${brief(name)}; dotted: chance`;
  $("ap-of").textContent = title;
  const scaled = (values) => {
    const first = values.find((value) => value !== null && value !== 0);
    return values.map((value) => (value === null || !first ? null : (value - first) / Math.abs(first)));
  };
  charts.objective.draw(history.step, null, scaled(history.objective.a), scaled(history.objective.b), "Objective of each lane on its batches, as the change since the first step", state.steps);
}

/** Share of the held-out rows that are positive, or of a class. */
const prevalence = (one = 1) => history.data.test.y.filter((label) => label === one).length / history.data.test.y.length;

/** The table's cells; they are made for a kind of data and then only filled. */
const table = Object.fromEntries(LANES.map((name) => [name, { title: h("span"), cells: [...TWO.columns, "pass", "milliseconds"].map(() => h("td", { textContent: "–" })) }]));
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
    columns.forEach(([key], k) => {
      cells[k].textContent = three(shots[name].test[key]);
      cells[k].className = shots[name].test[key] > shots[other].test[key] ? "best" : "";
    });
    const [pass, milliseconds] = cells.slice(columns.length);
    pass.textContent = shots[name].pass.toFixed(1);
    milliseconds.textContent = shots[name].milliseconds ? shots[name].milliseconds.toFixed(3) : "–";
  }
}

/** One sentence from the numbers. */
function tell({ a, b }, step) {
  const name = (lane) => h("span", { className: lane, textContent: lanes[lane].method.title });
  const { metric } = history.kind;
  const [ours, theirs] = [a.test[metric], b.test[metric]];
  const number = (lane, shot) => h("b", { className: lane, textContent: three(shot.test[metric]) });
  const what = data.names ? `reaches a held-out Hand–Till AUC of ` : `ranks the ${count(data.test.y.reduce((sum, y) => sum + y, 0))} held-out positives with average precision `;
  const parts = [];
  if (step === 0) {
    parts.push("Two models, one start, the same batches: ", name("a"), " trains in lane A, ", name("b"), " in lane B.");
  } else {
    const [first, second] = theirs >= ours ? [["b", b], ["a", a]] : [["a", a], ["b", b]];
    const close = Math.abs(ours - theirs) < history.kind.close;
    const classes = data.names ? ` on ${data.names.length} classes` : "";
    parts.push(`After ${count(step)} steps, `, name(first[0]), ` ${what}`, number(...first), close ? `${classes}; ` : `${classes}, against `, number(...second), close ? " for " : " for ", name(second[0]), close ? ", practically the same." : ".");
  }
  $("sentence").replaceChildren(...parts);
  const notes = [];
  const [other, called] = data.names ? ["accuracy", "accuracy"] : ["auroc", "AUROC"];
  const ahead = (metric) => Math.sign(a.test[metric] - b.test[metric]);
  if (step > 0 && Math.abs(ours - theirs) >= history.kind.close && ahead(metric) * ahead(other) < 0) notes.push(`By ${called} the order is reversed.`);
  const standard = state.data === "split" && state.noise === 0 && state.positives === 3 && !data.flipped;
  if (standard) {
    notes.push(`This data set was found by searching for a large gap; on most data the two are closer, and seeds differ (try 3). The best linear direction reaches about ${BEST_DIRECTION}.`);
  } else if (drawnOf()) {
    notes.push(`${drawnOf().about} ${count(ROWS)} rows train, ${count(HELD_OUT)} are held out.`);
  } else {
    notes.push(`${count(data.y.length)} rows × ${count(data.dims)} features train, ${count(data.test.y.length)} are held out (a stratified split by the seed).`);
  }
  if (data.flipped) notes.push(`${count(data.flipped)} of the ${count(data.y.length)} training labels are flipped, no held-out one.`);
  const most = data.names && Math.max(...data.names.map((_, one) => prevalence(one)));
  notes.push(data.names ? `Chance is 0.500; the accuracy of always naming the largest class ${three(most)}.` : `Chance is ${three(prevalence())}.`);
  $("note").textContent = notes.join(" ");
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
  const pace = state.speed === "max" ? Math.max(10, Math.ceil(state.steps / 30)) : Number(state.speed);
  try {
    await advance(Math.min(left, pace));
  } catch (error) {
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
  if (history?.last && !stale) {
    for (const name of LANES) lanes[name].draw(colours);
    drawCharts(history.last);
  }
}

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
  $("share").onclick = async () => {
    const copied = await Promise.resolve(navigator.clipboard?.writeText(location.href) ?? Promise.reject()).then(() => true, () => false);
    $("share").textContent = copied ? "Copied" : "See address";
    setTimeout(() => ($("share").textContent = "Copy link"), 1500);
  };
  $("export-json").onclick = () => download("undercurve.json", JSON.stringify({ state, metrics: { a: history.last.a.test, b: history.last.b.test }, classes: history.data.names, history: { step: history.step, [history.kind.metric]: history.metric, objective: history.objective } }, null, 2), "application/json");
  for (const name of LANES) {
    $(`export-${name}`).onclick = async () => download(`undercurve-${name}.json`, JSON.stringify({ model: state.model, dims: history.data.dims, classes: history.data.names, method: state.lanes[name], params: [...(await trainers[name].params())] }), "application/json");
  }
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
  buildTable(TWO);
  readAddress();
  side = new Side($("side"), {
    kinds: SYNTHETICS,
    several: CLASS_SYNTHETICS,
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
      state.story = open ? "steps" : "";
      history_push();
    },
  });
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
globalThis.undercurve = { timings, rows: () => data, batches: () => Promise.all(LANES.map((name) => trainers[name].batch())) };
