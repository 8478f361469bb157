// Several classes in a session: what is checked before, and what its snapshots show.

import { Ordered, grid } from "./view.js";

/** A byte numbers them. */
export const MOST_CLASSES = 256;

/** Throws where a class has no row: none of its metrics would be known. */
export function needEveryClass(labels, classes, what) {
  const rows = new Uint32Array(classes);
  for (const label of labels) if (label < classes) rows[label] += 1;
  const absent = rows.indexOf(0);
  if (absent >= 0) throw new TypeError(`${what}: no row of class ${absent}, and classes is ${classes}`);
}

/**
 * The class with the highest score of each row (of equal ones the first), that score, and how far the next is behind.
 * @param {Float32Array} scores rows × classes, row-major
 * @param {number} classes
 * @returns {{ winner: Uint8Array, odds: Float32Array, lead: Float32Array }}
 */
export function winners(scores, classes) {
  const rows = scores.length / classes;
  const winner = new Uint8Array(rows);
  const odds = new Float32Array(rows);
  const lead = new Float32Array(rows);
  for (let row = 0, at = 0; row < rows; row += 1, at += classes) {
    let best = 0;
    let next = -Infinity;
    for (let one = 1; one < classes; one += 1) {
      if (scores[at + one] > scores[at + best]) {
        next = scores[at + best];
        best = one;
      } else if (scores[at + one] > next) {
        next = scores[at + one];
      }
    }
    winner[row] = best;
    odds[row] = scores[at + best];
    lead[row] = scores[at + best] - next;
  }
  return { winner, odds, lead };
}

/** The module's metrics, by name. */
export function classMetrics([handTill, auroc, ap, accuracy, ...each]) {
  const classes = Array.from({ length: each.length / 3 }, (_, k) => ({ rows: each[3 * k], auroc: each[3 * k + 1], ap: each[3 * k + 2] }));
  return { handTill, auroc, ap, accuracy, classes };
}

/**
 * What a view of several classes asks for.
 * @param {import("./session.js").ClassView} view
 * @param {{ scores: () => Float32Array, labels: Uint8Array, classes: number, score: (X: Float32Array) => Float32Array }} held
 *   the held-out rows with their scores, and a way to those of other rows
 */
export function classPictures(view, { scores: all, labels, classes, score }) {
  const pictures = {};
  const scores = view.curve || view.bins || view.winners ? all() : null;
  if (view.curve || view.bins) {
    const one = view.class ?? 0;
    const own = labels.map((label) => Number(label === one));
    const ordered = new Ordered(Float32Array.from(own, (_, row) => scores[row * classes + one]), own);
    if (view.curve) Object.assign(pictures, ordered.curves(view.curve));
    if (view.bins) pictures.histogram = ordered.histogram(view.bins);
  }
  if (view.surface) pictures.surface = winners(score(grid(view.surface)), classes);
  if (view.winners) pictures.winners = winners(scores.subarray(0, view.winners * classes), classes).winner;
  return pictures;
}
