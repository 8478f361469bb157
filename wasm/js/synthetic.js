// Data drawn from a seed: two features, rare positives.

import { labelsOf, need, only, whole } from "./check.js";
import { taken } from "./load.js";
import { withModule } from "./modules.js";
import { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "./synthetics.js";

/** Many more would not fit the memory that a module can have. */
const MOST_ROWS = 10_000_000;

function check(kinds, kind, { rows, testRows, positives = 0.5, noise, seed }, known, options) {
  need(kinds.some(({ name }) => name === kind), "kind", kind, `one of ${kinds.map(({ name }) => name).join(", ")}`);
  only(options, known, "");
  need(positives > 0 && positives < 1, "positives", positives, "a number between 0 and 1");
  need(noise >= 0 && noise < Infinity, "noise", noise, "a number from 0, which is not negative");
  for (const [what, count] of [["rows", rows], ["testRows", testRows]]) need(whole(count, 1, MOST_ROWS), what, count, "a whole number from 1 to 10 million");
  need(whole(seed, 0, Number.MAX_SAFE_INTEGER), "seed", seed, "a whole number from 0");
}

/**
 * Training rows and held-out rows of one kind, ready for `Session`.
 * @param {string} kind name of one of `SYNTHETICS`
 * @param {{ rows?: number, testRows?: number, positives?: number, noise?: number, seed?: number }} [options] `positives`
 *   their share; `noise` a standard deviation added to both features
 */
export function synthetic(kind, options = {}) {
  const { rows = 2000, testRows = 2000, positives = 0.03, noise = 0, seed = 1 } = options ?? {};
  check(SYNTHETICS, kind, { rows, testRows, positives, noise, seed }, ["rows", "testRows", "positives", "noise", "seed"], options);
  return withModule(({ Drawn }) => {
    const draw = (count, part) => taken(new Drawn(kind, count, positives, noise, seed, part), rowsOf);
    return { ...draw(rows, 0), dims: 2, test: draw(testRows, 1) };
  });
}

const rowsOf = (drawn) => ({ X: drawn.takeX(), y: drawn.takeY() });

/**
 * The same of several classes, by the module of groups.
 * @param {string} kind name of one of `CLASS_SYNTHETICS`
 * @param {{ rows?: number, testRows?: number, noise?: number, seed?: number }} [options]
 */
export function syntheticClasses(kind, options = {}) {
  const { rows = 2000, testRows = 2000, noise = 0, seed = 1 } = options ?? {};
  check(CLASS_SYNTHETICS, kind, { rows, testRows, noise, seed }, ["rows", "testRows", "noise", "seed"], options);
  return withModule(({ drawPinwheel, pinwheelClasses }) => {
    const draw = (count, part) => taken(drawPinwheel(count, noise, seed, part), rowsOf);
    return drawPinwheel ? { ...draw(rows, 0), dims: 2, classes: pinwheelClasses(), test: draw(testRows, 1) } : "groups";
  });
}

/**
 * The same of rows in groups, by the module of groups.
 * @param {string} kind name of one of `GROUP_SYNTHETICS`
 * @param {{ rows?: number, testRows?: number, positives?: number, noise?: number, seed?: number }} [options]
 */
export function syntheticGroups(kind, options = {}) {
  const { rows = 2000, testRows = 2000, positives = 0.3, noise = 0, seed = 1 } = options ?? {};
  check(GROUP_SYNTHETICS, kind, { rows, testRows, positives, noise, seed }, ["rows", "testRows", "positives", "noise", "seed"], options);
  return withModule(({ drawTowns }) => {
    const rowsAndGroups = (drawn) => ({ ...rowsOf(drawn), groups: drawn.takeGroups() });
    const draw = (count, part) => taken(drawTowns(count, positives, noise, seed, part), rowsAndGroups);
    const { groups: groupNames } = GROUP_SYNTHETICS.find(({ name }) => name === kind);
    return drawTowns ? { ...draw(rows, 0), dims: 2, groupNames, test: draw(testRows, 1) } : "groups";
  });
}

/**
 * Labels with a share of them flipped, as label noise. The seed decides which; those of a smaller share are among those of a
 * larger one, and each class keeps at least one row.
 * @param {Uint8Array} y @param {number} share 0 … 1 @param {number} [seed]
 * @returns {Uint8Array}
 */
export function flipLabels(y, share, seed = 1) {
  const labels = labelsOf(y, "y");
  need(share >= 0 && share <= 1, "share", share, "a number in 0 … 1");
  need(whole(seed, 0, Number.MAX_SAFE_INTEGER), "seed", seed, "a whole number from 0");
  return withModule((module) => module.flipLabels(labels, share, seed));
}
