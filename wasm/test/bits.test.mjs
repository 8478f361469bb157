// The same bits as the native core, for every method. Needs `undercurve serve --build-only` first.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { METHODS, Session, init } from "../js/index.js";

await init(await readFile(new URL("../js/pkg/undercurve_bg.wasm", import.meta.url)));

const ROWS = 600;
const COLUMNS = 4;

/** The rows of tests/examples/bits.rs. */
function rows() {
  let state = 1;
  const y = Uint8Array.from({ length: ROWS }, (_, row) => Number(row % 5 === 0));
  const X = Float32Array.from({ length: ROWS * COLUMNS }, (_, at) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const shift = at % COLUMNS === 0 && Math.floor(at / COLUMNS) % 5 === 0 ? 0.25 : 0;
    return (state >>> 8) / 16777216 - 0.5 + shift;
  });
  return { X, y, dims: COLUMNS };
}

/** FNV-1a over the bits of the parameters, in order. */
function hash(params) {
  const bits = new Uint32Array(params.buffer, params.byteOffset, params.length);
  return bits.reduce((sum, word) => Math.imul(sum ^ word, 0x01000193) >>> 0, 0x811c9dc5);
}

test("every method gives the parameters of the native core, to the bit", (t) => {
  const root = new URL("../..", import.meta.url).pathname;
  const lines = execFileSync("cargo", ["run", "--quiet", "-p", "undercurve-tests", "--example", "bits"], { cwd: root, encoding: "utf8" });
  const runs = lines.trim().split("\n").map((line) => JSON.parse(line));
  const data = rows();
  for (const { method, settings, hidden, steps, outcome } of runs) {
    const what = `${method} ${JSON.stringify(settings)} ${hidden.length ? "mlp" : "linear"}`;
    let ours;
    try {
      const model = hidden.length ? { kind: "mlp", hidden } : { kind: "linear" };
      const session = new Session({ ...data, scale: "none", model, method: { name: method, settings, fpr: [0.05, 0.5] }, seed: 7, steps });
      session.advance({ steps });
      ours = { steps: session.snapshot().step, hash: hash(session.params()) };
      session.dispose();
    } catch (error) {
      ours = { error: error.message };
    }
    assert.deepEqual(ours, outcome, what);
  }
  t.diagnostic(`${runs.length} runs`);
  assert.deepEqual([...new Set(runs.map((run) => run.method))], METHODS.map((method) => method.name));
});
