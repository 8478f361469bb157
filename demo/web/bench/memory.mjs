// The page's memory and listeners while runs of many seeds follow each other, and its longest tasks with a file of many rows.
//
//     node demo/web/bench/memory.mjs [--seeds 300] [--rows 200000]
//
// What the page's own objects take, machine code and what the browser keeps apart, is read from snapshots of the heap after a tenth of the
// seeds, half of them, and all; listeners and nodes too. Tasks are the processor time of whole
// tasks on the page's thread, from a trace. Needs `cargo demo --build-only`; CHROMIUM names the browser.

import { parseArgs } from "node:util";
import { TASK, opened, times, traced } from "./traced.mjs";

const { values } = parseArgs({ options: { seeds: { type: "string", default: "300" }, rows: { type: "string", default: "200000" }, dist: { type: "string", default: "dist" } } });
const own = await opened(values.dist);
const { page, address } = own;
page.setDefaultTimeout(120_000);
const done = () => page.waitForFunction(() => document.documentElement.dataset.state === "done" && Number(document.documentElement.dataset.step) >= 300);

await page.goto(`${address}#data=split&steps=300&speed=max`);
await done();
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable");
/** Megabytes of objects, and of machine code with what it was compiled from. */
const heap = async () => {
  const parts = [];
  const add = ({ chunk }) => parts.push(chunk);
  devtools.on("HeapProfiler.addHeapSnapshotChunk", add);
  await devtools.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  devtools.off("HeapProfiler.addHeapSnapshotChunk", add);
  const { snapshot: { meta }, nodes } = JSON.parse(parts.join(""));
  const [type, size] = ["type", "self_size"].map((field) => meta.node_fields.indexOf(field));
  const of = { objects: 0, code: 0 };
  for (let at = 0; at < nodes.length; at += meta.node_fields.length) {
    const kind = meta.node_types[type][nodes[at + type]];
    if (kind !== "native") of[kind === "code" ? "code" : "objects"] += nodes[at + size] / 1e6;
  }
  return of;
};
const tell = async (seeds) => {
  await devtools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devtools.send("Performance.getMetrics");
  const of = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  const { objects, code } = await heap();
  console.log(`after ${seeds} seeds: objects ${objects.toFixed(2)} MB, code ${code.toFixed(2)} MB, ${of.JSEventListeners} listeners, ${of.Nodes} nodes`);
};
const seeds = Number(values.seeds);
for (let seed = 1; seed <= seeds; seed += 1) {
  // (Another seed by its field, as a hand does it.)
  await page.$eval("#seed", (field, seed) => {
    field.value = String(seed + 1);
    field.dispatchEvent(new Event("change"));
  }, seed);
  await page.waitForFunction((seed) => location.hash.includes(`seed=${seed + 1}&`), seed);
  await done();
  if ([Math.ceil(seeds / 10), Math.ceil(seeds / 2), seeds].includes(seed)) await tell(seed);
}

const rows = Number(values.rows);
const cells = Array.from({ length: rows }, (_, row) => `${Math.sin(row * row).toFixed(4)},${Math.cos(3 * row).toFixed(4)},${Number(Math.sin(row * row) + Math.cos(7 * row) > 1.2)}`);
await page.setInputFiles("#file", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(`a,b,label\n${cells.join("\n")}\n`) });
await page.waitForFunction((text) => document.body.textContent.includes(text), "rows.csv");
const events = await traced(own, [], async () => {
  const train = page.locator("#inspect button.primary");
  if (await train.count()) await train.first().click();
  await page.waitForTimeout(25_000);
});
const long = times(events, TASK).sort((a, b) => b - a);
console.log(`${rows} rows, 25 s of training: ${long.length} tasks of the page's thread, the longest ${long.slice(0, 3).map((ms) => ms.toFixed(1)).join(", ")} ms; ${long.filter((ms) => ms > 50).length} over 50 ms; step ${await page.evaluate(() => document.documentElement.dataset.step)}`);
await own.close();
process.exit(0);
