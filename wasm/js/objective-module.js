// The module of objectives and exact sums: without a trainer, and loaded once.

import { UndercurveError, asOurs } from "./error.js";
import { once } from "./load.js";

/** @type {typeof import("./pkg/undercurve_objective.js") | undefined} */
let loaded;

/**
 * Loads the module, once.
 * @type {ReturnType<typeof once>}
 */
export const initObjective = /* @__PURE__ */ once(
  "undercurve_objective_bg.wasm",
  () => import("./pkg/undercurve_objective.js"),
  (glue) => (loaded = glue),
);

/** Its classes, once it is loaded. */
export function objectiveModule() {
  if (!loaded) throw new UndercurveError("no module is loaded: await initObjective() before", { code: 204 });
  return loaded;
}

/** A call of the module; what is no error of its own becomes one. */
export function called(work) {
  try {
    return work();
  } catch (error) {
    throw asOurs(error);
  }
}
