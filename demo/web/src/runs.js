// What trains: the rows, two trainers on the same batches, and their course. Everything shown is told by the store's signals.

import { createTrainer } from "undercurve/worker";
import { DRAWN, engine, first, lack } from "./engine.js";
import { rates } from "./rates.js";
import { find } from "./finder.js";
import { compare, constraint } from "./groups.js";
import { GROUPS, LANES, SEVERAL, TWO, drawnOf, isBound, isOfRange, isPlain, kindOf, sampleOf } from "./kinds.js";
import { fetchSample } from "./samples.js";
import * as address from "./state.js";
import { batch, isSuperseded, kind, measured, own, playing, pushAddress, pushSoon, ready, rows, run, say, set, shots, state, together, turns, wait } from "./store.js";

/** In groups: gaps are seen within a few hundredths. */
const IN_GROUPS = { rows: 20_000, testRows: 30_000 };
/** Training follows a drag on data with so many values at most; each answer has so many milliseconds to train, and so many steps. */
const FOLLOWED = { values: 200_000, milliseconds: 60, least: 20 };
/** Points of the curves. */
export const POINTS = 201;

export const engines = lack ? null : { a: first(), b: engine() };

/** Of the run that is shown; many runs of each lane where there are to be more than one. */
let trainers = null;
let ensembles = null;
/** Whether the rows are not what the state says, since those could not be loaded. */
let stale = true;
let busy = false;
const turn = turns();
/** Lanes of the kind of data that is not shown, for when it comes back. */
const kept = new Map();
/** For the tests: how long the page itself works on a picture. */
export const timings = { main: [] };
/** What lanes ask of a snapshot, and what is told at the end of a run: set by the page. */
export const page = { view: () => ({}), explain: (_, error) => error, ended: () => {}, began: () => {}, failed: () => {} };

/** Methods whose step sizes follow the curvature: they want a smooth network. */
const SMOOTH = /sarah|^svrg$|-sum$/;

/** How many runs each lane has: one of several classes and of groups. */
export const runsOf = () => (kind.peek() === TWO ? state.peek().runs : 1);
export const manyRuns = () => ensembles;
export const trainerOf = (name) => trainers[name];
export const isBusy = () => playing.peek() || busy;

export function options(lane, { X, y, dims, classes, groups, groupNames, test } = rows.peek(), seed = state.peek().seed) {
  const { lanes, bound, fpr, steps } = state.peek();
  const model = address.modelOf(state.peek(), lane);
  const { method, settings } = lanes[lane];
  return {
    X,
    y,
    dims,
    classes,
    groups,
    groupNames,
    constraints: groups && isBound(lanes[lane]) ? [constraint(bound)] : undefined,
    test,
    model: model === "linear" ? { kind: "linear" } : { kind: SMOOTH.test(method) ? "mlp-tanh" : "mlp", hidden: model.split(",").map(Number) },
    method: { name: method, settings, ...(classes === undefined && { fpr: rates(fpr) }) },
    seed,
    steps,
    // (Maps stay in the data's own units. Files are scaled already, and the columns of towns as drawn.)
    scale: drawnOf(state.peek()) && kind.peek() !== GROUPS ? "standard" : "none",
    // (The module that warns of few rows for plain cross-entropy.)
    elsewhere: state.peek().data === "file" && method === "ce",
    engine: engines[lane],
  };
}

/** The rows that the state asks for, with the training labels as they are trained on, and what was done by hand. */
export async function loadData(seed = state.peek().seed) {
  const { flips } = state.peek();
  const loaded = await loadRows(seed);
  if (!flips || loaded.names) return byHand({ ...loaded, flipped: 0 }, seed);
  const y = await engines.a.call("flip", loaded.y, flips / 100, seed);
  return byHand({ ...loaded, y, flipped: y.reduce((sum, label, row) => sum + (label !== loaded.y[row]), 0) }, seed);
}

/** Whether the rows can be changed by hand. */
export const isHandy = (of = state.peek()) => isPlain(of);

async function byHand(base, seed) {
  const { edits } = state.peek();
  return edits && isHandy() ? (await import("./hands.js")).apply(edits, base, seed) : base;
}

/** The rows that are shown, as these edits leave them. */
export async function rowsWith(edits) {
  const base = rows.peek().base ?? rows.peek();
  return edits ? (await import("./hands.js")).apply(edits, base, state.peek().seed) : base;
}

async function loadRows(seed) {
  const { data } = state.peek();
  const prepare = kind.peek() === SEVERAL ? "prepareClasses" : "prepare";
  const prepared = async (file, { label, positive, impute = false, ignore = [], categorical = [], weight = 1 }) => {
    const begin = performance.now();
    const found = await engines.a.call(prepare, file, { label, impute, ignore, categorical, share: 0.6, seed, ...(prepare === "prepare" && { positive, weight }) });
    return { ...found, milliseconds: performance.now() - begin };
  };
  if (data === "file") return prepared(own.peek().file, own.peek());
  const sample = sampleOf(state.peek());
  if (sample) {
    const { file } = await engines.a.call("open", await fetchSample(sample.name), `${sample.name}.csv`);
    try {
      return await prepared(file, sample);
    } finally {
      engines.a.call("close", file);
    }
  }
  const call = kind.peek() === SEVERAL ? "syntheticClasses" : kind.peek() === GROUPS ? "syntheticGroups" : "synthetic";
  return engines.a.call(call, data, drawnAs(seed));
}

/** How drawn rows are drawn. */
export function drawnAs(seed = state.peek().seed) {
  const { noise, positives } = state.peek();
  const drawn = { ...DRAWN, noise, seed };
  return kind.peek() === SEVERAL ? drawn : kind.peek() === GROUPS ? { ...drawn, ...IN_GROUPS } : { ...drawn, positives: positives / 100 };
}

/** The course of a run that has not begun. */
const begun = (of) => ({ kind: measured.peek(), rows: of, step: [], metric: { a: [], b: [] }, objective: { a: [], b: [] }, groups: { a: [], b: [] }, milliseconds: { a: 0, b: 0 }, timed: 0, bands: { a: [], b: [] } });

/** Adds a picture to a course. */
function record(course, { a, b }, step, crowd) {
  if (course.step.at(-1) === step) return;
  const { metric } = course.kind;
  course.step.push(step);
  for (const [name, shot] of Object.entries({ a, b })) {
    course.metric[name].push(shot.test[metric]);
    if (crowd) course.bands[name].push(crowd[name].summary.metrics[metric]);
    course.objective[name].push(Number.isFinite(shot.objective) ? shot.objective : null);
    if (shot.byGroup) course.groups[name].push([shot.test.auroc, ...shot.byGroup.test.groups.map(({ auroc }) => auroc)]);
  }
}

const release = (...all) => all.forEach((one) => one && Object.values(one).forEach((trainer) => trainer?.dispose()));

/**
 * Everything from the start: rows, trainers, pictures of step 0. Plays on if asked; `quiet` trains to the end first, and shows what was
 * there before meanwhile. `given` are the rows, where they are known already; `step`: Back returns from it.
 */
export async function restart({ fresh = true, play = false, quiet = false, step = false, given } = {}) {
  const mine = turn.begin();
  // (At once: what follows of itself is of the same step.)
  if (step) pushAddress(true);
  document.documentElement.dataset.state = "busy";
  page.began();
  pause();
  ready.value = false;
  wait(fresh || stale ? "Loading the rows" : quiet ? "Training on" : "Preparing the models");
  const made = {};
  const crowd = {};
  try {
    let of = given ?? rows.peek();
    if (fresh || stale) {
      stale = true;
      const next = await mine(loadData());
      stale = false;
      if (state.peek().class >= (next.names?.length ?? 1)) set({ class: 0 });
      rows.value = of = next;
    }
    if (of === rows.peek()) find();
    pushAddress();
    if (!quiet) wait(runsOf() > 1 ? `Preparing 2 × ${runsOf()} runs` : "Preparing the models");
    for (const name of LANES) {
      made[name] = await createTrainer(options(name, of)).catch(async (error) => {
        throw await page.explain(name, error);
      });
    }
    if (runsOf() > 1) for (const name of LANES) crowd[name] = await createTrainer({ ...options(name, of), lanes: runsOf(), backend: "auto" });
    await mine(Promise.resolve());
    const course = begun(of);
    const done = quiet && !crowd.a ? await toTheEnd(mine, made, course) : null;
    release(trainers, ensembles);
    [trainers, ensembles] = [{ ...made }, crowd.a ? { ...crowd } : null];
    const other = of !== rows.peek();
    batch(() => {
      rows.value = of;
      shots.value = null;
      run.value = course;
      if (done) publish(done, state.peek().steps);
    });
    if (other) find();
    if (!done) await advance(0, mine);
    wait();
    ready.value = true;
    if (play && !done && !mine.over()) start();
  } catch (error) {
    if (trainers?.a !== made.a) release(made, crowd);
    if (isSuperseded(error) || mine.over()) return;
    wait();
    say(error);
    page.failed(Boolean(run.peek()));
  }
}

/** Trains without pictures, a slice at a time, for what changes under the hand; the course has what is missed. */
async function toTheEnd(mine, made, course) {
  const { steps } = state.peek();
  const judge = rows.peek().groups && [constraint(state.peek().bound)];
  let last;
  for (let done = 0; done <= steps; done += Math.max(10, Math.ceil(steps / 30))) {
    const asked = done === 0 ? 0 : Math.min(Math.max(10, Math.ceil(steps / 30)), steps - course.step.at(-1));
    last = await mine(Promise.all(LANES.map((name) => made[name].advance({ steps: asked }, { judge }))));
    last.forEach(compare);
    note(course, last, asked);
    record(course, { a: last[0], b: last[1] }, (course.step.at(-1) ?? 0) + asked);
  }
  const left = steps - course.step.at(-1);
  last = await mine(Promise.all(LANES.map((name) => made[name].advance({ steps: left }, page.view(name, course.rows)))));
  last.forEach((shot) => (compare(shot).shown = state.peek().class));
  note(course, last, left);
  return { a: last[0], b: last[1] };
}

/** The clock of a worker is coarse: the mean over the run says more than the last slice. The first slice warms up. */
function note(course, both, steps) {
  if (course.step.length > 1) course.timed += steps;
  LANES.forEach((name, k) => {
    if (course.step.length > 1) course.milliseconds[name] += both[k].milliseconds * steps;
    if (course.timed) both[k].milliseconds = course.milliseconds[name] / course.timed;
  });
}

/** Shows a picture. */
function publish({ a, b }, step) {
  const course = run.peek();
  record(course, { a, b }, step, course.crowd);
  const { steps } = state.peek();
  batch(() => {
    if (step >= steps) playing.value = false;
    shots.value = { a, b, step };
    if (step >= steps) page.ended();
  });
  if (step >= steps) {
    document.documentElement.dataset.state = "done";
    if (!timings.first) {
      timings.first = performance.now();
      document.documentElement.dataset.first = timings.first.toFixed(0);
    }
  }
  document.documentElement.dataset.step = step;
}

/** Both lanes by so many steps, then one picture. A lane whose method has nothing more to do stays where it ended. */
export async function advance(steps, mine = turn.begin()) {
  if ((busy && steps) || !together()) return;
  busy = true;
  try {
    const course = run.peek();
    const chosen = state.peek().class;
    const crowd = ensembles && Promise.all(LANES.map((name) => ensembles[name].advance({ steps }, { curve: POINTS })));
    crowd?.catch(() => {}); // (told where it is waited for)
    const both = await Promise.all(LANES.map((name) => trainers[name].advance({ steps }, page.view(name))));
    const many = await crowd;
    await mine(Promise.resolve());
    if (!together()) return;
    course.crowd = many && { a: many[0], b: many[1] };
    for (const shot of both) compare(shot).shown = chosen;
    const begin = performance.now();
    note(course, both, steps);
    publish({ a: both[0], b: both[1] }, (course.step.at(-1) ?? 0) + steps);
    timings.main.push(performance.now() - begin);
  } finally {
    busy = false;
  }
}

/** One picture more of what is there, for what only changes how it is seen. */
export const look = () => ready.peek() && advance(0).catch(reportUnlessOver);
const reportUnlessOver = (error) => isSuperseded(error) || say(error);

/** One step by hand. */
export function step() {
  pause();
  if (ready.peek() && together() && run.peek().step.at(-1) < state.peek().steps) advance(1).catch(reportUnlessOver);
}

export function start() {
  if (playing.peek() || !ready.peek() || !together()) return;
  if (run.peek().step.at(-1) >= state.peek().steps) {
    restart({ fresh: false, play: true });
    return;
  }
  playing.value = true;
  const mine = turn.begin();
  requestAnimationFrame(() => tick(mine));
}

export function pause() {
  playing.value = false;
}

async function tick(mine) {
  if (!playing.peek() || mine.over()) return;
  const { steps, speed } = state.peek();
  const left = steps - run.peek().step.at(-1);
  try {
    await advance(Math.min(left, speed === "max" ? Math.max(10, Math.ceil(steps / 30)) : Number(speed)), mine);
  } catch (error) {
    // (Trainers that a new run has put away have nothing to say to it.)
    if (mine.over()) return;
    pause();
    say(error);
    return;
  }
  requestAnimationFrame(() => tick(mine));
}

/** Milliseconds that the slower lane takes for a step, from the shown run; NaN before that is known. */
export function pace() {
  const { timed, milliseconds } = run.peek() ?? {};
  return timed ? Math.max(...LANES.map((name) => milliseconds[name])) / timed : NaN;
}

/** Lanes that train otherwise with another range, or bound. */
function touched(part) {
  const { lanes } = state.peek();
  return LANES.filter((name) => ("fpr" in part && isOfRange(lanes[name].method)) || ("bound" in part && isBound(lanes[name])));
}

/** While something is dragged: the lanes that it concerns train on from where they are, as often as they can; the others are measured anew. */
const following = { under: null, again: null, moving: false };
/** @param {object} part of the state @param {object} [given] other rows, which concern all lanes */
export async function follow(part, given) {
  set(part);
  if (given) pushSoon();
  else pushAddress(!following.moving);
  following.moving = !given;
  const { length } = rows.peek()?.X.val ?? rows.peek()?.X ?? [];
  if (!together() || !shots.peek() || length > FOLLOWED.values || ensembles) return;
  following.again = { ...following.again, ...part, ...(given && { given }) };
  // (Until the last of what is asked for is shown.)
  following.under ??= keepOn();
  await following.under;
}

async function keepOn() {
  try {
    while (following.again) {
      const now = following.again;
      following.again = null;
      await goOn(now.given ? LANES : touched(now), now.given);
    }
  } catch (error) {
    if (!isSuperseded(error)) say(error);
  } finally {
    following.under = null;
  }
}

/** Some steps of these lanes, from their weights, as the state says now; then a picture of both, at the same place of the course. */
async function goOn(names, of = rows.peek()) {
  const mine = turn.begin();
  page.began();
  pause();
  const { steps } = state.peek();
  const few = Math.max(FOLLOWED.least, Math.min(steps, Math.floor(FOLLOWED.milliseconds / (pace() || 1))));
  const next = {};
  try {
    const both = await mine(Promise.all(LANES.map(async (name) => {
      const start = of === rows.peek() ? await trainers[name].params() : await carried(name, of);
      next[name] = await createTrainer({ ...options(name, of), start, steps: few });
      const shot = await next[name].advance({ steps: names.includes(name) ? few : 0 }, page.view(name, of));
      const { step, pass, objective, milliseconds, warning, collapsed } = shots.peek()[name];
      return Object.assign(compare(shot), { step, pass, milliseconds, shown: state.peek().class }, !names.includes(name) && { objective, warning, collapsed });
    })));
    for (const name of LANES) {
      trainers[name].dispose();
      trainers[name] = next[name];
      delete next[name];
    }
    batch(() => {
      rows.value = of;
      run.value = { ...run.peek(), rows: of, kind: measured.peek() };
      shots.value = { a: both[0], b: both[1], step: shots.peek().step, moved: true };
    });
  } catch (error) {
    // (Trainers that a new run has put away have nothing to say to it.)
    if (!mine.over()) throw error;
  } finally {
    release(next);
  }
}

/** Loads what it takes to go on from weights, before it is waited for. */
export async function warm() {
  if (!together()) return;
  await Promise.all(LANES.map(async (name) => (await createTrainer({ ...options(name), start: await trainers[name].params(), steps: 1 })).dispose())).catch(() => {});
}

/** The weights of a lane, for rows whose columns are scaled otherwise: the scores stay. */
async function carried(name, { X, dims }) {
  const [params, columns] = await Promise.all([trainers[name].params(), trainers[name].columns()]);
  if (!columns) return params;
  const model = address.modelOf(state.peek(), name);
  const units = model === "linear" ? 1 : Number(model.split(",")[0]);
  for (let column = 0; column < dims; column += 1) {
    const [shift, factor] = columns[column];
    const own = X.filter((_, at) => at % dims === column);
    const mean = own.reduce((sum, x) => sum + x, 0) / own.length;
    const deviation = Math.sqrt(own.reduce((sum, x) => sum + (x - mean) ** 2, 0) / own.length);
    for (let unit = 0; unit < units; unit += 1) {
      const weight = params[column * units + unit];
      params[column * units + unit] = weight * factor * deviation;
      params[dims * units + unit] += weight * factor * (mean - shift);
    }
  }
  return params;
}

/** It was let go: the run that the address names, shown when it is done. */
export function settle(part, given) {
  following.again = null;
  following.moving = false;
  say(null);
  set(part);
  restart({ fresh: false, quiet: together() && Boolean(shots.peek()), play: true, given });
}

/** What lanes are kept for: a kind of data, or an own file. */
export const place = () => `${state.peek().data === "file" ? `file ${own.peek().file} ` : ""}${kindOf(state.peek(), own.peek()).name}`;

/** Other data, or another model; in another place with what that had last, or else with `usual`. */
export function choose(part, before = place(), usual = {}) {
  const { lanes, model, steps, speed } = state.peek();
  batch(() => {
    // (What was done to other data by hand is of that.)
    set("data" in part ? { edits: "", ...part } : part);
    const pair = address.isPair(state.peek().model);
    const plain = LANES.every((name) => /^ce/.test(lanes[name].method));
    if (pair !== address.isPair(model) && (pair || plain)) set({ lanes: address.modelsFirst(part.model) });
    const now = place();
    if (now === before) return;
    kept.set(before, { lanes, model, steps, speed });
    const last = kept.get(now);
    // (The model stays where the data is of another kind, but an own file has its own.)
    const other = [now, before].some((one) => one.startsWith("file"));
    const begun = { ...(before.startsWith("file") && { model: "linear", steps: 300, speed: "10" }), lanes: address.lanes(kindOf(state.peek(), own.peek()).name), ...usual };
    set(last ? (other ? last : { lanes: last.lanes }) : begun);
  });
}

/** Another choice that is trained. */
export function change(part) {
  say(null);
  choose(part);
  return restart({ fresh: ["data", "positives", "noise", "flips", "seed"].some((name) => name in part), play: true, step: true });
}

