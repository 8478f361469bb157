// One call from rows to a model: the model is the command line's, whatever the rows come in. Needs `cargo demo --build-only`, and target/debug/undercurve.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { Exact, Lanes, Session, UndercurveError, createObjective, load, train } from "../js/index.js";
import { DataFile } from "../js/files.js";

const folder = await mkdtemp(join(tmpdir(), "undercurve-train-"));
after(() => rm(folder, { recursive: true }));
const command = process.env.UNDERCURVE_COMMAND ?? new URL("../../target/debug/undercurve", import.meta.url).pathname;
const skip = !existsSync(command) && `the command line is not built (${command})`;
const run = (...words) => execFileSync(command, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** Numbers, texts with all that a file quotes, times, missing cells. */
const ROWS = Array.from({ length: 240 }, (_, row) => ({
  size: row % 17 === 3 ? null : Math.sin(row * row),
  kind: ["plain", 'with "quotes", and commas', "two\nlines", undefined][row % 4],
  seen: new Date(Date.UTC(2024, 0, 1 + ((row * 37) % 400), row % 24)),
  old: row % 3 === 0,
  outcome: Math.sin(row * row) + (row % 4) / 3 + Math.cos(3 * row) > 0.9 ? "yes" : "no",
}));
const cell = (value) => (value instanceof Date ? value.toISOString() : `"${String(value ?? "").replaceAll('"', '""')}"`);
const CSV = `${Object.keys(ROWS[0]).join()}\n${ROWS.map((row) => Object.values(row).map(cell).join()).join("\n")}\n`;
await writeFile(join(folder, "rows.csv"), CSV);
const scores = (model) => Array.from(model.predict(CSV).scores);

test("without a method it is the model of the command line, to the last bit, and the file goes both ways", { skip }, async () => {
  for (const [name, words, more] of [
    ["linear", [], {}],
    ["network", ["--model", "mlp:5", "--steps", "300"], { model: { kind: "mlp", hidden: [5] }, steps: 300 }],
    ["split", ["--split", "0.7", "--seed", "4"], { split: 0.7, seed: 4 }],
    ["soap", ["--method", "soap", "--set", "gamma=0.5", "--steps", "200"], { method: { name: "soap", settings: { gamma: 0.5 } }, steps: 200 }],
  ]) {
    run("train", "rows.csv", "--label", "outcome", "--out", `${name}.uc`, ...words);
    const theirs = await load(await readFile(join(folder, `${name}.uc`)));
    const ours = await train(CSV, { label: "outcome", ...more });
    assert.deepEqual(scores(ours), scores(theirs), name);
    assert.equal(ours.test !== undefined, name === "split");
    await writeFile(join(folder, "ours.uc"), ours.save());
    assert.equal(run("predict", "ours.uc", "rows.csv"), run("predict", `${name}.uc`, "rows.csv"), name);
    // ONNX is the command line's, too.
    for (const numeric of [false, true]) {
      run("export", "ours.uc", "ours.onnx", ...(numeric ? ["--numeric"] : []));
      assert.deepEqual(Buffer.from(ours.toOnnx({ numeric })), await readFile(join(folder, "ours.onnx")), `${name} ${numeric}`);
    }
  }
});

test("text, bytes, a picked file, objects and arrays are the same rows", async () => {
  const want = await train(CSV, { label: "outcome" });
  const lists = ROWS.map(({ outcome, ...row }) => Object.values(row));
  const label = ROWS.map(({ outcome }) => outcome);
  for (const rows of [new TextEncoder().encode(CSV), new Blob([CSV]), ROWS, ROWS.map((row) => ({ outcome: row.outcome, ...row }))]) {
    assert.deepEqual(scores(await train(rows, { label: "outcome" })), scores(want));
  }
  assert.deepEqual(Array.from(want.predict(ROWS).scores), scores(want));
  assert.deepEqual(Array.from(want.predict(lists).scores), scores(want), "in the order of the columns");
  const own = await train(lists, { label });
  assert.deepEqual(own.about.columns.map(({ name }) => name), ["x1", "x2", "x3", "x4"]);
  assert.deepEqual(Array.from(own.predict(lists).scores), scores(want));
  const beside = await train(ROWS.map(({ outcome, ...row }) => row), { label });
  assert.deepEqual(Array.from(beside.predict(ROWS).scores), scores(want));
  // One column of cells that may be nothing has no blank lines.
  const one = await train(ROWS.map(({ size }) => [size]), { label });
  assert.equal(one.predict([[null], [1], [undefined]]).scores.length, 3);
  const several = await train(ROWS.map((row, at) => ({ ...row, outcome: at % 3 })), { label: "outcome", method: "ce", steps: 50 });
  assert.equal(several.predict(ROWS.slice(0, 2)).scores.length, 6);
});

test("presets and constraints on other rows train as the command line does", { skip }, async () => {
  const drawn = (rows, shift) => {
    const X = Float32Array.from({ length: 2 * rows }, (_, at) => Math.sin(at * at + shift) + (at % 4) / 4);
    const y = Uint8Array.from({ length: rows }, (_, row) => Number(X[2 * row] + shift * X[2 * row + 1] + Math.cos(7 * row) > 1));
    return { X, y, dims: 2, groups: Array.from({ length: rows }, (_, row) => ["north", "south", "west"][row % 3]) };
  };
  const [first, second] = [drawn(160, 0), drawn(240, 0.7)];
  const text = ({ X, y, groups }) => `a,b,label,town\n${[...y].map((label, row) => [X[2 * row], X[2 * row + 1], label, groups[row]].join()).join("\n")}\n`;
  await Promise.all([writeFile(join(folder, "first.csv"), text(first)), writeFile(join(folder, "second.csv"), text(second))]);
  const told = ["--label", "label", "--ignore", "town", "--scale", "none"];
  const theirs = async (name) => Array.from((await load(await readFile(join(folder, `${name}.uc`)))).predict(text(second)).scores);
  const { groups, ...plain } = second;

  run("train", "first.csv", ...told, "--out", "old.uc", "--method", "ce", "--steps", "200");
  const old = await Session.create({ X: first.X, y: first.y, dims: 2, method: "ce", steps: 200 });
  old.run();
  const asked = ["loss(first.csv) <= old", "loss(first.csv) <= old + 0.1"];
  const lines = run("train", "second.csv", ...told, "--start", "old.uc", "--preset", "non-forgetting", ...asked.flatMap((one) => ["--constraint", one]), "--steps", "300", "--json", "--out", "new.uc");
  const files = { "first.csv": { X: first.X, y: first.y } };
  const given = { ...plain, files, start: old.params(), constraints: asked, method: { preset: "non-forgetting" }, steps: 300 };
  const kept = await Session.create(given);
  kept.advance({ steps: 120 });
  const resumed = await Session.create({ ...given, method: undefined, start: undefined, bytes: kept.save() });
  assert.deepEqual(resumed.save(), kept.save());
  await assert.rejects(Session.create({ ...plain, bytes: kept.save() }), /rows of this file are not given/);
  await assert.rejects(Session.create({ ...given, method: undefined, start: undefined, bytes: kept.save(), constraints: ["loss(first.csv) <= 7"] }), { code: 115, argument: "constraints" });
  kept.run();
  resumed.run();
  assert.deepEqual(Array.from(kept.score(second.X)), await theirs("new"));
  // The same by `train`, whose rows come as text, objects or arrays, with the scaling and the split of the command line.
  const hidden = ["--label", "label", "--ignore", "town"];
  const objects = ({ X, y, groups }) => Array.from(y, (label, row) => ({ a: X[2 * row], b: X[2 * row + 1], label, town: groups[row] }));
  const lists = ({ X, y }) => ({ rows: Array.from(y, (_, row) => [X[2 * row], X[2 * row + 1]]), label: Array.from(y) });
  run("train", "first.csv", ...hidden, "--out", "old.uc", "--method", "ce", "--steps", "200", "--model", "mlp:3");
  const begun = await train(text(first), { label: "label", ignore: ["town"], method: "ce", steps: 200, model: { kind: "mlp", hidden: [3] } });
  const keeping = { start: begun, constraints: asked, method: { preset: "non-forgetting" }, steps: 60, split: 0.7, seed: 5 };
  run("train", "second.csv", ...hidden, "--start", "old.uc", "--preset", "non-forgetting", ...asked.flatMap((one) => ["--constraint", one]), "--steps", "60", "--split", "0.7", "--seed", "5", "--out", "new.uc");
  for (const [rows, other] of [[text(second), objects(first)], [objects(second), lists(first)], [new Blob([text(second)]), new TextEncoder().encode(text(first))]]) {
    const made = await train(rows, { ...keeping, files: { "first.csv": other } });
    assert.deepEqual(Array.from(made.predict(text(second)).scores), await theirs("new"));
  }
  for (const [change, argument, says] of [
    [{ files: undefined }, "files", /rows of this file are not given/],
    [{ start: undefined, label: "label" }, "start", /there is no model to start from/],
    [{ start: new Float32Array(3) }, "start", /^start .*: expected a model, of train or load$/],
    [{ ignore: ["a"] }, "ignore", /^ignore .*nothing beside start/],
    [{ label: "town" }, "label", /^label town: expected label, that of start/],
    [{ files: { "first.csv": [{ a: 1, label: 0 }] } }, undefined, /^files\.first\.csv: .*column "b"/],
    [{ files: { "first.csv": [{ a: 1, b: {}, label: 0 }] } }, "files.first.csv", /^files\.first\.csv: row 0 \(from 0\), column "b" an Object/],
    [{ files: 3 }, "files", /^files 3: expected an object of rows by name/],
    [{ files: { "first.csv": { rows: lists(first).rows, labels: [] } } }, "files.first.csv.labels", /did you mean label/],
  ]) {
    await assert.rejects(train(text(second), { ...keeping, files: { "first.csv": text(first) }, ...change }), (error) => {
      assert.ok(error instanceof UndercurveError, error.stack);
      assert.match(error.message, says);
      if (argument !== undefined) assert.equal(error.argument, argument, error.message);
      return true;
    });
  }
  assert.deepEqual(resumed.params(), kept.params());
  const said = (list, also) => list.map(({ target, verdict, conflict, surrogate, dual, train: { more_rows, ...train } }) => ({ target, verdict, conflict, surrogate, dual, train: also(train) }));
  const ended = (lines) => JSON.parse(lines.trim().split("\n").at(-1)).constraints ?? [];
  const { constraints, judged } = kept.snapshot({ judge: ["loss(first.csv) <= 0.001"] });
  assert.deepEqual(said(constraints, (train) => train), said(ended(lines), (train) => train));
  assert.deepEqual([constraints.length, judged[0].verdict, judged[0].train.value], [2, "not met", constraints[0].train.value]);

  for (const [preset, setting, bounds] of [["roc-fairness", "lr", 2], ["roc-fairness-paper", "gamma", 2], ["gdro-cvar", "decay", 0]]) {
    const lines = run("train", "second.csv", "--label", "label", "--scale", "none", "--group", "town", "--group-hidden", "--preset", preset, "--set", `${setting}=0.02`, "--steps", "200", "--json", "--out", "fair.uc");
    const session = await Session.create({ ...plain, groups, method: { preset, settings: { [setting]: 0.02 } }, steps: 200 });
    const { constraints = [] } = session.run();
    assert.deepEqual(Array.from(session.score(second.X)), await theirs("fair"), preset);
    assert.deepEqual(said(constraints, ({ value }) => value), said(ended(lines), ({ value }) => value), preset);
    assert.equal(constraints.length, bounds, preset);
    run("train", "second.csv", "--label", "label", "--group", "town", "--group-hidden", "--preset", preset, "--steps", "40", "--split", "0.6", "--out", "fair.uc");
    const made = { label: "label", groups: "town", ignore: ["town"], method: { preset }, steps: 40, split: 0.6 };
    for (const [rows, change] of [[text(second), {}], [objects(second).map(({ town, ...row }) => row), { groups: second.groups, ignore: [] }]]) {
      assert.deepEqual(Array.from((await train(rows, { ...made, ...change })).predict(text(second)).scores), await theirs("fair"), preset);
    }
  }
});

test("plain cross-entropy on fewer than ten rows of the rarer class a column is warned of", async () => {
  const warning = async (positives, options) => {
    const rows = Array.from({ length: 10 * positives }, (_, row) => ({ a: Math.sin(row * row) + 2 * (row % 10 === 0), b: Math.cos(3 * row * row), y: row % 10 === 0 }));
    return (await train(rows, { label: "y", positive: "true", ...options })).warnings;
  };
  assert.deepEqual(await warning(19, { method: "ce" }), ["fewer than ten rows of the rarer class a column, and a decay that no rows chose; try method ce-exact"]);
  for (const options of [{}, { method: { name: "ce", settings: { decay: 0.001 } } }, { method: "ce", model: { kind: "mlp", hidden: [3] } }]) assert.deepEqual(await warning(19, options), []);
  assert.deepEqual(await warning(20, { method: "ce" }), []);
});

test("what is wrong with rows is said of the row", async () => {
  const refused = async (work, code, row, message) => {
    const error = await Promise.resolve().then(work).then(() => assert.fail(`accepted: ${work}`), (error) => error);
    assert.ok(error instanceof UndercurveError, error.stack);
    assert.match(error.message, message);
    assert.deepEqual([error.code, error.row], [code, row], error.message);
  };
  const model = await train(ROWS, { label: "outcome" });
  const wrong = (at, change) => ROWS.map((row, k) => (k === at ? { ...row, ...change } : row));
  await refused(() => train(wrong(7, { size: {} }), { label: "outcome" }), 201, 7, /^rows: row 7 \(from 0\), column "size" an Object: expected a number, a text/);
  await refused(() => train(wrong(130, { size: "wide" }), { label: "outcome" }), 151, 130, /^rows: row 130 \(from 0\): value "wide" in column "size" of numbers .*texts: \["size"\]/);
  await refused(() => train(wrong(99, { outcome: "maybe" }), { label: "outcome" }), 151, 99, /^rows: row 99 \(from 0\): the third of more than two label values .*\(positive\), or train all of them \(method: "ce"\)$/);
  await refused(() => train(wrong(61, { outcome: null }), { label: "outcome" }), 151, 61, /row 61 /);
  await refused(() => train(ROWS, { label: "outcom" }), 151, undefined, /^rows: there is no column "outcom"/);
  await refused(() => train(ROWS, { lable: "outcome" }), 202, undefined, /did you mean label\?$/);
  await refused(() => train(ROWS, { label: "outcome", split: 2 }), 9, undefined, /^split 2/);
  await refused(() => train(ROWS, { label: [1] }), 1, undefined, /^label of length 1: expected 240/);
  await refused(() => train([], { label: "y" }), 7, undefined, /^rows of length 0/);
  await refused(() => train([{ a: 1 }, 3], { label: "a" }), 201, 1, /^rows\[1\] 3: expected an object/);
  await refused(() => train(3, { label: "a" }), 201, undefined, /^file 3/);
  await refused(() => model.predict(wrong(9, { size: "soon" })), 151, 9, /^rows: row 9 /);
  await refused(() => model.predict([[1, 2]]), 1, 0, /^rows\[0\] of length 2: expected 4/);
  await refused(() => load(new Uint8Array(40)), 111, undefined, /not a saved undercurve model/);
  await assert.rejects(train(ROWS, { label: "outcome", signal: AbortSignal.abort(new Error("enough")) }), { message: "enough" });
  // A number that is none is said by row and column, whatever was done to the columns.
  const X = Array.from({ length: 40 }, (_, at) => at % 7);
  const y = Array.from({ length: 20 }, (_, row) => row % 2);
  for (const scale of ["none", "standard", "unit"]) {
    await refused(() => Session.create({ X: X.with(13, NaN), y, dims: 2, scale }), 2, 6, /^X of row 6, column 1 \(from 0\) NaN: expected a number$/);
    await refused(() => Session.create({ X, y, dims: 2, scale, test: { X: X.with(4, Infinity), y } }), 2, 2, /^test\.X of row 2, column 0 /);
  }
  const sparse = { ptr: Uint32Array.of(0, 0, 2, 3), col: Uint32Array.of(0, 4, 2), val: Float32Array.of(1, NaN, 3) };
  await refused(() => Session.create({ X: sparse, y: [0, 1, 1], dims: 5 }), 2, 1, /^X of row 1, column 4 /);
  const session = await Session.create({ X, y, dims: 2 });
  await refused(() => session.score([1, 2, 3, NaN]), 2, 1, /^X of row 1, column 1 /);
  const soap = await createObjective({ name: "soap", y });
  for (const at of [0, 1, 7]) await refused(() => soap.gradient(new Float32Array(20).fill(1).with(at, NaN)), 2, at, new RegExp(`value ${at} is NaN`));
});

test("what is lost on the way to a model is warned of, as Python does", async () => {
  const rows = Array.from({ length: 200 }, (_, row) => ({ name: `row ${row * 7}`, code: `${9007199254740993n + 2n * BigInt(row % 9)}`, x: Math.sin(row), y: row % 3 === 0 || Math.sin(row) > 0.9 ? 1 : 0 }));
  const { warnings } = await train(rows, { label: "y" });
  assert.deepEqual(warnings, ["columns that tell rows apart are left out: name", "whole numbers beyond 2^53 were rounded (texts: [column] takes them as they are): code"]);
  assert.deepEqual((await train(rows, { label: "y", ignore: ["name"], texts: ["code"] })).warnings, []);
});

test("what Node prints of a handle says what it is", async () => {
  const X = Array.from({ length: 40 }, (_, at) => at % 7);
  const y = Array.from({ length: 20 }, (_, row) => row % 2);
  const session = await Session.create({ X, y, dims: 2, method: "soap", steps: 3 });
  session.run();
  const handles = [await train(ROWS, { label: "outcome" }), session, new DataFile(new TextEncoder().encode("a,b\n1,2\n"), "own.csv"), await Exact.create({ y }), await createObjective({ name: "soap", y }), await Lanes.create({ X, y, dims: 2, lanes: 3 })];
  const says = ["Model ce-exact, linear; reads size, kind, seen, old; positive is yes", "Session soap, 20 rows, step 3", "DataFile own.csv: CSV, 1 rows, 2 columns", "Exact of 20 rows", "Objective soap of 20 rows", "Lanes cpu-simd"];
  assert.deepEqual(handles.map((one) => inspect(one)), says);
  assert.deepEqual(handles.map(String), says);
  for (const one of handles) one.dispose();
  for (const one of handles.slice(0, 5)) assert.match(inspect(one), /disposed/);
});
