// The page's memory while runs follow each other, and its longest tasks with a file of many rows.
//
//     node demo/web/bench/memory.mjs [--minutes 5] [--rows 200000]
//
// Every run has another seed. The heap is read after a collection, after one minute and at the end. Tasks are the processor time of
// whole tasks on the page's thread, from a trace. Needs `cargo demo --build-only`; CHROMIUM names the browser.

import { parseArgs } from "node:util";
import { TASK, opened, times, traced } from "./traced.mjs";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "5" }, rows: { type: "string", default: "200000" } } });
const own = await opened();
const { page, address } = own;
page.setDefaultTimeout(120_000);
const done = () => page.waitForFunction(() => document.documentElement.dataset.state === "done");

await page.goto(`${address}#data=split&steps=300`);
await done();
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable");
const heap = async () => {
  await devtools.send("HeapProfiler.collectGarbage");
  const { metrics } = await devtools.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "JSHeapUsedSize").value / 1e6;
};
const begun = performance.now();
const minutes = () => (performance.now() - begun) / 60_000;
let [runs, first] = [0, NaN];
while (minutes() < Number(values.minutes)) {
  await page.click("#dice");
  await page.waitForTimeout(500);
  await done();
  if ((await page.textContent("#play")) === "Play") await page.click("#play");
  await page.waitForTimeout(500);
  await page.waitForFunction(() => Number(document.documentElement.dataset.step) >= 300);
  runs += 1;
  if (Number.isNaN(first) && minutes() >= 1) first = await heap();
}
const last = await heap();
console.log(`${runs} runs: heap ${first.toFixed(2)} MB after 1 minute, ${last.toFixed(2)} MB after ${minutes().toFixed(1)} (${(last - first).toFixed(2)} more)`);

const rows = Number(values.rows);
const cells = Array.from({ length: rows }, (_, row) => `${Math.sin(row * row).toFixed(4)},${Math.cos(3 * row).toFixed(4)},${Number(Math.sin(row * row) + Math.cos(7 * row) > 1.2)}`);
await page.setInputFiles("#file", { name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from(`a,b,label\n${cells.join("\n")}\n`) });
await page.waitForFunction((text) => document.body.textContent.includes(text), "rows.csv");
await done();
const events = await traced(own, [], async () => {
  if ((await page.textContent("#play")) === "Play") await page.click("#play");
  await page.waitForTimeout(20_000);
});
const long = times(events, TASK).sort((a, b) => b - a);
console.log(`${rows} rows, 20 s of training: ${long.length} tasks of the page's thread, the longest ${long.slice(0, 3).map((ms) => ms.toFixed(1)).join(", ")} ms; ${long.filter((ms) => ms > 50).length} over 50 ms; step ${await page.evaluate(() => document.documentElement.dataset.step)}`);
await own.close();
