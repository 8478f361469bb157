// The two modules that train: the first has the methods that look at batches, the full one every method. The full one is
// loaded when a method needs it; both give the same bits.

import { once } from "./load.js";
import load, * as first from "./pkg/undercurve.js";

/** Loads the first module, once. */
export const init = /* @__PURE__ */ once(load, first.initSync);

/** @type {Promise<void> | undefined} */
let loading;
/** @type {typeof import("./pkg/undercurve_full.js") | undefined} */
let full;

/**
 * Loads the full module, once.
 * @param {BufferSource | WebAssembly.Module} [module]
 */
export function initFull(module) {
  loading ??= import("./pkg/undercurve_full.js")
    .then(async (glue) => {
      if (module === undefined) await glue.default();
      else glue.initSync({ module });
      full = glue;
    })
    .catch((error) => {
      // The network may be back when it is asked for again.
      loading = undefined;
      throw error;
    });
  return loading;
}

/** A method was asked for that only the full module has, and that is not loaded. */
export class NeedsFull extends Error {
  name = "NeedsFull";
}

/**
 * What `make` makes of the classes of the first module; or, where that has nothing to say, of the full one's.
 * @template T
 * @param {(module: typeof first) => T | undefined} make
 * @returns {T}
 */
export function withModule(make) {
  const made = make(first) ?? (full && make(full));
  if (made === undefined) throw new NeedsFull("this method is in the full module: await initFull() before, or use Session.create");
  return made;
}
