// Data drawn from a seed: two features, rare positives.

import { Drawn, flipLabels as flip } from "./pkg/undercurve.js";

/**
 * Training rows and held-out rows of one kind, ready for `Session`.
 * @param {string} kind name of one of `SYNTHETICS`
 * @param {{ rows?: number, testRows?: number, positives?: number, noise?: number, seed?: number }} [options] `positives`
 *   their share; `noise` a standard deviation added to both features
 */
export function synthetic(kind, { rows = 2000, testRows = 2000, positives = 0.03, noise = 0, seed = 1 } = {}) {
  const draw = (count, part) => {
    const drawn = new Drawn(kind, count, positives, noise, seed, part);
    try {
      return { X: drawn.takeX(), y: drawn.takeY() };
    } finally {
      drawn.free();
    }
  };
  return { ...draw(rows, 0), dims: 2, test: draw(testRows, 1) };
}

/**
 * Labels with a share of them turned over, as noise to train with. Which ones follows from the seed: those of a smaller
 * share are among those of a larger one, and each class keeps at least one row.
 * @param {Uint8Array} y @param {number} share 0 … 1 @param {number} [seed]
 * @returns {Uint8Array}
 */
export function flipLabels(y, share, seed = 1) {
  return flip(y, share, seed);
}
