// One cut through both rankings: how many positives are to be found, and what each lane shows for it.

import { html, render } from "lit-html";
import { $, count, three } from "../dom.js";
import { LANES } from "../kinds.js";
import { Ranking, turned } from "../ranking.js";
import { computed, effect, find, nouns, playing, pushSoon, rows, run, seen, shots, signal, state, together, untracked, waits } from "../store.js";
import { ofCut, ofTurn } from "../told.js";

/** Rankings of more rows are made at the beginning and when the run rests, each in a task of its own. */
const CALM = 50_000;
/** Precision among so many first rows. */
const FIRST = 100;

let last = null;
/** Those of many rows, and the picture they are of. */
const made = signal(null);
async function make(now) {
  const { y } = rows.peek().test;
  if (playing.peek() && now.step > 0 && last?.a.rows === y.length) return;
  const both = {};
  for (const name of LANES) {
    await new Promise((next) => setTimeout(next));
    if (seen.peek() !== now || !together()) return;
    both[name] = new Ranking(now[name].scores, y);
  }
  made.value = { now, both };
}

/** Both rankings of the picture that is drawn; null of several classes, undefined while the first are made. @type {import("../store.js").computed} */
export const ranked = computed(() => {
  const now = seen.value;
  if (!now?.a.scores || !together() || run.peek().rows.names) return (last = null);
  const { y } = rows.peek().test;
  if (y.length > CALM) return (last = made.value?.now === now ? made.value.both : last?.a.rows === y.length ? last : undefined);
  return (last = Object.fromEntries(LANES.map((name) => [name, new Ranking(now[name].scores, y)])));
});

/** How many positives are to be found, and both lanes' cuts that find them. */
export const cut = computed(() => {
  const both = ranked.value;
  if (!both) return both;
  const wanted = Math.min(both.a.positives, Math.max(1, Math.round(find.value * both.a.positives)));
  return { wanted, positives: both.a.positives, a: both.a.finding(wanted), b: both.b.finding(wanted) };
});

/** Wants so many positives found. @param {number} positives */
export function want(positives) {
  const both = ranked.peek();
  if (!both) return;
  find.value = Math.min(both.a.positives, Math.max(1, Math.round(positives))) / both.a.positives;
  pushSoon(true);
}

/** @param {(name: "a" | "b") => string} titleOf */
export function cuts(titleOf) {
  effect(() => {
    if (!playing.value && shots.peek() && rows.peek()?.test.y.length > CALM) seen.value = { ...shots.peek() };
  });
  effect(() => {
    const now = seen.value;
    if (now?.a.scores && together() && !run.peek().rows.names && rows.peek().test.y.length > CALM) make(now);
  });
  effect(() => {
    const now = cut.value;
    const { lanes } = state.value;
    if (now === undefined) return;
    $("cut").hidden = !now;
    if (!now || !lanes.a || !run.peek() || (playing.value && untracked(() => waits(0)))) return;
    untracked(() => render(view(now, ranked.peek(), { a: titleOf("a").slice(3), b: titleOf("b").slice(3) }), $("cut")));
  });
}

function view(now, both, titles) {
  const text = ofCut(now, titles, nouns.peek());
  const first = Math.min(FIRST, both.a.rows);
  const row = (name) => {
    const { found, wrong, missed, left, precision, threshold } = now[name];
    return html`<tr data-lane=${name}><th scope="row"><i></i>${name.toUpperCase()}</th><td>${count(found)}</td><td>${count(wrong)}</td><td>${count(missed)}</td><td>${count(left)}</td><td>${three(precision)}</td><td>${three(both[name].precisionAt(first))}</td><td>${threshold.toPrecision(3)}</td></tr>`;
  };
  return html`
    <div>
      <div class="cut-text">
        <p id="cut-sentence">${text}</p>
        <p id="cut-turn">${ofTurn(turned(now, both), titles)}</p>
      </div>
      <label class="cut-slider"><span>How many to find</span><input id="cut-range" type="range" aria-label="How many to find" min="1" max=${now.positives} .value=${String(now.wanted)} aria-valuetext=${text} @input=${(event) => want(Number(event.target.value))} /></label>
    </div>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of counts at the cut"><table id="cut-table"><thead><tr><th scope="col">Lane</th>${[["tp", "true positives"], ["fp", "false positives"], ["fn", "false negatives"], ["tn", "true negatives"], ["precision", "precision"], ["first", `precision at ${first}`], ["threshold", "threshold"]].map(([key, head]) => html`<th scope="col"><button type="button" class="term" data-term=${key}>${head}</button></th>`)}</tr></thead><tbody>${row("a")}${row("b")}</tbody></table></div>`;
}
