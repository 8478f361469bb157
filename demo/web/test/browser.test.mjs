// The built page in headless Chromium. Needs `undercurve serve --build-only` first; CHROMIUM names the browser.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { preview } from "vite";

const root = new URL("..", import.meta.url).pathname;
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server;
let browser;
let home;

before(async () => {
  server = await preview({ root, logLevel: "silent", preview: { host: "127.0.0.1", port: 0 } });
  home = `http://127.0.0.1:${server.httpServer.address().port}/`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** A page that has finished its first run, with every foreign request, every error and the modules it loaded noted. */
async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  // Long, for a loaded machine: it bounds a hang, not a speed.
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  const foreign = [];
  const errors = [];
  const modules = new Set();
  page.on("request", (request) => {
    const url = new URL(request.url());
    const [, module] = url.pathname.match(/([a-z_]+)_bg[^/]*\.wasm$/) ?? [];
    if (module) modules.add(module);
    if (!["data:", "blob:"].includes(url.protocol) && url.hostname !== "127.0.0.1") foreign.push(request.url());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(home + hash);
  await finished(page);
  return { page, foreign, errors, modules, close: () => context.close() };
}

const finished = (page) => page.waitForFunction(() => document.documentElement.dataset.state === "done");
const metrics = (page) =>
  page.$$eval("#metrics tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].slice(0, 4).map((cell) => Number(cell.textContent))));

const drop = (page, name, text) => page.setInputFiles("#file", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
function goodCsv() {
  let text = "size,weight,colour,outcome\n";
  for (let k = 0; k < 300; k += 1) {
    const sick = k % 10 === 0;
    text += `${Math.sin(k) + (sick ? 2 : 0)},${k === 7 ? "" : Math.cos(3 * k)},${k % 3 ? "red" : "blue"},${sick ? "ill" : "well"}\n`;
  }
  return text;
}

test("the first result comes in time, is the measured one, and stays on this machine", async (t) => {
  const { page, foreign, errors, modules, close } = await open();
  const first = Number(await page.evaluate(() => document.documentElement.dataset.first));
  const work = await page.evaluate(() => globalThis.undercurve.timings.main.slice(1).sort((a, b) => a - b));
  t.diagnostic(`first result after ${first} ms; drawing a frame: median ${work[work.length >> 1].toFixed(1)} ms, most ${work.at(-1).toFixed(1)} ms`);
  assert.ok(first > 0);
  const [a, b] = await metrics(page);
  t.diagnostic(`average precision: cross-entropy ${a[0]}, SOAP ${b[0]}`);
  assert.ok(b[0] > a[0] + 0.1, "SOAP is ahead on the default set");
  const sentence = await page.textContent("#sentence");
  assert.ok(sentence.includes(a[0].toFixed(3)) && sentence.includes(b[0].toFixed(3)), sentence);
  assert.match(await page.textContent("#note"), /searching for a large gap/);
  const [mine, theirs] = await page.evaluate(() => globalThis.undercurve.batches().then((both) => both.map((rows) => [...rows])));
  assert.deepEqual(mine, theirs, "both lanes drew the same batch");
  assert.ok(mine.length > 0);
  assert.deepEqual(foreign, []);
  assert.deepEqual(errors, []);
  assert.deepEqual([...modules], ["undercurve"], "what is not needed yet is not loaded");
  await close();
});

test("the address brings back the same numbers", async () => {
  const one = await open("#seed=5&positives=6&a=ce-balanced&b=soap&b.lr=0.05&steps=200&model=16");
  const before = await metrics(one.page);
  await one.page.reload();
  await finished(one.page);
  assert.deepEqual(await metrics(one.page), before);
  const other = await open(new URL(one.page.url()).hash);
  assert.deepEqual(await metrics(other.page), before);
  await one.close();
  await other.close();
});

test("a file is described before training and trained on; a broken one says where", async () => {
  const { page, errors, close } = await open("#steps=100");
  await drop(page, "good.csv", goodCsv());
  await page.waitForSelector("#inspect");
  const shown = await page.textContent("#inspect");
  assert.match(shown, /300 rows/);
  assert.match(shown, /30 of 300 rows are positive/);
  assert.match(shown, /1 missing value/);
  await page.click("#inspect button");
  await finished(page);
  assert.match(page.url(), /data=file/);
  const trained = await metrics(page);
  assert.ok(trained.flat().every(Number.isFinite));

  await drop(page, "broken.csv", "x,label\n1,0\n2\n");
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.textContent("#problem"), /broken\.csv:3/);
  assert.deepEqual(await metrics(page), trained, "what was shown stays");
  await page.click("#play");
  await finished(page);
  assert.deepEqual(await metrics(page), trained, "and trains again to the same numbers");
  assert.deepEqual(errors, []);
  await close();
});

test("real samples train", async () => {
  for (const name of ["page-blocks", "digits", "breast-cancer"]) {
    const { page, close } = await open(`#data=${name}&steps=100&speed=max`);
    const [a, b] = await metrics(page);
    assert.ok(a[1] > 0.8 && b[1] > 0.8, `${name}: AUROC ${a[1]}, ${b[1]}`);
    await close();
  }
});

test("exact methods are offered, train, and end where nothing is left to do", async () => {
  for (const [a, b] of [["auc-exact", "ap-exact"], ["pauc-exact", "ce"]]) {
    const { page, errors, modules, close } = await open("#steps=20&speed=max");
    assert.deepEqual([...modules], ["undercurve"]);
    for (const [lane, method] of [["a", a], ["b", b]]) {
      await page.selectOption(`#lane-${lane} .head select`, method);
    }
    // Far more steps than the exact ones need to converge.
    await page.goto(`${home}#a=${a}&b=${b}&steps=600&speed=max`);
    await page.reload();
    await finished(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "600");
    const trained = await metrics(page);
    assert.ok(trained.flat().every(Number.isFinite), `${a}, ${b}: ${trained}`);
    // The minimum of partial AUC is at 0 here, where all rows score alike: in that range negatives lead in every direction.
    const ranks = ([, auroc], lane) => ([a, b][lane] === "pauc-exact" ? auroc === 0.5 : auroc > 0.6);
    assert.ok(trained.every(ranks), `${a}, ${b}: AUROC ${trained.map((lane) => lane[1])}`);
    assert.deepEqual(errors, []);
    assert.deepEqual([...modules].sort(), ["undercurve", "undercurve_full"]);
    await close();
  }
});

test("after one visit the page opens and trains with its server gone", async () => {
  const own = await preview({ root, logLevel: "silent", preview: { host: "127.0.0.1", port: 0 } });
  const context = await browser.newContext();
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${own.httpServer.address().port}/#steps=20`);
  await finished(page);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  own.httpServer.closeAllConnections();
  await own.close();
  await page.goto(`${page.url().split("#")[0]}#data=digits&steps=20`);
  await page.reload();
  await finished(page);
  const trained = await metrics(page);
  assert.ok(trained.flat().every(Number.isFinite), `${trained}`);
  assert.equal(await page.textContent("#problem"), "");
  // A file needs the module that reads files, which this page has not loaded yet.
  await drop(page, "good.csv", goodCsv());
  await page.waitForSelector("#inspect");
  await context.close();
});

test("what only drawn data has is shown for drawn data only; the dice bring another seed", async () => {
  const { page, close } = await open("#steps=20");
  const slider = page.getByRole("slider", { name: "Positives" });
  assert.ok(await slider.isVisible());
  await page.click(".samples button");
  await finished(page);
  assert.ok(!(await slider.isVisible()));
  await page.evaluate(() => (Math.random = () => 0.5));
  await page.click("#dice");
  await finished(page);
  assert.match(page.url(), /seed=500\b/);
  await close();
});

test("keys play, step and reset", async () => {
  const { page, close } = await open("#steps=50");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("r");
  await page.waitForFunction(() => document.documentElement.dataset.step === "0");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.documentElement.dataset.step === "1");
  await page.keyboard.press(" ");
  await finished(page);
  await close();
});

test("no serious accessibility fault, wide or narrow, light or dark", async () => {
  for (const options of [{}, { colorScheme: "dark" }, { viewport: { width: 390, height: 844 } }]) {
    const { page, close } = await open("#steps=20", options);
    await page.evaluate(axe);
    const faults = await page.evaluate(() => globalThis.axe.run().then((result) => result.violations.filter((fault) => ["serious", "critical"].includes(fault.impact)).map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`)));
    assert.deepEqual(faults, []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out sideways");
    await close();
  }
});

test("the story of step sizes runs on the page's data, as a chart and as a table", async () => {
  const { page, errors, close } = await open("#steps=20&story=steps", { colorScheme: "dark" });
  await page.waitForSelector("#steps[data-state=done]");
  assert.match(await page.textContent("#steps-sentence"), /AI-SARAH after 2\d\.\d passes/);
  const rows = await page.$$eval("#steps-table tbody tr", (all) => all.map((row) => [...row.children].map((cell) => Number(cell.textContent))));
  assert.ok(rows.length >= 8, `${rows.length} rows`);
  const last = rows.at(-1);
  assert.ok(last[1] > 0 && last[1] <= last[2] * 1.01, `α ${last[1]} is at most α max ${last[2]}`);
  assert.ok(last[4] < 1e-3 * rows[0][4], `the gradient fell from ${rows[0][4]} to ${last[4]}`);
  assert.ok(await page.$("#steps-chart canvas"));
  await page.evaluate(axe);
  const faults = await page.evaluate(() => globalThis.axe.run("#steps").then((result) => result.violations.map((fault) => fault.id)));
  assert.deepEqual(faults, []);
  await page.selectOption("#steps-lambda", "0");
  await page.waitForFunction((before) => document.querySelector("#steps[data-state=done]") && document.querySelector("#steps-table tbody tr:last-child").textContent !== before, await page.textContent("#steps-table tbody tr:last-child"));
  // Folding tells the page by an event of its own, some time after the click.
  await page.click("#steps summary");
  await page.waitForFunction(() => !location.hash.includes("story="));
  assert.deepEqual(errors, []);
  await close();
});

test("AI-SARAH trains in a lane beside a method that steps otherwise", async () => {
  const { page, close } = await open("#steps=60&a=ce&b=ai-sarah");
  const [a, b] = await metrics(page);
  assert.ok(Math.abs(a[1] - b[1]) < 0.1, `AUROC ${a[1]}, ${b[1]}`);
  await close();
});
