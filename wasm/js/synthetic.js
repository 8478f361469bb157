// Data drawn from a seed: two features, rare positives.

import { withModule } from "./modules.js";
import { Drawn, flipLabels as flip } from "./pkg/undercurve.js";
import { CLASS_SYNTHETICS } from "./synthetics.js";

/**
 * Training rows and held-out rows of one kind, ready for `Session`.
 * @param {string} kind name of one of `SYNTHETICS`
 * @param {{ rows?: number, testRows?: number, positives?: number, noise?: number, seed?: number }} [options] `positives`
 *   their share; `noise` a standard deviation added to both features
 */
export function synthetic(kind, { rows = 2000, testRows = 2000, positives = 0.03, noise = 0, seed = 1 } = {}) {
  const draw = (count, part) => taken(new Drawn(kind, count, positives, noise, seed, part));
  return { ...draw(rows, 0), dims: 2, test: draw(testRows, 1) };
}

/** The arrays of drawn rows, whose memory is given back. */
function taken(drawn) {
  try {
    return { X: drawn.takeX(), y: drawn.takeY() };
  } finally {
    drawn.free();
  }
}

/**
 * The same of several classes, by the full module.
 * @param {string} kind name of one of `CLASS_SYNTHETICS`
 * @param {{ rows?: number, testRows?: number, noise?: number, seed?: number }} [options]
 */
export function syntheticClasses(kind, { rows = 2000, testRows = 2000, noise = 0, seed = 1 } = {}) {
  if (!CLASS_SYNTHETICS.some(({ name }) => name === kind)) throw new TypeError(`no such kind of data of several classes: ${String(kind)}`);
  return withModule(({ drawPinwheel, pinwheelClasses }) => {
    const draw = (count, part) => taken(drawPinwheel(count, noise, seed, part));
    return drawPinwheel && { ...draw(rows, 0), dims: 2, classes: pinwheelClasses(), test: draw(testRows, 1) };
  }, "data of several classes is");
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
