// Memory stays flat over many sessions, objectives and sums, disposed or not, and over refusals; in the long tier by 10,000. Needs
// `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { installed } from "./packed.mjs";

const times = process.env.UNDERCURVE_LONG ? 10_000 : 500;

const program = `
  import { readFile } from "node:fs/promises";
  import { Exact, Session, createObjective, initFull, initPairs, initObjective, synthetic } from "./index.js";
  import { Model } from "./files.js";
  await Promise.all([initFull(), initPairs(), initObjective()]);
  const data = synthetic("split", { rows: 400, testRows: 100, positives: 0.1 });
  const file = await readFile(new URL("${new URL("../../tests/golden/model.uc", import.meta.url)}"));
  const scores = Float32Array.from(data.y, (y, row) => y + Math.sin(row));
  const kinds = {
    async session(dispose) {
      const session = new Session({ ...data, method: "soap", steps: 5 });
      session.run({ curve: 9 });
      if (dispose) session.dispose();
    },
    async objective(dispose) {
      const objective = await createObjective({ name: "soap", y: data.y });
      objective.gradient(scores);
      objective.commit();
      if (dispose) objective.dispose();
    },
    async exact(dispose) {
      const exact = await Exact.create({ y: data.y, backend: "cpu" });
      exact.sync.ap(scores);
      await exact.metrics(scores);
      if (dispose) exact.dispose();
    },
    async model(dispose) {
      const model = await Model.load(file);
      model.predictOne({ size: 1, colour: "red" });
      if (dispose) model.dispose();
    },
    async refusal() {
      for (const work of [() => new Session({ ...data, y: data.y.map(() => 1) }), () => new Session({ ...data, method: "soup" }), () => createObjective({ name: "soap", y: data.y, settings: { gama: 1 } }), () => Model.load(file.subarray(9))]) {
        try {
          await work();
          throw new TypeError("accepted");
        } catch (error) {
          if (error.name !== "UndercurveError") throw error;
        }
      }
    },
  };
  const rest = () => new Promise((resolve) => setTimeout(resolve, 2));
  const rss = async () => {
    for (let k = 0; k < 4; k += 1) { gc(); await rest(); }
    return process.memoryUsage().rss / 2 ** 20;
  };
  const told = {};
  for (const [name, use] of Object.entries(kinds)) {
    for (const dispose of name === "refusal" ? [true] : [true, false]) {
      const count = dispose ? ${times} : ${times} / 5;
      const loop = async (count) => {
        for (let k = 0; k < count; k += 1) {
          await use(dispose);
          // (What is not disposed is given back when it is collected.)
          if (k % 20 === 19) { if (!dispose) gc(); await rest(); }
        }
      };
      await loop(Math.max(200, count / 5));
      const before = await rss();
      await loop(count);
      told[name + (dispose ? "" : ", not disposed")] = [count, before, await rss()];
    }
  }
  console.log(JSON.stringify(told));
`;

test("memory stays flat", (t) => {
  // (V8 lets its space for young objects grow to 48 MB, whatever is in it: kept small, so that what is measured is ours.)
  const out = execFileSync(process.execPath, ["--expose-gc", "--max-semi-space-size=1", "--input-type=module", "-"], { cwd: installed, input: program, encoding: "utf8" });
  for (const [name, [count, before, after]] of Object.entries(JSON.parse(out))) {
    t.diagnostic(`${count} × ${name}: ${before.toFixed(1)} MB before, ${after.toFixed(1)} MB after`);
    assert.ok(after <= 1.05 * before, `${name}: ${before} MB, then ${after} MB`);
  }
});
