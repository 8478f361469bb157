// What is done to rows by hand, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, centres, read, write } from "../src/hands.js";

const random = (seed) => () => ((seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31);
/** Rows in a square, one of ten positive and those at (3, 3) or (−3, 3). */
function part(rows, seed) {
  const next = random(seed);
  const y = Uint8Array.from({ length: rows }, (_, k) => Number(k % 10 === 0));
  const X = Float32Array.from({ length: 2 * rows }, (_, at) => 2 * next() - 1 + (y[at >> 1] ? (at % 2 ? 3 : [3, -3][(at >> 1) % 20 ? 0 : 1]) : 0));
  return { X, y };
}
const base = { ...part(500, 1), dims: 2, test: part(1500, 2), plane: new Float32Array(0) };
const inside = ({ X, y }, [u, v], r) => [...y.keys()].filter((k) => Math.hypot(X[2 * k] - u, X[2 * k + 1] - v) <= r);

test("a deed is written as it is read, and what is none is left out", () => {
  const deeds = [{ kind: "p", training: false, size: 0.3, at: [[-2.5, 2.5], [0, 0.01]] }, { kind: "m", training: true, size: 1, at: [[1, 2], [-1, 0]] }, { kind: "c", training: false, size: 0.1, at: [[0, 0], [4, 4]] }];
  assert.deepEqual(read(deeds.map(write).join("*")), deeds);
  assert.deepEqual(read("x30.1.2*p30.1*m30.1.2*f30.99999.0*e900.0.0*p30*<script>*"), []);
});

test("each deed does to both parts what its name says, and nothing else", () => {
  const added = apply("p50.500.-500*n10.700.700", base, 3);
  assert.deepEqual([added.y.length - 500, added.test.y.length - 1500], [6, 18], "five and one, three times as many held out");
  assert.deepEqual([...added.y.slice(500)], [1, 1, 1, 1, 1, 0]);
  assert.deepEqual([...added.X.slice(0, 1000)], [...base.X]);
  assert.deepEqual([...added.X.slice(-2)], [7, 7], "the smallest circle is a point");
  assert.equal(inside(added, [5, -5], 0.5).length, 5);
  assert.equal(inside(added.test, [5, -5], 0.5).length, 15);
  assert.deepEqual(apply("p50.500.-500*n10.700.700", base, 3).X, added.X);
  assert.notDeepEqual(apply("p50.500.-500*n10.700.700", base, 4).X, added.X, "other draws get other rows");
  const flipped = apply("ft50.20.0", base, 1);
  const rows = inside(base, [0.2, 0], 0.5);
  assert.deepEqual([...flipped.y.keys()].filter((k) => flipped.y[k] !== base.y[k]), rows);
  assert.ok(rows.length > 30);
  assert.deepEqual(flipped.test, base.test, "held-out rows stay, where that is asked for");
  const moved = apply("m50.20.0.120.-100", base, 1);
  for (const k of base.y.keys()) for (const axis of [0, 1]) assert.ok(Math.abs(moved.X[2 * k + axis] - base.X[2 * k + axis] - (rows.includes(k) ? [1, -1][axis] : 0)) < 1e-6);
  const erased = apply("e50.20.0", base, 1);
  assert.deepEqual([erased.y.length, inside(erased, [0.2, 0], 0.5), inside(erased.test, [0.2, 0], 0.5)], [500 - rows.length, [], []]);
  assert.equal(erased.X.length, 2 * erased.y.length);
});

test("a cluster is one of the positives' two or the negatives' one, and moves whole", () => {
  const ends = centres(base.X, base.y, 1).sort((a, b) => a[0] - b[0]);
  assert.equal(ends.length, 2);
  for (const [k, x] of [-3, 3].entries()) assert.ok(Math.hypot(ends[k][0] - x, ends[k][1] - 3) < 0.4, `${ends[k]}`);
  assert.equal(centres(base.X, base.y, 0).length, 1);
  const moved = apply("c10.300.300.300.500", base, 1);
  for (const [was, is] of [[base, moved], [base.test, moved.test]]) {
    for (const k of was.y.keys()) assert.ok(Math.abs(is.X[2 * k + 1] - was.X[2 * k + 1] - (was.y[k] && was.X[2 * k] > 0 ? 2 : 0)) < 1e-6, `row ${k}`);
  }
});

test("what would leave less than two rows of a class is refused, in both parts", () => {
  const all = apply("e150.300.300*e150.-300.300", base, 1);
  assert.ok(all.hands.refused && all.y.includes(1) && all.test.y.includes(1));
  assert.equal(all.y.length, apply("e150.300.300", base, 1).y.length);
  assert.ok(apply("e150.0.0", base, 1).hands.refused, "negatives, too");
});
