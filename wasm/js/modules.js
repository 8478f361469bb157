// The modules that train. The first has the methods that look at batches; three more have other methods beside these: of whole data
// and partial AUC, finite sums, and of groups and several classes. One of them is loaded when it is needed; all give the same bits.

import { nearest } from "./check.js";
import { NeedsFull, UndercurveError, asOurs } from "./error.js";
import { once } from "./load.js";
import * as first from "./pkg/undercurve.js";

/** @typedef {import("./homes.js").Home} Home */

/** Those that are loaded. @type {Partial<Record<Home, typeof import("./pkg/undercurve_groups.js")>>} */
const loaded = {};

/**
 * Loads the first module, once.
 * @type {ReturnType<typeof once>}
 */
export const init = /* @__PURE__ */ once(
  "undercurve_bg.wasm",
  () => first,
  (glue) => (loaded.train = glue),
);

/**
 * Loads the one with exact methods and those of partial AUC, once.
 * @type {ReturnType<typeof once>}
 */
export const initWhole = /* @__PURE__ */ once(
  "undercurve_whole_bg.wasm",
  () => import("./pkg/undercurve_whole.js"),
  (glue) => (loaded.whole = glue),
);

/**
 * Loads the one with finite sums, once.
 * @type {ReturnType<typeof once>}
 */
export const initSums = /* @__PURE__ */ once(
  "undercurve_sums_bg.wasm",
  () => import("./pkg/undercurve_sums.js"),
  (glue) => (loaded.sums = glue),
);

/**
 * Loads the one with methods of groups, constraints and several classes, once.
 * @type {ReturnType<typeof once>}
 */
export const initGroups = /* @__PURE__ */ once(
  "undercurve_groups_bg.wasm",
  () => import("./pkg/undercurve_groups.js"),
  (glue) => (loaded.groups = glue),
);

/** By name. @type {Record<Home, ReturnType<typeof once>>} */
export const LOADS = { train: init, whole: initWhole, sums: initSums, groups: initGroups };

/** Loads all of them. */
export const initFull = async () => void (await Promise.all(Object.values(LOADS).map((load) => load())));

export { NeedsFull } from "./error.js";

/** What is in each, as a sentence begins. */
const WHAT = { whole: "exact methods, those of partial AUC, given starts and the settings of papers are", sums: "finite sums are", groups: "groups, constraints and several classes are" };

/**
 * What `make` makes of the classes of a module that is loaded: the first of them that is not told to be the name of another module.
 * @template {object} T
 * @param {(module: typeof import("./pkg/undercurve_groups.js")) => T | Home} make
 * @returns {T}
 */
export function withModule(make) {
  const there = Object.values(loaded);
  if (there.length === 0) throw new UndercurveError("no module is loaded: await init() before", { code: 204 });
  let home;
  try {
    for (const module of there) {
      const made = make(module);
      if (typeof made !== "string") return made;
      home ??= made;
    }
  } catch (error) {
    throw nearest(asOurs(error));
  }
  const load = `init${home[0].toUpperCase()}${home.slice(1)}`;
  throw new NeedsFull(`${WHAT[home]} in another module: await ${load}() before, or use Session.create`, { home });
}
