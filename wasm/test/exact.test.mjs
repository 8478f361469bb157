// Exact metrics, values and gradients of whole data in Node. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Exact, NoGpu } from "../js/index.js";

const LOSSES = {
  hinge: [(m) => Math.max(0, 1 - m), (m) => (m < 1 ? -1 : 0)],
  "squared-hinge": [(m) => Math.max(0, 1 - m) ** 2, (m) => -2 * Math.max(0, 1 - m)],
  sigmoid: [(m) => 1 / (1 + Math.exp(m)), (m) => -1 / (2 + Math.exp(m) + Math.exp(-m))],
  logistic: [(m) => Math.log1p(Math.exp(-m)), (m) => -1 / (1 + Math.exp(m))],
};

/** Scores with ties. */
function rows(count, every) {
  const y = Uint8Array.from({ length: count }, (_, row) => Number(row % every === 0));
  const scores = Float32Array.from(y, (label, row) => Math.round(8 * (Math.sin(row * row) * 2 + label)) / 8);
  return { y, scores };
}

/** Pair by pair, in the negatives' weights: the mean loss and its derivatives. */
function pairs(loss, { y, scores }, weight) {
  const [value, slope] = LOSSES[loss];
  const gradient = new Float64Array(y.length);
  let [sum, mass] = [0, 0];
  const [positives, negatives] = [1, 0].map((label) => [...y.keys()].filter((row) => y[row] === label));
  for (const j of negatives) {
    for (const i of positives) {
      const margin = scores[i] - scores[j];
      sum += weight(j) * value(margin);
      mass += weight(j);
      gradient[i] += weight(j) * slope(margin);
      gradient[j] -= weight(j) * slope(margin);
    }
  }
  return { value: sum / mass, gradient: gradient.map((g) => g / mass) };
}

const near = (a, b, by = 1e-6) => {
  const most = Math.max(...b.gradient.map(Math.abs));
  assert.ok(Math.abs(a.value - b.value) <= by * Math.abs(b.value), `${a.value} ${b.value}`);
  a.gradient.forEach((g, row) => assert.ok(Math.abs(g - b.gradient[row]) <= by * most, `row ${row}: ${g} ${b.gradient[row]}`));
};

test("values and gradients are those of all pairs", async () => {
  for (const given of [rows(90, 3), rows(700, 9)]) {
    const { y, scores } = given;
    const exact = await Exact.create({ y });
    const negatives = [...y.keys()].filter((row) => !y[row]).sort((a, b) => scores[b] - scores[a] || b - a);
    for (const loss of Object.keys(LOSSES)) {
      const found = await exact.auc(scores, { loss });
      near(found, pairs(loss, given, () => 1));
      assert.deepEqual([found.backend, found.gradient.constructor], ["cpu-simd", Float32Array]);
      // The same at once; other arrays of numbers give a gradient in f64, which rounds to that.
      const { value, gradient } = exact.sync.auc([...scores], { loss });
      assert.deepEqual([value, Float32Array.from(gradient)], [found.value, found.gradient]);
      assert.deepEqual(exact.sync.auc(scores, { loss }).gradient, found.gradient);
      // The negatives of a range, those at its ends by their part.
      const [from, to] = [0.051, 0.333].map((rate) => rate * negatives.length);
      const part = new Map(negatives.map((row, rank) => [row, Math.max(0, Math.min(to, rank + 1) - Math.max(from, rank))]));
      near(await exact.pauc(scores, [0.051, 0.333], { loss }), pairs(loss, given, (row) => part.get(row)));
      // Average precision against differences of itself.
      const at = (values) => {
        const [value] = LOSSES[loss];
        let sum = 0;
        for (const i of y.keys()) {
          if (!y[i]) continue;
          let [own, all] = [0, 0];
          for (const j of y.keys()) {
            const one = value(values[i] - values[j]);
            all += one;
            if (y[j]) own += one;
          }
          sum -= own / all;
        }
        return sum / (scores.length - negatives.length);
      };
      const ap = await exact.ap(scores, { loss });
      assert.ok(Math.abs(ap.value - at(scores)) < 1e-9, loss);
      const most = Math.max(...ap.gradient.map(Math.abs));
      // (Hinges have kinks where scores lie a margin apart.)
      if (loss !== "hinge") {
        for (const row of [0, 1, negatives[0]]) {
          const moved = [1e-4, -1e-4].map((step) => at(Float64Array.from(scores, (s, k) => s + (k === row ? step : 0))));
          assert.ok(Math.abs((moved[0] - moved[1]) / 2e-4 - ap.gradient[row]) < 2e-4 * most, `${loss}, row ${row}`);
        }
      }
    }
    exact.dispose();
  }
});

test("a row of weight 2 is two rows, one of weight 0 none; equal weights change nothing", async () => {
  const { y, scores } = rows(300, 7);
  const weights = y.map((_, row) => (row * 5) % 4);
  const order = [...y.keys()].flatMap((row) => Array(weights[row]).fill(row));
  const [weighed, repeated, plain, equal] = await Promise.all([{ y, weights }, { y: order.map((row) => y[row]) }, { y }, { y, weights: Array(300).fill(3) }].map((options) => Exact.create(options)));
  assert.match(weighed.backendReason, /weights/);
  const again = order.map((row) => scores[row]);
  const close = (a, b, by = 1e-12) => assert.ok(Math.abs(a - b) <= by * Math.max(1, Math.abs(b)), `${a} ${b}`);
  const calls = ["auc", "ap", "pauc"].flatMap((sum) => [...Object.keys(LOSSES), "ramp", "square", "exponential", "smoothed-hinge"].filter((loss) => sum !== "pauc" || loss !== "square").map((loss) => [sum, ...(sum === "pauc" ? [[0.1, 0.5]] : []), { loss }]));
  for (const [sum, ...of] of calls) {
    const [one, other] = [weighed.sync[sum]([...scores], ...of), repeated.sync[sum](again, ...of)];
    close(one.value, other.value, 1e-10);
    const sums = new Float64Array(300);
    order.forEach((row, at) => (sums[row] += other.gradient[at]));
    const most = Math.max(...sums.map(Math.abs));
    // (Which of the tied negatives a range takes is not said; together they have as much.)
    if (sum === "pauc") close(sums.reduce((a, b) => a + b, 0), one.gradient.reduce((a, b) => a + b, 0), 1e-9);
    else one.gradient.forEach((slope, row) => assert.ok(Math.abs(slope - sums[row]) <= 1e-9 * most, `${sum} ${JSON.stringify(of)}, row ${row}: ${slope} ${sums[row]}`));
    close(equal.sync[sum]([...scores], ...of).value, plain.sync[sum]([...scores], ...of).value, 1e-10);
  }
  const told = (exact, of) => {
    const { curve, ...counts } = exact.sync.metrics(of);
    return { ...counts, curve: Object.values(curve).map((column) => [...column]) };
  };
  const [one, other] = [told(weighed, scores), told(repeated, again)];
  for (const name of ["auroc", "ap", "wins", "ties", "pairs"]) close(one[name], other[name]);
  assert.deepEqual(one.curve, other.curve);
  const [three, without] = [told(equal, scores), told(plain, scores)];
  for (const name of ["auroc", "ap"]) close(three[name], without[name]);
  for (const exact of [weighed, repeated, plain, equal]) exact.dispose();
});

test("metrics are counts of pairs and points of the curves", async () => {
  const { y, scores } = rows(3000, 7);
  const exact = await Exact.create({ y, backend: "cpu" });
  const { auroc, ap, wins, ties, pairs: all, curve } = await exact.metrics(scores);
  const sides = [1, 0].map((label) => [...scores.keys()].filter((row) => y[row] === label).map((row) => scores[row]));
  let [more, equal, precision] = [0, 0, 0];
  const point = (threshold) => sides.map((side) => side.filter((score) => score >= threshold).length);
  for (const score of sides[0]) {
    for (const other of sides[1]) [more, equal] = [more + Number(score > other), equal + Number(score === other)];
    const [found, wrong] = point(score);
    precision += found / (found + wrong) / sides[0].length;
  }
  assert.deepEqual([wins, ties, all], [more, equal, sides[0].length * sides[1].length]);
  assert.equal(auroc, (more + equal / 2) / all);
  assert.ok(Math.abs(ap - precision) < 1e-12);
  assert.ok(curve.fpr.length > 20 && curve.fpr.length <= 510);
  assert.deepEqual([curve.tpr.at(-1), curve.fpr.at(-1)], [1, 1]);
  curve.threshold.forEach((threshold, k) => {
    const [found, wrong] = point(threshold);
    assert.deepEqual([curve.tpr[k], curve.fpr[k], curve.precision[k]], [found / sides[0].length, wrong / sides[1].length, found / (found + wrong)]);
  });
  exact.dispose();
});

test("it says what computes, and refuses what it cannot", async () => {
  const { y, scores } = rows(60, 3);
  const exact = await Exact.create({ y });
  assert.equal(exact.backend, "cpu-simd");
  assert.match(exact.backendReason, /^CPU, .*: there is no WebGPU here$/);
  assert.match((await Exact.create({ y, backend: "cpu" })).backendReason, /: as asked for$/);
  await assert.rejects(Exact.create({ y, backend: "gpu" }), (error) => error instanceof NoGpu && /^backend gpu: there is no WebGPU here$/.test(error.message));
  await assert.rejects(Exact.create({ y, backend: "tpu" }), /^UndercurveError: backend tpu: expected auto/);
  await assert.rejects(Exact.create({ y: ["0", "1"] }), /^UndercurveError: y: the label of row 0 \(from 0\) is "0": expected 0 or 1/);
  await assert.rejects(Exact.create({ y: new Uint8Array(4) }), /^UndercurveError: y: no row is positive/);
  await assert.rejects(Exact.create({ y: Uint8Array.of(0, 1, 2) }), /^UndercurveError: y: the label of row 2/);
  await assert.rejects(exact.auc([1, 2]), /^UndercurveError: scores of length 2: expected 60, one for each label$/);
  await assert.rejects(exact.ap(scores.subarray(1)), /^UndercurveError: scores of length 59/);
  await assert.rejects(exact.auc(scores, { loss: "cubic" }), /^UndercurveError: loss cubic: expected squared-hinge, /);
  assert.throws(() => exact.sync.auc(scores, { loss: "sigmoidal" }), /^UndercurveError: loss sigmoidal: expected .*; did you mean sigmoid\?$/);
  await assert.rejects(exact.auc(scores, { param: 0 }), /^UndercurveError: param 0/);
  await assert.rejects(exact.pauc(scores, [0.5, 0.1]), /^UndercurveError: fpr 0.5,0.1/);
  await assert.rejects(exact.metrics(scores.map(() => NaN)), /not finite|finite/);
  // After an error it goes on.
  assert.ok((await exact.auc(scores)).value > 0);
  // Scores are those at the call.
  const [values, expected] = [scores.slice(), await exact.auc(scores)];
  const calls = [exact.metrics(values), exact.auc(values)];
  values.fill(0);
  assert.equal((await calls[1]).value, expected.value);
  assert.equal((await calls[0]).auroc, (await exact.metrics(scores)).auroc);
  const under = exact.auc(scores);
  exact.dispose();
  await assert.rejects(exact.metrics(scores), /the rows were disposed/);
  await under.catch(() => {});
});
