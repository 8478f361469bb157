// Nothing of the caller's is changed: every argument of every function is the same afterwards. Needs `cargo demo --build-only`.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { entry } from "./packed.mjs";

const index = await entry("undercurve");
const files = await entry("undercurve/files");
const worker = await entry("undercurve/worker");
const { Exact, Lanes, Objective, Session, compare, createObjective, decide, flipLabels, initFull, initObjective, initPairs, load, metrics, synthetic, syntheticClasses, syntheticGroups, train } = index;
const { DataFile, Model, initFiles } = files;
const { Engine, WorkerTrainer, createExact, createTrainer } = worker;
await Promise.all([initFull(), initObjective(), initPairs(), initFiles()]);

const engine = new Engine();
after(() => engine.dispose());
const drawn = synthetic("split", { rows: 80, testRows: 60, positives: 0.3 });
const several = syntheticClasses("pinwheel", { rows: 80, testRows: 60 });
const grouped = syntheticGroups("towns", { rows: 200, testRows: 60 });
const sparse = { ptr: Uint32Array.from({ length: 81 }, (_, row) => 2 * row), col: Uint32Array.from({ length: 160 }, (_, at) => (at % 2 ? 3 : 0)), val: Float32Array.from({ length: 160 }, (_, at) => Math.sin(at)) };
const options = (more) => ({ ...drawn, X: drawn.X.slice(), y: drawn.y.slice(), method: { name: "soap", settings: { pretrain: 2 } }, steps: 9, ...more });
const text = `a;b;label\n${Array.from({ length: 60 }, (_, row) => `${row % 7},5;${["p", "q", ""][row % 3]};${row % 2}`).join("\n")}\n`;
const bytes = () => new TextEncoder().encode(text);
const choice = () => ({ label: "label", positive: "1", impute: true, ignore: ["b"], categorical: ["a"], share: 0.6 });
const objects = () => Array.from({ length: 60 }, (_, row) => ({ a: (row * 7) % 11, b: ["p", "q", null][row % 3], label: row % 2 === 0 }));
const scores = () => Array.from(drawn.y, (label, row) => Math.sin(row) + label);
const session = new Session(options());
session.run();
const exact = await Exact.create({ y: drawn.y });
const objective = new Objective({ name: "soap", y: drawn.y });
const lanes = await Lanes.create(options({ lanes: 2 }));
const own = await createTrainer({ ...options(), engine });
const apart = await createExact({ y: drawn.y, engine });
const model = await Model.of({ columns: ["u", "v"] }, session);
const trained = await train(objects(), { label: "label" });
const { file } = await engine.call("open", bytes(), "t.csv", { texts: [] });
const loss = { loss: "sigmoid", param: 2 };
const view = { curve: 5, bins: 4, ranks: 3, scores: 5, surface: { x: [-1, 1], y: [-1, 1], columns: 3, rows: 3 } };

/** Functions with their arguments. */
const CALLS = {
  synthetic: [synthetic, "moons", { rows: 50, testRows: 20 }],
  syntheticClasses: [syntheticClasses, "pinwheel", { rows: 50 }],
  syntheticGroups: [syntheticGroups, "towns", { rows: 200 }],
  flipLabels: [flipLabels, drawn.y.slice(), 0.2, 3],
  "Session of rows": [(given) => new Session(given), options()],
  "Session.create of arrays of numbers": [Session.create, options({ X: [...drawn.X], y: [...drawn.y], test: { X: [...drawn.test.X], y: [...drawn.test.y] } })],
  "Session of sparse rows": [(given) => new Session(given), { X: sparse, y: drawn.y.slice(), dims: 4, scale: "unit", method: "soap", steps: 5 }],
  "Session of classes": [(given) => new Session(given), { ...several, method: "ce", steps: 5 }],
  "Session of groups": [(given) => new Session(given), { ...grouped, method: "sonex", constraints: ["gap(tpr) <= 0.2"], steps: 5 }],
  "Session that goes on": [(given) => new Session(given), options({ bytes: session.save() })],
  "Session with a start": [(given) => new Session(given), options({ start: session.params() })],
  "Session.advance": [(slice) => session.advance(slice), { steps: 1 }],
  "Session.run": [(how) => new Session(options()).run(how), view],
  "Session.snapshot": [(how) => session.snapshot(how), view],
  "Session.score": [(X) => session.score(X), drawn.test.X.slice()],
  metrics: [metrics, [...drawn.y], scores(), { metrics: ["auroc", "ap"], intervals: true, weights: scores().map((x) => x + 2), clusters: scores().map((_, row) => row >> 1), fpr: [0, 0.5] }],
  compare: [compare, drawn.y.slice(), scores(), Float32Array.from(scores()), { metrics: ["ap"] }],
  decide: [decide, [...drawn.y], Float64Array.from(scores()), "fpr<=0.2"],
  "train on text": [train, text, { label: "label", ignore: ["b"], method: "ce", steps: 50, split: 0.6 }],
  "train on objects": [train, objects(), { label: "label", categorical: ["a"], method: { name: "soap", settings: { pretrain: 2 } }, steps: 5, model: { kind: "mlp", hidden: [3] } }],
  "train on arrays": [train, objects().map(({ a, b }) => [a, b]), { label: objects().map(({ label }) => label), na: ["q"] }],
  load: [load, model.save()],
  "Model.predict of objects": [(rows, how) => trained.predict(rows, how), objects(), { keep: ["b"] }],
  "Exact.create": [Exact.create, { y: drawn.y.slice(), weights: scores().map((x) => x + 2) }],
  ...Object.fromEntries([["", exact], [".sync", exact.sync], ["in a worker", apart]].flatMap(([where, of]) => [
    [`Exact${where}.metrics`, [(s) => of.metrics(s), scores()]],
    [`Exact${where}.auc`, [(s, how) => of.auc(s, how), Float32Array.from(scores()), loss]],
    [`Exact${where}.pauc`, [(s, range, how) => of.pauc(s, range, how), scores(), [0, 0.5], loss]],
    [`Exact${where}.ap`, [(s, how) => of.ap(s, how), Float64Array.from(scores()), loss]],
  ])),
  createExact: [createExact, { y: drawn.y.slice(), weights: scores().map((x) => x + 2), engine }],
  createObjective: [createObjective, { name: "soap", y: drawn.y.slice(), settings: { gamma: 0.5 } }],
  "Objective.value": [(s, rows) => objective.value(s, rows), Float64Array.from(scores()).slice(0, 20), Uint32Array.from({ length: 20 }, (_, row) => row)],
  "Objective.gradient": [(s, rows) => objective.gradient(s, rows), scores().slice(0, 20), Array.from({ length: 20 }, (_, row) => row)],
  "Objective.aux": [(values) => (objective.aux = values), Array.from(objective.aux, () => 0.5)],
  "Objective.load": [(saved) => objective.load(saved), objective.save()],
  "Lanes.create": [Lanes.create, options({ lanes: { grid: { lr: [0.1, 0.2] }, seeds: 2 } })],
  "Lanes.advance": [(slice, how) => lanes.advance(slice, how), { steps: 2 }, { curve: 5 }],
  "Lanes.reports": [(how) => lanes.reports(how), { curve: 5 }],
  "Lanes.summary": [(how) => lanes.summary(how), { curve: 5 }],
  createTrainer: [createTrainer, { ...options(), engine }],
  "createTrainer of lanes": [createTrainer, { ...options({ lanes: 2 }), engine }],
  "createTrainer of sparse rows": [createTrainer, { X: sparse, y: drawn.y.slice(), dims: 4, method: "soap", steps: 5, engine }],
  "WorkerTrainer.advance": [(slice, how) => own.advance(slice, how), { steps: 2 }, view],
  "WorkerTrainer.score": [(X) => own.score(X), drawn.test.X.slice()],
  "Engine.call open": [(...given) => engine.call(...given), "open", bytes(), "t.csv", { texts: ["a"], na: ["p"] }],
  "Engine.call prepare": [(...given) => engine.call(...given), "prepare", file, choice()],
  "Engine.call flip": [(...given) => engine.call(...given), "flip", drawn.y.slice(), 0.3, 2],
  "DataFile": [(...given) => new DataFile(...given), bytes(), "t.csv", { texts: ["a"], na: ["b=p"], skip: 0, encoding: "latin1" }],
  "DataFile.open": [DataFile.open, bytes(), { name: "t.csv", na: ["?"] }],
  "DataFile.prepare": [(given) => new DataFile(bytes(), "t.csv").prepare(given), choice()],
  "DataFile.prepareClasses": [(given) => new DataFile(bytes(), "t.csv").prepareClasses(given), { label: "label", impute: true, categorical: ["a"] }],
  "Model.load": [Model.load, model.save()],
  "Model.of": [Model.of, new DataFile(bytes(), "t.csv").prepare({ ...choice(), ignore: [] }).preparation, (() => {
    const of = new Session({ ...new DataFile(bytes(), "t.csv").prepare({ ...choice(), ignore: [] }), method: "ce", steps: 5 });
    of.run();
    return of.save();
  })()],
  "Model.of arrays": [(given) => Model.of(given, session), { columns: ["u", "v"], classes: ["no", "yes"] }],
  "Model.predict": [(...given) => model.predict(...given), new TextEncoder().encode("u,v\n1,2\n3,4\n"), { keep: ["u"] }],
  "Model.toOnnx": [(how) => model.toOnnx(how), { numeric: true }],
  "Model.predictOne": [(row) => model.predictOne(row), { u: 1, v: "2" }],
};

/** All that is in a value, of arrays their bytes and kind. */
const frozen = (value) => {
  if (ArrayBuffer.isView(value)) return [value.constructor.name, value.byteOffset, Buffer.from(value.buffer).toString("base64")];
  if (value instanceof Engine) return "an engine";
  if (Array.isArray(value)) return value.map(frozen);
  return value && typeof value === "object" ? Object.entries(value).map(([name, of]) => [name, frozen(of)]) : value;
};

for (const [name, [call, ...given]] of Object.entries(CALLS)) {
  test(name, async () => {
    const before = frozen(given);
    await call(...given);
    assert.deepEqual(frozen(given), before);
  });
}

test("every function is there", () => {
  const named = Object.keys(CALLS).join(" ");
  const takes = (of, name) => Object.getOwnPropertyNames(of.prototype).filter((method) => method !== "constructor" && !/^(dispose|save|load|params|columns|layout|batch|run|commit|describe|done|toString)$/.test(method) && typeof Object.getOwnPropertyDescriptor(of.prototype, method).value === "function").map((method) => `${name}.${method}`);
  const methods = [takes(Session, "Session"), takes(Exact, "Exact"), takes(Objective, "Objective"), takes(Lanes, "Lanes"), takes(DataFile, "DataFile"), takes(Model, "Model"), takes(WorkerTrainer ?? Session, "WorkerTrainer")].flat();
  const functions = [index, files, worker].flatMap((of) => Object.entries(of)).filter(([name, of]) => typeof of === "function" && !/^init|^[A-Z]/.test(name)).map(([name]) => name);
  const left = [...methods, ...functions].filter((name) => !named.includes(name));
  assert.deepEqual(left, []);
});
