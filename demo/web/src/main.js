// The page: state in the address ─► data ─► two trainers in workers ─► pictures.

import "./style.css";
import { METHODS } from "undercurve/methods";
import { SYNTHETICS } from "undercurve/synthetics";
import { Engine, createTrainer } from "undercurve/worker";
import { $, colours as readColours, count, download, h, segments, three } from "./dom.js";
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
let playing = false;
let busy = false;
/** Grows with every change of what is trained; answers of an older run are dropped. */
let run = 0;
const timings = { main: [] };

const engines = { a: new Engine(), b: new Engine() };
let lanes = null;
let side = null;
let steps = null;
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

/** Takes over what the address says; what does not exist is replaced by the default, and named. */
function readAddress() {
  state = address.read(location.hash);
  for (const name of LANES) {
    const { method } = state.lanes[name];
    if (METHODS.some((one) => one.name === method)) continue;
    problem(`There is no method called “${method}”.`);
    state.lanes[name] = address.defaults().lanes[name];
  }
}

const isDrawn = () => SYNTHETICS.some((kind) => kind.name === state.data);
const options = (lane) => ({
  X: data.X,
  y: data.y,
  dims: data.dims,
  test: data.test,
  model: state.model === "linear" ? { kind: "linear" } : { kind: "mlp", hidden: state.model.split(",").map(Number) },
  method: { name: state.lanes[lane].method, settings: state.lanes[lane].settings, fpr: [0, 0.05] },
  seed: state.seed,
  steps: state.steps,
  // The maps are drawn in the data's own units.
  scale: "none",
  engine: engines[lane],
});

/** The rows that the state asks for, with the training labels as they are trained on. */
async function loadData() {
  const rows = await loadRows();
  if (!state.flips) return { ...rows, flipped: 0 };
  const y = await engines.a.call("flip", rows.y, state.flips / 100, state.seed);
  return { ...rows, y, flipped: y.reduce((sum, label, row) => sum + (label !== rows.y[row]), 0) };
}

async function loadRows() {
  const sample = SAMPLES.find((one) => one.name === state.data);
  if (state.data === "file" && own) return engines.a.call("prepare", own.file, { ...own, share: 0.6, seed: state.seed });
  if (sample) {
    const { file } = await engines.a.call("open", await fetchSample(sample.name), `${sample.name}.csv`);
    try {
      return await engines.a.call("prepare", file, { ...sample, impute: false, share: 0.6, seed: state.seed });
    } finally {
      engines.a.call("close", file);
    }
  }
  if (!isDrawn()) {
    if (state.data === "file") problem("This link was made with a file that stayed on its owner's machine; here is the default data.");
    else problem(`There is no data called “${state.data}”; here is the default.`);
    state.data = address.defaults().data;
  }
  return engines.a.call("synthetic", state.data, { rows: ROWS, testRows: HELD_OUT, positives: state.positives / 100, noise: state.noise, seed: state.seed });
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
    history = { step: [], ap: { a: [], b: [] }, objective: { a: [], b: [] }, milliseconds: { a: 0, b: 0 }, timed: 0 };
    pause();
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
  side.configure(state, isDrawn());
  for (const name of LANES) {
    lanes[name].configure(state.lanes[name]);
    table[name].title.textContent = `${name.toUpperCase()}  ${lanes[name].method.title}`;
  }
  $("seed").value = state.seed;
  segments($("speed"), [["1", "1×"], ["10", "10×"], ["max", "Max"]], state.speed, (speed) => {
    state.speed = speed;
    history_push();
  });
}

/** Both lanes by so many steps, then one picture. A lane whose method has nothing more to do stays where it ended. */
async function advance(steps, mine = run) {
  if (busy && steps) return;
  busy = true;
  try {
    const shots = await Promise.all(LANES.map((name) => trainers[name].advance({ steps }, lanes[name].view())));
    if (mine !== run) return;
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
      history.ap[name].push(shots[name].test.ap);
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
  const share = prevalence();
  charts.roc.draw(grid, grid, [...a.roc], [...b.roc], `ROC curves: AUROC ${three(a.test.auroc)} for lane A, ${three(b.test.auroc)} for lane B`);
  charts.pr.draw(grid, grid.map(() => share), [...a.pr], [...b.pr], `Precision–recall curves: average precision ${three(a.test.ap)} for lane A, ${three(b.test.ap)} for lane B, ${three(share)} by chance`);
  charts.ap.draw(history.step, null, history.ap.a, history.ap.b, `Average precision over ${history.step.at(-1)} steps: now ${three(a.test.ap)} for lane A, ${three(b.test.ap)} for lane B`, state.steps);
  const scaled = (values) => {
    const first = values.find((value) => value !== null && value !== 0);
    return values.map((value) => (value === null || !first ? null : (value - first) / Math.abs(first)));
  };
  charts.objective.draw(history.step, null, scaled(history.objective.a), scaled(history.objective.b), "Objective of each lane on its batches, as the change since the first step", state.steps);
}

const prevalence = () => data.test.y.reduce((sum, y) => sum + y, 0) / data.test.y.length;

const COLUMNS = [
  ["ap", "AP"],
  ["auroc", "AUROC"],
  ["pauc", "pAUC ≤ 5 %"],
  ["accuracy", "Accuracy"],
];

/** The table's cells, made once and then only filled. */
const table = Object.fromEntries(LANES.map((name) => [name, { title: h("span"), cells: [...COLUMNS, "pass", "milliseconds"].map(() => h("td", { textContent: "–" })) }]));
$("metrics").append(
  h("thead", {}, h("tr", {}, ...["Lane", ...COLUMNS.map(([, title]) => title), "Passes", "ms a step"].map((text) => h("th", { scope: "col", textContent: text })))),
  h("tbody", {}, ...LANES.map((name) => h("tr", { "data-lane": name }, h("th", { scope: "row" }, h("i"), table[name].title), ...table[name].cells))),
);

function drawTable(shots) {
  for (const [name, other] of [["a", "b"], ["b", "a"]]) {
    const { cells } = table[name];
    COLUMNS.forEach(([key], k) => {
      cells[k].textContent = three(shots[name].test[key]);
      cells[k].className = shots[name].test[key] > shots[other].test[key] ? "best" : "";
    });
    const [pass, milliseconds] = cells.slice(COLUMNS.length);
    pass.textContent = shots[name].pass.toFixed(1);
    milliseconds.textContent = shots[name].milliseconds ? shots[name].milliseconds.toFixed(3) : "–";
  }
}

/** One sentence from the numbers. */
function tell({ a, b }, step) {
  const name = (lane) => h("span", { className: lane, textContent: lanes[lane].method.title });
  const number = (lane, shot) => h("b", { className: lane, textContent: three(shot.test.ap) });
  const positives = data.test.y.reduce((sum, y) => sum + y, 0);
  const parts = [];
  if (step === 0) {
    parts.push("Two models, one start, the same batches: ", name("a"), " trains in lane A, ", name("b"), " in lane B.");
  } else {
    const [first, second] = b.test.ap >= a.test.ap ? [["b", b], ["a", a]] : [["a", a], ["b", b]];
    const close = Math.abs(a.test.ap - b.test.ap) < 0.01;
    parts.push(`After ${count(step)} steps, `, name(first[0]), ` ranks the ${count(positives)} held-out positives with average precision `, number(...first), close ? "; " : ", against ", number(...second), close ? " for " : " for ", name(second[0]), close ? ", practically the same." : ".");
  }
  $("sentence").replaceChildren(...parts);
  const notes = [];
  const ahead = (metric) => Math.sign(a.test[metric] - b.test[metric]);
  if (step > 0 && Math.abs(a.test.ap - b.test.ap) >= 0.01 && ahead("ap") * ahead("auroc") < 0) notes.push("By AUROC the order is reversed.");
  const standard = state.data === "split" && state.noise === 0 && state.positives === 3 && !data.flipped;
  if (standard) {
    notes.push(`This data set was found by searching for a large gap; on most data the two are closer, and seeds differ (try 3). The best linear direction reaches about ${BEST_DIRECTION}.`);
  } else if (isDrawn()) {
    notes.push(`${SYNTHETICS.find((kind) => kind.name === state.data).about} ${count(ROWS)} rows train, ${count(HELD_OUT)} are held out.`);
  } else {
    notes.push(`${count(data.y.length)} rows × ${count(data.dims)} features train, ${count(data.test.y.length)} are held out (a stratified split by the seed).`);
  }
  if (data.flipped) notes.push(`${count(data.flipped)} of the ${count(data.y.length)} training labels are flipped, no held-out one.`);
  notes.push(`Chance is ${three(prevalence())}.`);
  $("note").textContent = notes.join(" ");
}

function start() {
  if (playing) return;
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
    const classes = "ck".includes(kind) ? " of several classes, which the page does not train: with a file of several labels it trains one class, chosen as the positive one, against all others" : "";
    return `${name} is a run that undercurve saved${classes}. ${takes} On the command line “undercurve eval ${name} DATA” measures a saved model, “undercurve train --resume” goes on with it.`;
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
  Object.assign(state, part);
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
  if (history?.last) {
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
    if (history.step.at(-1) < state.steps) advance(1).catch(problem);
  };
  $("reset").onclick = () => restart({ fresh: false });
  $("seed").onchange = () => change({ seed: Math.min(999999, Math.max(0, Math.trunc(Number($("seed").value) || 0))) });
  $("dice").onclick = () => change({ seed: Math.floor(Math.random() * 1000) });
  $("share").onclick = async () => {
    const copied = await Promise.resolve(navigator.clipboard?.writeText(location.href) ?? Promise.reject()).then(() => true, () => false);
    $("share").textContent = copied ? "Copied" : "See address";
    setTimeout(() => ($("share").textContent = "Copy link"), 1500);
  };
  $("export-json").onclick = () => download("undercurve.json", JSON.stringify({ state, metrics: { a: history.last.a.test, b: history.last.b.test }, history: { step: history.step, ap: history.ap, objective: history.objective } }, null, 2), "application/json");
  for (const name of LANES) {
    $(`export-${name}`).onclick = async () => download(`undercurve-${name}.json`, JSON.stringify({ model: state.model, dims: data.dims, method: state.lanes[name], params: [...(await trainers[name].params())] }), "application/json");
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
    lanes[name] = new Lane(name, METHODS, (choice) => {
      problem(null);
      state.lanes[name] = choice;
      restart({ fresh: false, play: true });
    });
  }
  readAddress();
  side = new Side($("side"), {
    kinds: SYNTHETICS,
    change,
    file: openFile,
    prepare: (choice) => {
      if (own && own.file !== choice.file) engines.a.call("close", own.file);
      own = choice;
      Object.assign(state, { data: "file" });
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
