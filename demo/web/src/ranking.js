// Rows by their scores, best first, and what a cut of that order finds.

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
const BITS = 2 ** 21;

/** Where a row stands among rows that score the same: rows of a file may lie in an order of their own, and ties should look like chance. */
export const tie = (row) => Math.imul(row, 413293) & (BITS - 1);
const rowOf = (tie) => Math.imul(tie, 1698661) & (BITS - 1);

/** A number that orders as the score does, and has room for the row behind it: sorting numbers is what engines do fastest. */
function key(score, row) {
  float[0] = score === 0 ? 0 : score; // (−0 is 0)
  const at = bits[0] & 0x80000000 ? ~bits[0] >>> 0 : bits[0] + 0x80000000;
  return at * BITS + (BITS - 1 - tie(row));
}

/** The rows, best first. @param {Float32Array} scores at most 2²¹ @returns {Uint32Array} */
export function order(scores) {
  const keys = new Float64Array(scores.length);
  for (let row = 0; row < scores.length; row += 1) keys[row] = key(scores[row], row);
  keys.sort();
  const rows = new Uint32Array(scores.length);
  for (let k = 0; k < rows.length; k += 1) rows[k] = rowOf(BITS - 1 - (keys[rows.length - 1 - k] % BITS));
  return rows;
}

/**
 * A cut: the rows with scores of at least `threshold`.
 * @typedef {{ threshold: number, shown: number, found: number, wrong: number, missed: number, left: number, precision: number, recall: number }} Cut
 *   `shown` rows, of which `found` are positive and `wrong` are not; below it `missed` positives and `left` negatives
 */

export class Ranking {
  /** @param {Float32Array} scores @param {Uint8Array} labels 1 for positives */
  constructor(scores, labels) {
    this.scores = scores;
    this.labels = labels;
    this.order = order(scores);
    /** Where the positives stand, from 0. */
    this.places = new Uint32Array(labels.reduce((sum, label) => sum + label, 0));
    let at = 0;
    for (let place = 0; place < this.order.length; place += 1) if (labels[this.order[place]]) this.places[at++] = place;
    this.positives = this.places.length;
    this.rows = scores.length;
  }

  /** Places of positives below so many. */
  before(place) {
    let [from, to] = [0, this.positives];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.places[middle] < place) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The ROC curve: true-positive rates at false-positive rates that rise. Rows of equal scores are a straight line. */
  roc(rates) {
    const { scores, labels, order, rows, positives } = this;
    const negatives = rows - positives;
    let place = 0;
    let [from, to] = [[0, 0], [0, 0]];
    return rates.map((rate) => {
      const at = rate * negatives;
      while (place < rows && to[0] <= at) {
        const score = scores[order[place]];
        from = to;
        to = [...to];
        for (; place < rows && scores[order[place]] === score; place += 1) to[labels[order[place]] ? 1 : 0] += 1;
      }
      const share = to[0] > at ? (at - from[0]) / (to[0] - from[0]) : 1;
      return (from[1] + share * (to[1] - from[1])) / positives;
    });
  }

  /** How many rows score at least so much. */
  from(score) {
    let [from, to] = [0, this.rows];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.scores[this.order[middle]] >= score) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** @param {number} threshold @returns {Cut} */
  cut(threshold) {
    const shown = this.from(threshold);
    const found = this.before(shown);
    const wrong = shown - found;
    return { threshold, shown, found, wrong, missed: this.positives - found, left: this.rows - shown - (this.positives - found), precision: shown ? found / shown : NaN, recall: found / this.positives };
  }

  /** The cut that finds so many positives: rows that score the same stand or fall together. @param {number} positives from 1 */
  finding(positives) {
    return this.cut(this.scores[this.order[this.places[positives - 1]]]);
  }

  /** The share of positives among the first rows. */
  precisionAt(rows) {
    return this.before(rows) / rows;
  }

  /** The score that this share of the negatives exceeds. */
  scoreAt(fpr) {
    const negatives = this.rows - this.positives;
    const negative = Math.min(negatives - 1, Math.floor(fpr * negatives));
    let above = 0;
    while (above < this.positives && this.places[above] - above <= negative) above += 1;
    return this.scores[this.order[negative + above]];
  }

  /** How many positives rank among the rows of which so large a share of the negatives is. */
  foundAt(fpr) {
    const negatives = Math.round(fpr * (this.rows - this.positives));
    // The positive at place p has p − (positives before it) negatives before it.
    let found = 0;
    while (found < this.positives && this.places[found] - found <= negatives) found += 1;
    return found;
  }
}

/** Of ten cuts the one at which the lanes stand the other way round than at this one, by most. */
export function turned(now, both) {
  const by = ({ a, b }) => a.wrong - b.wrong;
  const cuts = Array.from({ length: 10 }, (_, tenth) => Math.max(1, Math.round(((tenth + 1) / 10) * now.positives)))
    .map((wanted) => ({ wanted, a: both.a.finding(wanted), b: both.b.finding(wanted) }))
    .filter((cut) => by(cut) * by(now) < 0);
  return cuts.reduce((most, cut) => (!most || Math.abs(by(cut)) > Math.abs(by(most)) ? cut : most), null);
}
