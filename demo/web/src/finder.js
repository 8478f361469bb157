// The best direction of a linear model on the held-out rows of a plane, tried in a worker once for each data.

import { direction, measured, rows as shown, state } from "./store.js";

/** Directions are tried on data with so many held-out rows at most. */
const MOST_TRIED = 100_000;
const known = new WeakMap();
let finder = null;

/** @returns {Promise<{ ap: number, angle: number, tried: number } | null>} nothing of other data */
export async function bestOf(rows) {
  const { dims, names, test } = rows;
  // (What they are the best by is average precision.)
  if (measured.peek().metric !== "ap" || dims !== 2 || names || state.peek().model !== "linear" || !(test.X instanceof Float32Array) || test.y.length > MOST_TRIED) return null;
  if (!known.has(rows)) known.set(rows, ask({ X: test.X, y: test.y }));
  return known.get(rows);
}

/** Who waits for what was asked. @type {Map<number, (found: object | null) => void>} */
const asked = new Map();
let last = 0;
function answer(id, found) {
  asked.get(id)?.(found);
  asked.delete(id);
}

/** What the worker finds, null where it fails. @param {{ X: Float32Array, y: Uint8Array, range?: [number, number] }} of */
export function ask(of) {
  if (!finder) {
    finder = new Worker(new URL("./directions-worker.js", import.meta.url), { type: "module" });
    finder.onmessage = ({ data: { id, found } }) => answer(id, found);
    finder.onerror = () => [...asked.keys()].forEach((id) => answer(id, null));
  }
  return new Promise((resolve) => {
    asked.set((last += 1), resolve);
    finder.postMessage({ ...of, id: last });
  });
}

/** That of the rows shown, when it is known. */
export async function find() {
  const of = shown.peek();
  direction.value = null;
  const found = await bestOf(of);
  if (of === shown.peek()) direction.value = found;
}
