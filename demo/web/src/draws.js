// Many runs of both lanes on new draws of the same data, in pairs: what stands behind the headline.

/** Differences of a metric below this are none. */
export const LEAST = 0.005;

/** Whether one value is ahead of another. */
export const leads = (one, other) => one - other >= LEAST - 1e-12;

/** So many draws, beginning with the one that is shown. */
export const DRAWS = 20;

/**
 * What one lane reached on one draw.
 * @typedef {object} Outcome
 * @property {number} value the metric of the headline, on held-out rows; NaN where training broke off
 * @property {number} other the second metric
 * @property {Record<string, number>} [test] all metrics
 * @property {number} [peak] the highest value of its moments, as the held-out labels choose it
 * @property {number} steps it took, fewer than asked for where the method had nothing more to do
 * @property {boolean} collapsed whether the run says so of itself
 * @property {string} [warning]
 * @property {string} [error] why training broke off
 */

/** @typedef {{ seed: number, a: Outcome, b: Outcome, best?: number }} Draw `best` of the directions tried, the lanes' too */

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Standard deviation of a sample; NaN of fewer than two values. */
function deviation(values) {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/**
 * Means of the points of a map over seeds, and the deviation of such a mean from seed to seed, over all points; NaN of one seed.
 * @param {number[]} values of all points with one seed, then with the next; NaN where there is no result @param {number} points
 */
export function spread(values, points) {
  const seeds = values.length / points;
  const of = Array.from({ length: points }, (_, point) => Array.from({ length: seeds }, (_, seed) => values[seed * points + point]).filter(Number.isFinite));
  const several = of.filter(({ length }) => length > 1);
  const squares = several.map((known) => deviation(known) ** 2 / known.length);
  return { means: of.map((known) => (known.length ? mean(known) : NaN)), noise: squares.length ? Math.sqrt(mean(squares)) : NaN };
}

/** How likely a fair coin splits as unevenly as `wins` to `losses`, or more so. */
export function signTest(wins, losses) {
  const n = wins + losses;
  let [sum, term] = [0, 0.5 ** n];
  for (let k = 0; k <= Math.min(wins, losses); k += 1) {
    sum += term;
    term *= (n - k) / (k + 1);
  }
  return Math.min(1, 2 * sum);
}

/** A run that has a result: it neither collapsed nor broke off. */
export const stands = ({ value, collapsed }) => !collapsed && Number.isFinite(value);

/**
 * Means over the runs that have a result; a run without one is behind any that has. Two runs that differ by less than `LEAST` are level.
 * @param {Draw[]} draws
 */
export function summarise(draws) {
  const lane = (name) => {
    const kept = draws.map((draw) => draw[name]).filter(stands);
    const values = kept.map(({ value }) => value);
    return {
      runs: kept.length,
      mean: mean(values),
      peak: mean(kept.map(({ peak, value }) => peak ?? value)),
      deviation: deviation(values),
      fewest: Math.min(...kept.map(({ steps }) => steps)),
      other: mean(kept.map(({ other }) => other)),
      test: Object.fromEntries(Object.keys(kept[0]?.test ?? {}).map((key) => [key, mean(kept.map(({ test }) => test[key]))])),
      collapsed: draws.filter((draw) => draw[name].collapsed).length,
      broken: draws.filter((draw) => !draw[name].collapsed && !stands(draw[name])).length,
    };
  };
  const beats = (one, other) => stands(one) && !(stands(other) && !leads(one.value, other.value));
  const ahead = (name, other) => draws.filter((draw) => beats(draw[name], draw[other])).length;
  const best = draws.map((draw) => draw.best).filter((value) => value !== undefined);
  const of = { a: lane("a"), b: lane("b"), best: best.length === draws.length ? { mean: mean(best), deviation: deviation(best) } : null, ahead: { a: ahead("a", "b"), b: ahead("b", "a") } };
  return { ...of, draws: draws.length, level: draws.length - of.ahead.a - of.ahead.b, chance: signTest(of.ahead.a, of.ahead.b) };
}
