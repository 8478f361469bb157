// Rankings, their cuts and where they are drawn, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { geometry, heightOf, lit, shownAt } from "../src/draw/columns.js";
import { nounsOf } from "../src/nouns.js";
import { Ranking, order, tie, turned } from "../src/ranking.js";
import { ofCut as sentence, ofTurn } from "../src/told.js";

const random = (seed) => () => ((seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31);
function sample(rows, coarse) {
  const next = random(rows + coarse);
  const scores = Float32Array.from({ length: rows }, () => { const x = (next() - 0.5) * 8; return coarse ? Math.round(x) : x; });
  return { scores, labels: Uint8Array.from(scores, (score) => Number(next() < 1 / (1 + Math.exp(3 - score)))) };
}

test("rows are in the order of their scores, and equal ones in one that no row number decides", () => {
  const scores = Float32Array.from([0, -0, 3.5, -1e-30, 1e-30, -7, 3.5, 1e30, -1e30, 0]);
  const ties = (...rows) => rows.sort((a, b) => tie(a) - tie(b));
  assert.deepEqual([...order(scores)], [7, ...ties(2, 6), 4, ...ties(0, 1, 9), 3, 5, 8]);
  // Of rows that all tie, each tenth of the order has about its share of each tenth of the rows.
  const alike = order(new Float32Array(6000));
  assert.equal(new Set(alike).size, 6000);
  for (let part = 0; part < 10; part += 1) {
    const low = alike.slice(600 * part, 600 * (part + 1)).filter((row) => row < 600).length;
    assert.ok(low > 30 && low < 90, `${low} of 600`);
  }
  for (const coarse of [0, 1]) {
    const { scores: many } = sample(5000, coarse);
    const plain = [...many.keys()].sort((a, b) => many[b] - many[a] || tie(a) - tie(b));
    assert.deepEqual([...order(many)], plain);
  }
});

test("a cut counts the rows at or above its threshold, as counted one by one", () => {
  for (const coarse of [0, 1]) {
    const { scores, labels } = sample(3000, coarse);
    const ranking = new Ranking(scores, labels);
    const all = labels.reduce((sum, y) => sum + y, 0);
    for (const wanted of [1, 2, Math.round(all / 3), Math.round(all / 2), all - 1, all]) {
      const { threshold, shown, found, wrong, missed, left, precision } = ranking.finding(wanted);
      const taken = [...scores.keys()].filter((row) => scores[row] >= threshold);
      const right = taken.filter((row) => labels[row]).length;
      assert.deepEqual([shown, found, wrong, missed, left], [taken.length, right, taken.length - right, all - right, 3000 - taken.length - all + right]);
      assert.ok(found >= wanted && (coarse || found === wanted) && Math.abs(precision - right / taken.length) < 1e-12);
      // No higher threshold finds as many.
      assert.ok(scores.every((score, row) => score <= threshold || ranking.cut(score).found < wanted), `row ${wanted}`);
    }
    const first = [...order(scores)].slice(0, 100).filter((row) => labels[row]).length;
    assert.equal(ranking.precisionAt(100), first / 100);
    for (const fpr of [0, 0.01, 0.2, 1]) {
      const most = Math.round(fpr * (3000 - all));
      let [seen, found] = [0, 0];
      for (const row of order(scores)) {
        if (labels[row]) found += 1;
        else if ((seen += 1) > most) break;
      }
      assert.equal(ranking.foundAt(fpr), found);
    }
  }
});

test("every row has its place in the columns, and every positive is lit once", () => {
  for (const rows of [7, 90, 719, 2000, 6000, 30_000]) {
    const shape = geometry(212, 500, rows);
    assert.equal(shape.parts.reduce((sum, { count }) => sum + count, 0), rows);
    const places = Uint32Array.from({ length: Math.ceil(rows / 9) }, (_, k) => 9 * k);
    const pieces = shape.parts.map((part) => lit(part, places).reduce((sum, one) => sum + one, 0));
    assert.equal(pieces.reduce((sum, one) => sum + one, 0), places.length);
    assert.deepEqual([heightOf(shape, 0), Math.round(heightOf(shape, rows))], [0, 500]);
    for (const shown of [0, 1, shape.parts[0].count, rows].filter((one) => one <= rows)) assert.equal(shownAt(shape, heightOf(shape, shown)), shown);
    for (let shown = 1; shown <= rows; shown += Math.ceil(rows / 50)) assert.ok(heightOf(shape, shown) >= heightOf(shape, shown - 1));
  }
});

test("the sentence of a cut is its counts, and says where scores tie", () => {
  const lane = (wrong, found = 100) => ({ wrong, found });
  const titles = { a: "Cross-entropy", b: "SOAP" };
  assert.equal(sentence({ wanted: 100, positives: 180, a: lane(1340), b: lane(9) }, titles), "To find 100 of 180 positives, Cross-entropy shows 1,340 false positives, SOAP 9.");
  assert.equal(sentence({ wanted: 100, positives: 180, a: lane(40), b: lane(9, 104) }, { a: "SOAP", b: "SOAP" }), "To find 100 of 180 positives, SOAP A shows 40 false positives, SOAP B 9. SOAP B then finds 104, since scores tie.");
  // Of what the data is about, one and many.
  assert.equal(sentence({ wanted: 1, positives: 2, a: lane(1), b: lane(2) }, titles, nounsOf("split", true)), "To find 1 of 2 ill people, Cross-entropy shows 1 healthy person, SOAP 2. Scores tie: both then find 100.");
  assert.equal(sentence({ wanted: 100, positives: 180, a: lane(2), b: lane(9) }, titles, nounsOf("file", false, { label: "outcome", positive: "ill" })), "To find 100 of 180 rows with outcome ill, Cross-entropy shows 2 other rows, SOAP 9.");
});

test("the ROC curve at any rate is that of the thresholds, straight through rows of equal scores", () => {
  const scores = Float32Array.from([5, 4, 4, 4, 3, 2, 2, 1]);
  const labels = Uint8Array.from([1, 1, 0, 0, 1, 0, 1, 0]);
  // (0, ¼) after 5; (½, ½) after the three of 4; (½, ¾) after 3; (¾, 1) after the two of 2.
  assert.deepEqual(new Ranking(scores, labels).roc([0, 0.25, 0.5, 0.625, 0.75, 0.9, 1]), [0.25, 0.375, 0.75, 0.875, 1, 1, 1]);
  assert.deepEqual(new Ranking(new Float32Array(8), labels).roc([0, 0.001, 0.3, 1]), [0, 0.001, 0.3, 1]);
});

test("the score that a share of the negatives exceeds, as counted one by one", () => {
  const scores = Float32Array.from({ length: 500 }, (_, k) => Math.fround(Math.sin(k * 12.9898) * 7));
  const labels = Uint8Array.from(scores, (_, k) => Number(k % 9 === 0));
  const negatives = [...scores].filter((_, k) => !labels[k]).sort((a, b) => b - a);
  const ranking = new Ranking(scores, labels);
  for (const share of [0, 0.01, 0.05, 0.2, 0.5, 1]) assert.equal(ranking.scoreAt(share), negatives[Math.min(negatives.length - 1, Math.floor(share * negatives.length))]);
});

test("where the other lane shows fewer false positives is told, and where none does nothing", () => {
  // Ten positives of twenty: A has one negative before each, B none before eight and all ten before the last two.
  const labels = Uint8Array.from({ length: 20 }, (_, row) => Number(row < 10));
  const a = Float32Array.from(labels, (y, row) => (y ? -2 * row : -2 * (row - 10) + 1));
  const b = Float32Array.from(labels, (y, row) => (row < 8 ? 100 - row : y ? -row : 50 - row));
  const both = { a: new Ranking(a, labels), b: new Ranking(b, labels) };
  const at = (wanted) => ({ wanted, positives: 10, a: both.a.finding(wanted), b: both.b.finding(wanted) });
  assert.deepEqual([at(8).a.wrong, at(8).b.wrong, at(9).a.wrong, at(9).b.wrong], [8, 0, 9, 10]);
  const told = (wanted) => ofTurn(turned(at(wanted), both), { a: "A", b: "B" });
  assert.equal(told(5), "To find 9 it is the other way round: A 9, B 10.");
  assert.equal(told(9), "To find 8 it is the other way round: A 8, B 0.");
  assert.equal(ofTurn(turned(at(5), { a: both.a, b: both.a }), { a: "A", b: "A" }), "");
});
