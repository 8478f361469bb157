// Models of sessions on arrays of one's own. `UNDERCURVE_BLESS=doors` writes the golden file anew.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { DataFile, Model, initFiles } from "../js/files.js";
import { Session, initFull } from "../js/index.js";
import { createTrainer } from "../js/worker.js";

await Promise.all([initFull(), initFiles()]);

const ROWS = 200;
const columns = ["age", "income", "owner", "same"];
/** Numbers that every platform draws alike. */
const drawn = (seed) => {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
};
const random = drawn(7);
const y = Uint8Array.from({ length: ROWS }, (_, row) => Number(row % 4 === 0));
const X = new Float32Array(ROWS * 4);
y.forEach((label, row) => X.set([20 + 60 * random() + 5 * label, 1e5 * random() * (1 + label), Number(random() < 0.5), 3], 4 * row));
const text = (rows) => `${columns.join()}\n${Array.from({ length: rows }, (_, row) => Array.from(X.subarray(4 * row, 4 * row + 4)).join()).join("\n")}\n`;
const golden = (name) => new URL(`../../tests/golden/doors/${name}`, import.meta.url);

test("a model of dense arrays scores a table as its session scores the arrays", async () => {
  for (const scale of ["standard", "unit", "none"]) {
    for (const method of ["soap", "ap-exact", "ce"]) {
      const session = new Session({ X, y, dims: 4, scale, method, steps: 20 });
      session.run();
      const model = await Model.of({ columns }, session);
      const found = model.predict(text(ROWS));
      assert.deepEqual(found.scores, session.score(X), `${scale} ${method}`);
      assert.deepEqual([model.about.positive, model.about.negative, model.about.probabilities], ["1", "0", method === "ce"]);
      assert.deepEqual(model.about.columns.map(({ name }) => name), columns);
      assert.equal(model.predictOne({ same: 3, owner: X[2], income: X[1], age: X[0] }).score, found.scores[0]);
      const again = await Model.load(model.save());
      assert.deepEqual(again.predict(text(ROWS)).scores, found.scores);
      for (const one of [session, model, again]) one.dispose();
    }
  }
});

test("the model file of each language is read here, and that of here is the one that the others read", async () => {
  const rows = await readFile(golden("rows.csv"), "utf8");
  const cells = rows.trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
  const session = new Session({ X: cells.flatMap((row) => row.slice(0, 2)), y: cells.map((row) => row[2]), dims: 2, scale: "standard", method: "ce", steps: 30 });
  session.run();
  const model = await Model.of({ columns: ["x1", "x2"] }, session);
  if (process.env.UNDERCURVE_BLESS === "doors") await writeFile(golden("npm.uc"), model.save());
  assert.deepEqual(Buffer.from(model.save()), await readFile(golden("npm.uc")));
  const [names, ...scores] = (await readFile(golden("scores.csv"), "utf8")).trim().split("\n").map((line) => line.split(","));
  for (const [k, name] of names.entries()) {
    const found = (await Model.load(await readFile(golden(`${name}.uc`)))).predict(rows);
    assert.deepEqual(found.scores, Float32Array.from(scores, (line) => Number(line[k])), name);
  }
});

test("a session in a worker, of sparse rows, of several classes, and of a file make models, too", async () => {
  const trainer = await createTrainer({ X, y, dims: 4, scale: "standard", method: "ce", steps: 20 });
  await trainer.advance({ steps: 20 });
  const apart = await Model.of({ columns, label: "bought", classes: ["no", "yes"] }, trainer);
  assert.deepEqual(apart.predict(text(ROWS)).scores, await trainer.score(X));
  assert.deepEqual([apart.about.positive, apart.about.negative], ["yes", "no"]);
  await trainer.dispose();

  const ptr = Uint32Array.from({ length: ROWS + 1 }, (_, row) => 2 * row);
  const col = Uint32Array.from({ length: 2 * ROWS }, (_, at) => (at % 2 === 0 ? (at / 2) % 3 : 3 + ((at >> 1) % 2)));
  const val = Float32Array.from(col, (_, at) => 1 + random() + y[at >> 1]);
  const lines = Array.from(y, (label, row) => `${label} ${[0, 1].map((k) => `${col[2 * row + k] + 1}:${val[2 * row + k]}`).join(" ")}`).join("\n");
  for (const scale of ["unit", "none"]) {
    const session = new Session({ X: { ptr, col, val }, y, dims: 5, scale, method: "soap", steps: 20 });
    session.run();
    const model = await Model.of({}, session);
    assert.deepEqual(model.predict(lines).scores, session.score({ ptr, col, val }));
    await assert.rejects(Model.of({ columns }, session), /^UndercurveError: rows\.columns .*: expected none: models of sparse rows read LIBSVM files/);
  }

  const three = Uint8Array.from(y, (_, row) => row % 3);
  const session = new Session({ X, y: three, dims: 4, classes: 3, scale: "standard", method: "ce", steps: 20 });
  session.run();
  const model = await Model.of({ columns, classes: ["low", "mid", "high"] }, session);
  assert.deepEqual(model.predict(text(ROWS)).scores, session.score(X));
  assert.deepEqual(model.about.classes, ["low", "mid", "high"]);
  assert.equal((await Model.of({ columns }, session)).about.classes[2], "2");

  const rows = new DataFile(new TextEncoder().encode(`a,b\n${Array.from(y, (label) => `${random()},${label}`).join("\n")}\n`), "a.csv").prepare({ label: "b", positive: "1" });
  const own = new Session({ ...rows, method: "ce", steps: 20 });
  assert.deepEqual((await Model.of(rows.preparation, own)).save(), (await Model.of(rows.preparation, own.save())).save());
});

test("what makes no model is told why", async () => {
  const session = new Session({ X, y, dims: 4, method: "ce", steps: 5 });
  const bytes = session.save();
  await assert.rejects(Model.load(bytes), /^UndercurveError: a saved run without the preparation of its rows: save its model /);
  await assert.rejects(Model.of({ columns }, bytes), /^UndercurveError: session a Uint8Array: expected the session itself/);
  await assert.rejects(Model.of(undefined, session), /^UndercurveError: rows undefined: expected the preparation/);
  await assert.rejects(Model.of({ columns, lable: "y" }, session), /no such option; did you mean label\?$/);
  for (const [wrong, message] of [
    [{}, /^UndercurveError: rows\.columns undefined: expected 4 different names/],
    [{ columns: columns.slice(1) }, /4 different names/],
    [{ columns: ["a", "a", "b", "c"] }, /4 different names/],
    [{ columns, label: "age" }, /^UndercurveError: rows\.label age: expected the name of the label column, which is none of columns$/],
    [{ columns, classes: ["yes"] }, /^UndercurveError: rows\.classes yes: expected two different names/],
  ]) await assert.rejects(Model.of(wrong, session), message);
});
