// Objectives and exact sums over scores from elsewhere, in Node. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { native } from "./native.mjs";
import { entry } from "./packed.mjs";

const { METHODS } = await entry("undercurve/methods");
const { Exact, UndercurveError, createObjective } = await entry("undercurve/objective");

const [ROWS, CLASSES, BATCH] = [60, 3, 24];

/** The numbers of tests/examples/objectives.rs. */
function numbers(count) {
  let state = 1;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 8388608 - 1;
  });
}

/** FNV-1a over 32-bit words, low ones first. */
const hash = (values, from = 0x811c9dc5) => new Uint32Array(values.buffer, values.byteOffset, 2 * values.length).reduce((sum, word) => Math.imul(sum ^ word, 0x01000193) >>> 0, from);

const two = Uint8Array.from({ length: ROWS }, (_, row) => Number(row % 5 === 0));
const three = Uint8Array.from({ length: ROWS }, (_, row) => (row % 5) % CLASSES);

/** An objective of its own options, for methods with auxiliary variables away from 0. */
async function made({ name, settings, several }, more = {}) {
  const options = several ? { name, settings, y: three, classes: CLASSES } : { name, settings, y: two, fpr: [0, 0.5] };
  const objective = await createObjective({ ...options, auxRate: 0, ...more });
  objective.aux = objective.aux.map((_, at) => (at + 1) / 16);
  return objective;
}

const runs = native("objectives");

test("every objective with every loss has the bits of the native core", async (t) => {
  const names = new Set();
  let sums = 0;
  for (const run of runs) {
    const what = JSON.stringify(run);
    if (run.sum) {
      const y = Uint8Array.from({ length: run.rows }, (_, row) => Number(row % 5 === 0));
      const exact = await Exact.create({ y });
      const of = [numbers(run.rows), ...(run.sum === "pauc" ? [[0.1, 0.4]] : []), { loss: run.loss }];
      const at = (work) => {
        try {
          const { value, gradient } = work();
          return { values: [value], hash: hash(gradient) };
        } catch (error) {
          return { error: error.code };
        }
      };
      assert.deepEqual(at(() => exact.sync[run.sum](...of)), run.outcome, what);
      exact.dispose();
      sums += 1;
      continue;
    }
    const heads = run.several ? CLASSES : 1;
    let objective;
    try {
      objective = await made(run);
    } catch (error) {
      assert.deepEqual({ error: error.code }, run.outcome, what);
      continue;
    }
    const all = numbers(3 * BATCH * heads);
    const outcome = { values: [], hash: 0x811c9dc5 };
    for (let step = 0; step < 3; step += 1) {
      const rows = Uint32Array.from({ length: BATCH }, (_, at) => (at * 7 + step * 11) % ROWS);
      const scores = all.slice(step * BATCH * heads, (step + 1) * BATCH * heads);
      let told;
      try {
        told = objective.gradient(scores, rows);
      } catch (error) {
        assert.deepEqual({ error: error.code }, run.outcome, what);
        break;
      }
      const { value, gradient, auxGradient } = told;
      // What is asked twice is told twice: the state moves at `commit`.
      assert.deepEqual(objective.gradient(scores, rows), { value, gradient, auxGradient }, what);
      objective.commit();
      outcome.values.push(value);
      outcome.hash = hash(auxGradient, hash(gradient, outcome.hash));
    }
    if (!run.outcome.error) assert.deepEqual(outcome, run.outcome, what);
    names.add(run.name);
    objective.dispose();
  }
  t.diagnostic(`${runs.length} cases: ${names.size} methods, ${sums} exact sums`);
  const own = ["agd-sbcd", "dca", "proximal-dca", "sorr"];
  const sum = ({ params }) => params.some((param) => param.name === "objective") || params.some((param) => param.name === "lambda" && !["sopa-s", "sota-s"].includes(param.name));
  for (const { name, groups } of METHODS) {
    if (names.has(name)) continue;
    const error = await createObjective({ name, y: two }).catch((error) => error);
    assert.ok(error instanceof UndercurveError && error.code === 121 && error.argument === "name", `${name}: ${error}`);
    assert.match(error.message, own.includes(name) ? /an algorithm of its own/ : groups ? /is of groups/ : /no loss of scores/);
  }
  assert.ok(names.size >= 24, [...names].join(" "));
  assert.equal(sums, 2 * 3 * 8);
});

// SOPA's gradient is that at the thresholds which it tracks, its value that at the best ones; its bits are the core's all the same.
test("gradients are the differences of the values", async (t) => {
  let worst = 0;
  /** The derivative by every seventh score against differences of the value. */
  const apart = (what, scores, gradient, value) => {
    const most = Math.max(...gradient.map(Math.abs));
    for (let at = 0; at < scores.length; at += 7) {
      const [up, down] = [1e-6, -1e-6].map((step) => value(scores.map((score, k) => score + (k === at ? step : 0))));
      const slope = (up - down) / 2e-6;
      const off = Math.abs(slope - gradient[at]) / most;
      worst = Math.max(worst, off);
      assert.ok(off < 1e-5, `${what}, score ${at}: ${slope} and ${gradient[at]}`);
    }
  };
  const sound = runs.filter((run) => !run.outcome.error && run.name !== "sopa");
  const objectives = sound.filter((run) => !run.sum);
  for (const run of objectives) {
    const objective = await made(run);
    const scores = numbers(ROWS * (run.several ? CLASSES : 1)).map((x) => 1.3 * x);
    apart(`${run.name} ${JSON.stringify(run.settings)}`, scores, objective.gradient(scores).gradient, (values) => objective.value(values));
    objective.dispose();
  }
  const sums = sound.filter((run) => run.sum && run.rows === ROWS);
  const exact = await Exact.create({ y: two });
  for (const { sum, loss } of sums) {
    const scores = numbers(ROWS).map((x) => 1.3 * x);
    const of = (values) => exact.sync[sum](values, ...(sum === "pauc" ? [[0.1, 0.4]] : []), { loss });
    apart(`${sum} ${loss}`, scores, of(scores).gradient, (values) => of(values).value);
  }
  exact.dispose();
  t.diagnostic(`${objectives.length} objectives and losses, ${sums.length} exact sums, apart by ${worst.toExponential(1)} of the largest at most`);
  assert.ok(objectives.length >= 60 && sums.length >= 3 * 8 - 1);
});

test("the state is that of each example, moves once a step, and travels", async () => {
  const settings = { gamma: 0.5, surrogate: "squared-hinge" };
  const [a, b] = [await createObjective({ name: "soap", y: two, settings }), await createObjective({ name: "soap", y: [...two], settings })];
  const scores = numbers(ROWS);
  const batch = (from) => Array.from({ length: 20 }, (_, k) => (from + 3 * k) % ROWS);
  const at = (rows) => rows.map((row) => scores[row]);
  const step = (one, rows) => {
    const told = one.gradient(at(rows), rows);
    one.commit();
    return told;
  };
  const first = step(a, batch(0));
  // An objective of its own knows nothing of it; the averages of these rows change the gradient of the next batch with them.
  const fresh = b.gradient(at(batch(0)), batch(0));
  assert.deepEqual(fresh, first);
  const moved = at(batch(0)).map((x) => x / 2);
  assert.notDeepEqual(a.gradient(moved, batch(0)).gradient, b.gradient(moved, batch(0)).gradient);
  // Rows apart from them have averages of their own.
  const apart = batch(1);
  assert.ok(!apart.some((row) => batch(0).includes(row)));
  assert.deepEqual(a.gradient(at(apart), apart), b.gradient(at(apart), apart));
  // The order of a batch changes nothing but the order.
  const turned = [...batch(0)].reverse();
  const [there, back] = [a.gradient(at(batch(0)), batch(0)).gradient, a.gradient(at(turned), turned).gradient];
  there.forEach((slope, k) => assert.ok(Math.abs(slope - back[19 - k]) < 1e-15));
  b.load(a.save());
  assert.deepEqual(step(a, batch(2)), step(b, batch(2)));
  assert.deepEqual(a.save(), b.save());
  const other = await createObjective({ name: "soap", y: two.map((label) => 1 - label), settings });
  assert.throws(() => other.load(a.save()), { kind: "CheckpointError::Mismatch", argument: "bytes" });
  const damaged = a.save();
  damaged[damaged.length >> 1] ^= 1;
  assert.throws(() => b.load(damaged), { kind: "CheckpointError::Damaged" });
  assert.throws(() => b.load(new Uint8Array(3)), { kind: "CheckpointError::NotOurs" });
  assert.deepEqual(a.save(), b.save(), "what was refused changed nothing");
  assert.throws(() => a.commit(), { code: 201, argument: "commit" });
  // A batch that lacks a class counts nothing.
  const { value, gradient } = a.gradient([1, 2], [1, 2]);
  assert.deepEqual([value, [...gradient]], [0, [0, 0]]);
  for (const one of [a, b, other]) one.dispose();
  assert.throws(() => a.save(), { code: 203 });
});

test("a model of the caller's learns, also by objectives with variables of their own", async () => {
  const rows = 1500;
  const y = Uint8Array.from({ length: rows }, (_, row) => Number(row % 15 === 0));
  const noise = numbers(2 * rows);
  const X = noise.map((x, at) => 2 * x + (at % 2 === 0 && y[at >> 1] ? 2 : 0));
  const exact = await Exact.create({ y });
  for (const [name, rate] of [["soap", 20], ["ap-exact", 20], ["ppd-sg", 3], ["auc-margin", 3], ["pauc-threshold", 3], ["smooth-ap", 5]]) {
    const objective = await createObjective({ name, y });
    const weights = [0, 1];
    const scored = () => Float32Array.from(y, (_, row) => weights[0] * X[2 * row] + weights[1] * X[2 * row + 1]);
    const before = exact.sync.metrics(scored()).auroc;
    for (let step = 0; step < 200; step += 1) {
      const batch = Uint32Array.from({ length: 150 }, (_, k) => (step * 131 + k * 10 + (k % 3)) % rows);
      const scores = Float32Array.from(batch, (row) => weights[0] * X[2 * row] + weights[1] * X[2 * row + 1]);
      const { gradient } = objective.gradient(scores, batch);
      assert.ok(gradient instanceof Float32Array);
      objective.commit();
      batch.forEach((row, k) => weights.forEach((_, j) => (weights[j] -= (rate * gradient[k] * X[2 * row + j]) / 10)));
    }
    const after = exact.sync.metrics(scored()).auroc;
    assert.ok(before < 0.6 && after > 0.8, `${name}: ${before} to ${after}, ${weights}`);
    objective.dispose();
  }
});
