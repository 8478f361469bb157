// Six scenes of a few steps each. A step sets the page's own controls; words in braces are filled in from what is shown (`facts.js`).

import { defaults, lanes } from "./state.js";

/**
 * @typedef {object} Step
 * @property {string} text
 * @property {string} [notes] for who speaks; without them the text
 * @property {Partial<import("./state.js").State>} [set] beside what the scene sets
 * @property {boolean} [still] nothing is trained yet
 * @property {boolean} [draws] it is of many draws
 */

const pair = (a, b) => ({ a: { method: a, settings: {} }, b: { method: b, settings: {} } });

/** @type {{ title: string, set: Partial<import("./state.js").State>, one?: boolean, steps: Step[] }[]} `one`: of lane A alone */
export const SCENES = [
  {
    title: "Who comes first",
    set: { lanes: pair("ce", "soap") },
    steps: [
      { still: true, text: "A model gives a score to each of {rows} held-out {noun.rows}. In the middle they are sorted by it, the best on top; each lit piece is one of {positives} {noun.positives}. Nothing is trained yet: all scores are equal.", notes: "Ask first: where should the lit pieces be?" },
      { text: "Both lanes train a line on the same {noun.rows} and batches. Only the loss differs: {A} in lane A, {B} in lane B. Of the first {lens}, {lens.a} are {noun.positives} in A and {lens.b} in B.", notes: "Let it run. Watch the top of both columns." },
      { text: "To find {wanted} of {positives} {noun.positives}, A shows {a.wrong} {noun.negatives} and B {b.wrong}. {fewer.wrong}. Move the cut: on the columns, the maps, the histograms or the curves.", notes: "Drag the cut in a column. All pictures follow." },
      { text: "Precision is the share of {noun.positives} among those shown. Its mean at each of them, as they are found, is average precision: {a.ap} in A, {b.ap} in B, {share} by chance. {more.ap}.", notes: "It is the area under precision–recall." },
      { set: { find: 0.8 }, text: "To find {wanted} of {positives}, A shows {a.wrong} {noun.negatives} and B {b.wrong}. {fewer.wrong}. AUROC counts every pair of the two classes alike: {a.auroc} in A, {b.auroc} in B. {more.auroc}." },
    ],
  },
  {
    title: "Equal weights",
    set: { lanes: pair("ce-balanced", "soap") },
    steps: [
      { text: "{A} gives {noun.positives} and {noun.negatives} the same total weight, a common remedy where one class is rare. AUROC: {a.auroc} in A, {b.auroc} in B. {more.auroc}." },
      { text: "Average precision of the same two rankings: {a.ap} in A, {b.ap} in B. {more.ap}. AUROC counts all pairs alike, wherever in the ranking they are." },
      { set: { find: 0.3 }, text: "To find {wanted} of {positives} {noun.positives}, A shows {a.wrong} {noun.negatives}, B {b.wrong}. Of the first 100, {hundred.a} are {noun.positives} in A, {hundred.b} in B." },
      { set: { find: 0.95 }, text: "To find {wanted} of {positives}, A shows {a.wrong} {noun.negatives}, B {b.wrong}. {fewer.wrong}." },
    ],
  },
  {
    title: "How far somebody reads",
    set: { lanes: pair("ce", "soap") },
    steps: [
      { set: { fpr: [0, 5] }, text: "Suppose that nobody looks at more than 5 % of the {noun.negatives}: the band on the ROC curve. Partial AUC, the mean share of {noun.positives} found there ({band}), is {a.pauc} in A, {b.pauc} in B. {more.pauc}." },
      { set: { fpr: [0, 20] }, text: "A wider band, {band}, on the same two rankings: {a.pauc} in A, {b.pauc} in B. {more.pauc}." },
      { set: { fpr: [0, 100] }, text: "All of them: partial AUC is AUROC then, {a.pauc} in A, {b.pauc} in B. {more.pauc}. Drag the edges of the band." },
    ],
  },
  {
    title: "Rarer and rarer",
    set: { data: "overlap", lanes: pair("ce", "ce") },
    one: true,
    steps: [
      { set: { positives: 50 }, text: "Half are {noun.positives}: {positives} of {rows}. AUROC is {a.auroc}, average precision {a.ap}; by chance it is {share}." },
      { set: { positives: 10 }, text: "The same clouds with {positives} {noun.positives} of {rows}. AUROC: {a.auroc}. Average precision: {a.ap}; by chance {share}." },
      { set: { positives: 3 }, text: "{positives} of {rows}. AUROC: {a.auroc}. Average precision: {a.ap}; by chance {share}." },
      { set: { positives: 1 }, text: "{positives} of {rows}. AUROC: {a.auroc}; it counts pairs, however few there are. Average precision: {a.ap}; by chance {share}." },
    ],
  },
  {
    title: "Two towns and a bound",
    set: { data: "towns", lanes: lanes("groups"), speed: "max" },
    steps: [
      { set: { bound: null }, text: "Of {rows} rows, {north} are from the north, where another feature counts than in the south. Nothing is asked yet. AUROC of all rows: {a.auroc} in A, {b.auroc} in B." },
      { set: { bound: null }, text: "Each group by itself: the worse of the two has AUROC {a.worst} in A and {b.worst} in B. A constant score has 0.500." },
      { set: { bound: 0.05 }, text: "B now trains under a bound: the false-positive rates of the groups may differ by {bound}. The gap is {a.gap} in A and {b.gap} in B." },
      { set: { bound: 0.05 }, text: "The worse group has {a.worst} in A and {b.worst} in B. All rows: {a.auroc} in A, {b.auroc} in B. {more.auroc}. Move the bound to see what it costs." },
    ],
  },
  {
    title: "Other data, another model",
    set: { lanes: pair("ce", "soap") },
    steps: [
      { set: { data: "overlap" }, text: "Two clouds that overlap. Average precision: {a.ap} in A, {b.ap} in B. {more.ap}." },
      { set: { data: "overlap" }, text: "To find {wanted} of {positives} {noun.positives}, A shows {a.wrong} {noun.negatives}, B {b.wrong}. {fewer.wrong}." },
      { set: { data: "split" }, text: "The {noun.positives} are in two places, and the model is a line. Average precision: {a.ap} in A, {b.ap} in B. {more.ap}." },
      { set: { data: "split", model: "16" }, draws: true, text: "A network of 16 units instead. Over {draws} draws of this data, mean average precision is {mean.a} in A, {mean.b} in B; A is ahead in {ahead.a}, B in {ahead.b}." },
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
