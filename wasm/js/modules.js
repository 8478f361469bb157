// The two modules that train: the first has the methods that look at batches, the full one every method and several classes.
// The full one is loaded when it is needed; both give the same bits.

import { nearest } from "./check.js";
import { NeedsFull, UndercurveError, asOurs } from "./error.js";
import { once } from "./load.js";
import * as first from "./pkg/undercurve.js";

/** @type {typeof first | undefined} */
let loaded;
/** @type {typeof import("./pkg/undercurve_full.js") | undefined} */
let full;

/**
 * Loads the first module, once.
 * @type {ReturnType<typeof once>}
 */
export const init = /* @__PURE__ */ once(
  "undercurve_bg.wasm",
  () => first,
  (glue) => (loaded = glue),
);

/**
 * Loads the full module, once.
 * @type {ReturnType<typeof once>}
 */
export const initFull = /* @__PURE__ */ once(
  "undercurve_full_bg.wasm",
  () => import("./pkg/undercurve_full.js"),
  (glue) => (full = glue),
);

export { NeedsFull } from "./error.js";

/**
 * What `make` makes of the classes of the first module; or, where that has nothing to say, of the full one's.
 * @template T
 * @param {(module: typeof first & Partial<typeof import("./pkg/undercurve_full.js")>) => T | undefined} make
 * @param {string} what begins the sentence on what is missing
 * @returns {T}
 */
export function withModule(make, what) {
  if (!loaded && !full) throw new UndercurveError("no module is loaded: await init() before", { code: 204 });
  let made;
  try {
    made = (loaded && make(loaded)) ?? (full && make(full));
  } catch (error) {
    throw nearest(asOurs(error));
  }
  if (made === undefined) throw new NeedsFull(`${what} in the full module: await initFull() before, or use Session.create`);
  return made;
}
