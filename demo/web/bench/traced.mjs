// The built page in a browser, and the processor time of its thread.

import { chromium } from "playwright-core";
import { preview } from "vite";

/** @param {string} [dist] the folder of the page */
export async function opened(dist = "dist") {
  const server = await preview({ root: new URL("..", import.meta.url).pathname, logLevel: "silent", build: { outDir: dist }, preview: { host: "127.0.0.1", port: 0 } });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"] });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { browser, page, address: `http://127.0.0.1:${server.httpServer.address().port}/`, close };
}

/** The events of the page's thread while `work` goes on, beside those of these categories. */
export async function traced({ browser, page }, categories, work) {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata", ...categories] });
  await work();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const threads = traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  return traceEvents.filter((event) => threads.some(({ pid, tid }) => pid === event.pid && tid === event.tid));
}

/** Milliseconds of thread time of each of the events of these names. */
export const times = (events, ...names) => events.filter(({ name }) => names.includes(name)).map(({ tdur = 0 }) => tdur / 1000);

/** The name of whole tasks. */
export const TASK = "ThreadControllerImpl::RunTask";
