// Many runs at a time. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Lanes, NoGpu, Session, init, synthetic } from "../js/index.js";

await init();
const data = synthetic("split", { rows: 400, testRows: 400, positives: 0.1 });
const options = (change = {}) => ({ ...data, method: { name: "soap", settings: { pretrain: 20 } }, seed: 4, steps: 60, ...change });

test("without a method runs are cross-entropy", async () => {
  const many = await Lanes.create({ ...data, seed: 4, lanes: 1 });
  assert.deepEqual((await many.load(0)).save(), new Session({ ...data, seed: 4, method: "ce" }).save());
  many.dispose();
});

test("every run has the bits of a session, goes on as one, and is summed up", async () => {
  for (const [lanes, runs] of [[3, [[4, {}], [5, {}], [6, {}]]], [{ grid: { lr: [0.01, 0.2], gamma: [0.5] }, seeds: 2 }, [4, 4, 5, 5].map((seed, at) => [seed, { lr: [0.01, 0.2][at % 2], gamma: 0.5 }])]]) {
    const many = await Lanes.create(options({ lanes }));
    assert.deepEqual(many.runs, runs.map(([seed, settings]) => ({ seed, settings })));
    assert.match(many.backendReason, new RegExp(`CPU, .*, ${runs.length} runs in turn: `));
    const half = await many.advance({ steps: 35 }, { curve: 11 });
    assert.deepEqual([half.step, half.done, [...half.reports.step]], [35, false, runs.map(() => 35)]);
    const kept = await many.load(1);
    let last;
    for await (const shot of many.run({ every: 10 })) last = shot;
    assert.ok(last.done && last.step === 60);
    const { reports, summary } = await many.advance({ steps: 5 }, { curve: 11 });
    for (const [at, { seed, settings }] of many.runs.entries()) {
      const one = new Session(options({ seed, method: { name: "soap", settings: { pretrain: 20, ...settings } } }));
      const { test: metrics, objective, roc, pr } = one.run({ curve: 11 });
      assert.deepEqual(await many.save(at), one.save());
      for (const [name, value] of Object.entries(metrics)) assert.equal(reports.metrics[name][at], value);
      assert.deepEqual([reports.objective[at], reports.roc.slice(11 * at, 11 * at + 11), reports.pr.slice(11 * at, 11 * at + 11)], [objective, roc, pr]);
    }
    // What was taken out half way ends as what stayed.
    assert.equal(kept.snapshot().step, 35);
    kept.run();
    assert.deepEqual(kept.save(), await many.save(1));
    const ap = [...reports.metrics.ap].sort((a, b) => a - b);
    assert.equal(summary.metrics.ap.median, runs.length === 3 ? ap[1] : (ap[1] + ap[2]) / 2);
    assert.ok(summary.metrics.ap.low > ap[0] && summary.metrics.ap.high < ap.at(-1) && summary.metrics.ap.runs === runs.length);
    assert.ok(summary.roc.median.every((rate, k) => summary.roc.low[k] <= rate && rate <= summary.roc.high[k]));
    const { roc, pr, ...figures } = summary;
    assert.ok(roc && pr);
    assert.deepEqual(await many.summary(), figures);
    many.dispose();
    kept.snapshot(); // (its rows are its own)
    await assert.rejects(many.reports(), /the lanes were disposed/);
  }
});

test("a run that fails is told, and the others go on", async () => {
  // (A batch of one row has one class.)
  const many = await Lanes.create(options({ lanes: { grid: { batch: [1, 64] } }, method: { name: "soap", settings: { sampling: "uniform", pretrain: 1 } } }));
  const { done, reports, summary } = await many.advance({ steps: 60 });
  assert.deepEqual([done, [...reports.failed], reports.step[1], summary.failed, summary.metrics.ap.runs], [true, [1, 0], 60, 1, 1]);
  assert.ok(reports.errors[0].length > 10 && Number.isNaN(reports.metrics.ap[0]) && summary.metrics.ap.median === reports.metrics.ap[1]);
  many.dispose();
});

test("a run that collapsed is no result", async () => {
  // (Steps so long that the sigmoid is flat where the scores are.)
  const many = await Lanes.create(options({ lanes: { grid: { lr: [100, 0.1] } }, method: { name: "ppd-adagrad", settings: { pretrain: 0 } } }));
  const { reports, summary } = await many.advance({ steps: 60 }, { curve: 5 });
  assert.deepEqual([[...reports.collapsed], summary.collapsed, summary.failed, summary.metrics.auroc.runs], [[1, 0], 1, 0, 1]);
  assert.deepEqual([summary.metrics.auroc.median, [...summary.roc.median]], [reports.metrics.auroc[1], [...reports.roc.slice(5)]]);
  many.dispose();
});

test("the thread is never held for long", async () => {
  const many = await Lanes.create(options({ lanes: 64, steps: 400, model: { kind: "mlp", hidden: [16] } }));
  // By a clock on which a step takes 1 ms: of how many the thread is held between two turns of the loop.
  const { now } = performance;
  const { advance } = Session.prototype;
  let clock = 0;
  let turns = 0;
  let held = 0;
  let longest = 0;
  performance.now = () => clock;
  Session.prototype.advance = function (slice) {
    clock += slice.steps;
    longest = Math.max(longest, (held += slice.steps));
    return advance.call(this, slice);
  };
  const turn = () => {
    [turns, held] = [turns + 1, 0];
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const { milliseconds } = await many.advance({ milliseconds: 500 }, { curve: 33 });
  clearImmediate(next);
  Object.assign(performance, { now });
  Session.prototype.advance = advance;
  assert.ok(milliseconds > 0);
  assert.ok(turns > 30 && longest <= 10, `${turns} turns, ${longest} steps in one`);
  // What was disposed under way is told.
  const waiting = many.advance({ steps: 400 });
  setTimeout(() => many.dispose(), 20);
  await assert.rejects(waiting, /the lanes were disposed/);
});

test("nonsense is refused in one sentence", async () => {
  for (const [change, text] of [
    [{ lanes: 0 }, /^lanes 0: expected a whole number from 1 to 1024$/],
    [{ lanes: 1025 }, /^lanes 1025/],
    [{ lanes: 2.5 }, /^lanes 2.5/],
    [{ lanes: {} }, /^lanes.grid undefined|^lanes.grid \[object Object\]: expected parameters/],
    [{ lanes: { grid: {} } }, /^lanes.grid/],
    [{ lanes: { grid: { lr: [] } } }, /^lanes.grid.lr of no entries: expected an array/],
    [{ lanes: { grid: { lr: [0.1, 0.1] } } }, /^lanes.grid.lr 0.1,0.1: expected every value once/],
    [{ lanes: { grid: { lr: Array.from({ length: 600 }, (_, k) => k + 1) }, seeds: 2 } }, /^lanes 1200: expected 1024 runs at most/],
    [{ lanes: { grid: { pretrain: [1, 2] } } }, /^lanes.grid.pretrain 20: expected it not to be in method.settings, too/],
    [{ lanes: { grid: { lrr: [1] } } }, /lrr/],
    [{ lanes: 2, bytes: new Uint8Array(3) }, /^bytes of one session/],
    [{ lanes: 2, groups: new Uint32Array(400) }, /one run at a time/],
    [{ lanes: 2, backend: "fast" }, /^backend fast: expected auto, cpu, gpu, gpu-software$/],
  ]) {
    await assert.rejects(Lanes.create(options(change)), (error) => text.test(error.message) || assert.fail(error.message), String(text));
  }
  await assert.rejects(Lanes.create(options({ lanes: 2, backend: "gpu" })), (error) => error instanceof NoGpu && error.message === "backend gpu: there is no WebGPU here");
  const { createTrainer } = await import("../js/worker.js");
  await assert.rejects(createTrainer(options({ backend: "gpu" })), (error) => error instanceof NoGpu);
});

test("a worker trains the same runs", async () => {
  // (One that is this thread; what goes to it and comes back is copied as for another.)
  let worker;
  globalThis.Worker = class {
    constructor() {
      worker = this;
    }
    postMessage(data) {
      self.onmessage({ data: structuredClone(data) });
    }
    terminate() {}
  };
  globalThis.self = { postMessage: (data) => worker.onmessage({ data: structuredClone(data) }) };
  await import("../js/worker-host.js");
  const { createTrainer } = await import("../js/worker.js");
  const lanes = { grid: { lr: [0.01, 0.2] }, seeds: 2 };
  const [there, here] = [await createTrainer(options({ lanes })), await Lanes.create(options({ lanes }))];
  assert.deepEqual([there.runs, there.backend, there.backendReason], [here.runs, here.backend, here.backendReason]);
  const steps = [];
  for await (const shot of there.run({ every: 20, view: { curve: 5 } })) steps.push(shot.step);
  assert.deepEqual(steps, [20, 40, 60]);
  await here.advance({ steps: 60 });
  for (const of of ["reports", "summary"]) assert.deepEqual(await there[of]({ curve: 5 }), await here[of]({ curve: 5 }));
  const one = await there.load(3);
  assert.deepEqual(await one.save(), await there.save(3));
  assert.match(one.backendReason, /one run is faster here than on a GPU/);
  const { step, test: metrics } = await one.advance({ steps: 0 });
  assert.deepEqual([step, metrics.ap], [60, (await there.reports()).metrics.ap[3]]);
  await assert.rejects(there.load(4), /^UndercurveError: lane 4: expected a whole number from 0 to 3$/);
  await assert.rejects(createTrainer(options({ lanes: 0 })), /^UndercurveError: lanes 0/);
  there.dispose();
});
