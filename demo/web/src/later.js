// What the first result does not need.

export { glossary } from "./glossary.js";
export { PLACES, at, stateOf } from "./scenes.js";
export { describe } from "./texts.js";
export { exports } from "./views/exports.js";
export { draws } from "./views/repeats.js";
export { notes, scenes, turn } from "./views/scenes.js";
