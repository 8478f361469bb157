// The sentence and the notes, from the numbers.

import { $, count, h, three } from "../dom.js";
import { LANES, TWO, drawnOf, prevalence } from "../kinds.js";
import { familyOf } from "../lane.js";
import { isUnder, seconds, subject } from "../repeats.js";
import { computed, direction, effect, nouns, own, playing, repeats, rows, run, shots, state, together, untracked } from "../store.js";
import { isPair, modelOf } from "../state.js";
import { PLAIN } from "../nouns.js";
import * as told from "../told.js";

/** The draws behind figures, headline and table, where they are of what is shown, at the end of its run. */
export const summary = computed(() => {
  const { steps } = state.value;
  return shots.value && shots.value.step >= steps && !shots.value.moved && repeats.value?.summary && repeats.value.of === subject() ? repeats.value.summary : null;
});

/** @param {Record<"a" | "b", import("../lane.js").Lane>} lanes */
export function headline(lanes) {
  effect(() => {
    const [now, under, all, best] = [shots.value, repeats.value, summary.value, direction.value];
    if (!now || (playing.value && now.step > 0) || !together()) return;
    untracked(() => tell(lanes, now, all, isUnder(under), best));
  });
}

function tell(lanes, shots, summary, under, found) {
  const { metric, called, other, chance, otherChance } = run.peek().kind;
  const { crowd } = run.peek();
  const { step } = shots;
  const { data, seed, steps, model } = state.peek();
  const shown = rows.peek();
  const titles = { a: lanes.a.title, b: lanes.b.title };
  const of = (name) => ({ ...lanes[name].method, family: familyOf(lanes[name].method), model: modelOf(state.peek(), name) });
  $("question").textContent = run.peek().kind.name === TWO.name ? told.question({ a: of("a"), b: of("b") }, nouns.peek().positive[1]) : "Two models see the same rows. Which ranks them better?";
  const drawn = Boolean(drawnOf(state.peek()));
  const parts = summary
    ? told.ofDraws({ titles, summary, title: called, drawn, chance: chance(shown) })
    : told.ofRun({ titles, shots, metric, title: called, step, steps, chance: chance(shown), moved: shots.moved });
  const text = parts.map((part) => part.text ?? part).join("");
  // (What is said already is not said again to who listens.)
  if ($("sentence").textContent !== text) {
    $("sentence").replaceChildren(...parts.map((part) => (part.lane ? h(part.number ? "b" : "span", { className: part.lane, textContent: part.text }) : part)));
  }
  const notes = [told.ended({ titles, shots, step })];
  if (crowd && step > 0) notes.push(told.ofRuns({ titles, crowd, metric, called, seed }));
  const values = (key) => LANES.map((name) => shots[name].test[key]);
  if (summary) {
    notes.push(told.besideDraws({ titles, summary, seed, steps, called: other[1], title: called, chance: otherChance(shown) }));
  } else if (step > 0) {
    if (!shots.a.collapsed && !shots.b.collapsed) notes.push(told.reversed({ titles, of: values(metric), by: values(other[0]), called: other[1], chance: otherChance(shown) }));
    if (step >= steps) notes.push(told.ofWaiting({ under, seconds: seconds(), drawn }));
  }
  if (isPair(model) && step >= steps) notes.push("Choose one model on the left to train a ranking loss on it.");
  const best = metric === "ap" && model === "linear" && step > 0 && found;
  if (best) notes.push(told.ofDirections(best, values("ap"), summary?.best));
  $("note").textContent = notes.filter(Boolean).join(" ");
  const about = [];
  // (As long as that of the data: a longer one would move the maps under the hand.)
  if (shown.hands) about.push("Some rows were changed by hand.");
  else if (data === "split") about.push("This kind of data was found by searching for a large gap between cross-entropy and SOAP: try others.");
  else if (drawn) about.push(drawnOf(state.peek()).about);
  const train = `${count(shown.y.length)} ${nouns.peek().rows}${drawn ? "" : ` × ${count(shown.dims)} features`} train`;
  const most = shown.names && Math.max(...shown.names.map((_, one) => prevalence(shown, one)));
  const positive = count(shown.test.y.reduce((sum, y) => sum + y, 0));
  const constant = shown.names
    ? `the same score for all has AUROC 0.500, and naming the largest class is right for ${three(most)}`
    : shown.groupNames
    ? `${positive} positive; the same score for all has AUROC 0.500 in each group`
    : `${positive} ${nouns.peek() === PLAIN ? "positive" : nouns.peek().positive[1]}; the same score for all has AP ${three(prevalence(shown))}`;
  about.push(`${train}, ${count(shown.test.y.length)} are held out${shown.names ? "; " : ", "}${constant}.`);
  const { weight } = data === "file" ? (own.peek() ?? {}) : {};
  if (weight > 1) about.push(`A positive training row counts as ${count(weight)}.`);
  if (shown.flipped) about.push(`${count(shown.flipped)} of the ${count(shown.y.length)} training labels are flipped, no held-out one.`);
  $("about").textContent = about.join(" ");
}

/** What is said where nothing could be trained. @param {boolean} before whether there are pictures of before */
export function nothing(before) {
  $("sentence").textContent = "Nothing was trained with these choices.";
  $("about").textContent = "";
  $("note").textContent = `The message says which one to change${before ? "; the pictures are of what was trained before" : ""}.`;
}
