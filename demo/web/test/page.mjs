// What the browser's tests share: the built page, served as `cargo demo` serves it, in headless Chromium. PAGE_DIST names another build of it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { dist, root, serve } from "./server.mjs";

export { dist, root, serve };
export const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server;
export let browser;
export let home;
/** What no page may meet: answers of 400 and more, errors in the console, errors that nobody caught. */
const wrong = [];

/** Notes what goes wrong in the pages of a context; with `expected`, a pattern, all but that. */
export function watch(context, expected) {
  const note = (what) => expected?.test(what) || wrong.push(what);
  context.on("response", (response) => response.status() >= 400 && note(`${response.status()} ${response.url()}`));
  context.on("console", (message) => message.type() === "error" && note(message.text()));
  context.on("weberror", (error) => note(error.error().message));
  return context;
}

before(async () => {
  server = await serve(dist);
  ({ home } = server);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  assert.deepEqual(wrong, []);
});

/** The page, not its first picture: a page that has finished its first run, with every foreign request, every error and the modules it loaded noted. */
export async function open(hash = "#data=split", { collapse, ...options } = {}) {
  const context = watch(await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options }));
  // Long, for a loaded machine: it bounds a hang, not a speed.
  context.setDefaultTimeout(Number(process.env.PATIENCE) || 120000);
  const page = await context.newPage();
  await page.addInitScript(notes);
  if (collapse) await page.addInitScript(collapsing, collapse);
  const foreign = [];
  const errors = [];
  const modules = new Set();
  const asked = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    asked.push(url.pathname);
    const [, module] = url.pathname.match(/([a-z_]+)_bg[^/]*\.wasm$/) ?? [];
    if (module) modules.add(module);
    if (!["data:", "blob:"].includes(url.protocol) && url.hostname !== "127.0.0.1") foreign.push(request.url());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(home + hash);
  await finished(page);
  // What was asked for before the first result. (Samples, scenes and tools are for later.)
  const early = asked.filter((path) => !path.endsWith(".csv") && !path.endsWith("offline.js") && !/\/(later|texts)-/.test(path));
  return { page, early, foreign, errors, modules, close: () => context.close() };
}

/** In the page: every sentence that was told. */
function notes() {
  globalThis.said = [];
  const note = () => globalThis.said.push(document.querySelector("#sentence").textContent);
  addEventListener("DOMContentLoaded", () => new MutationObserver(note).observe(document.querySelector("#sentence"), { childList: true }));
}

/** In the page: runs of one method, with these seeds or all, say of themselves that they collapsed. */
function collapsing({ method, seeds, warning, collapsed = true }) {
  const Real = globalThis.Worker;
  globalThis.Worker = class extends Real {
    #calls = new Map();
    #lost = new Set();
    postMessage(message, transfer) {
      this.#calls.set(message.id, message);
      super.postMessage(message, transfer ?? []);
    }
    set onmessage(listener) {
      super.onmessage = (event) => {
        const { id, value } = event.data;
        const { call, args } = this.#calls.get(id) ?? {};
        if (call === "create" && value && args[0].method.name === method && (!seeds || seeds.includes(args[0].seed))) this.#lost.add(value.session);
        if (call === "advance" && value && this.#lost.has(args[0])) Object.assign(value, { collapsed, warning });
        listener(event);
      };
    }
  };
}

/** Until the draws behind the headline are done, or stopped. */
export const settled = (page) => page.waitForFunction(() => ["done", "stopped"].includes(document.documentElement.dataset.draws));
export const finished = (page) => page.waitForFunction(() => document.documentElement.dataset.state === "done");
/** The metrics of the run that is shown, in the order of the table. (The table itself goes on to the means of many draws.) */
export const metrics = (page) =>
  page.evaluate(() => {
    const shots = globalThis.undercurve.shots();
    const keys = "handTill" in shots.a.test ? ["handTill", "accuracy", "auroc", "ap"] : "worst" in shots.a.test ? ["auroc", "worst", "fprGap", "tprGap"] : ["ap", "auroc", "pauc", "accuracy"];
    return ["a", "b"].map((lane) => keys.map((key) => Number(shots[lane].test[key].toFixed(3))));
  });
export const tabled = (page) =>
  page.$$eval("#metrics tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].slice(0, 4).map((cell) => Number(cell.textContent))));
