// In a worker: a sample, a linear scorer on it, and what is exact of its scores. The sample never leaves it.

import { Exact, init, synthetic } from "undercurve";

/** Points of the sample that are drawn. */
const DRAWN = { negatives: 1500, positives: 500 };
/** Of the scores' histogram; how many deviations on either side of the mean it shows. */
const BINS = 56;
const REACH = 3.2;

let sample = null;

/** Some rows of each class, the first ones: they are drawn in no order. */
function some({ X, y }) {
  const left = [DRAWN.negatives, DRAWN.positives];
  const rows = [];
  for (let row = 0; row < y.length && left[0] + left[1] > 0; row += 1) if (left[y[row]] > 0) rows.push(row) && (left[y[row]] -= 1);
  return { points: Float32Array.from({ length: 2 * rows.length }, (_, at) => X[2 * rows[at >> 1] + (at & 1)]), labels: Uint8Array.from(rows, (row) => y[row]) };
}

async function close() {
  sample?.exact.dispose();
  sample = null;
}

/** Draws a sample and finds what computes; given up where another call has taken its place. */
async function open({ kind, rows, positives, noise, seed, backend }, progress, current) {
  close();
  if (!current()) throw new Error("superseded");
  progress("Drawing");
  await init();
  const { X, y } = synthetic(kind, { rows, testRows: 4, positives, noise, seed });
  progress(backend === "auto" ? "Timing the CPU and the GPU on" : "Laying out");
  const exact = await Exact.create({ y, backend });
  if (!current()) {
    exact.dispose();
    throw new Error("superseded");
  }
  sample = { X, y, exact, positives: y.reduce((sum, label) => sum + label, 0), scores: new Float32Array(rows), w: null, metrics: null };
  return some(sample);
}

/** The scores, and where most of them lie. */
function score(held, w) {
  const { X, scores } = held;
  let [sum, squares] = [0, 0];
  for (let row = 0, at = 0; row < scores.length; row += 1, at += 2) {
    const s = Math.fround(w[0] * X[at] + w[1] * X[at + 1]);
    scores[row] = s;
    sum += s;
    squares += s * s;
  }
  const mean = sum / scores.length;
  const reach = REACH * Math.sqrt(Math.max(squares / scores.length - mean * mean, 1e-12));
  Object.assign(held, { range: [mean - reach, mean + reach], w, metrics: null });
}

/** What is exact of a scorer. */
async function look({ w, of, fpr, loss }) {
  const held = sample;
  if (!held) throw new Error("there is no sample");
  if (held.w?.[0] !== w[0] || held.w?.[1] !== w[1]) score(held, w);
  const { X, y, positives, exact, scores, range } = held;
  const { value, gradient, milliseconds, backend } = await (of === "pauc" ? exact.pauc(scores, fpr, { loss }) : exact[of](scores, { loss }));
  held.metrics ??= await exact.metrics(scores);
  const { metrics } = held;
  // Of each bin the rows of either class, and what the gradient says of them.
  const rows = [new Float64Array(BINS), new Float64Array(BINS)];
  const push = [new Float64Array(BINS), new Float64Array(BINS)];
  const [low, scale] = [range[0], BINS / (range[1] - range[0])];
  const grad = [0, 0];
  for (let row = 0, at = 0; row < scores.length; row += 1, at += 2) {
    const g = gradient[row];
    grad[0] += g * X[at];
    grad[1] += g * X[at + 1];
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor((scores[row] - low) * scale)));
    rows[y[row]][bin] += 1;
    push[y[row]][bin] -= g;
  }
  // (A single sum can be the CPU's, where the kernels refuse it.)
  const reason = exact.backend.endsWith(backend) ? exact.backendReason : `CPU, because the device refused this sum; otherwise ${exact.backendReason}`;
  return { w, of, fpr, value, grad, range, rows, push, milliseconds, metrics, all: y.length, positives, backend, reason };
}

const calls = { open, look, close };
/** Calls come one after the other, and of samples only the newest counts. */
let turn = Promise.resolve();
let newest = 0;

async function answer({ id, call, asked }) {
  try {
    self.postMessage({ id, value: await calls[call](asked, (progress) => self.postMessage({ id, progress }), () => id === newest) });
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
}

self.onmessage = ({ data }) => {
  if (data.call !== "look") newest = data.id;
  turn = turn.then(() => answer(data));
};
