// All data on the built page in headless Chromium, with WebGPU on its software adapter and without. Needs `cargo demo
// --build-only` first; CHROMIUM names the browser.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { dist, serve } from "./server.mjs";
import { Exact, init, synthetic } from "../../../wasm/js/index.js";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const flags = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const ROWS = 10_000;
let server;
let home;
const browsers = [];

before(async () => {
  server = await serve(dist);
  ({ home } = server);
  await init();
});
after(async () => {
  for (const browser of browsers) await browser.close();
  await server?.stop();
});

async function open(hash, webgpu = false) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: webgpu ? [...flags, "--enable-unsafe-webgpu"] : flags });
  browsers.push(browser);
  // (What a service worker has kept comes past the route below.)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, serviceWorkers: "block" });
  page.setDefaultTimeout(120000);
  const requests = [];
  const errors = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  // The device that the worker opens, to be lost: its script begins with what notes it.
  const note = () => {
    if (!globalThis.GPUAdapter) return;
    const request = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (...args) {
      return (globalThis.device = await request.apply(this, args));
    };
  };
  await page.route(/all-worker/, async (route) => {
    const response = await route.fetch();
    const { "content-encoding": _, "content-length": __, ...headers } = response.headers();
    await route.fulfill({ status: response.status(), headers, body: `(${note})();\n${await response.text()}` });
  });
  await page.addInitScript(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  });
  await page.goto(home + hash);
  await page.waitForFunction(() => document.documentElement.dataset.state === "done");
  return { page, requests, errors, close: () => browser.close() };
}

const ready = (page) => page.waitForFunction(() => document.querySelector("#all")?.dataset.state === "done");
/** What the page shows now. */
const shown = (page) => page.evaluate(() => {
  const { w, of, fpr, value, grad, milliseconds, metrics: { auroc, ap }, backend, reason } = globalThis.undercurve.shown;
  const cells = [...document.querySelectorAll("#all-table td")].map((cell) => cell.textContent);
  return { w, of, fpr, value, grad, milliseconds, auroc, ap, backend, reason, cells, sentence: document.querySelector("#all-sentence").textContent, told: document.querySelector("#all-backend").textContent };
});

/** The same by the package in Node: the core's exact sums. */
async function core({ w, of, fpr }, loss = "sigmoid", rows = ROWS) {
  const { X, y } = synthetic("split", { rows, testRows: 4, positives: 0.03, noise: 0, seed: 1 });
  const exact = await Exact.create({ y, backend: "cpu" });
  const scores = Float32Array.from(y, (_, row) => w[0] * X[2 * row] + w[1] * X[2 * row + 1]);
  const { value, gradient } = await (of === "pauc" ? exact.pauc(scores, fpr, { loss }) : exact[of](scores, { loss }));
  const grad = [0, 0];
  gradient.forEach((g, row) => [0, 1].forEach((k) => (grad[k] += g * X[2 * row + k])));
  const { auroc, ap } = await exact.metrics(scores);
  exact.dispose();
  return { value, grad, auroc, ap };
}

/** The page's numbers beside the core's. */
async function alike(page, tolerance, loss) {
  const found = await shown(page);
  const { value, grad, auroc, ap } = await core(found, loss);
  const steep = Math.hypot(...grad);
  const apart = Math.max(Math.abs(found.value / value - 1), ...grad.map((g, k) => Math.abs(found.grad[k] - g) / steep), Math.abs(found.auroc - auroc), Math.abs(found.ap - ap));
  assert.ok(apart <= tolerance, `${apart}: ${JSON.stringify(found)} ${value} ${grad} ${auroc} ${ap}`);
  assert.equal(found.cells[0], found.value.toFixed(6).replace("-", "−"));
  return { ...found, apart };
}

/** Changes something, and waits until it shows. */
async function changed(page, change) {
  const before = await page.evaluate(() => (globalThis.undercurve.shown.seen = true));
  assert.ok(before);
  await change();
  await page.waitForFunction(() => document.querySelector("#all").dataset.state === "done" && !globalThis.undercurve.shown.seen);
}

/** The longest task of the page's thread meanwhile, in the best of three rounds: the machine has others to work for. */
async function longest(page, work) {
  const rounds = [];
  while (rounds.length < 3 && !(rounds.at(-1) <= 50)) {
    await page.evaluate(() => (globalThis.tasks.length = 0));
    await work();
    await ready(page);
    rounds.push(await page.evaluate(() => Math.max(0, ...globalThis.tasks)));
  }
  return Math.min(...rounds);
}

test("the exact gradient of all data follows the band and the scorer", async (t) => {
  const { page, requests, errors, close } = await open("#steps=40");
  // Nothing of it is downloaded before it is asked for. (The service worker's own fetches are not the page's.)
  const own = () => requests.filter((url) => /\/all-/.test(url)).length;
  assert.equal(own(), 0);
  await page.waitForFunction(() => document.documentElement.dataset.draws === "done");
  await page.click("#bench");
  await page.click("#all > summary");
  await ready(page);
  assert.equal(own(), 2);
  // It begins with the scorer of lane A.
  const first = await shown(page);
  const lane = await page.evaluate(() => globalThis.undercurve.rows().dims);
  assert.equal(lane, 2);
  assert.match(first.sentence, /^The partial-AUC loss \(false positives ≤\s5\s%\) of this scorer, over all 14,550,000 pairs of 3,000 positives and the 4,850 negatives in that range, is \d/);
  assert.match(first.told, /^CPU, .*: (WebGPU has no adapter here|there is no WebGPU here)\.$/);
  // Rows that change while others are drawn, a scorer that moves meanwhile, and a panel that is folded: the last counts.
  await page.evaluate(() => {
    for (const rows of [1000000, 100000, 10000, 100000, 10000]) document.querySelector(`#all-rows input[value="${rows}"]`).click();
    document.querySelector("#all-angle").dispatchEvent(new Event("input"));
  });
  await ready(page);
  await alike(page, 1e-12);
  // A change in the same task as the fold is kept: nothing has written it into the address yet.
  await page.evaluate(() => {
    document.querySelector('#all-of input[value="ap"]').click();
    document.querySelector("#all > summary").click();
  });
  await page.waitForFunction(() => document.querySelector("#all").dataset.state === "closed");
  await page.click("#all > summary");
  await ready(page);
  assert.equal((await alike(page, 1e-12)).of, "ap");
  await changed(page, () => page.check('#all-of input[value="pauc"]', { force: true }));
  const begun = await alike(page, 1e-12);

  // The band by key and by pointer.
  await changed(page, () => page.locator("#all-band .edge").nth(1).press("PageUp"));
  const wider = await alike(page, 1e-12);
  assert.deepEqual(wider.fpr, [0, 0.15]);
  assert.notEqual(wider.value, begun.value);
  const edge = page.locator("#all-band .edge").nth(1);
  await edge.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await edge.boundingBox();
  const band = await page.locator("#all-band").boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  for (let k = 1; k <= 20; k += 1) await page.mouse.move(x + width / 2 + (band.width * 0.3 * k) / 20, y + height / 2);
  await page.mouse.up();
  await page.waitForFunction(() => globalThis.undercurve.shown.fpr[1] === 0.45);
  await ready(page);
  assert.ok((await alike(page, 1e-12)).value < wider.value);

  // The scorer by key, and by its tip; other objectives and losses.
  await changed(page, () => page.locator("#all-angle").press("ArrowRight"));
  await alike(page, 1e-12);
  const plane = await page.locator("#all-plane").boundingBox();
  const tip = await page.locator("#all-tip").boundingBox();
  await page.mouse.move(tip.x + tip.width / 2, tip.y + tip.height / 2);
  await page.mouse.down();
  await page.mouse.move(plane.x + plane.width / 2 + 40, plane.y + 40, { steps: 10 });
  await page.mouse.up();
  await page.waitForTimeout(50);
  await ready(page);
  const turned = await alike(page, 1e-12);
  assert.notDeepEqual(turned.w, begun.w);
  await changed(page, () => page.check('#all-of input[value="ap"]', { force: true }));
  await alike(page, 1e-12);
  await changed(page, () => page.selectOption("#all-loss", "logistic"));
  await alike(page, 1e-12, "logistic");
  await changed(page, () => page.check('#all-of input[value="auc"]', { force: true }));
  const before = await alike(page, 1e-12, "logistic");

  // Down the gradient the loss falls.
  await page.click("#all-follow");
  await page.waitForFunction(() => /^After \d+ steps of the exact gradient the loss has fallen from /.test(document.querySelector("#all-sentence").textContent));
  const after = await alike(page, 1e-12, "logistic");
  assert.ok(after.value < before.value && Math.hypot(...after.grad) < 0.05 * Math.hypot(...before.grad), `${before.value} ${before.grad} → ${after.value} ${after.grad}`);
  // What is shown is in the address.
  await page.waitForFunction(() => /all\.of=auc/.test(location.hash) && /all\.w=/.test(location.hash));
  const task = await longest(page, async () => {
    for (let k = 0; k < 20; k += 1) await page.locator("#all-angle").press("ArrowRight");
    await ready(page);
    await page.click("#all-follow");
  });
  const drawn = await page.evaluate(() => globalThis.undercurve.all.drawn.sort((a, b) => a - b));
  t.diagnostic(`${drawn.length} pictures, median ${drawn[drawn.length >> 1].toFixed(1)} ms; longest task ${task} ms`);
  assert.ok(task <= 50, `a task of ${task} ms`);
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run("#all").then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)));
  assert.deepEqual(found, []);
  assert.deepEqual(errors, []);
  // The address opens what was shown.
  const hash = new URL(page.url()).hash;
  await close();
  const second = await open(hash);
  await ready(second.page);
  const reopened = await alike(second.page, 1e-12, "logistic");
  assert.deepEqual([reopened.of, reopened.fpr], [after.of, [0, 0.45]]);
  // Of data that is not drawn there is none.
  await second.page.click('#side button:has-text("Breast cancer")');
  await second.page.waitForFunction(() => document.querySelector("#all").hidden && !document.querySelector("#grid").hidden);
  await second.close();
});

test("all data on WebGPU, and on the CPU once the device is lost", async (t) => {
  const { page, errors, close } = await open(`#steps=40&story=all&all.rows=${ROWS}&all.on=gpu-software&all.w=0.3,0.9`, true);
  await ready(page);
  await page.waitForFunction(() => document.documentElement.dataset.draws === "done");
  const task = await longest(page, () => changed(page, () => page.locator("#all-band .edge").nth(1).press("ArrowRight")));
  const gpu = await alike(page, 5e-6);
  assert.equal(gpu.backend, "gpu-software");
  assert.match(gpu.told, /^GPU, .+: all rows in one sort, as asked for\.$/);
  const worker = page.workers().find((one) => one.url().includes("all-worker"));
  await worker.evaluate(() => globalThis.device.destroy());
  await changed(page, () => page.locator("#all-angle").press("ArrowRight"));
  const cpu = await alike(page, 1e-12);
  assert.equal(cpu.backend, "cpu-simd");
  assert.match(cpu.told, /until it failed \(.+\); since then CPU\.$/);
  t.diagnostic(`${gpu.apart.toExponential(1)} apart on the device; longest task ${task} ms`);
  assert.ok(task <= 50, `a task of ${task} ms`);
  // A GPU that is not there is refused in words.
  await page.selectOption("#all-on", "gpu");
  await page.waitForFunction(() => /^backend gpu: the only adapter is one in software, slower than this\.$/.test(document.querySelector("#all-sentence").textContent));
  await page.selectOption("#all-on", "auto");
  await ready(page);
  assert.match((await shown(page)).told, /^CPU, .*: the only adapter is one in software, slower than this\.$/);
  assert.deepEqual(errors, []);
  await close();
});
