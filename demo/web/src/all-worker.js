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

/** Draws a sample and finds what computes. */
async function open({ kind, rows, positives, noise, seed, backend }, progress) {
  sample?.exact?.dispose();
  sample = null;
  progress("Drawing");
  await init();
  const { X, y } = synthetic(kind, { rows, testRows: 4, positives, noise, seed });
  progress(backend === "auto" ? "Finding out what computes fastest on" : "Laying out");
  const exact = await Exact.create({ y, backend });
  sample = { X, y, exact, scores: new Float32Array(rows), w: null, metrics: null };
  return { ...some(sample), positives: y.reduce((sum, label) => sum + label, 0), backend: exact.backend, reason: exact.backendReason };
}

/** The scores, and where most of them lie. */
function score(w) {
  const { X, scores } = sample;
  let [sum, squares] = [0, 0];
  for (let row = 0, at = 0; row < scores.length; row += 1, at += 2) {
    const s = Math.fround(w[0] * X[at] + w[1] * X[at + 1]);
    scores[row] = s;
    sum += s;
    squares += s * s;
  }
  const mean = sum / scores.length;
  const reach = REACH * Math.sqrt(Math.max(squares / scores.length - mean * mean, 1e-12));
  sample.range = [mean - reach, mean + reach];
  sample.w = w;
  sample.metrics = null;
}

/** What is exact of a scorer. */
async function look({ w, of, fpr, loss }) {
  if (sample.w?.[0] !== w[0] || sample.w?.[1] !== w[1]) score(w);
  const { X, y, exact, scores, range } = sample;
  const { value, gradient, milliseconds } = await (of === "pauc" ? exact.pauc(scores, fpr, { loss }) : exact[of](scores, { loss }));
  sample.metrics ??= await exact.metrics(scores);
  const { metrics } = sample;
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
  return { w, of, fpr, value, grad, range, rows, push, milliseconds, metrics, backend: exact.backend, reason: exact.backendReason };
}

const calls = { open, look };

self.onmessage = async ({ data: { id, call, asked } }) => {
  try {
    self.postMessage({ id, value: await calls[call](asked, (progress) => self.postMessage({ id, progress })) });
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
};
