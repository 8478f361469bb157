// The best direction of a linear model on a plane, found by trying: what is there to be had on the rows that are shown.

/** Directions tried all around, and then more closely beside the best of them. */
const AROUND = 360;
const BESIDE = 40;
/** Those beside which more are tried. */
const BEST = 3;

/** Rows of each class apart: every direction walks over them. @param {Float32Array} X two features a row @param {Uint8Array} y */
export function split(X, y) {
  const [negatives, positives] = [0, 1].map((label) => {
    const rows = [...y.keys()].filter((row) => y[row] === label);
    const [first, second] = [0, 1].map((feature) => Float64Array.from(rows, (row) => X[2 * row + feature]));
    return { first, second, scores: new Float64Array(rows.length) };
  });
  return { negatives, positives, above: new Uint32Array(positives.scores.length + 1) };
}

/**
 * Metrics of rows ordered along a direction, of equal scores the lowest: the average precision is as the package measures it, the
 * others are without ties.
 * @param {ReturnType<typeof split>} parts @param {number} angle @param {[number, number]} [range] of false-positive rates
 */
export function measure({ negatives, positives, above }, angle, [low, high] = [0, 1]) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  for (const { first, second, scores } of [negatives, positives]) {
    for (let row = 0; row < scores.length; row += 1) scores[row] = c * first[row] + s * second[row];
  }
  const sorted = positives.scores.sort();
  above.fill(0);
  const lowest = sorted[0];
  for (const score of negatives.scores) {
    if (score < lowest) continue; // (most, where the order is good)
    // Positives at or below it.
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle] <= score) from = middle + 1;
      else to = middle;
    }
    above[from] += 1;
  }
  const all = negatives.scores.length;
  let [ap, auroc, pauc, negative] = [0, 0, 0, 0];
  for (let k = sorted.length - 1; k >= 0; ) {
    // All positives with one score stand or fall together.
    let first = k;
    negative += above[k + 1];
    while (first > 0 && sorted[first - 1] === sorted[k]) first -= 1;
    const [positive, here] = [sorted.length - first, k - first + 1];
    ap += (here * positive) / (positive + negative);
    auroc += here * (1 - negative / all);
    pauc += (here * Math.max(0, high - Math.max(low, negative / all))) / (high - low);
    k = first - 1;
  }
  return { ap: ap / sorted.length, auroc: auroc / sorted.length, pauc: pauc / sorted.length };
}

/** Metrics all around, a degree apart from −180 on. @returns {{ ap: Float64Array, auroc: Float64Array, pauc: Float64Array }} 361 of each */
export function around(X, y, range) {
  const parts = split(X, y);
  const out = { ap: new Float64Array(361), auroc: new Float64Array(361), pauc: new Float64Array(361) };
  for (let k = 0; k <= 360; k += 1) for (const [name, value] of Object.entries(measure(parts, ((k - 180) * Math.PI) / 180, range))) out[name][k] = value;
  return out;
}

/**
 * @param {Float32Array} X two features a row
 * @param {Uint8Array} y 1 for positives, of which there is at least one
 * @returns {{ ap: number, angle: number, tried: number }} the highest average precision, where, and of how many directions
 */
export function bestDirection(X, y) {
  const parts = split(X, y);
  let tried = 0;
  const at = (angle) => {
    tried += 1;
    return { angle, ap: measure(parts, angle).ap };
  };
  const gap = (2 * Math.PI) / AROUND;
  const around = Array.from({ length: AROUND }, (_, k) => at(k * gap)).sort((one, other) => other.ap - one.ap);
  let best = around[0];
  for (const { angle } of around.slice(0, BEST)) {
    for (let k = 1; k <= BESIDE; k += 1) {
      const next = at(angle + gap * ((2 * k) / (BESIDE + 1) - 1));
      if (next.ap > best.ap) best = next;
    }
  }
  return { ...best, tried };
}
