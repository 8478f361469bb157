// The modules of objectives and of exact sums: without a trainer, each loaded once.

import { UndercurveError, asOurs } from "./error.js";
import { once } from "./load.js";

/** @type {typeof import("./pkg/undercurve_objective.js") | undefined} */
let objectives;
/** @type {typeof import("./pkg/undercurve_pairs.js") | undefined} */
let pairs;
/** @type {typeof import("./pkg/undercurve_exact.js") | undefined} */
let exact;

/**
 * Loads the module of objectives of batches, once.
 * @type {ReturnType<typeof once>}
 */
export const initObjective = /* @__PURE__ */ once(
  "undercurve_objective_bg.wasm",
  () => import("./pkg/undercurve_objective.js"),
  (glue) => (objectives = glue),
);

/**
 * Loads that of exact sums, once.
 * @type {ReturnType<typeof once>}
 */
export const initPairs = /* @__PURE__ */ once(
  "undercurve_pairs_bg.wasm",
  () => import("./pkg/undercurve_pairs.js"),
  (glue) => (pairs = glue),
);

/**
 * Loads that of exact sums with weights and of exact objectives, once.
 * @type {ReturnType<typeof once>}
 */
export const initExact = /* @__PURE__ */ once(
  "undercurve_exact_bg.wasm",
  () => import("./pkg/undercurve_exact.js"),
  (glue) => (exact = glue),
);

function held(module, load) {
  if (!module) throw new UndercurveError(`no module is loaded: await ${load}() before`, { code: 204 });
  return module;
}

/** The classes of each, once it is loaded. */
export const objectiveModule = () => held(objectives, "initObjective");
export const pairsModule = () => held(pairs, "initPairs");
export const exactModule = () => held(exact, "initExact");

/** A call of a module; what is no error of its own becomes one. */
export function called(work) {
  try {
    return work();
  } catch (error) {
    throw asOurs(error);
  }
}
