// Which module of the package has what is asked for.

import { EXACT, HOMES } from "./pkg/homes.js";

/** @typedef {"train" | "whole" | "sums" | "groups"} Home */

/**
 * The module that a session needs, as far as its options say.
 * @param {import("./session.js").TrainerOptions & { elsewhere?: boolean }} options
 * @returns {Home}
 */
export function homeOf({ classes, groups, constraints, objective, elsewhere, start, method, bytes }) {
  if (classes !== undefined || constraints?.length || objective !== undefined || hasPreset(method)) return "groups";
  const name = method?.name ?? method;
  if (!bytes && Object.hasOwn(HOMES, name)) return HOMES[name];
  return groups !== undefined ? "groups" : elsewhere || start || method?.preset ? "whole" : "train";
}

/** Whether a method is asked for by a preset that names it. */
export const hasPreset = (method) => (method?.preset ?? "paper") !== "paper";

/** Whether the objective of a method is in the module of exact sums. */
export const isExact = (name) => EXACT.includes(name);
