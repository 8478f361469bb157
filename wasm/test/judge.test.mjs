// Metrics by name, comparisons and thresholds of scores from elsewhere. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Exact, compare, decide, metrics } from "../js/index.js";

const rows = 400;
const labels = Array.from({ length: rows }, (_, row) => Number((row * 7919) % 100 < 20 + (row % 50)));
const scores = labels.map((label, row) => Math.round(100 / (1 + Math.exp(-label - Math.sin(row * row)))) / 100);
const weights = labels.map((_, row) => 1 + (row % 3));
const clusters = labels.map((_, row) => `p${row >> 2}`);

test("metrics by name have the values of Exact, and intervals", async () => {
  const found = await metrics(labels, scores, { intervals: true, weights, clusters, metrics: ["AUC", "ap", "mcclish:0.1", "precision-at:10%", "f1:0.5", "brier"] });
  const exact = await Exact.create({ y: labels, weights });
  const { auroc, ap } = await exact.metrics(scores);
  exact.dispose();
  assert.deepEqual(Object.keys(found), ["auroc", "ap", "mcclish:0.1", "precision-at:10%", "f1:0.5", "brier"]);
  assert.ok(Math.abs(found.auroc.value - auroc) < 1e-15 && Math.abs(found.ap.value - ap) < 1e-15);
  for (const name of ["auroc", "ap", "mcclish:0.1", "precision-at:10%"]) {
    const { value, interval: [low, high] } = found[name];
    assert.ok(low < value && value <= high, name);
  }
  assert.equal(found.brier.interval, undefined);
  assert.deepEqual(Object.keys(await metrics(labels, scores)), ["auroc", "ap", "pauc"]);
  assert.equal((await metrics(labels, scores, { weights, clusters })).ap, found.ap.value);
});

test("labels are two of any kind, by the rule of the other packages", async () => {
  const of = async (labels, more = {}) => (await metrics(labels, scores, { metrics: "auroc", ...more })).auroc;
  const auroc = await of(labels);
  for (const kind of [(y) => 2 * y - 1, (y) => y + 1, Boolean, (y) => (y ? "yes" : "no"), (y) => (y ? "positive" : "negative"), (y) => (y ? 3n : 2n)]) assert.equal(await of(labels.map(kind)), auroc);
  assert.equal(await of(new Int8Array(labels.map((y) => 2 * y - 1))), auroc);
  const rarer = labels.map((y) => (y ? "b" : "a"));
  const many = labels.filter(Boolean).length * 2 > rows;
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-14, `${a}, ${b}`);
  near(await of(rarer), many ? 1 - auroc : auroc);
  near(await of(labels, { positive: 0 }), 1 - auroc);
  const wrong = async ({ labels: y = labels, scores: given = scores, ...options }, message) => assert.rejects(metrics(y, given, options), { name: "UndercurveError", message });
  await wrong({ labels: labels.with(7, null) }, /^y: row 7 \(from 0\): the label is missing$/);
  await wrong({ labels: labels.with(7, 2) }, /^y: row 7 \(from 0\): the third of more than two label values/);
  await wrong({ labels: Array(rows).fill("yes") }, /^y: every label is "yes", and two classes are needed/);
  await wrong({ labels: labels.map((y) => (y ? "1" : 0)) }, /expected a/);
  await wrong({ positive: "x" }, /^positive x: expected one of/);
  await wrong({ metrics: "aup" }, /^metrics: no metric "aup"; there are auroc, ap/);
  await wrong({ metrics: "ndcg" }, /^metrics: ndcg: is of queries; pass queries$/);
  await wrong({ metrics: "f1" }, /^metrics: f1: is at a threshold, as f1:0\.5 has, or pass threshold$/);
  await wrong({ metrics: "map", queries: clusters, weights }, /^metrics: map: takes no weights$/);
  await wrong({ metrics: "gap(tpr)", groups: clusters.with(3, undefined) }, /^groups: row 3 \(from 0\) is missing$/);
  await wrong({ scores: scores.slice(1) }, /^scores of length 399: expected 400/);
  await wrong({ scores: scores.with(2, NaN) }, /scores/);
});

test("queries, graded labels and groups", async () => {
  const queries = labels.map((_, row) => row % 20);
  const graded = labels.map((y, row) => y * (1 + (row % 3)));
  const found = await metrics(graded, scores, { intervals: true, queries, metrics: "map,ndcg:5,mrr" });
  assert.ok(found.map.interval && found["ndcg:5"].value < 1 && found.mrr.value > 0);
  const groups = labels.map((_, row) => (row % 3 ? "a" : "b"));
  const gaps = await metrics(labels, scores, { intervals: true, groups, metrics: "gap(tpr@.1),worst-auroc" });
  assert.ok(gaps["gap(tpr@0.1)"].noise > 0 && gaps["gap(tpr@0.1)"].groups.length === 2 && gaps["worst-auroc"].groups.length === 1);
});

test("two scores are compared", async () => {
  const [a, b] = [[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [0.6, 0.8, 0.7, 0.9, 0.5, 0.4, 0.3, 0.2]];
  const { auroc } = await compare([1, 1, 1, 0, 0, 0, 0, 1], a, b);
  assert.deepEqual([auroc.values, auroc.difference], [[0.75, 0.5625], 0.1875]);
  assert.ok(Math.abs(auroc.p - 0.343) < 5e-4 && auroc.interval[0] < 0.1875 && auroc.interval[1] > 0.1875);
  // As roc.test of pROC.
  const { cases } = JSON.parse(await readFile(new URL("../../tests/golden/delong.json", import.meta.url), "utf8"));
  for (const one of cases) {
    const { auroc } = await compare(one.labels, one.a, one.b, { metrics: "auroc" });
    assert.ok(Math.abs(auroc.p - one.p) < 1e-8 * one.p && Math.abs(auroc.z - one.z) < 1e-9 * Math.abs(one.z));
  }
  await assert.rejects(compare([1, 1, 1, 0, 0, 0, 0, 1], a, b, { metrics: "brier" }), { message: /differences of it are not tested/ });
});

test("thresholds by rules, with promises", async () => {
  const scores = Float64Array.from({ length: 100 }, (_, row) => row);
  const found = await decide(Array.from(scores, (score) => score >= 50), scores, "recall>=0.8@90%");
  assert.deepEqual([found.threshold, found.truePositives, found.falsePositives], [49.5, 50, 0]);
  assert.ok(found.intervals.recall[0] < 1 && found.intervals.recall[1] === 1);
  await assert.rejects(decide(Array.from(scores, (score) => score >= 50), scores, "recall>=0.99@99.9%"), { code: 12 });
  await assert.rejects(decide(Array.from(scores, (score) => score >= 50), scores, "best"), { message: /^rule: expected fpr<=A/ });
});
