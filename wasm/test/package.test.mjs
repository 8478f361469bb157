// The package in Node, and its size. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { DataFile, Model, initFiles } from "../js/files.js";
import { Ordered } from "../js/view.js";
import * as first from "../js/pkg/undercurve.js";
import * as groups from "../js/pkg/undercurve_groups.js";
import { CLASS_METHODS, CLASS_SYNTHETICS, GROUP_SYNTHETICS, METHODS, NeedsFull, SYNTHETICS, Session, flipLabels, init, initFull, initGroups, initWhole, synthetic, syntheticClasses, syntheticGroups } from "../js/index.js";

const module = (name) => readFile(new URL(`../js/pkg/${name}_bg.wasm`, import.meta.url));
const names = ["undercurve", "undercurve_whole", "undercurve_sums", "undercurve_groups", "undercurve_files"];
const wasm = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await module(name)])));
await init(wasm.undercurve);
await initFiles(wasm.undercurve_files);

/** What each may grow to before somebody must look, gzip and brotli. The first is what everybody downloads. */
const MOST_BYTES = {
  undercurve: [99_200, 84_300],
  undercurve_whole: [206_500, 169_100],
  undercurve_sums: [170_300, 139_200],
  undercurve_groups: [189_000, 154_700],
  undercurve_objective: [52_900, 45_700],
  undercurve_pairs: [48_000, 41_000],
  undercurve_exact: [71_500, 60_000],
  undercurve_judge: [48_900, 41_900],
  undercurve_decide: [29_300, 25_600],
  undercurve_files: [307_900, 248_900],
  undercurve_webgpu: [117_700, 97_500],
};

const options = (name, seed = 3) => {
  const data = synthetic("split", { rows: 500, testRows: 500, positives: 0.05 });
  return { ...data, method: { name }, seed, steps: 60 };
};

/** Four clouds in as many features, of unequal sizes; class 3 is the rarest. */
function clouds(rows, seed) {
  const { X } = synthetic("overlap", { rows: 2 * rows, testRows: 4, positives: 0.5, seed });
  const y = Uint8Array.from({ length: rows }, (_, row) => [0, 0, 0, 1, 1, 0, 2, 1, 2, 3][row % 10]);
  return { X: Float32Array.from({ length: 4 * rows }, (_, at) => X[at] + (at % 4 === y[at >> 2] ? 3 : 0)), y };
}

const several = (name, change = {}) => ({ ...clouds(600, 1), dims: 4, classes: 4, test: clouds(400, 2), method: { name }, seed: 3, steps: 60, ...change });

test("the modules stay small, and none grows by 3 % from one release to the next", async (t) => {
  const released = JSON.parse(await readFile(new URL("sizes.json", import.meta.url), "utf8"));
  for (const [name, most] of Object.entries(MOST_BYTES)) {
    const bytes = await module(name);
    const packed = [gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes).length];
    t.diagnostic(`${name}: ${bytes.length} bytes, ${packed[0]} gzip, ${packed[1]} brotli`);
    ["gzip", "brotli"].forEach((how, at) => {
      assert.ok(packed[at] <= most[at], `${name}: ${packed[at]} bytes ${how}, ${most[at]} at most`);
      assert.ok(packed[at] <= 1.03 * released[name][how], `${name}: ${packed[at]} bytes ${how}, and ${released[name][how]} in the last release`);
    });
  }
});

test("what each module is made of is listed beside them", async () => {
  const list = await readFile(new URL("../js/pkg/contents.md", import.meta.url), "utf8");
  for (const name of Object.keys(MOST_BYTES)) {
    const [, code, table] = new RegExp(`## ${name}_bg\\.wasm\\n\\n(\\d+) bytes of code [^]*?\\|---\\|---\\|---\\|\\n([^]*?)\\n\\n`).exec(list);
    const bytes = [...table.matchAll(/^\| [^|]+ \| (\d+) \| [\d.]+ % \|$/gm)].map(([, bytes]) => Number(bytes));
    assert.ok(bytes.length > 5 && bytes.reduce((sum, one) => sum + one) === Number(code), name);
    assert.ok(Number(code) < (await module(name)).length);
  }
});

test("the kernels are imported when they are asked for", async () => {
  const others = await Promise.all(["index", "lanes", "exact", "backend", "session", "modules", "worker"].map((name) => readFile(new URL(`../js/${name}.js`, import.meta.url), "utf8")));
  assert.ok(others.every((text) => !/^import .*(webgpu|gpu-runs|kernels)/m.test(text)));
});

test("the package's page names the downloads as they are", async () => {
  const page = await readFile(new URL("../js/README.md", import.meta.url), "utf8");
  const said = [...page.matchAll(/^\| `([\w.]+\.(?:wasm|js))` \|[^|]*\| (\d+) KB \|$/gm)].map(([, name, kilobytes]) => [Number(kilobytes), name]);
  assert.deepEqual(said.map(([, name]) => name).sort(), [...Object.keys(MOST_BYTES).map((name) => `${name}_bg.wasm`), "inline.js", "methods.js"].sort());
  const gzip = async (name) => gzipSync(await readFile(new URL(`../js/pkg/${name}`, import.meta.url)), { level: 9 }).length / 1000;
  for (const [kilobytes, name] of said) assert.ok(Math.abs(kilobytes - (await gzip(name))) <= 0.5 + 0.01 * kilobytes, `${name}: ${kilobytes} KB said, ${await gzip(name)} KB`);
});

test("in Node the modules are found beside the scripts", () => {
  const { X, y, dims } = options("ai-sarah");
  const script = `
    import { DataFile, initFiles } from "./files.js";
    import { Session, init } from "./index.js";
    const X = new Float32Array(${JSON.stringify([...X])});
    const y = new Uint8Array(${JSON.stringify([...y])});
    const early = (make) => { try { return make(); } catch (error) { return error.message; } };
    console.log(early(() => new Session({ X, y, dims: ${dims} })));
    console.log(early(() => new DataFile(new Uint8Array(), "some.csv")));
    await init();
    new Session({ X, y, dims: ${dims} }).dispose();
    const session = await Session.create({ X, y, dims: ${dims}, method: { name: "ai-sarah" } });
    await initFiles();
    const file = new DataFile(new TextEncoder().encode("a,label\\n1,0\\n2,1\\n"), "some.csv");
    console.log(session.advance({ steps: 5 }), file.describe().rows);
  `;
  const cwd = new URL("../js", import.meta.url);
  const out = execFileSync(process.execPath, ["--input-type=module", "-"], { cwd, input: script, encoding: "utf8" });
  const early = ["no module is loaded: await init() before", "the module that reads files is not loaded: await initFiles() before"];
  assert.equal(out, `${early.join("\n")}\n5 2\n`);
});

// Before anything else loads them.
test("the other modules are loaded when a method needs one, and not before", async () => {
  const run = (session) => {
    session.advance({ steps: 25 });
    return session;
  };
  const needs = (change, home, says) => assert.throws(() => new Session({ ...options("soap"), ...change }), (error) => error instanceof NeedsFull && error.home === home && says.test(error.message));
  for (const [name, home] of [["auc-exact", "whole"], ["pauc-threshold", "whole"], ["ai-sarah", "sums"], ["sonex", "groups"]]) needs({ method: name }, home, /are in another module: await init\w+\(\) before, or use Session\.create$/);
  needs({ method: { name: "soap", preset: "paper" } }, "whole", /^exact methods, .* and the settings of papers are in another module: await initWhole\(\)/);
  needs(several("ce"), "groups", /^groups, constraints and several classes are in another module: await initGroups\(\)/);
  needs({ groups: new Uint32Array(500).map((_, k) => k % 2), test: undefined }, "groups", /^groups, /);
  needs({ constraints: ["recall >= 0.5"] }, "groups", /^groups, /);
  // (What Node cannot fetch is given, as in the first module's case.)
  const loaded = initWhole(wasm.undercurve_whole);
  assert.throws(() => new Session(options("ap-exact")), NeedsFull);
  await loaded;
  new Session(options("ap-exact")).dispose();
  needs({ method: "ai-sarah" }, "sums", /^finite sums are/);
  // Groups are told of by the module that has the method.
  const grouped = { groups: new Uint32Array(500).map((_, k) => k % 2), test: undefined };
  assert.equal(run(new Session({ ...options("ap-exact"), ...grouped })).snapshot({ judge: ["recall >= 0.5"] }).byGroup.train.groups.length, 2);
  for (const [change, says] of [[{ constraints: ["recall >= 0.5"] }, /^method ap-exact trains under no constraints$/], [several("ap-exact"), /^method ap-exact trains two classes$/]]) {
    await assert.rejects(Session.create({ ...options("ap-exact"), ...change }), { code: 121, argument: "method", message: says });
  }
  // Saved bytes say what they need when they are read.
  const saved = run(await Session.create(options("svrg"))).save();
  assert.equal((await Session.create({ ...options("svrg"), method: undefined, bytes: saved })).snapshot().step, 25);
  for (const name of ["soap", "auc-exact", "ap-exact", "pauc-exact", "pauc-threshold", "ai-sarah", "svrg"]) {
    const created = run(await Session.create(options(name)));
    assert.deepEqual(created.params(), run(new Session(options(name))).params(), name);
    const resumed = new Session({ ...options(name), bytes: created.save() });
    assert.deepEqual(resumed.params(), created.params(), name);
    assert.deepEqual(resumed.save(), created.save(), name);
  }
  await assert.rejects(Session.create(options("nothing")), /no method/);
});

test("several classes train, are measured exactly, and resume to the same bits", async () => {
  for (const { name } of CLASS_METHODS) {
    for (const model of [{ kind: "linear" }, { kind: "mlp", hidden: [6] }]) {
      // (Short stages, so that there are dual resets.)
      const settings = name === "ce" ? { lr: 0.05 } : { stage: 15, reset: 4, lr: 1 };
      const given = several(name, { model, method: { name, settings } });
      const whole = await Session.create(given);
      assert.equal(whole.advance({ steps: 60 }), 60);
      const { test: metrics, step, objective, roc, pr, histogram } = whole.snapshot({ class: 3, curve: 2001, bins: 8 });
      assert.ok(step === 60 && Number.isFinite(objective));
      assert.ok(metrics.handTill > 0.9 && metrics.accuracy > 0.6, `${name}: ${JSON.stringify(metrics)}`);

      // The metrics again, pair by pair.
      const held = given.test;
      const scores = whole.score(held.X);
      assert.equal(scores.length, 4 * held.y.length);
      const above = (score, own, others) => {
        let [wins, pairs] = [0, 0];
        for (const a of own) for (const b of others) [wins, pairs] = [wins + (score(a) > score(b) ? 1 : score(a) === score(b) ? 0.5 : 0), pairs + 1];
        return wins / pairs;
      };
      const rows = (keep) => [...held.y.keys()].filter((row) => keep(held.y[row]));
      const of = (one) => (row) => scores[4 * row + one];
      let pairs = 0;
      for (let a = 0; a < 4; a += 1) {
        const auroc = above(of(a), rows((y) => y === a), rows((y) => y !== a));
        assert.ok(Math.abs(auroc - metrics.classes[a].auroc) < 1e-12, `${name}: class ${a} against the others`);
        assert.equal(metrics.classes[a].rows, rows((y) => y === a).length);
        for (let b = 0; b < 4; b += 1) if (b !== a) pairs += above(of(a), rows((y) => y === a), rows((y) => y === b)) / 12;
      }
      assert.ok(Math.abs(pairs - metrics.handTill) < 1e-12, `${name}: ${pairs} and ${metrics.handTill}`);
      const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
      assert.ok(Math.abs(mean(metrics.classes.map((one) => one.auroc)) - metrics.auroc) < 1e-12);
      assert.ok(Math.abs(mean(roc) - metrics.classes[3].auroc) < 5e-3 && Math.abs(mean(pr) - metrics.classes[3].ap) < 5e-3);
      assert.equal(histogram.length, 2 + 16);
      const best = (row) => [0, 1, 2, 3].reduce((most, one) => (of(one)(row) > of(most)(row) ? one : most), 0);
      const { winners } = whole.snapshot({ winners: 50 });
      assert.deepEqual([...winners], [...winners.keys()].map(best));
      assert.equal(rows(() => true).filter((row) => best(row) === held.y[row]).length / held.y.length, metrics.accuracy);

      const part = new Session(given);
      part.advance({ steps: 23 });
      const resumed = new Session({ ...given, method: undefined, bytes: part.save() });
      assert.deepEqual(resumed.save(), part.save());
      resumed.advance({ steps: 37 });
      assert.deepEqual(resumed.save(), whole.save(), name);
      assert.deepEqual(resumed.snapshot().test, metrics);
      for (const session of [whole, part, resumed]) session.dispose();
    }
  }
});

test("the plane of two features shows the class that wins each point, and sparse rows train as dense ones", async () => {
  const { y } = clouds(300, 3);
  const X = Float32Array.from({ length: 600 }, (_, at) => Math.sin(at * at) * 0.4 + [[0, 2], [2, -1], [-2, -1], [0, 0]][y[at >> 1]][at % 2]);
  const given = { X, y, dims: 2, classes: 4, method: { name: "ce" }, steps: 80 };
  const session = await Session.create(given);
  session.advance({ steps: 80 });
  const { surface } = session.snapshot({ surface: { x: [-3, 3], y: [-3, 3], columns: 12, rows: 10 } });
  assert.deepEqual([surface.winner.length, surface.odds.length], [120, 120]);
  // The middle of the top row belongs to the cloud up there, the corners below to those there.
  assert.deepEqual([surface.winner[9 * 12 + 6], surface.winner[11], surface.winner[0]], [0, 1, 2]);
  const scores = session.score(Float32Array.from([0.25, 2.7]));
  assert.ok(Math.abs(scores[0] - surface.odds[9 * 12 + 6]) < 1e-5);
  assert.ok(Math.abs(scores[0] - Math.max(...scores.slice(1)) - surface.lead[9 * 12 + 6]) < 1e-5);
  const thin = await Session.create({ ...given, X: sparse(X, 2) });
  thin.advance({ steps: 80 });
  assert.ok(thin.params().every((value, k) => Math.abs(value - session.params()[k]) < 1e-3));
});

test("a plane of two classes has the score of each point where it is asked for, and else its rank alone", async () => {
  const y = Uint8Array.from({ length: 200 }, (_, k) => k % 2);
  const X = Float32Array.from({ length: 400 }, (_, at) => Math.sin(at * at) + y[at >> 1]);
  const session = await Session.create({ X, y, dims: 2, method: "ce", steps: 40 });
  session.advance({ steps: 40 });
  const surface = { x: [-1, 1], y: [-2, 2], columns: 4, rows: 2 };
  assert.equal(session.snapshot({ surface }).surfaceScores, undefined);
  assert.deepEqual(session.snapshot({ surface: { ...surface, scores: true } }).surfaceScores, session.score(Float32Array.from([-1, 1].flatMap((v) => [-0.75, -0.25, 0.25, 0.75].flatMap((u) => [u, v])))));
});

test("what several classes cannot be is an exception with a sentence", async () => {
  const refused = (change, what) => assert.throws(() => new Session(several("ce", change)), what);
  for (const classes of [0, 1, 2, 2.5, 257, "4", null]) refused({ classes }, { name: "UndercurveError", message: /^classes .*: expected a whole number from 3 to 256/ });
  refused({ classes: 5 }, { name: "UndercurveError", message: "y: no row of class 4, and classes is 5" });
  refused({ classes: 3 }, /label of row 9 \(from 0\) is 3: expected class numbers below 3/);
  refused({ test: { ...clouds(400, 2), y: new Uint8Array(400) } }, { name: "UndercurveError", message: /^test\.y: no row of class 1/ });
  refused({ method: { name: "soap" } }, /method soap trains two classes; of several classes are ce, ppd-sg, ppd-adagrad/);
  refused({ method: { name: "nothing" } }, /no method "nothing"; METHODS of undercurve\/methods lists them/);
  refused({ method: { name: "ce", fpr: [0, 0.1] } }, { name: "UndercurveError", message: /partial AUC/ });
  refused({ method: { name: "ce", settings: { gamma: 1 } } }, /gamma/);
  const session = new Session(several("ce"));
  assert.throws(() => session.snapshot({ class: 4, curve: 5 }), { name: "UndercurveError", message: "view.class 4: expected a whole number from 0 to 3" });
  assert.throws(() => session.snapshot({ winners: -2 }), /view\.winners -2/);
  const two = new Session(options("ce"));
  refused({ bytes: two.save() }, { name: "UndercurveError", message: /^bytes of two classes/ });
  assert.throws(() => new Session({ ...options("ce"), bytes: session.save() }), { name: "UndercurveError", message: /^bytes of several classes/ });
  const damaged = session.save();
  damaged[40] ^= 1;
  refused({ bytes: damaged }, /cut short or damaged/);
  refused({ bytes: session.save(), ...clouds(600, 9) }, /another training data set/);
  // Without `classes` there are two, whatever the labels.
  assert.throws(() => new Session({ ...several("ce"), classes: undefined }), /label of row 6/);
});

const towns = (change = {}) => ({ ...syntheticGroups("towns", { rows: 1500, testRows: 6000, seed: 2 }), seed: 3, steps: 150, ...change });

test("a run under constraints says of each what the command line says, and resumes to the same bits", async () => {
  await initFull();
  const given = towns({ method: "sonex", constraints: ["gap(fpr) <= 0.1", "recall[South] >= 0.99"], objective: "auc" });
  const session = await Session.create(given);
  const free = new Session(towns({ method: "ce" }));
  const [first, last] = [session.snapshot(), session.run({ curve: 101, judge: ["gap(tpr) <= 0.9"] })];
  const unbound = free.run({ curve: 101, judge: ["gap(fpr) <= 0.1"] });
  assert.equal(first.constraints[0].surrogate, undefined, "nothing is tracked before the first step");
  assert.equal(unbound.constraints, undefined);

  // Exact values, again from the scores.
  const { test: held, groupNames, groups, y } = given;
  const rates = (scores, labels, of, label) => {
    const thresholds = [...new Set(scores)];
    const own = (group) => [...scores.keys()].filter((row) => labels[row] === label && of[row] === group).map((row) => scores[row]).sort((a, b) => a - b);
    const above = (sorted, from) => {
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle] < from) low = middle + 1;
        else high = middle;
      }
      return sorted.length - low;
    };
    const [north, south] = [own(0), own(1)];
    const rows = [north.length, south.length];
    const share = (count, of, more = 0) => (count + more) / (of + 2 * more);
    const [gaps, uppers] = [0, 1].map((more) =>
      thresholds.map((from) => {
        const [p, q] = [share(above(north, from), rows[0], more), share(above(south, from), rows[1], more)];
        const deviation = Math.sqrt((p * (1 - p)) / (rows[0] + 2) + (q * (1 - q)) / (rows[1] + 2));
        return Math.abs(p - q) + more * 1.645 * deviation;
      }),
    );
    return { gap: Math.max(...gaps), upper: Math.min(1, Math.max(...uppers, ...gaps)), rows };
  };
  for (const [part, X, labels, of] of [["train", given.X, y, groups], ["test", held.X, held.y, held.groups]]) {
    const scores = session.score(X);
    const [gap, recall] = last.constraints.map((told) => told[part]);
    const exact = rates(scores, labels, of, 0);
    assert.deepEqual([gap.value, gap.groups, gap.rows], [exact.gap, groupNames, exact.rows]);
    // Above the bound the noise of a gap that is none, below it what its upper end adds.
    const noise = exact.gap > 0.1 ? 1.36 * Math.sqrt(1 / gap.rows[0] + 1 / gap.rows[1]) : exact.upper - exact.gap;
    assert.ok(Math.abs(gap.noise - noise) < 1e-12, `${gap.noise}, ${noise}, gap ${exact.gap}`);
    const south = [...of.keys()].filter((row) => of[row] === 1 && labels[row]);
    assert.deepEqual([recall.value, recall.rows], [south.filter((row) => scores[row] >= 0).length / south.length, south.length]);
    const { gaps, groups: each } = last.byGroup[part];
    assert.deepEqual([gaps.fpr.value, gaps.tpr.value], [exact.gap, rates(scores, labels, of, 1).gap]);
    each.forEach(({ group, rows, positives, accuracy, fpr, inTraining }, k) => {
      const own = [...of.keys()].filter((row) => of[row] === k);
      const right = own.filter((row) => scores[row] >= 0 === Boolean(labels[row])).length;
      const wrong = own.filter((row) => scores[row] >= 0 && !labels[row]).length;
      assert.deepEqual([group, rows, positives, accuracy, inTraining], [groupNames[k], own.length, own.filter((row) => labels[row]).length, right / own.length, true]);
      assert.equal(fpr, wrong / (rows - positives));
    });
  }
  const [gap, recall] = last.constraints;
  assert.deepEqual([gap.target, recall.target, recall.verdict], ["gap(fpr) <= 0.1", "recall[South] >= 0.99", recall.test.verdict]);
  for (const { surrogate, dual, dualBound, atBound, conflict } of last.constraints) {
    assert.ok(Number.isFinite(surrogate) && dual >= 0 && dual <= dualBound && atBound >= 0 && atBound <= 1 && typeof conflict === "boolean");
  }
  assert.deepEqual([last.judged[0].target, last.judged[0].verdict, last.judged[0].test.value], ["gap(tpr) <= 0.9", "met", last.byGroup.test.gaps.tpr.value]);
  // What it is for: the average is better without, one group and the gap are not.
  assert.ok(unbound.test.auroc > last.test.auroc && unbound.judged[0].test.value > 0.3 && gap.test.value < 0.15, JSON.stringify([unbound.judged, gap]));
  const of = ({ byGroup }) => byGroup.test.groups.map(({ auroc }) => auroc);
  assert.ok(Math.min(...of(unbound)) < 0.5 && Math.min(...of(last)) > 0.7, JSON.stringify([of(unbound), of(last)]));
  for (const { auroc, roc } of unbound.byGroup.test.groups) assert.ok(Math.abs(roc.reduce((sum, value) => sum + value, 0) / 101 - auroc) < 5e-3);

  // Names instead of numbers; a group that training does not have comes last.
  const names = (of) => Array.from(of, (group) => groupNames[group]);
  const called = { ...given, groups: names(groups), groupNames: undefined, test: { ...held, groups: names(held.groups).map((name, row) => (row < 9 ? "East" : name)) } };
  const same = new Session(called);
  same.advance({ steps: 150 });
  assert.deepEqual(same.params(), session.params());
  const { train, test: other } = same.snapshot().byGroup;
  assert.deepEqual([train, other].map((part) => part.groups.map(({ group, inTraining }) => [group, inTraining])), [[["North", true], ["South", true]], [["North", true], ["South", true], ["East", false]]]);

  const part = new Session(given);
  part.advance({ steps: 60 });
  const resumed = new Session({ ...given, constraints: undefined, objective: undefined, bytes: part.save() });
  assert.deepEqual(resumed.save(), part.save());
  resumed.advance({ steps: 90 });
  assert.deepEqual(resumed.save(), session.save());
  const [told, expected] = [resumed, session].map((one) => one.snapshot().constraints.map(({ atBound, conflict, ...rest }) => rest));
  assert.deepEqual(told, expected);
  assert.throws(() => new Session({ ...given, groups: groups.map((group) => 1 - group), bytes: part.save() }), /another training data set/);

  // The worst groups; and what is of all rows needs no groups.
  const worst = new Session(towns({ method: "sonex", objective: "cvar:0.5", constraints: undefined })).run();
  assert.equal(worst.constraints, undefined);
  assert.ok(Math.min(...of(worst)) > Math.min(...of(unbound)));
  const { groups: _, groupNames: __, test: ___, ...alone } = given;
  const all = new Session({ ...alone, constraints: ["recall >= 0.8"] }).run();
  assert.deepEqual([all.constraints.length, all.byGroup, all.constraints[0].test], [1, undefined, undefined]);
});

test("groups and constraints that fit nothing are refused with a sentence", () => {
  const refused = (change, what) => assert.throws(() => new Session(towns({ method: "sonex", ...change })), what);
  const { groups, y, test: held } = towns();
  const type = (message) => ({ name: "UndercurveError", message });
  refused({ groups: groups.slice(1) }, type("groups of length 1499: expected 1500, one for each row"));
  refused({ groups: [...groups] }, type(/^groups of object: expected a Uint32Array of numbers or an array of names/));
  refused({ groups: undefined, groupNames: undefined, test: undefined }, type("method sonex is of groups: give the group of each row as groups"));
  refused({ groups: undefined, groupNames: undefined }, type(/^test\.groups.*: expected none, as the training rows have no groups/));
  refused({ test: { X: held.X, y: held.y } }, type(/^test\.groups undefined: expected/));
  refused({ test: { ...held, groups: Array.from(held.groups, String) } }, type(/^test\.groups.*numbers or names, as the training rows have/));
  refused({ groups: new Uint32Array(y.length), test: undefined }, type("groups North: expected two groups or more"));
  refused({ groups: groups.map((group) => 5000 * group), groupNames: undefined, test: undefined }, type(/^groups 5000: expected numbers from 0 to 999/));
  refused({ groupNames: ["North"] }, type("groupNames North: expected 2 names, one for each number"));
  refused({ constraints: "gap(fpr) <= 0.05" }, type(/^constraints gap\(fpr\) <= 0.05: expected an array of texts/));
  refused({ constraints: ["gap(fpr) < 0.05"] }, /constraint "gap\(fpr\) < 0\.05": character 10: expected <= or >=/);
  refused({ constraints: ["gap(fpx) <= 0.05"] }, /character 5: expected tpr or fpr/);
  refused({ constraints: ["recall[East] >= 0.5"] }, /there is no group "East"; the groups are "North", "South"/);
  refused({ constraints: ["loss(old.csv) <= 1"] }, /the rows of this file are not given/);
  refused({ method: "ce", constraints: ["gap(fpr) <= 0.05"] }, /method ce trains under no constraints; there are sonex/);
  refused({ method: "ooa", constraints: ["gap(fpr) <= 0.05"] }, /method ooa minimises the loss of the worst groups/);
  refused({ objective: "cvar:2" }, /objective cvar:2: expected auc, ce or cvar:SHARE/);
  refused({ method: "ce", objective: "auc" }, /objective auc: method ce has its own/);
  const { groups: _, groupNames: __, ...rows } = towns({ test: undefined, method: "sonex" });
  assert.throws(() => new Session({ ...rows, constraints: ["gap(fpr) <= 0.05"] }), /is of groups/);
  assert.throws(() => new Session(several("ce", { groups: new Uint32Array(600) })), type(/^groups of 4 classes: expected two classes/));
  const session = new Session(towns({ method: "ce" }));
  assert.throws(() => session.snapshot({ judge: ["gap(fpr)"] }), /constraint "gap\(fpr\)": character 9: expected <= or >=/);
  assert.throws(() => session.snapshot({ judge: "gap(fpr) <= 1" }), /view\.judge .*: expected an array/);
  assert.throws(() => new Session(options("soap")).snapshot({ judge: ["recall >= 0.5"] }), /view\.judge .*: expected none without groups or constraints/);
});

test("modules read what others saved", () => {
  const { X, y, dims, steps } = options("soap");
  const trained = (module, bytes) => {
    const rows = module.Data.dense(X, y, dims);
    const settings = new module.Options("soap", 3);
    settings.steps(steps);
    const trainer = bytes ? module.Trainer.load(bytes, rows) : new module.Trainer(settings, rows);
    for (let step = 0; step < 20; step += 1) trainer.step();
    return trainer.save();
  };
  const [a, b] = [trained(first), trained(groups)];
  assert.deepEqual(a, b);
  assert.deepEqual(trained(first, b), trained(groups, a));
  // A run that only another module can go on with.
  const exact = new Session(options("auc-exact"));
  exact.advance({ steps: 3 });
  const { test: held } = options("soap");
  const rows = first.Data.dense(X, y, dims);
  rows.holdOut(first.Data.dense(held.X, held.y, dims));
  assert.equal(first.Trainer.load(exact.save(), rows), undefined);
});

test("every kind of data is drawn", () => {
  for (const { name } of SYNTHETICS) {
    const { X, y, dims, test: held } = synthetic(name, { rows: 200, testRows: 100, positives: 0.1 });
    assert.deepEqual([dims, X.length, y.length, held.X.length, held.y.length], [2, 400, 200, 200, 100], name);
    assert.equal(y.reduce((sum, one) => sum + one, 0), 20);
  }
  assert.throws(() => synthetic("nothing"), /: expected one of /);
});

test("two towns are drawn, each label of each group in both parts", async () => {
  await initFull();
  for (const { name, groups: called } of GROUP_SYNTHETICS) {
    const { X, y, groups, dims, groupNames, test: held } = syntheticGroups(name, { rows: 200, testRows: 20, positives: 0.25, seed: 4 });
    assert.deepEqual([dims, groupNames, X.length, y.length, groups.length, held.X.length, held.groups.length], [2, called, 400, 200, 200, 40, 20]);
    const cells = (y, groups) => [0, 1].flatMap((group) => [0, 1].map((label) => y.filter((one, row) => one === label && groups[row] === group).length));
    assert.deepEqual(cells(y, groups), [120, 40, 30, 10]);
    assert.deepEqual(cells(held.y, held.groups), [12, 4, 2, 2]);
    assert.deepEqual(syntheticGroups(name, { rows: 200, positives: 0.25, seed: 4 }).X, X);
    assert.notDeepEqual(syntheticGroups(name, { rows: 200, positives: 0.25, seed: 5 }).X, X);
  }
  assert.throws(() => syntheticGroups("split"), /: expected one of /);
  assert.throws(() => syntheticGroups("towns", { positives: 1 }), /between 0 and 1/);
});

test("a pinwheel is drawn, every class in both parts", async () => {
  await initFull();
  for (const { name } of CLASS_SYNTHETICS) {
    const { X, y, dims, classes, test: held } = syntheticClasses(name, { rows: 200, testRows: 20, seed: 4 });
    assert.deepEqual([dims, classes, X.length, y.length, held.X.length, held.y.length], [2, 5, 400, 200, 40, 20]);
    const rows = (labels) => Array.from({ length: classes }, (_, one) => labels.filter((label) => label === one).length);
    assert.deepEqual(rows(y), [80, 54, 34, 20, 12]);
    assert.ok(rows(held.y).every((count) => count >= 2));
    assert.deepEqual(syntheticClasses(name, { rows: 200, seed: 4 }).X, X);
    assert.notDeepEqual(syntheticClasses(name, { rows: 200, seed: 5 }).X, X);
  }
  assert.throws(() => syntheticClasses("split"), /: expected one of /);
  assert.throws(() => syntheticClasses("pinwheel", { noise: -1 }), /negative/);
});

test("a file becomes rows for a session", () => {
  const text = Array.from({ length: 60 }, (_, k) => `${Math.sin(k)},${k % 3 ? "red" : "blue"},${k % 5 ? "no" : "yes"}`);
  const file = new DataFile(Buffer.from(`x,colour,label\n${text.join("\n")}\n`), "some.csv");
  const { format, rows, columns } = file.describe();
  assert.deepEqual([format, rows, columns.map((column) => column.name)], ["CSV", 60, ["x", "colour", "label"]]);
  assert.deepEqual(columns[2].values.sort(), [["no", 48], ["yes", 12]]);
  assert.deepEqual(columns.map(({ kind, identifier, range, stray }) => [kind, identifier, range?.map((x) => x.toFixed(1)) ?? null, stray]), [["number", false, ["-1.0", "1.0"], null], ["text", false, null, null], ["text", false, null, null]]);
  const data = file.prepare({ label: "label", positive: "yes" });
  // A column that is left out by name, one that tells rows apart, and one that a single cell makes a text.
  assert.equal(file.prepare({ label: "label", positive: "yes", ignore: ["colour"] }).dims, data.dims - 2);
  assert.throws(() => file.prepare({ label: "label", positive: "yes", ignore: ["nothing"] }), /nothing/);
  const heavy = file.prepare({ label: "label", positive: "yes", weight: 3 });
  const again = [...data.y.keys()].flatMap((row) => Array(data.y[row] ? 3 : 1).fill(row));
  assert.deepEqual([...heavy.y], again.map((row) => data.y[row]));
  assert.deepEqual([...heavy.X], again.flatMap((row) => [...data.X.subarray(data.dims * row, data.dims * (row + 1))]));
  assert.deepEqual(heavy.test, data.test);
  assert.throws(() => file.prepare({ label: "label", positive: "yes", weight: 0.5 }), /weight 0\.5: expected a whole number from 1/);
  assert.throws(() => file.prepare({ label: "label", positive: "yes", ignore: "colour" }), /ignore colour: expected an array of column names/);
  // A column alone: the share of pairs of a positive and a negative that it has in order.
  const { alone } = file.describe({ label: "label", positive: "yes" }).columns[0];
  const x = [...Array(60).keys()].map(Math.sin);
  const above = x.flatMap((a, k) => (k % 5 ? [] : x.filter((_, j) => j % 5).map((b) => Number(a > b))));
  const auroc = above.reduce((sum, one) => sum + one, 0) / above.length;
  assert.equal(alone.toFixed(12), Math.max(auroc, 1 - auroc).toFixed(12));
  file.dispose();
  const odd = new DataFile(Buffer.from(`id,size,label\n${text.map((_, k) => `n${k},${k === 7 ? "tall" : k},${k % 5 ? "no" : "yes"}`).join("\n")}\n`), "odd.csv");
  assert.deepEqual(odd.describe().columns.map(({ kind, identifier, stray }) => [kind, identifier, stray]), [["text", true, null], ["text", false, [9, "tall"]], ["text", false, null]]);
  assert.throws(() => odd.prepare({ label: "label", positive: "yes" }), /odd\.csv:9:2: .*"tall"/);
  assert.ok(odd.prepare({ label: "label", positive: "yes", categorical: ["size"] }).dims > 20);
  odd.dispose();
  const session = new Session({ ...data, method: { name: "ce" } });
  assert.equal(session.advance({ steps: 5 }), 5);
  assert.throws(() => new DataFile(Buffer.from("x,label\n1,0\n2\n"), "broken.csv"), /broken\.csv:3/);
});

/** The same rows, zeros not stored. */
function sparse(X, dims) {
  const [ptr, col, val] = [[0], [], []];
  for (let at = 0; at < X.length; at += 1) {
    if (X[at] !== 0) {
      col.push(at % dims);
      val.push(X[at]);
    }
    if ((at + 1) % dims === 0) ptr.push(col.length);
  }
  return { ptr: Uint32Array.from(ptr), col: Uint32Array.from(col), val: Float32Array.from(val) };
}

test("sparse rows train, score and resume as the same rows do dense", async () => {
  const dims = 12;
  const rows = (count, shift) => {
    const y = Uint8Array.from({ length: count }, (_, row) => Number(row % 7 === 0));
    const X = Float32Array.from({ length: count * dims }, (_, at) => {
      const row = Math.floor(at / dims);
      return (row * 5 + at * 3 + shift) % 4 ? 0 : Math.sin(row + (at % dims)) + (y[row] ? 1 : 0);
    });
    return { X, y };
  };
  const [train, held] = [rows(300, 0), rows(200, 1)];
  const thin = ({ X, y }) => ({ X: sparse(X, dims), y });
  const apart = (a, b) => Math.max(...a.map((value, k) => Math.abs(value - b[k])));
  for (const [name, model] of [["soap", { kind: "linear" }], ["ce", { kind: "mlp", hidden: [5] }], ["ai-sarah", { kind: "linear" }], ["auc-exact", { kind: "linear" }]]) {
    const settings = { dims, model, method: { name }, steps: 40 };
    const dense = await Session.create({ ...train, test: held, ...settings });
    const few = await Session.create({ ...thin(train), test: thin(held), ...settings });
    for (const session of [dense, few]) session.advance({ steps: 20 });
    assert.ok(apart(few.params(), dense.params()) < 1e-3, `${name}: parameters apart by ${apart(few.params(), dense.params())}`);
    assert.ok(apart(few.score(sparse(held.X, dims)), few.score(held.X)) < 1e-5, name);
    const { roc, test: metrics } = few.snapshot({ curve: 33, ranks: 10 });
    assert.ok(roc.every(Number.isFinite) && metrics.auroc > 0.5, `${name}: ${metrics.auroc}`);
    const resumed = await Session.create({ ...thin(train), test: thin(held), ...settings, bytes: few.save() });
    for (const session of [few, resumed]) session.advance({ steps: 10 });
    assert.deepEqual(resumed.save(), few.save(), name);
  }
  const broken = (change) => () => new Session({ ...thin(train), X: { ...sparse(train.X, dims), ...change }, dims, method: { name: "ce" } });
  assert.throws(broken({ ptr: new Uint32Array(301) }), /length/);
  assert.throws(broken({ ptr: new Uint32Array(0) }), /empty/);
  assert.throws(broken({ col: sparse(train.X, dims).col.map(() => 12) }), /col/);
  assert.throws(broken({ val: undefined }), /^UndercurveError: X\.val undefined: expected a Float32Array/);
});

test("a file of several labels becomes rows of several classes", async () => {
  const text = Array.from({ length: 90 }, (_, k) => `${Math.sin(k) + 2 * (k % 3)},${["red", "blue", "green"][k % 3]}`);
  const file = new DataFile(Buffer.from(`x,colour\n${text.join("\n")}\n`), "some.csv");
  const { names, classes, ...data } = file.prepareClasses({ label: "colour", seed: 4 });
  assert.deepEqual([names, classes], [["blue", "green", "red"], 3]);
  assert.deepEqual([data.y.length, data.test.y.length, data.plane.length], [54, 36, 72]);
  assert.deepEqual([0, 1, 2].map((one) => data.y.filter((label) => label === one).length), [18, 18, 18]);
  const session = await Session.create({ ...data, classes, steps: 100 });
  session.advance({ steps: 100 });
  assert.ok(session.snapshot().test.handTill > 0.8);
  file.dispose();
  const lone = new DataFile(Buffer.from("x,label\n1,a\n2,b\n3,b\n4,c\n5,c\n"), "lone.csv");
  assert.throws(() => lone.prepareClasses({ label: "label" }), /lone\.csv.*"?a"?/);
});

test("a LIBSVM file of many columns stays sparse; one with few zeros does not", () => {
  const wide = Array.from({ length: 200 }, (_, k) => `${k % 5 ? -1 : 1} ${1 + (k % 5 ? k : 0)}:1 ${300 + k}:0.5 100000:${1 + k / 200}`).join("\n");
  const file = new DataFile(Buffer.from(wide), "wide.svm");
  assert.deepEqual(file.describe().columns[0].values, [["-1", 160], ["1", 40]]);
  const data = file.prepare({ label: "label", positive: "1" });
  file.dispose();
  assert.equal(data.dims, 100_000);
  assert.ok(data.X.val.length <= 360, `${data.X.val.length} values stored`);
  assert.equal(data.X.ptr.length, data.y.length + 1);
  assert.equal(data.plane.length, 2 * data.test.y.length);
  assert.ok(data.plane.every(Number.isFinite));
  const session = new Session({ ...data, method: { name: "soap" }, steps: 50 });
  session.advance({ steps: 50 });
  assert.ok(session.snapshot().test.auroc > 0.9);
  const full = new DataFile(Buffer.from(Array.from({ length: 60 }, (_, k) => `${k % 4 ? 0 : 1} 1:${k} 2:${k % 3}`).join("\n")), "full.svm");
  const { X, y } = full.prepare({ label: "label", positive: "1" });
  assert.ok(X instanceof Float32Array);
  assert.equal(X.length, 2 * y.length);
});

test("labels are flipped by share and seed, and no class dies out", () => {
  const { y } = synthetic("split", { rows: 1000 });
  const before = y.slice();
  const turned = (share, seed) => {
    const out = flipLabels(y, share, seed);
    return [...out.keys()].filter((row) => out[row] !== y[row]);
  };
  const [few, many] = [turned(0.03, 1), turned(0.2, 1)];
  assert.deepEqual([turned(0, 1).length, few.length, many.length], [0, 30, 200]);
  assert.ok(few.every((row) => many.includes(row)));
  assert.notDeepEqual(turned(0.03, 2), few);
  assert.deepEqual(y, before, "what was given stays");
  const lone = Uint8Array.from([0, 0, 1, 0, 0]);
  for (let seed = 0; seed < 30; seed += 1) assert.equal(new Set(flipLabels(lone, 1, seed)).size, 2);
});

test("two methods start alike and see the same batches", () => {
  const [a, b] = [new Session(options("ce")), new Session(options("soap"))];
  assert.deepEqual(a.params(), b.params());
  for (let step = 0; step < 40; step += 1) {
    a.advance({ steps: 1 });
    b.advance({ steps: 1 });
    assert.deepEqual(a.batch(), b.batch(), `step ${step}`);
  }
  assert.notDeepEqual(a.params(), b.params());
});

test("a model that tells no rows apart says so, with what to try; others say nothing", async () => {
  const flat = { X: new Float32Array(2 * 100), y: Uint8Array.from({ length: 100 }, (_, row) => row % 4), dims: 2 };
  const two = { ...flat, y: flat.y.map((label) => Number(label === 1)) };
  const tied = [
    { ...two, method: { name: "soap" } },
    { ...two, method: { name: "pauc-exact", settings: { pretrain: 0 } } },
    { ...two, method: { name: "ai-sarah" } },
    { ...two, test: { X: Float32Array.from({ length: 20 }, (_, at) => at), y: two.y.subarray(0, 10) } },
    { ...flat, classes: 4 },
  ];
  for (const given of tied) {
    const session = await Session.create({ ...given, steps: 30 });
    assert.deepEqual(Object.keys(session.snapshot()).filter((key) => ["warning", "collapsed"].includes(key)), [], "not before the first step");
    const { warning, collapsed } = session.run();
    assert.match(warning, /^all training rows have the same score, so this model ranks nothing; try (.* or )?another method$/);
    assert.ok(!warning.includes("--set"), `what to try is no option of a command line: ${warning}`);
    assert.equal(collapsed, true);
  }
  // A warning of a model that is a result all the same.
  const turned = await Session.create({ ...options("ce"), y: flipLabels(options("ce").y, 1), steps: 300 });
  const { warning, collapsed } = turned.run();
  assert.ok(/little above chance/.test(warning) && collapsed === false, `${warning} ${collapsed}`);
  for (const given of [{ ...options("soap"), steps: 300 }, { ...options("pauc-exact"), steps: 300 }, several("ppd-sg", { steps: 300 })]) {
    const snapshot = (await Session.create(given)).run();
    assert.ok(!("warning" in snapshot) && !("collapsed" in snapshot), `${given.method.name}: ${snapshot.warning}`);
  }
});

test("a snapshot says how many steps of cross-entropy come before the method's own", async () => {
  const first = async (name, steps, settings = {}, given = options(name)) => (await Session.create({ ...given, method: { name, settings }, steps })).snapshot().pretraining;
  // A third of a run of its own accord, or none.
  assert.deepEqual([await first("soap", 60), await first("ce", 60), await first("ai-sarah", 60)], [20, 0, 0]);
  assert.equal(await first("soap", 60, { pretrain: 7 }), 7);
  assert.equal(await first("ppd-sg", 60, { pretrain: 7 }, several("ppd-sg")), 7);
  // Or half of it.
  assert.deepEqual([await first("smooth-ap", 60), await first("smooth-ap", 300), await first("smooth-ap", 300, { pretrain: 0 })], [30, 150, 0]);
});

test("the settings of a method's paper can be taken, with others over them", async () => {
  const trained = async (given, method) => {
    const session = await Session.create({ ...given, method });
    session.run();
    return session.params();
  };
  for (const name of ["soap", "ppd-sg", "auc-margin"]) {
    const { params, paper_settings: paper } = METHODS.find((method) => method.name === name);
    const given = options(name);
    const preset = await trained(given, { name, preset: "paper" });
    assert.deepEqual(preset, await trained(given, { name, settings: paper }), name);
    assert.notDeepEqual(preset, await trained(given, { name }), name);
    const [first] = Object.keys(paper);
    const settings = { [first]: params.find((param) => param.name === first).default };
    assert.deepEqual(await trained(given, { name, preset: "paper", settings }), await trained(given, { name, settings: { ...paper, ...settings } }), name);
  }
  // Of several classes a method has its own, if any, and not those of its namesake.
  const { paper_settings: paper } = CLASS_METHODS.find(({ name }) => name === "ppd-sg");
  const given = several("ppd-sg");
  assert.deepEqual(await trained(given, { name: "ppd-sg", preset: "paper" }), await trained(given, { name: "ppd-sg", settings: paper }));
  assert.throws(() => new Session({ ...options("soap"), method: { name: "soap", preset: "papers" } }), { name: "UndercurveError", message: /^preset papers: expected paper, roc-fairness, / });
});

test("what a default that is no number stands for is among the texts of the methods", () => {
  for (const { name, params } of [...METHODS, ...CLASS_METHODS]) {
    for (const { name: param, default: usual, auto, domain } of params) {
      if (domain.kind === "choice") continue;
      assert.equal(auto !== undefined, usual === "auto", `${name}: ${param}`);
      if (usual === "auto") assert.ok(domain.word === "auto" && /\d/.test(auto), `${name}: ${param} ${auto}`);
    }
  }
});

test("without a method it is cross-entropy, of two classes and of several", async () => {
  for (const { method, ...given } of [options("ce"), several("ce")]) {
    const [named, unnamed] = [await Session.create({ ...given, method }), await Session.create(given)];
    for (const session of [named, unnamed]) session.advance({ steps: 20 });
    assert.deepEqual(unnamed.params(), named.params());
  }
});

test("a saved session goes on as if it had not stopped", () => {
  const whole = new Session(options("soap"));
  whole.advance({ steps: 50 });
  const first = new Session(options("soap"));
  first.advance({ steps: 20 });
  const second = new Session({ ...options("soap"), bytes: first.save() });
  second.advance({ steps: 30 });
  assert.deepEqual(second.params(), whole.params());
});

test("disposed sessions give their memory back", async () => {
  await initFull();
  for (const [{ memory }, given] of [[first.initSync(), options("soap")], [groups.initSync(), several("ppd-sg")]]) {
    const use = () => {
      const session = new Session({ ...given, model: { kind: "mlp", hidden: [32] } });
      session.advance({ steps: 2 });
      session.snapshot({ curve: 65, bins: 10 });
      const bytes = session.save();
      session.dispose();
      assert.throws(() => new Session({ ...given, bytes: bytes.subarray(1) }), /not a saved/);
      assert.throws(() => new Session({ ...given, y: given.y.map(() => 9) }), /label of row 0|no row of class/);
    };
    for (let k = 0; k < 10; k += 1) use();
    const before = memory.buffer.byteLength;
    for (let k = 0; k < 300; k += 1) use();
    assert.equal(memory.buffer.byteLength, before, given.method.name);
  }
});

test("wrong input is an exception with a sentence", () => {
  assert.throws(() => new Session(options("nothing")), /no method/);
  assert.throws(() => new Session({ ...options("soap"), y: new Uint8Array(500) }), /both positives and negatives/);
  assert.throws(() => new Session({ ...options("soap"), X: new Float32Array(3) }), /length/);
  const refused = (change, what) => assert.throws(() => new Session({ ...options("soap"), ...change }), what);
  refused({ dims: 2.5 }, /dims 2\.5/);
  for (const seed of [-1, NaN, 0.5]) refused({ seed }, /seed/);
  for (const steps of [0, -5, Infinity]) refused({ steps }, /steps/);
  refused({ model: { kind: "foo" } }, /model\.kind foo/);
  refused({ model: { kind: "mlp", hidden: [4, 0] } }, /model\.hidden 0/);
  refused({ model: { kind: "mlp", hidden: [4e9, 4e9] } }, /too large for memory|does not fit/);
  refused({ y: new Uint8Array(500).fill(2) }, { name: "UndercurveError", message: /label of row 0 .from 0. is 2: expected 0 or 1 .*, or classes: the number of them$/ });
  refused({ bytes: new Uint8Array(40) }, /not a saved undercurve model/);
  // What nothing reads is refused with the name that was meant.
  refused({ step: 7 }, /^UndercurveError: step: no such option; did you mean steps\?/);
  refused({ optimizer: "adam" }, /^UndercurveError: optimizer: no such option; there are X, y, dims, .*, bytes, start$/);
  refused({ weights: new Float32Array(500) }, /weights of rows: expected none/);
  refused({ model: { kind: "mlp", hiden: [3] } }, /model\.hiden: .* mean hidden\?/);
  refused({ method: { name: "soap", setting: {} } }, /method\.setting: .* mean settings\?/);
  refused({ method: "soup" }, /^UndercurveError: no method "soup"; did you mean soap\?/);
  refused({ method: "deepest" }, /^UndercurveError: no method "deepest"; METHODS of undercurve\/methods lists them/);
  refused({ method: { name: "soap", settings: { Gama: 0.1 } } }, /no parameter "Gama"; did you mean gamma\?/);
});

test("what a session is asked for is checked, too", () => {
  const session = new Session(options("soap"));
  assert.throws(() => session.snapshot({ curves: 9 }), /view\.curves: no such option; did you mean curve\?/);
  for (const view of [{ curve: -1 }, { bins: 2.5 }, { ranks: "3" }]) assert.throws(() => session.snapshot(view), /view\.\w+ \S+: expected a whole number from 0/);
  const surface = { x: [0, 1], y: [0, 1], columns: 3, rows: 2 };
  assert.equal(session.snapshot({ surface }).surface.length, 6);
  for (const change of [{ x: undefined }, { y: [0, NaN] }, { columns: 0 }, { rows: 1.5 }, { rows: 1e9 }]) {
    assert.throws(() => session.snapshot({ surface: { ...surface, ...change } }), /view\.surface .*: expected/);
  }
  assert.throws(() => new Session(several("ce")).snapshot({ surface }), /view\.surface of 4 features: expected two/);
  for (const slice of [{ steps: -1 }, { steps: 2.5 }, { steps: NaN }, { milliseconds: NaN }]) assert.throws(() => session.advance(slice), /expected a (whole )?number from 0/);
  assert.throws(() => session.score("1, 2"), /X 1, 2: expected features/);
  assert.throws(() => new Session({ ...options("soap"), method: {} }), /method\.name undefined/);
  session.dispose();
  session.dispose();
  for (const use of ["advance", "run", "snapshot", "score", "batch", "params", "save"]) assert.throws(() => session[use]({ steps: 1 }), /the session was disposed/, use);
  for (const change of [{ rows: -1 }, { testRows: 1e12 }, { seed: -1 }]) {
    assert.throws(() => synthetic("split", change), /expected a whole number/);
    assert.throws(() => syntheticClasses("pinwheel", change), /expected a whole number/);
  }
  assert.throws(() => synthetic("pinwheel"), /kind pinwheel: expected one of split, /);
});

test("an engine that was stopped refuses what comes after, instead of never answering", async () => {
  const made = [];
  globalThis.Worker = class {
    constructor() {
      made.push(this);
    }
    terminate() {}
    postMessage() {}
  };
  const { Engine, createTrainer } = await import("../js/worker.js");
  const [stopped, broken] = [new Engine(), new Engine()];
  const waiting = createTrainer({ ...options("soap"), engine: stopped });
  stopped.dispose();
  await assert.rejects(waiting, /the engine was disposed/);
  await assert.rejects(stopped.call("params", 1), /the engine was disposed/);
  made[1].onerror({ message: "no such script" });
  await assert.rejects(broken.call("params", 1), /no such script/);
});

test("a finite sum shows its step sizes and resumes, and rows are scaled where that is asked for", () => {
  const rows = synthetic("split", { rows: 500, testRows: 500, positives: 0.2 });
  const method = { name: "ai-sarah" };
  const whole = new Session({ ...rows, method, scale: "unit" });
  while (!whole.done) whole.advance({ steps: 5 });
  const { sum, pass, test: held } = whole.snapshot({ sum: true });
  assert.ok(pass >= 20 && sum.gradNormSq < 1e-6, JSON.stringify(sum));
  assert.ok(sum.alpha > 0 && sum.alpha <= sum.alphaMax && sum.curvature > 1 / 500 && held.auroc > 0.5);
  const part = new Session({ ...rows, method, scale: "unit" });
  part.advance({ steps: 17 });
  const resumed = new Session({ ...rows, bytes: part.save(), scale: "unit" });
  while (!resumed.done) resumed.advance({ milliseconds: 3 });
  assert.deepEqual(resumed.save(), whole.save());
  const unit = rows.X.map((x, k) => x / Math.hypot(rows.X[k & ~1], rows.X[k | 1]));
  const [one, other] = [unit, rows.X].map((X) => {
    const session = new Session({ ...rows, X, method });
    session.advance({ steps: 40 });
    return [...session.params()];
  });
  const mine = new Session({ ...rows, method, scale: "unit" });
  mine.advance({ steps: 40 });
  const apart = (a, b) => Math.max(...a.map((x, k) => Math.abs(x - b[k])));
  assert.ok(apart([...mine.params()], one) < 1e-3 && apart(one, other) > 1e-2);
  assert.equal(new Session({ ...rows, method: { name: "ce" } }).snapshot({ sum: true }).sum, undefined);
  // A row of zeros has no length to be divided by.
  const blank = new Session({ ...rows, X: rows.X.map((x, k) => (k < 2 ? 0 : x)), method, scale: "unit" });
  blank.advance({ steps: 40 });
  assert.ok(blank.params().every(Number.isFinite));
});

test("the curves that are drawn have the areas of the exact metrics", () => {
  const data = synthetic("overlap", { rows: 300, testRows: 700, positives: 0.2, seed: 4 });
  data.X = data.X.map(Math.round); // ties
  data.test.X = data.test.X.map(Math.round);
  const session = new Session({ ...data, method: { name: "soap" }, steps: 40 });
  session.advance({ steps: 40 });
  const { test: metrics, roc, pr, histogram } = session.snapshot({ curve: 20001, bins: 10 });
  const { length, high, low } = new Ordered(session.score(data.test.X), data.test.y).tallies();
  let [area, precision, last] = [0, 0, [0, 0]];
  for (let k = 0; k < length; k += 1) {
    area += ((low[k] - last[1]) * (high[k] + last[0])) / 2;
    precision += ((high[k] - last[0]) * high[k]) / (high[k] + low[k]);
    last = [high[k], low[k]];
  }
  assert.ok(Math.abs(area / (last[0] * last[1]) - metrics.auroc) < 1e-12);
  assert.ok(Math.abs(precision / last[0] - metrics.ap) < 1e-12);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(Math.abs(mean(roc) - metrics.auroc) < 1e-3);
  assert.ok(Math.abs(mean(pr) - metrics.ap) < 1e-3);
  assert.ok(Math.abs(histogram.slice(2).reduce((sum, share) => sum + share, 0) - 2) < 1e-5);
});

test("every entry declares what it exports", async () => {
  const { exports } = JSON.parse(await readFile(new URL("../js/package.json", import.meta.url), "utf8"));
  for (const [entry, { types, default: code }] of Object.entries(exports)) {
    if (!types) continue;
    const text = await readFile(new URL(`../js/${types}`, import.meta.url), "utf8");
    const own = [...text.matchAll(/^export declare (?:class|const|function) (\w+)/gm)].map(([, name]) => name);
    const others = [...text.matchAll(/^export \{ ([\w, ]+) \} from/gm)].flatMap(([, names]) => names.split(", "));
    const made = Object.keys(await import(`../js/${code}`));
    // (What is overloaded is declared more than once.)
    assert.deepEqual([...new Set([...own, ...others])].sort(), made.sort(), entry);
  }
});

test("a model file of the command line scores rows as they come, to the bit", async () => {
  const golden = (name) => readFile(new URL(`../../tests/golden/${name}`, import.meta.url));
  const model = await Model.load(await golden("model.uc"));
  assert.deepEqual(model.about.columns, [{ name: "size", categorical: false }, { name: "colour", categorical: true }]);
  const { positive, negative, threshold, ...about } = model.about;
  assert.deepEqual([positive, negative, about.classes, about.single, about.probabilities, about.method], ["yes", "no", [], true, true, "ce"]);
  const [head, ...lines] = (await golden("model.scores.csv")).toString().trim().split("\n").map((line) => line.split(","));
  assert.deepEqual(head, ["id", "score", "probability", "class"]);
  const rows = await golden("model.rows.csv");
  const { scores, probabilities, labels } = model.predict(rows, { name: "rows.csv" });
  assert.deepEqual([...scores], lines.map((line) => Math.fround(Number(line[1]))));
  assert.deepEqual([...probabilities], lines.map((line) => Math.fround(Number(line[2]))));
  assert.deepEqual(labels, lines.map((line) => line[3]));
  assert.deepEqual(model.predict(rows.toString()).scores, scores);
  const [, ...cells] = rows.toString().trim().split("\n").map((line) => line.split(","));
  cells.forEach(([, size, colour], row) => {
    const one = model.predictOne({ colour: colour || null, size: size === "" ? undefined : Number(size), more: "x" });
    assert.deepEqual(one, { score: scores[row], probability: probabilities[row], label: labels[row] });
    assert.equal(one.label === positive, one.score >= threshold);
  });
  assert.throws(() => model.predict("size\n1\n", { name: "a.csv" }), /^UndercurveError: a.csv:1: there is no column "colour"; the columns are "size"$/);
  assert.throws(() => model.predictOne({ size: "wide", colour: "red" }), /value "wide" in column "size" of numbers/);
  await assert.rejects(Model.load(new Uint8Array(40)), /not a saved undercurve model/);
  model.dispose();
});

test("a model decides as the command line said, to the bit", async () => {
  const golden = (name) => readFile(new URL(`../../tests/golden/${name}`, import.meta.url));
  const model = await Model.load(await golden("decided.uc"));
  assert.deepEqual([model.about.rule, model.about.calibration], ["recall>=0.8", "isotonic"]);
  const [, ...lines] = (await golden("decided.scores.csv")).toString().trim().split("\n").map((line) => line.split(","));
  const rows = await golden("model.rows.csv");
  const found = model.predict(rows);
  assert.deepEqual([...found.scores], lines.map((line) => Math.fround(Number(line[1]))));
  assert.deepEqual([...found.probabilities], lines.map((line) => Math.fround(Number(line[2]))));
  assert.deepEqual(found.labels, lines.map((line) => line[3]));
  const kept = await Model.load(model.save());
  assert.deepEqual(kept.predict(rows), found);
  model.dispose();
  kept.dispose();
});

test("a session begins at the parameters that it is given, and tells the scores of its rows", async () => {
  await initWhole(wasm.undercurve_whole);
  const first = new Session(options("ce"));
  first.advance({ steps: 60 });
  const start = first.params();
  // (SOAP begins with cross-entropy, unless it begins somewhere.)
  const second = new Session({ ...options("soap"), start });
  assert.deepEqual(second.params(), start);
  const { pretraining, test: shown, scores } = second.snapshot({ scores: 500 });
  assert.deepEqual([pretraining, shown.auroc], [0, first.snapshot().test.auroc]);
  assert.deepEqual([...scores], [...second.score(options("ce").test.X)]);
  assert.equal(second.snapshot({ scores: 7 }).scores.length, 7);
  second.advance({ steps: 60 });
  assert.notDeepEqual(second.params(), start);
  assert.throws(() => new Session({ ...options("soap"), start: start.subarray(1) }), /: start: length 2, but 3 is needed$/);
  assert.throws(() => new Session({ ...options("soap"), start: [...start] }), /start .*a Float32Array of parameters/);
  for (const session of [first, second]) session.dispose();
});

test("lines before the names, text of Windows, and labels that are one number: each way out that an error names leads out", async () => {
  const rows = `town;s;label\n${Array.from({ length: 60 }, (_, k) => `${k % 2 ? "Zürich" : "Bern"};${k * k % 17};${k % 3 ? "1.0" : "0"}`).join("\n")}\n`;
  const prepared = (bytes, options, choice = { label: "label", positive: "0" }) => new DataFile(bytes, "t.csv", options).prepare(choice).X;
  const utf8 = (text) => new TextEncoder().encode(text);
  const meant = prepared(utf8(rows));
  assert.deepEqual(prepared(utf8(`A report\n\n${rows}`), { skip: 2 }), meant);
  const windows = Uint8Array.from(rows, (sign) => sign.codePointAt(0));
  assert.throws(() => prepared(windows), /is not UTF-8 \(encoding: "latin1" reads Western European text of Windows\)$/);
  assert.deepEqual(prepared(windows, { encoding: "latin1" }), meant);
  assert.throws(() => prepared(utf8(rows), { encoding: "cp1252" }), /options\.encoding cp1252: expected utf8 or latin1/);
  assert.throws(() => prepared(utf8(rows), { skip: -1 }), /options\.skip -1: expected a number of lines/);
  const twice = utf8(rows.replace(";1.0\n", ";1\n"));
  assert.throws(() => prepared(twice), /are the same number \(texts: \["label"\] keeps them apart\)$/);
  assert.ok(prepared(twice, { texts: ["label"] }).length > 60);
  const stray = utf8(rows.replace(";0;", ";none yet;"));
  assert.throws(() => prepared(stray), /value "none yet" in column "s" of numbers .*; texts: \["s"\] takes it as text, na: \["none yet"\] takes the cell for missing$/);
  assert.ok(prepared(stray, { na: ["none yet"] }, { label: "label", positive: "0", impute: true }).length > 60);
  assert.throws(() => prepared(Uint8Array.from([0x50, 0x4b, 3, 4, 20])), /a zip archive, as Excel's files are: save it as CSV/);
});
