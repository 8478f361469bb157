// The page's memory and listeners while runs of many seeds follow each other, and its longest tasks with a file of many rows.
//
//     node demo/web/bench/memory.mjs [--seeds 300] [--rows 200000]
//
// Heap, listeners and nodes are read after a collection, after a tenth of the seeds and at the end. Tasks are the processor time of whole
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
const told = async () => {
  await devtools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devtools.send("Performance.getMetrics");
  const of = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  return { heap: of.JSHeapUsedSize / 1e6, listeners: of.JSEventListeners, nodes: of.Nodes };
};
const seeds = Number(values.seeds);
let first;
for (let seed = 1; seed <= seeds; seed += 1) {
  // (Another seed by its field, as a hand does it.)
  await page.$eval("#seed", (field, seed) => {
    field.value = String(seed + 1);
    field.dispatchEvent(new Event("change"));
  }, seed);
  await page.waitForFunction((seed) => location.hash.includes(`seed=${seed + 1}&`), seed);
  await done();
  if (seed === Math.ceil(seeds / 10)) first = await told();
}
const last = await told();
const line = ({ heap, listeners, nodes }) => `heap ${heap.toFixed(2)} MB, ${listeners} listeners, ${nodes} nodes`;
console.log(`after ${Math.ceil(seeds / 10)} seeds: ${line(first)}; after ${seeds}: ${line(last)}`);

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
