// The numbers and the words of the headline, without a browser. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Session, init, synthetic } from "../../../wasm/js/index.js";
import { bestDirection } from "../src/directions.js";
import { signTest, spread, summarise } from "../src/draws.js";
import { findings } from "../src/inspect.js";
import { defaults, read, write } from "../src/state.js";
import * as told from "../src/told.js";

const titles = { a: "Cross-entropy", b: "SOAP" };
const text = (parts) => parts.map((part) => part.text ?? part).join("");
const outcome = (value, more = {}) => ({ value, other: 1 - value, steps: 300, collapsed: false, ...more });
const draws = (pairs) => pairs.map(([a, b], k) => ({ seed: 7 + k, a: typeof a === "number" ? outcome(a) : a, b: typeof b === "number" ? outcome(b) : b }));
const headline = (pairs, drawn = true, chance = 0.03) => text(told.ofDraws({ titles, summary: summarise(draws(pairs)), title: "average precision", drawn, chance }));
const collapsed = outcome(0.9, { collapsed: true });

test("means, deviations and wins are those of the draws", () => {
  const summary = summarise(draws([[0.1, 0.3], [0.2, 0.5], [0.3, 0.1], [0.4, 0.4]]));
  assert.ok(Math.abs(summary.a.mean - 0.25) < 1e-12 && Math.abs(summary.b.mean - 0.325) < 1e-12);
  assert.ok(Math.abs(summary.a.deviation - Math.sqrt(0.05 / 3)) < 1e-12);
  assert.deepEqual([summary.ahead, summary.level, summary.draws], [{ a: 1, b: 2 }, 1, 4]);
  // Binomial tails, two-sided.
  for (const [wins, losses, chance] of [[20, 0, 2 / 2 ** 20], [15, 5, 0.04138947], [14, 6, 0.11531830], [10, 10, 1], [0, 0, 1]]) {
    assert.ok(Math.abs(signTest(wins, losses) - chance) < 1e-8, `${wins} to ${losses}: ${signTest(wins, losses)}`);
    assert.equal(signTest(wins, losses), signTest(losses, wins));
  }
});

test("a point of a map is the mean of its seeds, and its noise what these differ by", () => {
  const { means, noise } = spread([0.1, 0.5, NaN, 0.3, 0.5, 0.7, 0.2, NaN, NaN], 3);
  assert.deepEqual(means.map((mean) => Number(mean.toFixed(6))), [0.2, 0.5, 0.7]);
  // Deviations .1 of three and 0 of two: the root of the mean of .01 / 3 and 0.
  assert.ok(Math.abs(noise - Math.sqrt(0.01 / 6)) < 1e-12);
  assert.deepEqual(spread([0.1, 0.2], 2), { means: [0.1, 0.2], noise: NaN });
});

test("the headline says who is ahead, and where nobody clearly is", () => {
  const many = (n, pair) => Array.from({ length: n }, () => pair);
  assert.equal(headline(many(20, [0.2, 0.5])), "Over 20 draws of this data SOAP’s held-out average precision is 0.500 ± 0.000, Cross-entropy’s 0.200 ± 0.000; SOAP is ahead in 20 of 20.");
  assert.match(headline(many(20, [0.5, 0.2]), false), /^Over 20 splits of this data Cross-entropy’s held-out .* SOAP’s .*; Cross-entropy is ahead in 20 of 20\.$/);
  assert.match(headline([...many(12, [0.4, 0.5]), ...many(8, [0.5, 0.4])]), /; SOAP is ahead in 12 of 20: no clear difference\.$/);
  assert.match(headline([...many(10, [0.4, 0.5]), ...many(10, [0.52, 0.4])]), /; each is ahead in 10 of 20\.$/);
  assert.match(headline([...many(10, [0.4, 0.5]), ...many(10, [0.5, 0.4])]), /; they differ by less than 0\.005\.$/);
  assert.match(headline([...many(15, [0.5, 0.4]), ...many(5, [0.1, 0.9])]), /SOAP’s .* Cross-entropy’s .*; yet Cross-entropy is ahead in 15 of 20\.$/);
  assert.match(headline([...many(9, [0.4, 0.5]), [0.5, 0.5]]), /; SOAP is ahead in 9 of 10, 1 is level\.$/);
  assert.match(headline(many(5, [0.5, 0.5])), /; all 5 are level\.$/);
  const alike = text(told.ofDraws({ titles: { a: "SOAP", b: "SOAP" }, summary: summarise(draws(many(6, [0.2, 0.5]))), title: "average precision", drawn: true }));
  assert.match(alike, /SOAP B’s .* SOAP A’s .* SOAP B is ahead in 6 of 6\.$/);
});

test("nobody is ahead where neither is above chance, or by less than .005", () => {
  const many = (n, pair) => Array.from({ length: n }, () => pair);
  assert.match(headline(many(20, [0.3, 0.45]), true, 0.5), /0\.300 ± 0\.000; neither is above chance, 0\.500\.$/);
  assert.match(headline(many(20, [0.3, 0.504]), true, 0.5), /; neither is above chance, 0\.500\.$/);
  assert.match(headline(many(20, [0.3, 0.3]), true, 0.3), /; neither is above chance, 0\.300\.$/);
  assert.match(headline(many(20, [0.3, 0.51]), true, 0.5), /; SOAP is ahead in 20 of 20\.$/);
  assert.match(headline(many(20, [0.6, 0.604]), true, 0.5), /; all 20 are level\.$/);
  assert.match(headline([...many(10, [0.6, 0.608]), ...many(10, [0.6, 0.6])]), /; they differ by less than 0\.005\.$/);
  assert.match(headline(many(20, [0.6, 0.605]), true, 0.5), /; SOAP is ahead in 20 of 20\.$/);
  const run = (a, b) => text(told.ofRun({ titles, shots: { a: { test: { ap: a } }, b: { test: { ap: b } } }, metric: "ap", title: "average precision", step: 9, steps: 9, chance: 0.3 }));
  assert.match(run(0.2, 0.304), /, Cross-entropy 0\.200; neither is above chance, 0\.300\.$/);
  assert.match(run(0.4, 0.404), /, Cross-entropy 0\.400; they differ by less than 0\.005\.$/);
  assert.match(run(0.4, 0.5), /, Cross-entropy 0\.400\.$/);
  const say = (of, by) => told.reversed({ titles, of, by, called: "AUROC", chance: 0.5 });
  assert.deepEqual([say([0.2, 0.5], [0.9, 0.896]), say([0.2, 0.5], [0.4, 0.3]), say([0.2, 0.204], [0.9, 0.8])], ["", "", ""]);
});

test("a collapsed or broken run has no result in any sentence, and is counted", () => {
  const lost = [...Array.from({ length: 17 }, () => [0.2, 0.5]), [0.2, collapsed], [0.2, collapsed], [0.2, outcome(NaN, { error: "left f32" })]];
  const summary = summarise(draws(lost));
  assert.deepEqual([summary.b.runs, summary.b.collapsed, summary.b.broken, summary.ahead], [17, 2, 1, { a: 3, b: 17 }]);
  assert.equal(summary.b.mean, 0.5, "what collapsed is in no mean");
  assert.match(headline(lost), /; SOAP is ahead in 17 of 20\. SOAP collapsed in 2 of 20 and broke off in 1 of 20 runs; its mean is of the others\.$/);
  assert.equal(headline([[0.2, collapsed], [0.4, collapsed]]), "SOAP collapsed in all 2 runs, and has no result. Over 2 draws of this data Cross-entropy’s held-out average precision is 0.300 ± 0.141.");
  assert.match(headline([[collapsed, collapsed]]), /^Over 1 draw of this data no run has a result\. /);

  const run = (a, b, step = 300) => text(told.ofRun({ titles, shots: { a, b }, metric: "ap", title: "average precision", step, steps: 300 }));
  const shot = (ap, more = {}) => ({ test: { ap, auroc: 0.5 }, ...more });
  assert.equal(run(shot(0.2), shot(0.5)), "After 300 steps of one run, SOAP reaches average precision 0.500 on held-out rows, Cross-entropy 0.200.");
  const gone = run(shot(0.2), shot(0.9, { collapsed: true }));
  assert.equal(gone, "SOAP collapsed in this run and has no result. After 300 steps, Cross-entropy reaches average precision 0.200 on held-out rows.");
  assert.ok(!run(shot(0.2, { collapsed: true }), shot(0.9, { collapsed: true })).includes("0."), "no number of a collapsed run");
  assert.match(run(shot(0.2), shot(0.2), 1), /^After 1 of 300 steps of one run, .* both reach/);
});

test("the second metric is told where it orders the lanes otherwise", () => {
  const say = (of, by) => told.reversed({ titles, of, by, called: "AUROC" });
  assert.equal(say([0.2, 0.5], [0.9, 0.8]), "SOAP pays for it in AUROC: 0.800, Cross-entropy 0.900.");
  assert.equal(say([0.2, 0.5], [0.8, 0.9]), "");
  assert.equal(say([0.2, 0.5], [0.9, 0.9]), "");
  assert.equal(say([0.2, NaN], [0.9, 0.8]), "");
});

/** Average precision from its definition: over the thresholds, the precision times what the recall gains. */
function plainAp(scores, y) {
  const all = y.reduce((sum, label) => sum + label, 0);
  let [ap, before] = [0, 0];
  for (const threshold of [...new Set(scores)].sort((a, b) => b - a)) {
    const taken = [...scores.keys()].filter((row) => scores[row] >= threshold);
    const positives = taken.filter((row) => y[row]).length;
    ap += ((positives - before) / all) * (positives / taken.length);
    before = positives;
  }
  return ap;
}

test("the question says what each lane trains for", () => {
  const of = (name, title, family) => ({ name, title, family });
  const say = (a, b, model = "linear", other = model) => told.question({ a: { ...a, model }, b: { ...b, model: other } });
  assert.equal(say(of("ce", "Cross-entropy", "A loss of each row"), of("soap", "SOAP", "Average precision")), "A: Cross-entropy, as in logistic regression. B: SOAP, for average precision. Which finds the rare ones first?");
  assert.equal(say(of("ce", "Cross-entropy", ""), of("focal", "Focal loss", "A loss of each row"), "8"), "A: Cross-entropy, as in most networks. B: Focal loss. Which finds the rare ones first?");
  assert.equal(say(of("ce-exact", "Ridge", ""), of("ce", "Cross-entropy", ""), "linear", "8"), "A: Ridge, as in logistic regression. B: Cross-entropy, as in most networks. Which finds the rare ones first?");
});

test("how long runs were is told, also where a method ended before", () => {
  const beside = (steps, n = 2) => told.besideDraws({ titles, summary: summarise(draws(Array.from({ length: n }, () => [0.2, outcome(0.5, { steps })]))), seed: 7, step: 300, steps: 300, called: "AUROC" });
  assert.match(beside(300), /^Means over seeds 7 to 8; pictures: seed 7; 300 steps each; ±: standard deviation\. SOAP pays for it in mean AUROC: 0\.500, Cross-entropy 0\.800\.$/);
  assert.match(beside(41), /^Means over seeds 7 to 8; pictures: seed 7; at most 300 steps each;/);
  // What the lane behind would have at its best moments, by the held-out labels: the fair comparison.
  const peaked = (peak, value = 0.2) => told.besideDraws({ titles, summary: summarise(draws(Array.from({ length: 3 }, () => [outcome(value, { peak }), 0.5]))), seed: 7, step: 300, steps: 300, called: "AUROC", title: "average precision" });
  assert.match(peaked(0.393), / Were each run of Cross-entropy stopped where the held-out labels say, its mean average precision would be 0\.393\.$/);
  assert.doesNotMatch(peaked(0.2) + peaked(0.9, 0.5), /stopped where/);
  const shots = { a: { step: 300 }, b: { step: 41 } };
  assert.equal(told.ended({ titles, shots, step: 300 }), "SOAP had nothing more to do after 41 steps.");
  assert.equal(told.ended({ titles, shots, step: 41 }), "");
});

test("the best direction has the average precision of its order, and no trained line has more", async () => {
  // A coarse grid of features, so that scores tie.
  const X = Float32Array.from({ length: 80 }, (_, k) => Math.round(3 * Math.sin(k * k)));
  const y = Uint8Array.from({ length: 40 }, (_, row) => Number(row % 5 === 0));
  const coarse = bestDirection(X, y);
  const [c, s] = [Math.cos(coarse.angle), Math.sin(coarse.angle)];
  assert.ok(Math.abs(coarse.ap - plainAp([...y.keys()].map((row) => c * X[2 * row] + s * X[2 * row + 1]), [...y])) < 1e-12);

  await init();
  for (const kind of ["split", "overlap", "decoy"]) {
    const data = synthetic(kind, { rows: 800, testRows: 1500, positives: 0.05, seed: 3 });
    const best = bestDirection(data.test.X, data.test.y);
    assert.ok(best.tried > 360 && best.ap <= 1);
    for (const name of ["ce", "soap"]) {
      const session = new Session({ ...data, method: { name }, seed: 3, steps: 200 });
      session.advance({ steps: 200 });
      const [first, second] = session.params();
      const { ap } = session.snapshot().test;
      const length = Math.hypot(first, second);
      const scores = Array.from(data.test.y, (_, row) => (first * data.test.X[2 * row] + second * data.test.X[2 * row + 1]) / length);
      // (The module's scores are in f32, where neighbours may change places.)
      assert.ok(Math.abs(plainAp(scores, [...data.test.y]) - ap) < 2e-3, `${kind}, ${name}: ${ap}`);
      assert.ok(ap <= best.ap + 2e-3, `${kind}, ${name}: ${ap} against ${best.ap}`);
      session.dispose();
    }
  }
});

test("what the buttons say of the samples is what their files hold", async () => {
  // (The module itself asks the bundler for the files.)
  const source = await readFile(new URL("../src/samples.js", import.meta.url), "utf8");
  const said = [...source.matchAll(/name: "([\w-]+)".*about: "([\d,]+) × (\d+) · (\d+) (%|classes)", url: \w+, label: "(\w+)"(?:, positive: "(\w+)")?/g)];
  assert.equal(said.length, source.match(/name: "/g).length);
  for (const [, name, rows, features, number, of, label, positive] of said) {
    const [head, ...lines] = (await readFile(new URL(`../samples/${name.replace("-all", "")}.csv`, import.meta.url), "utf8")).trim().split(/\r?\n/).map((line) => line.split(","));
    const labels = lines.map((line) => line[head.indexOf(label)]);
    assert.equal(Number(rows.replace(",", "")), lines.length, name);
    assert.equal(Number(features), head.length - 1, name);
    const measured = of === "%" ? Math.round((100 * labels.filter((one) => one === positive).length) / labels.length) : new Set(labels).size;
    assert.equal(Number(number), measured, name);
  }
});

test("what is said of columns names them, a line of each kind, and leaves out the label and what is not used", () => {
  const column = (name, more) => ({ name, missing: 0, values: null, kind: "number", identifier: false, dates: false, doubt: null, range: [0, 1], stray: null, ...more });
  const columns = [
    ...["a", "b", "c", "d", "e"].map((name) => column(name, { values: [["1", 9]] })),
    column("gap", { values: [["1", 5]], missing: 4 }),
    column("from", { dates: true }),
    column("note", { kind: "text" }),
    column("left", { dates: true }),
    column("y", { values: [["0", 8], ["1", 1]] }),
  ];
  const alone = { from: 0.989, note: 0.99, left: 1, y: 1 };
  assert.deepEqual(findings({ columns, rows: 9 }, "y", new Set(["left"]), columns.map((one) => ({ ...one, alone: alone[one.name] ?? null }))), [
    "a, b, c and 2 more are the same in every row and tell nothing.",
    "from is a date; rows are held out at random, not the last ones.",
    "note has more than 100 texts, each a category.",
    "note alone tells y almost without error. Not known beforehand? Untick it below.",
  ]);
});

test("an address beyond the limits is told, and what is within them comes back as it was", () => {
  const refused = (hash) => {
    const said = [];
    return [read(hash, (text) => said.push(text)), said];
  };
  for (const [hash, part] of [["#model=300", /^model=300 is not/], ["#model=256,256,256", /^model=256,256,256 is not .* 100,000 weights$/], ["#model=999,999,999", /^model/], ["#model=tree", /^model/], ["#model=linear/16/8", /^model/], ["#model=linear/", /^model/], ["#model=300/linear", /^model/], ["#steps=0", /^steps=0 is not from 1 to 100000$/], ["#seed=-1", /^seed=-1/], ["#positives=80", /^positives=80 is not from 0\.5 to 50$/], ["#find=2", /^find=2/], ["#noise=many", /^noise=many/]]) {
    const [state, said] = refused(hash);
    assert.equal(said.length, 1, hash);
    assert.match(said[0], part);
    assert.equal(state.model, "linear");
  }
  for (const model of ["linear", "256", "16,16", "256,200,100", "linear/16", "16,16/8"]) assert.deepEqual([refused(`#model=${model}`)[0].model, refused(`#model=${model}`)[1]], [model, []]);
  const state = { ...defaults(), model: "16,16", find: 0.25, scene: "2.3", seed: 7 };
  assert.deepEqual(refused(write(state)), [state, []]);
});
