// The package in Node, and its size. Needs `undercurve serve --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Data, Session, init } from "../js/index.js";

const wasm = await readFile(new URL("../js/pkg/undercurve_bg.wasm", import.meta.url));
await init(wasm);

/** With file reading, checkpoints and every method in; what it may grow to before somebody must look. */
const MOST_GZIP_BYTES = 255_000;

const options = (name, seed = 3) => {
  const data = Data.synthetic("split", 500, 500, 0.05, 0, 1);
  const rows = { X: data.trainX(), y: data.trainY(), dims: 2, test: { X: data.testX(), y: data.testY() } };
  data.free();
  return { ...rows, method: { name }, seed, steps: 60 };
};

test("the module stays small", (t) => {
  const bytes = gzipSync(wasm, { level: 9 }).length;
  t.diagnostic(`${wasm.length} bytes, ${bytes} gzip`);
  assert.ok(bytes <= MOST_GZIP_BYTES);
});

test("two methods start alike and see the same batches", () => {
  const [a, b] = [new Session(options("ce")), new Session(options("soap"))];
  assert.deepEqual(a.params(), b.params());
  for (let step = 0; step < 40; step += 1) {
    a.advance({ steps: 1 });
    b.advance({ steps: 1 });
    assert.deepEqual(a.batch(), b.batch(), `step ${step}`);
  }
  assert.notDeepEqual(a.params(), b.params());
});

test("a saved session goes on as if it had not stopped", () => {
  const whole = new Session(options("soap"));
  whole.advance({ steps: 50 });
  const first = new Session(options("soap"));
  first.advance({ steps: 20 });
  const second = new Session({ ...options("soap"), bytes: first.save() });
  second.advance({ steps: 30 });
  assert.deepEqual(second.params(), whole.params());
});

test("wrong input is an exception with a sentence", () => {
  assert.throws(() => new Session(options("nothing")), /no method/);
  assert.throws(() => new Session({ ...options("soap"), y: new Uint8Array(500) }), /both positives and negatives/);
  assert.throws(() => new Session({ ...options("soap"), X: new Float32Array(3) }), /length/);
});
