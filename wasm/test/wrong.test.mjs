// Wrong inputs: each is refused with a number, an argument and a sentence, the same from a worker. Needs `cargo demo --build-only`.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { entry } from "./packed.mjs";

const { DataFile, Model, initFiles } = await entry("undercurve/files");
const { Exact, Lanes, NoGpu, Session, UndercurveError, createObjective, flipLabels, init, initFull, initObjective, synthetic } = await entry("undercurve");
const { Engine, createExact, createTrainer } = await entry("undercurve/worker");

await Promise.all([initFull(), initObjective(), initFiles()]);
const engine = new Engine();
after(() => engine.dispose());

const rows = synthetic("split", { rows: 60, testRows: 40, positives: 0.2 });
const given = (change) => ({ ...rows, method: "soap", steps: 20, ...change });
const soap = (settings) => ({ method: { name: "soap", settings } });
const y = rows.y;
const saved = new Session(given()).save();
const cut = saved.slice(0, 60);
const without = (name) => ({ [name]: undefined });

/** What is asked of a session, in a worker, too: change, code, argument, what the sentence says. */
const SESSIONS = [
  [without("X"), 201, "X", /^X undefined: expected the features/],
  [without("y"), 201, "y", /^y undefined: expected the labels/],
  [without("dims"), 201, "dims", /^dims undefined: expected a whole number of features from 1$/],
  [{ dims: 2.5 }, 201, "dims", /^dims 2\.5/],
  [{ dims: "2" }, 201, "dims", /^dims 2: expected a whole number/],
  [{ dims: 7 }, 1, "X", /^X of length 120: expected a multiple of dims, which is 7$/],
  [{ dims: 3 }, 1, "y", /^y of length 60: expected a label for each of 40 rows: X has length 120, dims is 3$/],
  [{ X: null }, 201, "X", /^X null/],
  [{ X: "1,2" }, 201, "X", /^X 1,2: expected features, row after row/],
  [{ X: [[1, 2], [3, 4]] }, 201, "X", /^X: entry 0 is 1,2: expected one array, row after row: flatten it$/],
  [{ X: ["1", "2"] }, 201, "X", /^X: entry 0 is 1: expected a number$/],
  [{ X: { ptr: new Uint32Array(2) } }, 201, "X.col", /^X\.col undefined: expected a Uint32Array/],
  [{ X: rows.X.map((x, at) => (at === 5 ? NaN : x)) }, 2, "X", /^X of row 2, column 1 \(from 0\) NaN: expected a number$/, 2],
  [{ X: new Float64Array(120).fill(1e300) }, 2, "X", /^X of row 0, column 0 \(from 0\) Infinity/, 0],
  [{ y: "01" }, 201, "y", /^y 01: expected an array of labels/],
  [{ y: new Uint8Array(0) }, 7, "y", /^y of length 0/],
  [{ y: y.subarray(1) }, 1, "y", /^y of length 59: expected a label for each of 60 rows/],
  [{ y: new Uint8Array(60) }, 6, "y", /^y: no row is positive/],
  [{ y: new Uint8Array(60).fill(1) }, 6, "y", /^y: no row is negative/],
  [{ y: y.map((label) => 2 * label) }, 3, "y", /is 2: expected 0 or 1 .* or classes: the number of them$/],
  [{ y: Array.from(y, String) }, 3, "y", /^y: the label of row 0 \(from 0\) is "[01]": expected 0 or 1/],
  [{ y: Float32Array.from(y, (label) => label / 2) }, 3, "y", /is 0\.5: expected 0 or 1/],
  [{ y: Array.from(y, (label) => (label ? 1 : NaN)) }, 3, "y", /is NaN: expected/],
  [{ y: Array.from(y, (label, row) => (row === 9 ? -1 : label)) }, 3, "y", /label of row 9 \(from 0\) is -1/],
  [{ y: BigInt64Array.from(y, BigInt) }, 201, "y", /^y a BigInt64Array: expected an array of labels/],
  [{ step: 7 }, 202, "step", /^step: no such option; did you mean steps\?$/],
  [{ Seed: 7 }, 202, "Seed", /did you mean seed\?$/],
  [{ optimizer: "adam" }, 202, "optimizer", /^optimizer: no such option; there are X, y/],
  [{ weights: new Float32Array(60) }, 202, "weights", /^weights of rows: expected none: rows have no weights here/],
  [{ steps: 0 }, 201, "steps", /^steps 0/],
  [{ steps: Infinity }, 201, "steps", /^steps Infinity/],
  [{ seed: -1 }, 201, "seed", /^seed -1/],
  [{ seed: "a" }, 201, "seed", /^seed a/],
  [{ scale: "unity" }, 201, "scale", /did you mean unit\?$/],
  [{ test: 3 }, 201, "test", /^test 3: expected an object$/],
  [{ test: { X: rows.X } }, 201, "test.y", /^test\.y undefined: expected the labels/],
  [{ test: { X: rows.X, y: y.map(() => 0) } }, 6, "test.y", /^test\.y: no row is positive/],
  [{ test: { X: rows.X.subarray(2), y } }, 1, "test.y", /^test\.y of length 60: expected a label for each of 59 rows/],
  [{ test: { X: rows.X, Y: y } }, 202, "test.Y", /^test\.Y: no such option; did you mean y\?$/],
  [{ model: "mlp" }, 201, "model", /^model mlp: expected an object$/],
  [{ model: null }, 201, "model", /^model null/],
  [{ model: { kind: "MLP" } }, 201, "model.kind", /^model\.kind MLP: expected linear, mlp, mlp-tanh; did you mean mlp\?$/],
  [{ model: { kind: "mlp", hidden: 4 } }, 201, "model.hidden", /^model\.hidden 4: expected an array of widths/],
  [{ model: { kind: "mlp", hidden: [4, 0] } }, 201, "model.hidden", /whole numbers from 1$/],
  [{ model: { kind: "mlp", init: "zero" } }, 201, "model.init", /^model\.init zero: expected auto, linear, random$/],
  [{ method: 7 }, 201, "method", /^method 7: expected an object$/],
  [{ method: null }, 201, "method", /^method null/],
  [{ method: {} }, 201, "method.name", /^method\.name undefined/],
  [{ method: "soup" }, 121, "method.name", /^no method "soup"; did you mean soap\?$/],
  [{ method: "SOAP" }, 121, "method.name", /^no method "SOAP"; did you mean soap\?$/],
  [{ method: "auc" }, 121, "method.name", /^no method "auc"; for that metric there are auc-exact, auc-pairwise$/],
  [{ method: "AUPRC" }, 121, "method.name", /^no method "AUPRC"; for that metric there are ap-exact, soap$/],
  [{ method: "p-auc" }, 121, "method.name", /^no method "p-auc"; for that metric there are pauc-exact, agd-sbcd$/],
  [{ method: "deepest" }, 121, "method.name", /^no method "deepest"; METHODS of undercurve\/methods lists them$/],
  [{ method: { name: "soap", setting: {} } }, 202, "method.setting", /did you mean settings\?$/],
  [{ method: { name: "soap", settings: 3 } }, 201, "method.settings", /an object of settings/],
  [soap({ gama: 1 }), 121, "method.settings", /no parameter "gama"; did you mean gamma\?$/],
  [soap({ gamma: 9 }), 121, undefined, /gamma/],
  [soap({ gamma: [1] }), 201, "method.settings.gamma", /a number or a word$/],
  [soap({ surrogate: "cubic" }), 121, undefined, /surrogate/],
  [{ method: { name: "soap", fpr: [0.5, 0.1] } }, 9, "method.fpr", /^method\.fpr 0\.5,0\.1/],
  [{ method: { name: "soap", preset: 7 } }, 121, "method.preset", /^preset 7: expected paper, roc-fairness/],
  [{ method: { preset: null } }, 201, "method.preset", /^method\.preset null: expected the name of a preset$/],
  [{ start: new Float32Array(5) }, 1, "start", /^start: length 5, but \d+ is needed$/],
  [{ method: { name: "soap", preset: "papers" } }, 121, "method.preset", /^preset papers: expected paper, roc-fairness, /],
  [{ method: { name: "soap", preset: "roc-fairness" } }, 121, "method.preset", /is of the method lagrange$/],
  [{ method: { preset: "non-forgetting" } }, 121, "method.preset", /as in constraints: \["loss\(FILE\) <= old"\]$/],
  [{ method: { preset: "roc-fairness" } }, 201, "groups", /^method roc-fairness is of groups/],
  [{ method: "sonex", constraints: ["loss(first) <= 1"] }, 121, "files", /the rows of this file are not given$/],
  [{ method: "sonex", constraints: ["loss <= 1"], files: { first: { X: rows.X, y } } }, 121, "files", /^loss\(first\): no constraint names these rows$/],
  [{ method: "sonex", constraints: ["loss(first) <= old"], files: { first: { X: rows.X, y } } }, 121, "start", /there is no model to start from, which old is of$/],
  [{ files: [rows] }, 201, "files", /^files .*: expected an object$/],
  [{ files: { first: { X: rows.X } } }, 201, "files.first.y", /^files\.first\.y undefined/],
  [{ files: { first: { X: rows.X, y } } }, 121, "files", /^loss\(first\): no constraint names these rows$/],
  [{ classes: 2 }, 201, "classes", /two need no classes$/],
  [{ classes: 3, method: "ce" }, 6, "y", /^y: no row of class 2, and classes is 3$/],
  [{ constraints: "gap(fpr) <= 1" }, 201, "constraints", /an array of texts$/],
  [{ method: "sonex" }, 201, "groups", /is of groups: give the group of each row as groups$/],
  [{ groups: new Uint32Array(3), test: undefined }, 201, "groups", /^groups of length 3: expected 60/],
  [{ groupNames: ["a"] }, 201, "groupNames", /none without groups$/],
  [{ bytes: [1, 2] }, 201, "bytes", /a Uint8Array that save gave$/],
  [{ bytes: new Uint8Array(9) }, 111, "bytes", /not a saved undercurve model/],
  [{ bytes: cut }, 113, "bytes", /cut short or damaged/],
];

const SLICES = [
  [undefined, 201, "slice", /^slice undefined: expected an object with steps or milliseconds$/],
  [5, 201, "slice", /^slice 5/],
  [{}, 201, "slice", /^slice: expected steps or milliseconds$/],
  [{ step: 5 }, 202, "slice.step", /did you mean steps\?$/],
  [{ steps: -1 }, 201, "steps", /^steps -1/],
  [{ milliseconds: NaN }, 201, "milliseconds", /^milliseconds NaN/],
  [{ steps: 5, onProgress: 3 }, 201, "onProgress", /^onProgress 3: expected a function$/],
  [{ steps: 5, signal: "stop" }, 201, "signal", /^signal stop: expected an AbortSignal$/],
];

const scores = new Float32Array(60);
const EXACT = [
  [{ y: undefined }, 201, "y", /^y undefined/],
  [{ y: [0, 3] }, 3, "y", /label of row 1 \(from 0\) is 3/],
  [{ y: [0, 0] }, 6, "y", /no row is positive/],
  [{ weights: scores.subarray(1) }, 1, "weights", /^weights of length 59: expected 60, one for each label$/],
  [{ weights: scores.map((_, row) => (row === 7 ? -1 : 1)) }, 4, "weights", /^weights of row 7 \(from 0\) -1: expected a number of 0 or more$/, 7],
  [{ weights: Float64Array.from(y) }, 6, "weights", /^weights: expected some above 0 of positives and of negatives$/],
  [{ weights: "1" }, 201, "weights", /^weights 1: expected an array of numbers/],
  [{ weights: new Float32Array(60).fill(1), backend: "gpu" }, 205, "backend", /the kernels take no weights$/],
  [{ backend: "GPU" }, 201, "backend", /did you mean gpu\?$/],
  [{ Backend: "cpu" }, 202, "Backend", /did you mean backend\?$/],
  [{ backend: "gpu" }, 205, "backend", /^backend gpu: there is no WebGPU here$/],
];
const SUMS = [
  [(exact) => exact.ap(), 201, "scores", /^scores undefined: expected an array of 60 numbers/],
  [(exact) => exact.ap(scores.subarray(1)), 1, "scores", /^scores of length 59: expected 60/],
  [(exact) => exact.ap(Array(60).fill("1")), 201, "scores", /^scores: entry 0 is 1: expected a number$/],
  [(exact) => exact.auc(scores.map((_, row) => (row === 8 ? NaN : 0))), 2, "scores", /NaN or infinite/],
  [(exact) => exact.auc(scores, { loss: "Hinge" }), 201, "loss", /did you mean hinge\?$/],
  [(exact) => exact.auc(scores, { los: "hinge" }), 202, "of.los", /did you mean loss\?$/],
  [(exact) => exact.auc(scores, { param: -1 }), 9, "param", /^param -1/],
  [(exact) => exact.pauc(scores), 201, "fpr", /^fpr undefined: expected a range/],
  [(exact) => exact.pauc(scores, [0.2, 0.1]), 9, "fpr", /^fpr 0\.2,0\.1/],
  [(exact) => exact.pauc(scores, [0, 0.1], { loss: "square" }), 11, undefined, /monotone/],
];

const objective = (change) => createObjective({ name: "soap", y, ...change });
const made = await objective();
const lanes = await Lanes.create({ ...given(), lanes: 2, backend: "cpu" });
const file = new DataFile(new TextEncoder().encode("a,label\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n"), "some.csv");
/** The others, on this thread alone. */
const OTHERS = [
  [() => new Exact({ y }), 204, undefined, /^new Exact: expected await Exact\.create\(\{ y \}\)$/],
  [() => objective({ settings: { surrogate: "hinge2" } }), 201, "settings.surrogate", /^settings\.surrogate hinge2: expected squared-hinge, .*ramp; did you mean hinge\?$/],
  [() => objective({ name: "ap" }), 121, "name", /^no method "ap"; for that metric there are ap-exact, soap$/],
  [() => objective({ y: ["0", "1"] }), 3, "y", /^y: the label of row 0 \(from 0\) is "0": expected 0 or 1/],
  [() => createObjective(), 201, "options", /^options undefined: expected an object with name and y$/],
  [() => objective({ name: undefined }), 201, "name", /^name undefined/],
  [() => objective({ name: "soapp" }), 121, "name", /did you mean soap\?$/],
  [() => objective({ name: "svrg" }), 121, "name", /is no loss of scores/],
  [() => objective({ name: "sonex" }), 121, "name", /is of groups/],
  [() => objective({ name: "dca" }), 121, "name", /an algorithm of its own/],
  [() => objective({ y: [0, 0] }), 6, "y", /no row is positive/],
  [() => objective({ y: [0, 1, 2], classes: 3 }), 121, "name", /is of two classes; of several classes are ce/],
  [() => objective({ settings: { gamma: 7 } }), 102, "settings", /^settings\.gamma 7: is outside its range$/],
  [() => objective({ settings: { gama: 1 } }), 101, "settings", /did you mean gamma\?$/],
  [() => objective({ settings: { lr: 1 } }), 202, "settings", /^settings\.lr: nothing here reads it/],
  [() => objective({ settings: { steps: 9 } }), 202, "settings", /^settings\.steps: nothing here reads it/],
  [() => objective({ sampling: "Uniform" }), 201, "sampling", /did you mean uniform\?$/],
  [() => objective({ fpr: [1, 0] }), 9, "fpr", /^fpr 1,0/],
  [() => objective({ auxRate: -1 }), 201, "auxRate", /^auxRate -1/],
  [() => objective({ groups: [0] }), 202, "groups", /^groups of rows: expected none/],
  [() => objective({ setings: {} }), 202, "setings", /did you mean settings\?$/],
  [() => made.gradient(), 201, "scores", /^scores undefined/],
  [() => made.gradient([1, 2]), 1, "scores", /length 2, but 60 is needed/],
  [() => made.gradient([1, 2], [0, 60]), 5, "rows", /^rows: entry 1 is 60/],
  [() => made.gradient([1, 2], Uint32Array.of(0, 60)), 5, "rows", /entry 1 does not fit a length of 60/],
  [() => made.gradient([1, NaN], [0, 1]), 2, "scores", /value 1 is NaN or infinite/],
  [() => made.gradient([1, "2"], [0, 1]), 201, "scores", /^scores: entry 1 is 2: expected a number$/],
  [() => made.value([1], [0.5]), 5, "rows", /^rows: entry 0 is 0\.5/],
  [() => made.commit(), 201, "commit", /no gradient/],
  [() => made.load("abc"), 201, "bytes", /^bytes abc/],
  [() => (made.aux = [1]), 1, "aux", /length 1, but 0 is needed/],
  [() => new DataFile("a,b", "some.csv"), 201, "bytes", /^bytes a,b: expected a Uint8Array/],
  [() => new DataFile(new TextEncoder().encode("a,b\n1\n"), "some.csv"), 151, undefined, /^some\.csv:2/, 2],
  [() => DataFile.open(3), 201, "file", /^file 3: expected a Uint8Array, a Blob/],
  [() => file.prepare(), 201, "choice", /^choice undefined: expected an object with label$/],
  [() => file.prepare({ label: "label", positive: 1 }), 201, "positive", /^positive 1/],
  [() => file.prepare({ label: "lable", positive: "1" }), 151, undefined, /no column "lable"/],
  [() => file.prepare({ label: "label", positive: "1", shares: 0.5 }), 202, "choice.shares", /did you mean share\?$/],
  [() => file.prepare({ label: "label", positive: "1", share: 2 }), 9, "share", /^share 2/],
  [() => Model.load([1]), 201, "file", /^file 1: expected a Uint8Array, a Blob/],
  [() => Model.load(new Uint8Array(40)), 111, "bytes", /not a saved undercurve model/],
  [() => Lanes.create(), 201, "options", /^options undefined/],
  [() => Lanes.create(given({ lanes: 0 })), 201, "lanes", /^lanes 0/],
  [() => lanes.advance({ steps: 1 }, { curves: 5 }), 202, "view.curves", /did you mean curve\?$/],
  [() => lanes.advance({ step: 1 }), 202, "slice.step", /did you mean steps\?$/],
  [() => lanes.run({ evry: 1 }).next(), 202, "run.evry", /did you mean every\?$/],
  [() => lanes.run({ steps: -1 }).next(), 201, "run.steps", /^run\.steps -1/],
  [() => lanes.load(2), 201, "lane", /^lane 2/],
  [() => engine.call("opened", 3), 201, "call", /^call opened: expected synthetic, .*; did you mean open\?$/],
  [() => engine.call("constructor"), 201, "call", /^call constructor: expected synthetic/],
  [() => engine.call("prepare", 99, {}), 203, "file", /^file 99: is not open here$/],
  [() => engine.call("synthetic", "splits"), 201, "kind", /^kind splits/],
  [() => synthetic("splits"), 201, "kind", /^kind splits: expected one of split/],
  [() => synthetic("split", { row: 9 }), 202, "row", /did you mean rows\?$/],
  [() => flipLabels(y, 2), 201, "share", /^share 2/],
  [() => new Session(), 201, "options", /^options undefined: expected an object with X, y and dims$/],
  [() => new Session(given()).score("a"), 201, "X", /^X a/],
  [() => new Session(given()).snapshot({ curves: 3 }), 202, "view.curves", /did you mean curve\?$/],
  [() => new Session(given()).snapshot(3), 201, "view", /^view 3/],
  [() => new Session(given()).snapshot({ winners: 3 }), 201, "view.winners", /none of two classes$/],
  [() => new Engine({ wasm: { groop: 3 } }), 202, "wasm.groop", /did you mean groups\?$/],
  [() => new Engine({ worker: 3 }), 201, "worker", /^worker 3/],
  [() => createTrainer(), 201, "options", /^options undefined/],
  [() => createExact(), 201, "options", /^options undefined/],
  [() => createTrainer({ ...given(), engine: 3 }), 201, "engine", /^engine 3: expected an Engine$/],
  [() => createTrainer({ ...given(), engine, step: () => 3 }), 201, undefined, /could not be cloned/],
];

async function refused(work) {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return assert.fail(`accepted: ${work}`);
}

const about = ({ name, code, kind, argument, row, column, message }) => ({ name, code, kind, argument, row, column, message });

/** Code, argument and message of each; printed in the long tier. */
const table = [];

function sound(error, [what, code, argument, says, row], where) {
  const called = `${typeof what === "function" ? what : inspect(what, { maxArrayLength: 3 })}, ${where}: ${error?.stack}`;
  assert.ok(error instanceof UndercurveError, called);
  assert.deepEqual([error.code, error.argument], [code, argument], called);
  assert.match(error.message, says, called);
  if (row !== undefined) assert.equal(error.row, row, called);
  assert.ok(!error.message.includes("\n") && !/undefined is not|Cannot|of null|\[object/.test(error.message), called);
  assert.notEqual(error.kind, "Unknown", called);
  if (where === "here") table.push(`| ${error.code} ${error.kind} | ${error.argument ?? ""} | ${error.message} |`);
}

test("wrong inputs are refused with number, argument and sentence, the same from a worker", async (t) => {
  const session = new Session(given());
  const trainer = await createTrainer({ ...given(), engine });
  const exact = await Exact.create({ y });
  const far = await createExact({ y, engine });
  let both = 0;
  const pair = async (row, here, there) => {
    const [near, away] = [await refused(here), await refused(there)];
    sound(near, row, "here");
    sound(away, row, "in a worker");
    assert.deepEqual(about(away), about(near));
    both += 1;
  };
  for (const row of SESSIONS) await pair(row, () => Session.create(given(row[0])), () => createTrainer({ ...given(row[0]), engine }));
  for (const row of SLICES) await pair(row, () => session.advance(row[0]), () => trainer.advance(row[0]));
  for (const row of EXACT) await pair(row, () => Exact.create({ y, ...row[0] }), () => createExact({ y, ...row[0], engine }));
  for (const row of SUMS) {
    await pair(row, () => row[0](exact), () => row[0](far));
    sound(await refused(() => row[0](exact.sync)), row, "at once");
  }
  for (const row of OTHERS) sound(await refused(row[0]), row, "here");
  assert.ok((await refused(() => createExact({ y, backend: "gpu", engine }))) instanceof NoGpu);
  t.diagnostic(`${both + OTHERS.length} wrong inputs, ${both} of them in a worker, too; 0 accepted`);
  assert.ok(both + OTHERS.length >= 80);
  if (process.env.UNDERCURVE_LONG) for (const row of table) t.diagnostic(row);
  for (const one of [session, trainer, exact, far]) one.dispose();
  for (const one of [() => session.advance({ steps: 1 }), () => exact.sync.ap(scores), () => exact.ap(scores)]) assert.equal((await refused(one)).code, 203);
});

test("labels and features of other types are copied, and give the same bits", async () => {
  const bits = async (change) => {
    const session = await Session.create(given({ test: undefined, ...change }));
    session.advance({ steps: 20 });
    return session.params();
  };
  const want = await bits({});
  const signed = Array.from(y, (label) => 2 * label - 1);
  for (const labels of [[...y], Array.from(y, Boolean), signed, Float64Array.from(y), Int8Array.from(signed), Int32Array.from(y)]) assert.deepEqual(await bits({ y: labels }), want);
  for (const X of [[...rows.X], Float64Array.from(rows.X)]) assert.deepEqual(await bits({ X }), want);
  const scored = Float32Array.from(y, (_, row) => Math.sin(row));
  const value = (labels) => Exact.create({ y: labels }).then((exact) => exact.sync.ap(scored).value);
  assert.equal(await value(signed), await value(y));
});

test("a signal stops what it is given to, with its reason", async () => {
  const late = AbortSignal.abort(new Error("enough"));
  for (const work of [
    () => Session.create(given({ signal: late })), () => createTrainer({ ...given(), signal: late }), () => Exact.create({ y, signal: late }), () => createExact({ y, signal: late }),
    () => new Session(given()).run({}, { signal: late }), () => new Session(given()).advance({ steps: 3, signal: late }), () => DataFile.open(new Blob(["a"]), { signal: late }),
  ]) assert.equal((await refused(work)).message, "enough", `${work}`);
  // In the middle of a run, here and in a worker; it can go on afterwards.
  const many = synthetic("split", { rows: 4000, testRows: 100 });
  const long = { ...many, model: { kind: "mlp", hidden: [64] }, steps: 200_000 };
  for (const make of [() => Session.create(long), () => createTrainer({ ...long, engine }), () => Lanes.create({ ...long, lanes: 2 }), () => createTrainer({ ...long, lanes: 2, engine })]) {
    const one = await make();
    const stop = new AbortController();
    const seen = [];
    const error = await refused(() => one.advance({ steps: 200_000, signal: stop.signal, onProgress: (at) => seen.push(at) > 1 && stop.abort(new Error("stopped")) }));
    assert.deepEqual([error.message, seen.length, seen[1].done], ["stopped", 2, false]);
    assert.ok(seen[1].step > seen[0].step && seen[1].step < 100_000, JSON.stringify(seen));
    const shot = await one.advance({ steps: 1, onProgress: () => {} });
    assert.ok(typeof shot === "number" ? shot === 1 : shot.step >= seen[1].step + 1);
    if (one.run && !(one instanceof Session)) assert.equal((await refused(() => one.run({ every: 1, signal: late }).next())).message, "enough");
    one.dispose();
  }
  // A worker of its own is stopped when creation is.
  const stop = new AbortController();
  const making = createTrainer({ ...given(), signal: stop.signal });
  stop.abort(new Error("no more"));
  assert.equal((await refused(() => making)).message, "no more");
  // A file, piece by piece.
  const text = `a,label\n${"1,0\n2,1\n".repeat(20_000)}`;
  const pieces = [];
  const read = await DataFile.open(new File([text], "big.csv"), { onProgress: (at) => pieces.push(at) });
  assert.deepEqual([read.describe().rows, read.describe().name, pieces.at(-1)], [40_000, "big.csv", { bytes: text.length, of: text.length }]);
  read.dispose();
});

test("what holds memory is disposed at the end of a block", { skip: !Symbol.dispose && "this Node has no Symbol.dispose" }, async () => {
  const exact = await Exact.create({ y });
  const held = [new Session(given()), exact, await objective(), new DataFile(new TextEncoder().encode("a\n1\n"), "a.csv")];
  for (const one of held) one[Symbol.dispose]();
  for (const work of [() => held[0].params(), () => exact.sync.ap(scores), () => held[2].save(), () => held[3].describe()]) assert.equal((await refused(work)).code, 203);
  const trainer = await createTrainer(given());
  await trainer[Symbol.asyncDispose]();
  assert.equal((await refused(() => trainer.params())).code, 203);
});
