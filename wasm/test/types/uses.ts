// What compiles: every entry as it is documented, by name and by type. `pack.test.mjs` checks it, and never runs it.

import { CLASS_METHODS, Exact, Lanes, METHODS, Session, UndercurveError, createObjective, flipLabels, init, initExact, initGroups, initObjective, initPairs, initSums, initWhole, compare, decide, load, metrics, synthetic, train } from "undercurve";
import type { MethodName, Signal, TrainedModel } from "undercurve";
import { DataFile, Model, initFiles } from "undercurve/files";
import type { ObjectiveName } from "undercurve/objective";
import { Objective } from "undercurve/objective";
import { Engine, createExact, createTrainer } from "undercurve/worker";

export async function use(signal: Signal, file: Uint8Array): Promise<number> {
  await Promise.all([init(file), initFiles("https://example.org/files.wasm"), initObjective(Promise.resolve(file.buffer))]);
  for (const load of [initWhole, initSums, initGroups, initPairs, initExact]) await load(file);
  const name: MethodName = METHODS[0]?.name ?? "soap";
  using session = new Session({ X: [1, 2, 3, 4], y: [true, false], dims: 2, method: { name: "soap", settings: { gamma: 0.9, surrogate: "ramp" } }, signal });
  using several = await Session.create({ X: new Float64Array(12), y: Uint8Array.of(0, 1, 2), dims: 4, classes: 3, method: CLASS_METHODS[0]?.name ?? "ce" });
  const { test } = session.run({ curve: 9 }, { signal, onProgress: ({ step, done }) => void [step, done] });
  const handTill: number = several.snapshot().test.handTill;
  await using trainer = await createTrainer({ ...synthetic("split"), method: name, signal });
  for await (const { step, test: held } of trainer.run({ every: 5, signal })) void [step, held.ap];
  await using lanes = await Lanes.create({ ...synthetic("split"), method: "soap", lanes: { grid: { lr: [0.1, 0.2] }, seeds: 2 } });
  for await (const { step, summary } of lanes.run({ every: 5, signal })) void [step, summary.runs];
  await lanes.advance({ steps: 5, signal, onProgress: ({ step }) => void step }, { curve: 9 });
  await using engine = new Engine();
  const { file: opened, columns } = await engine.call("open", file, "a.csv");
  const { X, dims } = await engine.call("prepare", opened, { label: columns[0]?.name ?? "y", positive: "1" });
  const flipped: Uint8Array = await engine.call("flip", [0, 1], 0.1);
  void [X, dims, flipped, await engine.call("synthetic", "split", { rows: 9 })];
  await using exact = await Exact.create({ y: flipLabels([1, -1], 0.5), weights: [1, 2], signal });
  const narrow: Float32Array = exact.sync.ap(new Float32Array(2), { loss: "smoothed-hinge" }).gradient;
  const wide: Float64Array = (await exact.pauc([0.1, 0.2], [0, 0.1])).gradient;
  await using far = await createExact({ y: [0, 1], engine: new Engine({ wasm: { whole: file, exact: file } }) });
  const objective: Objective = await createObjective({ name: "ap-exact", y: [0, 1], settings: { surrogate: "hinge" } });
  const other: ObjectiveName = "ppd-sg";
  await Objective.create({ name: "ce", y: [0, 1, 2], classes: 3 });
  const { value, gradient, auxGradient } = objective.gradient(new Float32Array(2), [0, 1]);
  objective.aux = objective.aux.map((x, k) => x - (auxGradient[k] ?? 0));
  objective.commit();
  objective.load(objective.save());
  const data = await DataFile.open({ stream: () => undefined, size: 3 }, { name: "a.csv", signal, onProgress: ({ bytes, of = 0 }) => void (bytes / of) });
  const rows = data.prepare({ label: "y", positive: "1" });
  new Session({ ...rows, method: "ce" }).dispose();
  const model = await Model.load(file);
  const kept: string | undefined = model.predict("a\n1\n", { keep: ["a"] }).kept?.[0]?.["a"];
  const trained: TrainedModel = await train([{ a: 1, b: "x", y: true, at: new Date() }, { a: null, y: false }], { label: "y", split: 0.5, method: { name: "soap", settings: { gamma: 0.5 } }, model: { kind: "mlp" }, signal });
  await train([[1], [2]], { label: [0, 1], groups: ["a", "b"], start: trained, constraints: ["loss(old) <= old"], objective: "ce", files: { old: "a,y\n1,0\n", other: { rows: [[1]], label: [0] } } });
  for (const rows of ["a,y\n", file, [[1, 2], [3, null]], [new Float32Array(2)]]) await train(rows, { label: ["no", "yes"], positive: "yes", onProgress: ({ done }) => void done });
  const onnx: Uint8Array = (await load(trained.save())).toOnnx({ numeric: true });
  const plain: number | undefined = (await metrics([true, false], trained.predict([[1, "x"], { a: 2 }]).scores))["ap"];
  const ends: [number, number] | undefined = (await metrics(["a", "b"], onnx, { intervals: true, metrics: "auroc" }))["auroc"]?.interval;
  void [plain, ends, (await compare([0, 1], [0.1, 0.2], new Float64Array(2)))["ap"]?.p, (await decide([0, 1], [1, 2], "f1", { positive: 1 })).threshold];
  try {
    await far.metrics([0, 1]);
  } catch (error) {
    if (error instanceof UndercurveError) void [error.code + (error.row ?? 0), error.kind === "Label", error.argument];
  }
  return test.ap + handTill + narrow.length + wide.length + value + gradient.length + (kept ?? other).length + (await lanes.summary()).runs;
}
