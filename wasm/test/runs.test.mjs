// The end of a run: every loop that the documentation shows comes to it, for every method. Needs `cargo demo
// --build-only` first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CLASS_METHODS, METHODS, Session } from "../js/index.js";

/** Calls that none of the runs here needs. */
const MANY = 3000;

const rows = 80;
const X = Float32Array.from({ length: 2 * rows }, (_, k) => Math.sin(k * k) + ((k >> 1) % 5 === 0 ? 1 : 0));
const two = { X, y: Uint8Array.from({ length: rows }, (_, row) => (row % 5 === 0 ? 1 : 0)), dims: 2 };
const groups = Uint32Array.from({ length: rows }, (_, row) => row % 3);
const several = { X, y: Uint8Array.from({ length: rows }, (_, row) => row % 4), dims: 2, classes: 4 };

/** What each method is tried with: two lengths, and each model that it trains. */
function* runs() {
  for (const [data, methods] of [[two, METHODS], [several, CLASS_METHODS]]) {
    for (const { name, params, groups: grouped } of methods) {
      const bounded = params.filter((param) => String(param.default).endsWith("/L")).map((param) => [param.name, "0.2"]);
      for (const kind of ["theoretical-ai-sarah", "svm-pauc-tight"].includes(name) ? ["linear"] : ["linear", "mlp"]) {
        const settings = kind === "linear" ? {} : Object.fromEntries(bounded);
        for (const steps of [1, 300]) yield { ...data, ...(grouped && { groups }), model: { kind, hidden: [4] }, method: { name, settings }, steps };
      }
    }
  }
}

test("every loop comes to the end of every method's run", async (t) => {
  let [count, early] = [0, new Set()];
  for (const options of runs()) {
    const what = `${options.method.name} ${options.model.kind} ${options.steps}${options.classes ? ", several" : ""}`;
    const whole = await Session.create(options);
    let calls = 0;
    while (!whole.done) {
      calls += 1;
      assert.ok(calls < MANY, `${what}: no end after ${calls} calls`);
      whole.advance({ steps: 7 });
    }
    const last = whole.snapshot();
    const end = whole.save();
    assert.ok(last.done && last.step <= options.steps, what);
    assert.equal(whole.advance({ steps: 7 }), 0, `${what}: goes past its end`);
    if (last.step < options.steps) early.add(options.method.name);

    const timed = await Session.create(options);
    assert.ok(!timed.snapshot().done, what);
    for (calls = 0; !timed.done; calls += 1) {
      assert.ok(calls < 100 * MANY, `${what}: no end after ${calls} calls`);
      timed.advance({ milliseconds: 0.01 });
    }
    assert.deepEqual(timed.save(), end, what);

    const ran = await Session.create(options);
    const { milliseconds: _, ...snapshot } = ran.run();
    const { milliseconds: __, ...expected } = last;
    assert.deepEqual(snapshot, expected, what);
    assert.deepEqual(ran.save(), end, what);
    const loaded = await Session.create({ ...options, method: options.classes && options.method, bytes: end });
    assert.ok(loaded.done && loaded.advance({ steps: 1 }) === 0, `${what}: not done when loaded`);
    for (const session of [whole, timed, ran, loaded]) session.dispose();
    count += 1;
  }
  assert.deepEqual([...early], ["ap-exact", "auc-exact", "pauc-exact", "svm-pauc-tight", "ce-exact"]);
  t.diagnostic(`${count} runs`);
});

test("a worker's runs end, too", async () => {
  // The two halves, in one thread.
  const worker = {};
  globalThis.self = { postMessage: (data) => worker.made?.onmessage({ data }) };
  globalThis.Worker = class {
    constructor() {
      worker.made = this;
    }
    postMessage(data) {
      self.onmessage({ data: structuredClone(data) });
    }
    terminate() {
      worker.made = undefined;
    }
  };
  await import("../js/worker-host.js");
  const { Engine, createTrainer } = await import("../js/worker.js");
  const engine = new Engine();
  for (const options of runs()) {
    if (options.steps === 1) continue;
    const what = `${options.method.name} ${options.model.kind}${options.classes ? ", several" : ""}`;
    const session = await Session.create(options);
    const { step } = session.run();
    const trainer = await createTrainer({ ...options, engine });
    const steps = [];
    for await (const snapshot of trainer.run({ every: 50, view: {} })) {
      assert.ok(steps.length < MANY, `${what}: no end`);
      assert.equal(snapshot.done, snapshot.step === step, what);
      steps.push(snapshot.step);
    }
    assert.deepEqual(steps, Array.from({ length: Math.ceil(step / 50) }, (_, k) => Math.min(50 * (k + 1), step)), what);
    assert.deepEqual(await trainer.save(), session.save(), what);
    assert.deepEqual(await trainer.score(options.X), session.score(options.X), what);
    for await (const snapshot of trainer.run({ steps: 1000 })) assert.ok(snapshot.done && snapshot.step === step, what);
    trainer.dispose();
    session.dispose();

    const part = await createTrainer({ ...options, engine });
    const seen = [];
    for await (const snapshot of part.run({ steps: 25 })) seen.push(snapshot.step);
    assert.deepEqual(seen, [10, 20, 25].map((most) => Math.min(most, step)).slice(0, step > 20 ? 3 : step > 10 ? 2 : 1), what);
    part.dispose();
  }
  engine.dispose();
});
