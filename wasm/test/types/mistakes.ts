// Deliberate mistakes: each of the lines below a comment must not compile.

import { Exact, type Lanes, Session, createObjective, decide, metrics, train } from "undercurve";
import { DataFile } from "undercurve/files";
import { type Engine, createTrainer } from "undercurve/worker";

const rows = { X: new Float32Array(4), y: new Uint8Array(2), dims: 2 };

// @ts-expect-error A misspelt method.
new Session({ ...rows, method: "soup" });
// @ts-expect-error The same as an object.
new Session({ ...rows, method: { name: "soup" } });
// @ts-expect-error A setting of another method.
new Session({ ...rows, method: { name: "ce", settings: { gamma: 0.9 } } });
// @ts-expect-error A misspelt setting.
new Session({ ...rows, method: { name: "soap", settings: { gama: 0.9 } } });
// @ts-expect-error A word that is no choice of the setting.
new Session({ ...rows, method: { name: "soap", settings: { surrogate: "cubic" } } });
// @ts-expect-error A number where there is a word.
new Session({ ...rows, method: { name: "soap", settings: { gamma: "much" } } });
// @ts-expect-error A preset of another method.
new Session({ ...rows, method: { name: "soap", preset: "roc-fairness" } });
// @ts-expect-error A method of two classes.
new Session({ ...rows, classes: 3, method: "soap" });
// @ts-expect-error An option that there is not.
new Session({ ...rows, step: 7 });
// @ts-expect-error Weights, which sessions do not take.
new Session({ ...rows, weights: new Float32Array(2) });
// @ts-expect-error Labels as text.
new Session({ ...rows, y: ["0", "1"] });
// @ts-expect-error Rows of rows.
new Session({ ...rows, X: [[1, 2], [3, 4]] });
// @ts-expect-error No labels.
new Session({ X: rows.X, dims: 2 });
// @ts-expect-error A model that there is not.
new Session({ ...rows, model: { kind: "forest" } });
// @ts-expect-error A view that there is not.
new Session(rows).snapshot({ curves: 9 });
// @ts-expect-error A figure of several classes.
new Session(rows).snapshot().test.handTill;
// @ts-expect-error A finite sum, which has no objective of scores.
void createObjective({ name: "ai-sarah", y: [0, 1] });
// @ts-expect-error A method of groups.
void createObjective({ name: "sonex", y: [0, 1] });
// @ts-expect-error A method of two classes, with three.
void createObjective({ name: "soap", y: [0, 1, 2], classes: 3 });
// @ts-expect-error No name.
void createObjective({ y: [0, 1] });
// @ts-expect-error A way to draw that there is not.
void createObjective({ name: "soap", y: [0, 1], sampling: "balanced" });
void (async (exact: Exact) => {
  // @ts-expect-error A loss that there is not.
  exact.sync.ap([0, 1], { loss: "cubic" });
  // @ts-expect-error No range.
  await exact.pauc([0, 1]);
  // @ts-expect-error An array of another type.
  const gradient: Float32Array = exact.sync.ap([0, 1]).gradient;
  return gradient;
});
// @ts-expect-error A backend that there is not.
void Exact.create({ y: [0, 1], backend: "tpu" });
// @ts-expect-error Weights are numbers.
void Exact.create({ y: [0, 1], weights: "1" });
// @ts-expect-error A signal of another kind.
void createTrainer({ ...rows, signal: "stop" });
void (async (engine: Engine, lanes: Lanes) => {
  // @ts-expect-error A call that there is not.
  await engine.call("opened", new Uint8Array());
  // @ts-expect-error No name of the file.
  await engine.call("open", new Uint8Array());
  // @ts-expect-error An answer of another type.
  const flipped: Float64Array = await engine.call("flip", [0, 1], 0.1);
  // @ts-expect-error A view that there is not.
  await lanes.advance({ steps: 1 }, { curves: 9 });
  return flipped;
});
// @ts-expect-error No label column.
new DataFile(new Uint8Array(), "a.csv").prepare({ positive: "1" });
// @ts-expect-error A misspelt option.
void train([{ a: 1, y: 0 }], { lable: "y" });
// @ts-expect-error Parameters, where a model is wanted.
void train([{ a: 1, y: 0 }], { label: "y", start: new Float32Array(2) });
// @ts-expect-error A cell that is none.
void train([{ a: { b: 1 }, y: 0 }], { label: "y" });
// @ts-expect-error No scores.
void metrics([0, 1], { intervals: true });
// @ts-expect-error No rule.
void decide([0, 1], [1, 2]);
// @ts-expect-error Numbers have no intervals without being asked for.
void metrics([0, 1], [1, 2]).then((found) => found["ap"]?.interval);
