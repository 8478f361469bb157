// What the first result does not need.

export { glossary } from "./glossary.js";
export { GridMap } from "./grid.js";
export { PLACES, at, stateOf } from "./scenes.js";
export { Steps } from "./steps.js";
export { describe } from "./texts.js";
export { exports } from "./views/exports.js";
export { draws } from "./views/repeats.js";
export { notes, scenes, turn } from "./views/scenes.js";
