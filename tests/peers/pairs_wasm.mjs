// Nanoseconds a row of the exact sums of the npm package in Node, beside those of the program for this machine: in turns, least times.
//
//     cargo demo --build-only && cargo build --release -p undercurve-experiments
//     node tests/peers/pairs_wasm.mjs target/release/experiments [ROWS]
//
// Scores are normal, those of positives 1 higher; one row in twenty is positive. One thread.

import { execFileSync } from "node:child_process";
import { Exact, init } from "../../wasm/js/index.js";

const [program, asked] = process.argv.slice(2);
const rows = Number(asked ?? 1_000_000);
const ROUNDS = 5;
const SUMS = [
  ["AUC sq. hinge", "auc", "squared-hinge"],
  ["AP sq. hinge", "ap", "squared-hinge"],
  ["AUC smoothed hinge", "auc", "smoothed-hinge"],
  ["AUC sigmoid 1e-12", "auc", "sigmoid"],
  ["AP sigmoid 1e-12", "ap", "sigmoid"],
];

const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
const y = Uint8Array.from({ length: rows }, (_, row) => (row === 0 || (row > 1 && Math.random() < 0.05) ? 1 : 0));
const scores = Float32Array.from(y, (label) => normal() + label);
await init();
const exact = await Exact.create({ y, backend: "cpu" });
const least = new Map(SUMS.map(([title]) => [title, [Infinity, Infinity]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [title, sum, loss] of SUMS) {
    const begun = performance.now();
    exact.sync[sum](scores, { loss });
    const found = least.get(title);
    found[0] = Math.min(found[0], ((performance.now() - begun) * 1e6) / rows);
  }
  const lines = execFileSync(program, ["pairs", "--rows", String(rows), "--json"], { encoding: "utf8" }).trim().split("\n").map((line) => JSON.parse(line));
  for (const { data, sum, ns } of lines) if (data === "normal" && least.has(sum)) least.get(sum)[1] = Math.min(least.get(sum)[1], ns);
}
console.log(`${rows} rows, Node ${process.version}\n\n| sum | wasm, ns a row | native | ratio |\n|---|---|---|---|`);
for (const [title, [wasm, native]] of least) console.log(`| ${title} | ${wasm.toFixed(1)} | ${native.toFixed(1)} | ${(wasm / native).toFixed(2)} |`);
