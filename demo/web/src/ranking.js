// Rows by their scores, best first, and what a cut of that order finds.

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
const BITS = 2 ** 21;

/** Where a row stands among rows that score the same: rows of a file may lie in an order of their own, and ties should look like chance. */
export const tie = (row) => Math.imul(row, 413293) & (BITS - 1);
const rowOf = (tie) => Math.imul(tie, 1698661) & (BITS - 1);

/** Rows in the order of their ties, for so many of them. */
let ties = new Uint32Array(0);
function inTies(rows) {
  if (ties.length !== rows) {
    ties = new Uint32Array(rows);
    for (let row = 0; row < rows; row += 1) ties[row] = tie(row);
    ties.sort();
    for (let k = 0; k < rows; k += 1) ties[k] = rowOf(ties[k]);
  }
  return ties;
}

const DIGIT = 11;
/** The rows, best first: digit by digit of the scores' bits, which keeps the order of rows that tie. @param {Float32Array} scores at most 2²¹ @returns {Uint32Array} */
export function order(scores) {
  const count = scores.length;
  const keys = new Uint32Array(count);
  for (let row = 0; row < count; row += 1) {
    float[0] = scores[row] === 0 ? 0 : scores[row]; // (−0 is 0)
    // Bits that fall as the score rises.
    keys[row] = bits[0] & 0x80000000 ? bits[0] : ~bits[0] & 0x7fffffff;
  }
  let from = inTies(count);
  for (let shift = 0; shift < 32; shift += DIGIT) {
    const places = new Uint32Array(2 ** DIGIT + 1);
    for (let row = 0; row < count; row += 1) places[((keys[row] >>> shift) & (2 ** DIGIT - 1)) + 1] += 1;
    for (let digit = 0; digit < 2 ** DIGIT; digit += 1) places[digit + 1] += places[digit];
    const to = new Uint32Array(count);
    for (let k = 0; k < count; k += 1) to[places[(keys[from[k]] >>> shift) & (2 ** DIGIT - 1)]++] = from[k];
    from = to;
  }
  return from;
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
