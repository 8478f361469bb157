// Processor time of the npm package's metrics with weights over that without: in turns, least times, in Node.
//
//     cargo demo --build-only && node tests/peers/weighted.mjs [ROWS ...]
//
// Scores are normal, those of positives 1 higher; one row in twenty is positive; weights are even from 0 to 2. One thread.

import { Exact, initJudge, metrics } from "../../wasm/js/index.js";

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 100_000, 400_000, 1_000_000];
const ROUNDS = 5;

const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
await initJudge();
console.log(`Node ${process.version}, milliseconds without and with weights, and their ratio\n\n| rows | Exact.metrics | | | metrics(), with intervals | | |\n|---|---|---|---|---|---|---|`);
for (const rows of sizes) {
  const labels = Uint8Array.from({ length: rows }, (_, row) => (row === 0 || (row > 1 && Math.random() < 0.05) ? 1 : 0));
  const scores = Float32Array.from(labels, (label) => normal() + label);
  const weights = Float32Array.from(labels, () => 2 * Math.random());
  const [plain, weighted] = await Promise.all([Exact.create({ y: labels, backend: "cpu" }), Exact.create({ y: labels, weights, backend: "cpu" })]);
  const calls = [() => plain.sync.metrics(scores), () => weighted.sync.metrics(scores), () => metrics(labels, scores, { intervals: true }), () => metrics(labels, scores, { intervals: true, weights })];
  const least = calls.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, call] of calls.entries()) {
      const begun = process.cpuUsage();
      await call();
      const { user, system } = process.cpuUsage(begun);
      least[at] = Math.min(least[at], (user + system) / 1000);
    }
  }
  const [a, b, c, d] = least.map((ms) => ms.toFixed(1));
  console.log(`| ${rows} | ${a} | ${b} | ${(least[1] / least[0]).toFixed(2)} | ${c} | ${d} | ${(least[3] / least[2]).toFixed(2)} |`);
}
