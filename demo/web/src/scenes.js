// Six scenes of a few steps each. A step sets the page's own controls; words in braces are filled in from what is shown (`facts.js`).

import { defaults, lanes } from "./state.js";

/**
 * @typedef {object} Step
 * @property {string} text
 * @property {string} [notes] for who speaks; without them the text
 * @property {Partial<import("./state.js").State>} [set] beside what the scene sets
 * @property {boolean} [still] nothing is trained yet
 */

const pair = (a, b) => ({ a: { method: a, settings: {} }, b: { method: b, settings: {} } });

/** @type {{ title: string, set: Partial<import("./state.js").State>, steps: Step[] }[]} */
export const SCENES = [
  {
    title: "Who comes first",
    set: { lanes: pair("ce", "soap") },
    steps: [
      { still: true, text: "A model gives every row a score. In the middle, {rows} held-out rows are sorted by it, the best on top. Each lit piece is one of {positives} positives. Nothing is trained yet: all scores are equal.", notes: "Ask first: where should the lit pieces be?" },
      { text: "Both lanes train a line on the same rows and batches. Only the loss differs: {A} in lane A, {B} in lane B. Of the first {lens} rows, {lens.a} are positive in A and {lens.b} in B.", notes: "Let it run. Watch the top of both columns." },
      { text: "To find {wanted} of {positives} positives, A shows {a.wrong} false positives and B {b.wrong}. {fewer.wrong}. Move the cut: on the columns, the maps, the histograms or the curves.", notes: "Drag the cut in a column. All pictures follow." },
      { text: "Average precision is the mean precision at the positives as they are found: {a.ap} in A, {b.ap} in B, {share} by chance. {more.ap}.", notes: "It is the area under precision–recall." },
      { set: { find: 0.8 }, text: "What is given up: to find {wanted} of {positives}, A shows {a.wrong} and B {b.wrong}. {fewer.wrong}. AUROC counts every pair of a positive and a negative alike: {a.auroc} in A, {b.auroc} in B. {more.auroc}.", notes: "B gives up the lower cluster to clean the top." },
    ],
  },
  {
    title: "The best AUROC, the worst list",
    set: { lanes: pair("ce-balanced", "soap") },
    steps: [
      { text: "{A} gives positives and negatives the same total weight, a common remedy for rare positives. AUROC: {a.auroc} in A, {b.auroc} in B. {more.auroc}." },
      { text: "Average precision of the same two rankings: {a.ap} in A, {b.ap} in B. {more.ap}. AUROC counts all pairs of rows alike, and few of them are at the top." },
      { set: { find: 0.3 }, text: "To find {wanted} of {positives} positives, A shows {a.wrong} false positives, B {b.wrong}. Of the first 100 rows, {hundred.a} are positive in A, {hundred.b} in B." },
      { set: { find: 0.95 }, text: "To find {wanted} of {positives}, A shows {a.wrong} false positives, B {b.wrong}. {fewer.wrong}. Which ranking is better depends on how far somebody reads." },
    ],
  },
  {
    title: "A band of false-positive rates",
    set: { lanes: pair("ce", "sopa-s"), fpr: [0, 5] },
    steps: [
      { text: "Suppose that nobody looks at more than 5 % of the negatives. The band on the ROC curve shows that part. {B} trains for it alone: partial AUC ({band}) is {a.pauc} in A, {b.pauc} in B. {more.pauc}." },
      { set: { find: 0.3, near: true }, text: "Within the band, on an axis stretched near 0: to find {wanted} of {positives} positives, A shows {a.wrong} false positives, B {b.wrong}." },
      { set: { fpr: [0, 20] }, text: "A wider band, {band}. B is trained for it now: {a.pauc} in A, {b.pauc} in B. {more.pauc}." },
      { set: { fpr: [0, 50] }, text: "Half of the negatives, {band}: {a.pauc} in A, {b.pauc} in B. {more.pauc}. A has the same weights in all steps, only its measure changes. Drag the edges of the band." },
    ],
  },
  {
    title: "ROC stays, precision falls",
    set: { data: "overlap", lanes: pair("ce", "soap") },
    steps: [
      { set: { positives: 50 }, text: "Half of the rows are positive: {positives} of {rows}. AUROC is {a.auroc} in A and {b.auroc} in B, average precision {a.ap} and {b.ap}; chance has {share}." },
      { set: { positives: 10 }, text: "The same clouds with {positives} positives of {rows}. AUROC: {a.auroc} and {b.auroc}. Average precision: {a.ap} and {b.ap}; chance has {share}." },
      { set: { positives: 3 }, text: "{positives} of {rows}. AUROC: {a.auroc} and {b.auroc}. Average precision: {a.ap} and {b.ap}; chance has {share}." },
      { set: { positives: 1 }, text: "{positives} of {rows}. AUROC is still {a.auroc} and {b.auroc}: it does not depend on how rare positives are. Average precision does: {a.ap} and {b.ap}. To find {wanted} positives, A shows {a.wrong} false positives, B {b.wrong}." },
    ],
  },
  {
    title: "Two towns and a bound",
    set: { data: "towns", lanes: lanes("groups"), speed: "max" },
    steps: [
      { set: { bound: null }, text: "Four rows of five are from the north, where another feature counts than in the south. Nothing is asked yet. AUROC of all rows: {a.auroc} in A, {b.auroc} in B." },
      { set: { bound: null }, text: "The average hides a group: the worse of the two has AUROC {a.worst} in A and {b.worst} in B. A constant score has 0.500." },
      { set: { bound: 0.05 }, text: "B now trains under a bound: the false-positive rates of the groups may differ by {bound}. The gap is {a.gap} in A and {b.gap} in B." },
      { set: { bound: 0.05 }, text: "The worse group has {a.worst} in A and {b.worst} in B. All rows: {a.auroc} in A, {b.auroc} in B. {more.auroc}. Move the bound to see what it costs." },
    ],
  },
  {
    title: "When it does not pay",
    set: { lanes: pair("ce", "soap") },
    steps: [
      { set: { data: "overlap" }, text: "Two clouds that overlap. A line has little to choose from: average precision {a.ap} in A, {b.ap} in B. {more.ap}." },
      { set: { data: "overlap" }, text: "Both rankings are nearly the same: to find {wanted} of {positives} positives, A shows {a.wrong} false positives, B {b.wrong}." },
      { set: { data: "split" }, text: "Positives in two places: a line cannot reach both, so the loss decides which it gives up. {a.ap} in A, {b.ap} in B. {more.ap}." },
      { set: { data: "split", model: "16" }, text: "A network of 16 units can reach both: {a.ap} in A, {b.ap} in B. {more.ap}. What the loss decides depends on what the model cannot do." },
    ],
  },
];

/** The places "1.1", "1.2", … in their order. */
export const PLACES = SCENES.flatMap(({ steps }, scene) => steps.map((_, step) => `${scene + 1}.${step + 1}`));

/** A place's scene and step; nothing where there is none. */
export function at(place) {
  if (!PLACES.includes(place)) return null;
  const [scene, step] = place.split(".").map((number) => number - 1);
  return { scene: SCENES[scene], step: SCENES[scene].steps[step], number: scene, of: step };
}

/** What a step sets. @returns {import("./state.js").State} */
export function stateOf(place) {
  const { scene, step } = at(place);
  return structuredClone({ ...defaults(), ...scene.set, ...step.set, scene: place });
}
