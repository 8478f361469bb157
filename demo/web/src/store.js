// What the page shows, as signals: who reads one in an effect is told when it changes.

import { batch, computed, effect, signal, untracked } from "@preact/signals-core";
import { LANES, isPlain, kindOf, measures } from "./kinds.js";
import { nounsOf } from "./nouns.js";
import { isFace } from "./face-address.js";
import { WORKBENCH, defaults, write } from "./state.js";

export { batch, computed, effect, signal, untracked };

/** All that the address holds. @type {import("@preact/signals-core").Signal<import("./state.js").State>} */
export const state = signal(defaults());
/** The visitor's file as it is trained on; a worker keeps its rows. */
export const own = signal(null);
/** The rows that are shown, with the labels as they are trained on. */
export const rows = signal(null);
/** The run that is shown: its kind of data, rows, and course so far. */
export const run = signal(null);
/** Its last picture: a snapshot of each lane, and the step. */
export const shots = signal(null);
/** The picture that is drawn. */
export const seen = signal(null);
export const playing = signal(false);
/** What the page waits for; empty when it goes on. */
export const waiting = signal("");
export const problem = signal("");
/** Whether what is asked for can be trained. */
export const ready = signal(false);
/** The runs on new draws: what they are of, those done, and their summary. */
export const repeats = signal(null);
/** The best direction found for the rows shown. */
export const direction = signal(null);
export const colours = signal(null);
/** The share of the positives that the cut through the rankings finds. */
export const find = signal(0.5);

export const kind = computed(() => kindOf(state.value, own.value));
/** What rows, positives and negatives are called. */
export const nouns = computed(() => nounsOf(state.value.data, isPlain(state.value), own.value));
/** What the lanes that the state asks for are measured by. */
export const measured = computed(() => measures(kind.value, state.value.fpr, LANES.map((name) => state.value.lanes[name]?.method)));

/** Changes a part of the state. */
export const set = (part) => (state.value = { ...state.peek(), ...part });

/** What a step of a scene sets, whether it is of many draws, and of one lane: told when scenes are there. */
export const scripted = { of: null, draws: null, one: null };
let soon = 0;
let placed = false;
/** Puts the state into the address. @param {boolean} [step] that the browser's Back returns from: every change by hand is one */
export function pushAddress(step = false) {
  // (Back at the first picture the address is none of the page's.)
  if (placed && globalThis.location && isFace()) return;
  const { scene } = state.peek();
  const whole = write({ ...state.peek(), find: find.peek() });
  // (What a scene sets need not be told.)
  const next = scene && whole === write(scripted.of(scene)) ? `#scene=${scene}` : whole;
  clearTimeout(soon);
  document.getElementById("whole")?.setAttribute("href", `./${next}`);
  const { story } = state.peek();
  document.getElementById("bench")?.setAttribute("href", write({ ...state.peek(), find: find.peek(), scene: "", story: WORKBENCH.includes(story) ? "" : WORKBENCH[0] }));
  if (next !== location.hash) history[step && placed ? "pushState" : "replaceState"](step ? { step: true } : history.state, "", next);
  placed = true;
}
/** Whether a pointer is down. */
let held = false;
for (const type of ["pointerdown", "pointerup", "pointercancel"]) globalThis.addEventListener?.(type, () => (held = type === "pointerdown"), true);
/** The same when what moves rests: browsers refuse many in a row. A step is one however long it was held. */
export function pushSoon(step = false) {
  clearTimeout(soon);
  soon = setTimeout(() => (step && held ? pushSoon(step) : pushAddress(step)), 200);
}

/** While a run plays, half of the pictures beside the maps wait for the next one: 0 the columns, histograms and words, 1 the curves. @param {0 | 1} half */
export const waits = (half) => playing.peek() && run.peek()?.step.length % 2 === half;

/** Whether any of a node is on the screen. @param {Element} node */
export function seeing(node) {
  const seen = signal(true);
  new IntersectionObserver((entries) => (seen.value = entries.at(-1).isIntersecting)).observe(node);
  return seen;
}

/** Whether the trainers have the rows that are shown: new rows come before the trainers of them, if these come at all. */
export const together = () => Boolean(run.peek()) && run.peek().rows === rows.peek();

/** A wait of more than so many milliseconds is told. */
const LONG = 300;
let timer = 0;
/** What the page waits for from now on; nothing when it goes on. */
export function wait(what = "") {
  clearTimeout(timer);
  if (what) timer = setTimeout(() => (waiting.value = `${what}…`), LONG);
  else waiting.value = "";
}

/** Says what is wrong; null takes it back. */
export function say(error) {
  const text = error ? String(error.message ?? error) : "";
  // The worker that it ran in holds nothing to go on with.
  problem.value = text.includes("WebAssembly module stopped") ? `${text}. Reload the page to continue.` : text;
}

/** A later beginning has taken the place of this one. */
class Superseded extends Error {}
export const isSuperseded = (error) => error instanceof Superseded;

/** Work of which only the last that was begun counts. */
export function turns() {
  let last = 0;
  return {
    /** @returns {<T>(promise: Promise<T>) => Promise<T>} waits, and throws where another has begun meanwhile */
    begin() {
      const mine = ++last;
      const turn = async (promise) => {
        const value = await promise;
        if (mine !== last) throw new Superseded();
        return value;
      };
      turn.over = () => mine !== last;
      return turn;
    },
    end: () => (last += 1),
  };
}
