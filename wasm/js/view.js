// What a picture of scores needs: curves at fixed places, histograms, ranks.

/** Scores of each class, ascending. */
export class Ordered {
  /** @param {Float32Array} scores @param {Uint8Array} labels 1 for positives */
  constructor(scores, labels) {
    let positives = 0;
    for (const y of labels) positives += y;
    this.negatives = new Float32Array(scores.length - positives);
    this.positives = new Float32Array(positives);
    let negative = 0;
    let positive = 0;
    for (let row = 0; row < scores.length; row += 1) {
      if (labels[row]) this.positives[positive++] = scores[row];
      else this.negatives[negative++] = scores[row];
    }
    this.negatives.sort();
    this.positives.sort();
  }

  /**
   * Positives and negatives at or above every different score, from the highest down.
   * @returns {{ length: number, high: Uint32Array, low: Uint32Array }}
   */
  tallies() {
    const { positives, negatives } = this;
    let [p, n] = [positives.length, negatives.length];
    const high = new Uint32Array(p + n);
    const low = new Uint32Array(p + n);
    let length = 0;
    while (p > 0 || n > 0) {
      const score = p > 0 && (n === 0 || positives[p - 1] >= negatives[n - 1]) ? positives[p - 1] : negatives[n - 1];
      while (p > 0 && positives[p - 1] === score) p -= 1;
      while (n > 0 && negatives[n - 1] === score) n -= 1;
      high[length] = positives.length - p;
      low[length] = negatives.length - n;
      length += 1;
    }
    return { length, high, low };
  }

  /**
   * True-positive rate at `points` equally spaced false-positive rates, linear between the curve's points; and precision
   * where the recall first reaches each of as many equally spaced values, the steps whose area is the average precision.
   * @param {number} points
   */
  curves(points) {
    const { length, high, low } = this.tallies();
    const [positives, negatives] = [this.positives.length, this.negatives.length];
    const roc = new Float32Array(points);
    const pr = new Float32Array(points);
    let [next, step] = [-1, 0];
    for (let k = 0; k < points; k += 1) {
      const at = k / (Math.max(points, 2) - 1);
      while (next + 1 < length && low[next + 1] <= at * negatives) next += 1;
      const [fp, tp] = next < 0 ? [0, 0] : [low[next], high[next]];
      const [toFp, toTp] = next + 1 < length ? [low[next + 1], high[next + 1]] : [fp, tp];
      const part = toFp > fp ? (at * negatives - fp) / (toFp - fp) : 0;
      roc[k] = (tp + part * (toTp - tp)) / positives;
      // The first score with some recall stands for recall 0.
      while (step + 1 < length && (high[step] < at * positives || high[step] === 0)) step += 1;
      pr[k] = high[step] / (high[step] + low[step]);
    }
    return { roc, pr };
  }

  /**
   * Lowest and highest score, then each bin's share of the negatives, then of the positives. The range leaves out the
   * most extreme 0.2 % of the scores, which are counted in the outer bins.
   * @param {number} bins
   */
  histogram(bins) {
    const all = new Float32Array(this.negatives.length + this.positives.length);
    all.set(this.negatives);
    all.set(this.positives, this.negatives.length);
    all.sort();
    const cut = Math.floor(all.length / 500);
    const span = all[all.length - 1 - cut] - all[cut];
    // Scores that are all alike stand in the middle.
    const [low, width] = span > 0 ? [all[cut], span] : [all[cut] - 0.5, 1];
    const out = new Float32Array(2 + 2 * bins);
    out[0] = low;
    out[1] = low + width;
    for (const [from, scores] of [[2, this.negatives], [2 + bins, this.positives]]) {
      for (const score of scores) {
        const bin = Math.floor(((score - low) / width) * bins);
        out[from + Math.min(bins - 1, Math.max(0, bin))] += 1 / scores.length;
      }
    }
    return out;
  }

  /**
   * Share of the negatives below each score, ties counting one half.
   * @param {Float32Array} scores
   */
  ranks(scores) {
    const { negatives } = this;
    const first = (score, tied) => {
      let [from, to] = [0, negatives.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (negatives[middle] < score || (tied && negatives[middle] === score)) from = middle + 1;
        else to = middle;
      }
      return from;
    };
    return scores.map((score) => (first(score, false) + first(score, true)) / (2 * Math.max(1, negatives.length)));
  }
}

/** The middles of a grid's cells, row by row, (x, y) each. */
export function grid({ x, y, columns, rows }) {
  const out = new Float32Array(2 * columns * rows);
  for (let j = 0, at = 0; j < rows; j += 1) {
    for (let i = 0; i < columns; i += 1) {
      out[at++] = x[0] + ((x[1] - x[0]) * (i + 0.5)) / columns;
      out[at++] = y[0] + ((y[1] - y[0]) * (j + 0.5)) / rows;
    }
  }
  return out;
}

/**
 * The class with the highest score of each row (of equal ones the first), that score, and how far the next is behind.
 * @param {Float32Array} scores rows × classes, row-major
 * @param {number} classes
 * @returns {{ winner: Uint8Array, odds: Float32Array, lead: Float32Array }}
 */
function winners(scores, classes) {
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

/** The module's metrics, by name: of two classes, or of several. */
export function named(metrics, several) {
  const [auroc, ap, pauc, accuracy] = metrics;
  return several ? classMetrics(metrics) : { auroc, ap, pauc, accuracy };
}

function classMetrics([handTill, auroc, ap, accuracy, ...each]) {
  const classes = Array.from({ length: each.length / 3 }, (_, k) => ({ rows: each[3 * k], auroc: each[3 * k + 1], ap: each[3 * k + 2] }));
  return { handTill, auroc, ap, accuracy, classes };
}

/**
 * What a view asks for of scores.
 * @param {import("./session.js").View & import("./session.js").ClassView} view
 * @param {{ scores: () => Float32Array, labels: Uint8Array, classes?: number, score: (X: Float32Array) => Float32Array }} held
 *   the held-out rows with their scores, and a way to those of other rows
 */
export function pictures(view, { scores: all, labels, classes, score }) {
  const { curve, bins, surface, ranks, scores: many, winners: wanted, class: one = 0 } = view;
  const out = {};
  const several = classes !== undefined;
  const ordering = curve || bins || (!several && (surface || ranks));
  const scores = ordering || many || (several && wanted) ? all() : null;
  if (many) out.scores = scores.slice(0, many * (classes ?? 1));
  if (ordering) {
    // Of several classes, one against all others.
    const own = several ? labels.map((label) => Number(label === one)) : labels;
    const ordered = new Ordered(several ? Float32Array.from(own, (_, row) => scores[row * classes + one]) : scores, own);
    if (curve) Object.assign(out, ordered.curves(curve));
    if (bins) out.histogram = ordered.histogram(bins);
    if (!several && surface) {
      const heights = score(grid(surface));
      out.surface = ordered.ranks(heights);
      if (surface.scores) out.surfaceScores = heights;
    }
    if (!several && ranks) out.ranks = ordered.ranks(scores.subarray(0, ranks));
  }
  if (several && surface) out.surface = winners(score(grid(surface)), classes);
  if (several && wanted) out.winners = winners(scores.subarray(0, wanted * classes), classes).winner;
  return out;
}
