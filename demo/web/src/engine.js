// What trains: one module for all workers, and the workers.

import wasm from "undercurve/undercurve_bg.wasm?url";
import { Engine } from "undercurve/worker";

/** What the page cannot do without, and this browser lacks; empty where it has all. */
export const lack = !globalThis.WebAssembly ? "WebAssembly" : globalThis.Worker ? "" : "Web Workers";

/** How many rows are drawn, to train on and held out. */
export const DRAWN = { rows: 2000, testRows: 6000 };

/** The module that trains, loaded and compiled once for all workers. */
async function compiled() {
  const answer = await fetch(wasm);
  if (!answer.ok) throw new Error(`What trains could not be loaded (${answer.status})`);
  return WebAssembly.compile(await answer.arrayBuffer());
}
const train = lack ? null : compiled();
/** A worker that trains. */
export const engine = () => new Engine({ wasm: { train } });
let one = null;
/** The first of them, which the first picture and the page share. */
export const first = () => (one ??= engine());
