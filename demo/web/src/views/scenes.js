// The scenes: a row to choose from, and the step that is open.

import { html, nothing, render } from "lit-html";
import { $ } from "../dom.js";
import { factsOf, fill } from "../facts.js";
import { restart, start } from "../runs.js";
import { PLACES, SCENES, at, stateOf } from "../scenes.js";
import * as address from "../state.js";
import { batch, effect, find, nouns, playing, pushAddress, ready, rows, say, seen, set, shots, state, together, untracked } from "../store.js";
import { subject, unasked } from "../repeats.js";
import { cut, ranked } from "./cut.js";
import { summary } from "./headline.js";

/** What of a fact is where. */
const PLACE_OF = [[/wrong|wanted/, "cut"], [/lens|hundred|rows|positives/, "rankings"], [/pauc|band/, "roc"], [/gap|bound|worst/, "groups"], [/draws|mean|ahead/, "draws"], [/./, "metrics"]];

/** Shows where a number is from. */
function point(key) {
  const node = $(PLACE_OF.find(([of]) => of.test(key))[1]);
  const box = node.closest("figure, section, .table") ?? node;
  box.scrollIntoView({ block: "nearest" });
  box.classList.remove("pointed");
  void box.offsetWidth;
  box.classList.add("pointed");
}

/** Opens a step: its controls are set, and what they ask for is trained, if it is not there already. */
export function enter(place) {
  const next = stateOf(place);
  const before = subject();
  const { data, positives, noise, flips, seed, edits } = state.peek();
  const fresh = Object.entries({ data, positives, noise, flips, seed, edits }).some(([name, value]) => next[name] !== value);
  say(null);
  batch(() => {
    find.value = next.find;
    state.value = next;
  });
  pushAddress(true);
  const { still } = at(place).step;
  if (!still && subject() === before && together() && ready.peek() && shots.peek() && !shots.peek().moved) {
    if (shots.peek().step < next.steps) start();
  } else restart({ fresh, play: !still });
  if (at(place).step.draws && shots.peek()?.step === next.steps) unasked();
}

export function leave() {
  set({ scene: "" });
  pushAddress(true);
}

/** The step after this one, or before it; the first where none is open. */
export function turn(by) {
  const now = PLACES.indexOf(state.peek().scene);
  const next = PLACES[now < 0 ? 0 : now + by];
  if (next) enter(next);
}

/** The speaker's window: notes, and what comes next. */
let speaker = null;
function prompt() {
  if (!speaker || speaker.closed) return;
  const { scene: place } = state.peek();
  const [now, next] = [at(place), at(PLACES[PLACES.indexOf(place) + 1])];
  const part = (title, text) => html`<h1>${title}</h1><p>${text}</p>`;
  render(now ? html`${part(`${now.scene.title}, ${place}`, now.step.notes ?? now.step.text)}${next ? part("Next", next.step.text) : nothing}` : part("Scenes", "None is open."), speaker.document.body);
}
export function notes() {
  speaker = window.open("", "undercurve-notes", "popup,width=620,height=520");
  if (!speaker) return say("The browser did not open the window of notes.");
  Object.assign(speaker.document, { title: "Notes" });
  speaker.document.body.style.cssText = "margin: 24px; font: 20px/1.45 system-ui, sans-serif";
  return prompt();
}

/** @param {(name: "a" | "b") => string} titleOf */
export function scenes(titleOf) {
  const root = $("scenes");
  effect(() => state.value.scene !== undefined && untracked(prompt));
  effect(() => {
    const { scene: place } = state.value;
    const open = at(place);
    document.documentElement.classList.toggle("in-scene", Boolean(open));
    document.documentElement.classList.toggle("one-lane", Boolean(open?.scene.one));
    // (A number of a picture on its way would be gone before it is read.)
    const [now, both, where, known, rests] = [seen.value, ranked.value, cut.value, summary.value, !playing.value];
    if (rests || !open) root.dataset.rests = String(rests);
    untracked(() => render(open ? step(place, open, now && both && where && together() && state.peek().lanes.a ? factsOf({ shots: now, rows: rows.peek(), ranked: both, cut: where, titles: { a: titleOf("a").slice(3), b: titleOf("b").slice(3) }, state: state.peek(), nouns: nouns.peek(), summary: known }) : {}) : list(), root));
  });
}

const list = () => html`<h2>Scenes</h2><ol>${SCENES.map(({ title }, k) => html`<li><button type="button" @click=${() => enter(`${k + 1}.1`)}>${k + 1}. ${title}</button></li>`)}</ol>`;

function step(place, { scene, step, number, of }, facts) {
  const own = address.write({ ...state.peek(), find: find.peek(), speed: "" }) === address.write({ ...stateOf(place), speed: "" });
  const where = PLACES.indexOf(place);
  return html`
    <div class="scene-head">
      <h2>${number + 1}. ${scene.title}</h2>
      <span class="scene-place">Step ${of + 1} of ${scene.steps.length}</span>
      <span class="spring"></span>
      ${own ? nothing : html`<button type="button" @click=${() => enter(place)}>Set the controls back</button>`}
      <button type="button" id="scene-back" ?disabled=${where === 0} @click=${() => turn(-1)}>Back</button>
      <button type="button" id="scene-next" class="primary" ?disabled=${where === PLACES.length - 1} @click=${() => turn(1)}>Next</button>
      <button type="button" id="scene-leave" @click=${leave}>Leave</button>
    </div>
    <p id="scene-text">${fill(step.text, facts).map((part) => (part.key ? html`<button type="button" class="fact" data-of=${part.key} @click=${() => point(part.key)}>${part.text}</button>` : part))}</p>`;
}
