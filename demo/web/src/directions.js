// The best direction of a linear model on a plane, found by trying: what is there to be had on the rows that are shown.

/** Directions tried all around, and then more closely beside the best of them. */
const AROUND = 360;
const BESIDE = 40;
/** Those beside which more are tried. */
const BEST = 3;

/**
 * Average precision of rows ordered along a direction, of equal scores the lowest precision: as the package measures it.
 * @param {Float64Array} positives their scores; they are sorted
 * @param {Float64Array} negatives
 * @param {Uint32Array} above room for one more than the positives
 */
function averagePrecision(positives, negatives, above) {
  positives.sort();
  above.fill(0);
  const lowest = positives[0];
  for (const score of negatives) {
    if (score < lowest) continue; // (most, where the order is good)
    // Positives at or below it.
    let [from, to] = [0, positives.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (positives[middle] <= score) from = middle + 1;
      else to = middle;
    }
    above[from] += 1;
  }
  let sum = 0;
  let negative = 0;
  for (let k = positives.length - 1; k >= 0; ) {
    // All positives with one score stand or fall together.
    let first = k;
    negative += above[k + 1];
    while (first > 0 && positives[first - 1] === positives[k]) first -= 1;
    const positive = positives.length - first;
    sum += ((k - first + 1) * positive) / (positive + negative);
    k = first - 1;
  }
  return sum / positives.length;
}

/**
 * @param {Float32Array} X two features a row
 * @param {Uint8Array} y 1 for positives, of which there is at least one
 * @returns {{ ap: number, angle: number, tried: number }} the highest average precision, where, and of how many directions
 */
export function bestDirection(X, y) {
  // Both classes' features apart: every direction walks over them.
  const [negatives, positives] = [0, 1].map((label) => {
    const rows = [...y.keys()].filter((row) => y[row] === label);
    const [first, second] = [0, 1].map((feature) => Float64Array.from(rows, (row) => X[2 * row + feature]));
    return { first, second, scores: new Float64Array(rows.length) };
  });
  const above = new Uint32Array(positives.scores.length + 1);
  let tried = 0;
  const at = (angle) => {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    for (const { first, second, scores } of [negatives, positives]) {
      for (let row = 0; row < scores.length; row += 1) scores[row] = c * first[row] + s * second[row];
    }
    tried += 1;
    return { angle, ap: averagePrecision(positives.scores, negatives.scores, above) };
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
