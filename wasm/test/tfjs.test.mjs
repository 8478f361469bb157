// A network of TensorFlow.js trained by the package's objectives through `customGrad`. Needs `cargo demo --build-only`, and
// `npm ci` in this folder.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { Exact, createObjective } from "../js/objective.js";

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

test("a convolutional network learns by SOAP and by exact AP, with one forward pass a step", { skip: !there && "tfjs is not installed: npm ci in wasm/test" }, async (t) => {
  const tf = await import("@tensorflow/tfjs-core");
  await import("@tensorflow/tfjs-backend-cpu");
  const layers = await import("@tensorflow/tfjs-layers");
  await tf.setBackend("cpu");
  const [train, held] = [pictures(1000, 1), pictures(400, 7)];
  const [steps, batch] = [80, 50];
  const exact = await Exact.create({ y: held.y });
  const images = tf.tensor4d(train.X, [1000, 8, 8, 1]);
  for (const name of ["soap", "ap-exact"]) {
    const objective = await createObjective({ name, y: train.y });
    const net = layers.sequential({
      layers: [
        layers.layers.conv2d({ inputShape: [8, 8, 1], filters: 4, kernelSize: 3, padding: "same", activation: "relu", kernelInitializer: layers.initializers.glorotUniform({ seed: 3 }) }),
        layers.layers.maxPooling2d({ poolSize: 2 }),
        layers.layers.flatten(),
        layers.layers.dense({ units: 1, kernelInitializer: layers.initializers.glorotUniform({ seed: 4 }) }),
      ],
    });
    const scored = () => tf.tidy(() => net.predict(tf.tensor4d(held.X, [400, 8, 8, 1])).dataSync().slice());
    const before = exact.sync.metrics(scored()).ap;
    let forward = 0;
    const loss = (rows) =>
      tf.customGrad((scores) => {
        const { value, gradient } = objective.gradient(scores.dataSync(), rows);
        objective.commit();
        return { value: tf.scalar(value), gradFunc: (dy) => tf.mul(dy, tf.tensor(gradient, scores.shape)) };
      });
    const optimizer = tf.train.adam(0.03);
    for (let step = 0; step < steps; step += 1) {
      const rows = Int32Array.from({ length: batch }, (_, k) => (step * 677 + k * 20 + (k % 5)) % 1000);
      tf.tidy(() => {
        const inputs = tf.gather(images, tf.tensor1d(rows, "int32"));
        optimizer.minimize(() => {
          forward += 1;
          return loss(rows)(tf.reshape(net.apply(inputs, { training: true }), [-1]));
        });
      });
    }
    const after = exact.sync.metrics(scored()).ap;
    t.diagnostic(`${name}: AP of held-out rows ${before.toFixed(3)} before, ${after.toFixed(3)} after ${steps} steps, ${forward} forward passes`);
    assert.equal(forward, steps);
    assert.ok(before < 0.3 && after > 0.6, `${name}: ${before} ${after}`);
    objective.dispose();
    net.dispose();
  }
  exact.dispose();
  images.dispose();
});
