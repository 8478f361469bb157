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

let state = address.read(location.hash);
let colours = readColours();
let data = null;
let own = null;
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

function problem(error) {
  const text = error ? String(error.message ?? error) : "";
  $("problem").textContent = text;
  $("problem").hidden = !text;
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

async function loadData() {
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
  try {
    if (fresh || !data) {
      const next = await loadData();
      if (mine !== run) return;
      data = next;
      for (const name of LANES) lanes[name].show(data);
      steps.show(data, state.seed, state.story === "steps");
    }
    history_push();
    const made = {};
    for (const name of LANES) made[name] = await createTrainer(options(name));
    if (mine !== run) {
      for (const name of LANES) made[name].dispose();
      return;
    }
    for (const name of LANES) trainers?.[name].dispose();
    trainers = made;
    history = { step: [], ap: { a: [], b: [] }, objective: { a: [], b: [] } };
    $("backend").textContent = "CPU · SIMD";
    $("reason").textContent = trainers.a.backendReason;
    await advance(0, mine);
    if (play && mine === run) start();
  } catch (error) {
    if (mine !== run) return;
    problem(error);
    $("sentence").textContent = "Nothing was trained with these choices.";
    $("note").textContent = "Change the choice named below, or go back to the last one.";
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
  for (const name of LANES) lanes[name].configure(state.lanes[name]);
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
    show({ a: shots[0], b: shots[1] }, (history.step.at(-1) ?? 0) + steps);
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
  for (const name of LANES) lanes[name].draw(colours, shots[name]);
  drawCharts(shots);
  drawTable(shots);
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
  charts.ap.draw(history.step, null, history.ap.a, history.ap.b, `Average precision over ${history.step.at(-1)} steps: now ${three(a.test.ap)} for lane A, ${three(b.test.ap)} for lane B`);
  const scaled = (values) => {
    const first = values.find((value) => value !== null && value !== 0);
    return values.map((value) => (value === null || !first ? null : (value - first) / Math.abs(first)));
  };
  charts.objective.draw(history.step, null, scaled(history.objective.a), scaled(history.objective.b), "Objective of each lane on its batches, as the change since the first step");
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
    const { title, cells } = table[name];
    title.textContent = `${name.toUpperCase()}  ${lanes[name].method.title}`;
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
    parts.push("Two models, one start, the same batches. Press play: ", name("a"), " trains in lane A, ", name("b"), " in lane B.");
  } else {
    const [first, second] = b.test.ap >= a.test.ap ? [["b", b], ["a", a]] : [["a", a], ["b", b]];
    const close = Math.abs(a.test.ap - b.test.ap) < 0.01;
    parts.push(`After ${count(step)} steps, `, name(first[0]), ` ranks the ${count(positives)} held-out positives with average precision `, number(...first), close ? "; " : ", against ", number(...second), close ? " for " : " for ", name(second[0]), close ? ", practically the same." : ".");
    const better = [a, b].map((shot) => shot.test.auroc);
    const aurocWinner = better[0] > better[1] ? "a" : "b";
    if (!close && aurocWinner !== first[0]) parts.push(" By AUROC the order is the other way round.");
  }
  $("sentence").replaceChildren(...parts);
  const chance = `Chance is ${three(prevalence())}.`;
  const standard = state.data === "split" && state.noise === 0 && state.positives === 3;
  if (standard) {
    $("note").textContent = `This data set was found by searching for a large gap; on most data the two are closer, and seeds differ (try 3). The best linear direction reaches about ${BEST_DIRECTION}. ${chance}`;
  } else if (isDrawn()) {
    $("note").textContent = `${SYNTHETICS.find((kind) => kind.name === state.data).about} ${count(ROWS)} rows train, ${count(HELD_OUT)} are held out. ${chance}`;
  } else {
    $("note").textContent = `${count(data.y.length)} rows × ${data.dims} features train, ${count(data.test.y.length)} are held out (a stratified split by the seed). ${chance}`;
  }
}

function start() {
  if (playing) return;
  if (history?.step.at(-1) >= state.steps) {
    restart({ fresh: false, play: true });
    return;
  }
  problem(null);
  playing = true;
  $("play").textContent = "Pause";
  requestAnimationFrame(tick);
}

function pause() {
  playing = false;
  $("play").textContent = history?.step.at(-1) >= state.steps ? "Replay" : "Play";
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

async function openFile(file) {
  problem(null);
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    side.inspect(await engines.a.call("open", bytes, file.name));
  } catch (error) {
    side.forget();
    problem(error);
  }
}

function change(part) {
  problem(null);
  Object.assign(state, part);
  if ("data" in part) side.forget();
  restart({ fresh: "data" in part || "positives" in part || "noise" in part || "seed" in part, play: true });
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
  $("play").onclick = () => (playing ? pause() : start());
  $("step").onclick = () => {
    pause();
    if (history.step.at(-1) < state.steps) advance(1).catch(problem);
  };
  $("reset").onclick = () => restart({ fresh: false });
  $("seed").onchange = () => change({ seed: Math.min(999999, Math.max(0, Math.trunc(Number($("seed").value) || 0))) });
  $("dice").onclick = () => change({ seed: Math.floor(Math.random() * 1000) });
  $("share").onclick = async () => {
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("share").textContent = "Copied";
    setTimeout(() => ($("share").textContent = "Copy link"), 1500);
  };
  $("export-json").onclick = () => download("undercurve.json", JSON.stringify({ state, metrics: { a: history.last.a.test, b: history.last.b.test }, history: { step: history.step, ap: history.ap, objective: history.objective } }, null, 2), "application/json");
  for (const name of LANES) {
    $(`export-${name}`).onclick = async () => download(`undercurve-${name}.json`, JSON.stringify({ model: state.model, dims: data.dims, method: state.lanes[name], params: [...(await trainers[name].params())] }), "application/json");
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea, button, summary, a")) return;
    const button = { " ": "play", ArrowRight: "step", r: "reset", R: "reset" }[event.key];
    if (!button) return;
    event.preventDefault();
    $(button).click();
  });
  addEventListener("hashchange", () => {
    state = address.read(location.hash);
    restart({ play: true });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    restyle();
    thumbnails();
  });
  let resizing;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      restyle();
      if (trainers && !playing) advance(0).catch(problem);
    }, 120);
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
    if (!METHODS.some((method) => method.name === state.lanes[name].method)) {
      problem(`There is no method called “${state.lanes[name].method}”.`);
      state.lanes[name] = address.defaults().lanes[name];
    }
  }
  side = new Side($("side"), {
    kinds: SYNTHETICS,
    change,
    file: openFile,
    prepare: (choice) => {
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

// For the tests: how long the page itself works on a frame.
globalThis.undercurve = { timings, batches: () => Promise.all(LANES.map((name) => trainers[name].batch())) };
