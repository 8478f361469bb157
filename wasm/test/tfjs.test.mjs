// A network of TensorFlow.js trained by the package's objectives through `customGrad`. Needs `cargo demo --build-only`, and
// `npm ci` in this folder.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { entry } from "./packed.mjs";

const { Exact, createObjective } = await entry("undercurve/objective");

const there = existsSync(new URL("node_modules/@tensorflow/tfjs-layers", import.meta.url));

/** Pictures of 8 × 8: a faint bar, upright for the rare class and level for the other. */
function pictures(rows, seed) {
  let state = seed;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const y = Uint8Array.from({ length: rows }, (_, row) => Number(row % 20 === 0));
  const X = new Float32Array(64 * rows);
  for (let row = 0; row < rows; row += 1) {
    const place = Math.floor(8 * next());
    for (let at = 0; at < 64; at += 1) X[64 * row + at] = 2 * next() - 1 + ((y[row] ? at % 8 : at >> 3) === place ? 1.6 : 0);
  }
  return { X, y };
}

/** Images of Fashion-MNIST in 14 × 14, the mean of four pixels each: positive are the classes 5 to 9, of which one in `keep` stays. */
async function fashion(part, rows, keep) {
  const read = async (what) => gunzipSync(await readFile(new URL(`${part}-${what}-ubyte.gz`, FASHION)));
  const [images, labels] = await Promise.all(["images-idx3", "labels-idx1"].map(read));
  const kept = [];
  for (let row = 0, positives = 0; kept.length < rows; row += 1) if (labels[8 + row] < 5 || positives++ % keep === 0) kept.push(row);
  const X = new Float32Array(196 * rows);
  kept.forEach((row, at) => {
    for (let pixel = 0; pixel < 784; pixel += 1) X[196 * at + 14 * Math.floor(pixel / 56) + ((pixel % 28) >> 1)] += images[16 + 784 * row + pixel] / 1020;
  });
  return { X, y: Uint8Array.from(kept, (row) => Number(labels[8 + row] > 4)) };
}

const FASHION = new URL("file:///usr/share/datasets/fashion-mnist/");
const skip = !there && "tfjs is not installed: npm ci in wasm/test";

/** A step, as the package's page prints it. */
const page = await readFile(new URL("../js/README.md", import.meta.url), "utf8");
const [, code] = /```ts\n(const loss = [^]*?)```/.exec(page);
const snippet = new Function("tf", "soap", "optimizer", "net", "batch", "rows", code.replace("(rows: Uint32Array)", "(rows)").replace(/ as (tf\.\w+|Float32Array)/g, ""));

/** Trains a small network by `customGrad` with each objective, and says what it reached and with how many forward passes. */
async function trained(t, train, held, side, { steps, batch, rate, drawn, least }) {
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-cpu");
  const layers = await import("@tensorflow/tfjs-layers");
  await tf.setBackend("cpu");
  const exact = await Exact.create({ y: held.y });
  const count = train.y.length;
  const images = tf.tensor4d(train.X, [count, side, side, 1]);
  for (const name of ["soap", "ap-exact"]) {
    const objective = await createObjective({ name, y: train.y });
    const net = layers.sequential({
      layers: [
        layers.layers.conv2d({ inputShape: [side, side, 1], filters: 4, kernelSize: 3, padding: "same", activation: "relu", kernelInitializer: layers.initializers.glorotUniform({ seed: 3 }) }),
        layers.layers.maxPooling2d({ poolSize: 2 }),
        layers.layers.flatten(),
        layers.layers.dense({ units: 1, kernelInitializer: layers.initializers.glorotUniform({ seed: 4 }) }),
      ],
    });
    const scored = () => tf.tidy(() => net.predict(tf.tensor4d(held.X, [held.y.length, side, side, 1])).dataSync().slice());
    const before = exact.sync.metrics(scored()).ap;
    let forward = 0;
    const counted = { apply: (...given) => (forward += 1) && net.apply(...given) };
    const optimizer = tf.train.adam(rate);
    for (let step = 0; step < steps; step += 1) {
      const rows = Int32Array.from({ length: batch }, (_, k) => drawn(step, k) % count);
      tf.tidy(() => {
        const inputs = tf.gather(images, tf.tensor1d(rows, "int32"));
        snippet(tf, objective, optimizer, counted, inputs, rows);
      });
    }
    const after = exact.sync.metrics(scored()).ap;
    t.diagnostic(`${name}: AP of held-out rows ${before.toFixed(3)} before, ${after.toFixed(3)} after ${steps} steps, ${forward} forward passes`);
    assert.equal(forward, steps);
    assert.ok(before < least && after > least + 0.3, `${name}: ${before} ${after}`);
    objective.dispose();
    net.dispose();
  }
  exact.dispose();
  images.dispose();
}

test("a convolutional network learns by SOAP and by exact AP, with one forward pass a step", { skip }, (t) =>
  trained(t, pictures(1000, 1), pictures(400, 7), 8, { steps: 80, batch: 50, rate: 0.03, drawn: (step, k) => step * 677 + k * 20 + (k % 5), least: 0.3 }));

const none = !existsSync(FASHION) && "Fashion-MNIST is not in /usr/share/datasets/fashion-mnist";
test("one learns halves of Fashion-MNIST, with a tenth of the positives", { skip: skip || none }, async (t) =>
  trained(t, await fashion("train", 1500, 10), await fashion("t10k", 400, 10), 14, { steps: 30, batch: 40, rate: 0.02, drawn: (step, k) => step * 1009 + k * 47, least: 0.3 }));

const tsc = new URL("node_modules/typescript/bin/tsc", import.meta.url).pathname;
test("the step that the package's page prints compiles strictly", { skip: skip || (!existsSync(tsc) && "TypeScript is not installed: npm ci in wasm/test") }, async () => {
  // (Beside this file, where the packages are found.)
  const folder = await mkdtemp(new URL("tfjs-types-", import.meta.url).pathname);
  try {
    const before = `import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import { createObjective } from "../../js/objective.js";
declare const soap: Awaited<ReturnType<typeof createObjective>>;
declare const [optimizer, net, batch, rows]: [tf.Optimizer, LayersModel, tf.Tensor, Uint32Array];
`;
    await writeFile(join(folder, "step.ts"), before + code);
    const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, target: "es2022", types: [], lib: ["es2022", "dom"], module: "nodenext" };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["step.ts"] }));
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
});
