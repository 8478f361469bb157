// The wasm package in headless Chromium with WebGPU on its software adapter, and without. Needs `cargo demo --build-only`
// first; CHROMIUM names the browser.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const root = new URL("../../../wasm/js/", import.meta.url);
const types = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
const flags = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let server;
let home;
const browsers = [];

before(async () => {
  server = createServer(async (request, response) => {
    const name = new URL(request.url, home).pathname.slice(1) || "index.html";
    const body = name === "index.html" ? "<!doctype html><title>undercurve</title>" : await readFile(new URL(name, root)).catch(() => undefined);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": types[name.split(".").at(-1)] ?? "text/plain" });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  home = `http://127.0.0.1:${server.address().port}/`;
});
after(async () => {
  for (const browser of browsers) await browser.close();
  server?.close();
});

/** An empty page of a browser of its own, with the modules that were downloaded noted. */
async function open(webgpu) {
  const args = webgpu ? [...flags, "--enable-unsafe-webgpu"] : flags;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args });
  browsers.push(browser);
  const page = await browser.newPage();
  page.setDefaultTimeout(240000);
  const modules = new Set();
  page.on("request", (request) => {
    const [, module] = request.url().match(/([a-z_]+)_bg\.wasm$/) ?? [];
    if (module) modules.add(module);
  });
  await page.addInitScript(() => {
    // What the device is asked for, and the device; the most work that is handed over between two turns of the loop.
    globalThis.most = { dispatches: 0, bytes: 0 };
    if (!globalThis.GPUAdapter) return;
    const turn = { dispatches: 0, bytes: 0 };
    const counted = (what, count) => {
      if (!turn.dispatches && !turn.bytes) setTimeout(() => Object.assign(turn, { dispatches: 0, bytes: 0 }));
      turn[what] += count;
      globalThis.most[what] = Math.max(globalThis.most[what], turn[what]);
    };
    const { dispatchWorkgroups } = GPUComputePassEncoder.prototype;
    GPUComputePassEncoder.prototype.dispatchWorkgroups = function (...args) {
      counted("dispatches", 1);
      return dispatchWorkgroups.apply(this, args);
    };
    const { writeBuffer } = GPUQueue.prototype;
    GPUQueue.prototype.writeBuffer = function (...args) {
      counted("bytes", args[4] ?? args[2].byteLength);
      return writeBuffer.apply(this, args);
    };
    const request = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (...args) {
      return (globalThis.device = await request.apply(this, args));
    };
    const map = GPUBuffer.prototype.mapAsync;
    globalThis.maps = 0;
    GPUBuffer.prototype.mapAsync = function (...args) {
      globalThis.maps += 1;
      return map.apply(this, args);
    };
  });
  await page.goto(home);
  return { page, modules, close: () => browser.close() };
}

/** In the page: what lanes come to, of the package in the page or its worker. */
async function trained({ lanes, backend, from, steps, lose, every = 40 }) {
  const { Lanes, init, synthetic } = await import("/index.js");
  await init();
  const data = synthetic("split", { rows: 400, testRows: 400, positives: 0.1 });
  const options = { ...data, method: { name: "soap", settings: { surrogate: "squared-hinge" } }, lanes, backend, steps };
  const runs = from === "worker" ? await (await import("/worker.js")).createTrainer(options) : await Lanes.create(options);
  globalThis.most = { dispatches: 0, bytes: 0 };
  globalThis.maps = 0;
  const start = performance.now();
  let last;
  for await (const shot of runs.run({ every })) {
    last = shot;
    if (lose && shot.step >= lose) globalThis.device.destroy();
  }
  const seconds = (performance.now() - start) / 1000;
  const reports = await runs.reports();
  const { backend: at, backendReason } = last;
  const saved = (await runs.save(1)).length;
  runs.dispose();
  const { most } = globalThis;
  return { began: [runs.backend, runs.backendReason], backend: at, backendReason, done: last.done, step: last.step, saved, failed: reports.errors.filter(Boolean), ap: [...reports.metrics.ap], most, maps: globalThis.maps, seconds };
}

const apart = (a, b) => Math.max(...a.map((value, k) => Math.abs(value - b[k])));
/** The long tier: as large as the page's map. */
const side = process.env.UNDERCURVE_LONG ? 16 : 4;
const GRID = { grid: { lr: Array.from({ length: side }, (_, k) => 0.01 * 10 ** (k / (side - 1))), gamma: Array.from({ length: side }, (_, k) => 0.3 + (0.6 * k) / (side - 1)) } };

test("sixty-four lanes and a grid train on WebGPU, from the page and from its worker", async (t) => {
  const { page, modules, close } = await open(true);
  assert.ok(await page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter())), "the browser has no software adapter");
  for (const [lanes, from] of [[64, "page"], [GRID, "worker"]]) {
    const asked = { lanes, from, steps: 120 };
    const cpu = await page.evaluate(trained, { ...asked, backend: "cpu" });
    const gpu = await page.evaluate(trained, { ...asked, backend: "gpu-software" });
    assert.deepEqual([cpu.backend, gpu.backend, gpu.done, gpu.failed], ["cpu-simd", "gpu-software", true, []]);
    assert.match(gpu.backendReason, new RegExp(`^GPU, .*: ${cpu.ap.length} runs side by side, as asked for$`));
    assert.equal(gpu.saved, cpu.saved);
    assert.ok(apart(gpu.ap, cpu.ap) < 2e-3, `${apart(gpu.ap, cpu.ap)}`);
    t.diagnostic(`${from}: ${cpu.ap.length} runs, average precisions ${apart(gpu.ap, cpu.ap).toExponential(1)} apart; at most ${gpu.most.dispatches} dispatches and ${gpu.most.bytes} bytes in a turn, ${gpu.maps} buffers mapped in ${gpu.seconds.toFixed(1)} s`);
    // (What a turn hands over does not depend on how busy the machine is.)
    assert.deepEqual(from === "page" ? [gpu.most.dispatches > 0 && gpu.most.dispatches <= 8, gpu.most.bytes <= 1 << 20] : gpu.most, from === "page" ? [true, true] : { dispatches: 0, bytes: 0 });
  }
  assert.deepEqual([...modules].sort(), ["undercurve", "undercurve_webgpu", "undercurve_whole"]);
  // Slices that follow each other at once are answered, each with numbers of its own; the last of a run is of its last step.
  const steps = await page.evaluate(async () => {
    const { createTrainer } = await import("/worker.js");
    const { synthetic } = await import("/index.js");
    const runs = await createTrainer({ ...synthetic("split", { rows: 400, testRows: 400, positives: 0.1 }), lanes: 2, backend: "gpu-software" });
    const shots = [];
    for (let k = 0; k < 4; k += 1) shots.push(await runs.advance({ steps: 2 }));
    for await (const shot of runs.run({ steps: 7, every: 3 })) shots.push(shot);
    const refused = await createTrainer({ ...synthetic("split", { rows: 400, testRows: 400, positives: 0.1 }), lanes: 2, backend: "gpu" }).catch((error) => error.name);
    runs.dispose();
    return [...shots.map((shot) => shot.reports.metrics.ap.length), shots.at(-1).step, refused];
  });
  assert.deepEqual(steps, [2, 2, 2, 2, 2, 2, 2, 15, "NoGpu"]);
  // It is never taken unasked.
  const auto = await page.evaluate(trained, { lanes: 3, from: "page", steps: 40, backend: "auto" });
  assert.equal(auto.backend, "cpu-simd");
  assert.match(auto.backendReason, /: the only adapter is one in software, slower than this$/);
  await close();
});

test("a device that is lost half way leaves the rest to the CPU", async () => {
  const { page, close } = await open(true);
  const asked = { lanes: 4, from: "page", steps: 120 };
  const cpu = await page.evaluate(trained, { ...asked, backend: "cpu" });
  const lost = await page.evaluate(trained, { ...asked, backend: "gpu-software", lose: 40 });
  assert.deepEqual([lost.began[0], lost.backend, lost.done, lost.step, lost.failed], ["gpu-software, then cpu-simd", "gpu-software, then cpu-simd", true, 120, []]);
  assert.match(lost.backendReason, /until it failed \(.+\); since then CPU$/);
  assert.ok(apart(lost.ap, cpu.ap) < 2e-3, `${apart(lost.ap, cpu.ap)}`);
  // A loss that shows when states are asked for costs no step.
  const at = await page.evaluate(async () => {
    const { Lanes, synthetic } = await import("/index.js");
    const runs = await Lanes.create({ ...synthetic("split", { rows: 400, testRows: 400, positives: 0.1 }), lanes: 2, steps: 100, backend: "gpu-software" });
    await runs.advance({ steps: 10 });
    await runs.advance({ steps: 20 });
    globalThis.device.destroy();
    const { step } = await runs.reports();
    const { backend } = await runs.advance({ steps: 0 });
    runs.dispose();
    return [...step, backend];
  });
  assert.deepEqual(at, [30, 30, "gpu-software, then cpu-simd"]);
  // Lanes that are given back while the device is at work end with a sentence.
  const gone = await page.evaluate(async () => {
    const { Lanes, synthetic } = await import("/index.js");
    const runs = await Lanes.create({ ...synthetic("split", { rows: 400, testRows: 400, positives: 0.1 }), lanes: 2, backend: "gpu-software" });
    const work = runs.advance({ steps: 500 });
    setTimeout(() => runs.dispose(), 100);
    return work.then(() => "done", (error) => error.message);
  });
  assert.equal(gone, "the lanes were disposed");
  await close();
});

test("without an adapter the CPU trains, and nothing more is downloaded", async () => {
  const { page, modules, close } = await open(false);
  const auto = await page.evaluate(trained, { lanes: 3, from: "worker", steps: 40, backend: "auto" });
  assert.equal(auto.backend, "cpu-simd");
  assert.match(auto.backendReason, /: (WebGPU has no adapter here|there is no WebGPU here)$/);
  const error = await page.evaluate(async () => {
    const { Lanes, synthetic } = await import("/index.js");
    return Lanes.create({ ...synthetic("split", { rows: 400, testRows: 400, positives: 0.1 }), lanes: 2, backend: "gpu" }).catch(({ name, message }) => `${name}: ${message}`);
  });
  assert.match(error, /^NoGpu: backend gpu: /);
  assert.deepEqual([...modules], ["undercurve"]);
  await close();
});

/** In the page: what is found of some scores by the package, there or in its worker; `lose` the device before the last call. */
async function whole({ backend, from, rows, lose }) {
  const { Exact } = await import("/index.js");
  const { createExact } = await import("/worker.js");
  const y = Uint8Array.from({ length: rows }, (_, row) => Number(row % 17 === 0));
  const scores = Float32Array.from(y, (label, row) => Math.round(64 * (Math.sin(row * row) * 2 + label)) / 64);
  globalThis.most = { dispatches: 0, bytes: 0 };
  const exact = await (from === "worker" ? createExact : Exact.create)({ y, backend });
  const began = [exact.backend, exact.backendReason];
  // (Two at once, as nobody need wait.)
  const [metrics, auc] = await Promise.all([exact.metrics(scores), exact.auc(scores)]);
  const pauc = await exact.pauc(scores, [0.013, 0.05], { loss: "hinge" });
  const ap = await exact.ap(scores, { loss: "sigmoid" });
  if (lose) globalThis.device.destroy();
  // Scores so far apart that squares leave f32 are the CPU's.
  const far = await exact.auc(scores.map((score) => 1e17 * score));
  const refused = await exact.auc(scores.map(() => NaN)).catch((error) => error.message);
  const again = await exact.auc(scores);
  const told = [exact.backend, exact.backendReason];
  exact.dispose();
  const plain = ({ value, gradient, backend: by }) => ({ value, gradient: [...gradient], by });
  const { auroc, wins, ties, ap: precision, curve } = metrics;
  return { began, told, exact: { auroc, wins, ties, curve: Object.values(curve).map((column) => [...column]) }, precision, sums: [auc, pauc, ap, far, again].map(plain), refused, most: globalThis.most };
}

/** Values and gradients within the tolerance that the kernels name. */
function alike(a, b) {
  let worst = Math.abs(a.precision - b.precision);
  a.sums.forEach(({ value, gradient }, k) => {
    const most = Math.max(...b.sums[k].gradient.map(Math.abs));
    worst = Math.max(worst, Math.abs(value / b.sums[k].value - 1), apart(gradient, b.sums[k].gradient) / most);
  });
  return worst;
}

test("exact metrics, values and gradients of all rows are those of the CPU", async (t) => {
  const { page, modules, close } = await open(true);
  const rows = 20_000;
  const cpu = await page.evaluate(whole, { backend: "cpu", from: "worker", rows });
  assert.deepEqual([...modules].sort(), ["undercurve_pairs"]);
  const gpu = await page.evaluate(whole, { backend: "gpu-software", from: "worker", rows });
  assert.deepEqual([gpu.began[0], gpu.told[0]], ["gpu-software", "gpu-software"]);
  assert.match(gpu.told[1], /^GPU, .+: all rows in one sort, as asked for$/);
  // Counts and points to the last bit.
  assert.deepEqual(gpu.exact, cpu.exact);
  assert.ok(alike(gpu, cpu) < 2e-6, `${alike(gpu, cpu)}`);
  assert.deepEqual(gpu.sums.map(({ by }) => by), ["gpu-software", "gpu-software", "gpu-software", "cpu-simd", "gpu-software"]);
  assert.equal(gpu.refused, cpu.refused);
  t.diagnostic(`${alike(gpu, cpu).toExponential(1)} apart`);
  assert.deepEqual(gpu.most, { dispatches: 0, bytes: 0 }); // (the worker does it all)
  const auto = await page.evaluate(whole, { backend: "auto", from: "page", rows: 100 });
  assert.equal(auto.told[0], "cpu-simd");
  assert.match(auto.told[1], /: the only adapter is one in software, slower than this$/);
  const lost = await page.evaluate(whole, { backend: "gpu-software", from: "page", rows, lose: true });
  assert.deepEqual([lost.began[0], lost.told[0]], ["gpu-software", "gpu-software, then cpu-simd"]);
  assert.match(lost.told[1], /until it failed \(.+\); since then CPU$/);
  assert.deepEqual(lost.sums.at(-1), cpu.sums.at(-1));
  assert.deepEqual(lost.exact, cpu.exact);
  assert.ok(alike(lost, cpu) < 2e-6);
  const refused = await page.evaluate(whole, { backend: "gpu", from: "worker", rows: 100 }).catch((error) => error.message);
  assert.match(refused, /NoGpu: backend gpu: the only adapter is one in software/);
  await close();
});
