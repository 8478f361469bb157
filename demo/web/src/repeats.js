// Both lanes on new draws of the data, with new starts, while nothing else happens; the headline is made of them.

import { createTrainer } from "undercurve/worker";
import { DRAWS, summarise } from "./draws.js";
import { bestOf } from "./finder.js";
import { compare } from "./groups.js";
import { LANES } from "./kinds.js";
import { loadData, manyRuns, options, pace } from "./runs.js";
import * as address from "./state.js";
import { isSuperseded, measured, own, repeats, rows, say, scripted, state, turns } from "./store.js";

/** They are trained unasked where they take about so many seconds, and so many values, at most. */
const UNASKED = { seconds: 20, values: 5_000_000 };
/** Moments of a run at which it is measured. */
const MOMENTS = 15;
/** Of training, in milliseconds, between two looks at whether they are still wanted. */
const SLICE = 25;
const turn = turns();

/** What they are of: two lanes on one kind of data, of which a run shows the first. */
export function subject() {
  const of = address.write({ ...state.value, speed: "", class: 0, story: "", dial: null, sees: false, near: false, log: true, find: 0.5, scene: "" });
  return state.value.data === "file" ? `${of} ${JSON.stringify(own.value)}` : of;
}

/** About how long they take, from what the shown run took; NaN before that is known. */
export const seconds = () => (DRAWS * (state.peek().steps * pace() + (rows.peek().milliseconds ?? 0))) / 1000;

/** Whether they are so cheap that nobody need ask for them. (Runs too short to be timed are.) */
function cheap() {
  const { length } = rows.peek().X.val ?? rows.peek().X;
  return length <= UNASKED.values && !(seconds() > UNASKED.seconds);
}

export const isUnder = (of) => Boolean(of) && !of.summary && !of.stopped;

/** At the end of a run: its draws, unless they are there or on their way, or dear. */
export function unasked() {
  // (A scene is of the run that is shown, unless its step says otherwise.)
  if ((!state.peek().scene || scripted.draws?.(state.peek().scene)) && repeats.peek()?.of !== subject() && cheap() && !manyRuns()) train();
}

/** One lane on one draw, in slices. @returns {Promise<import("./draws.js").Outcome>} */
async function outcome(name, drawn, seed, slice, mine) {
  const { metric, other, columns } = measured.peek();
  const { steps } = state.peek();
  let trainer;
  try {
    trainer = await createTrainer(options(name, drawn, seed));
    let shot = compare(await trainer.advance({ steps: 0 }));
    let peak = shot.test[metric];
    for (let done = 0; done < steps; ) {
      const asked = Math.min(slice, steps - done);
      const before = shot.step;
      shot = compare(await mine(trainer.advance({ steps: asked })));
      done += asked;
      peak = Math.max(peak, shot.test[metric]);
      // (A method that has nothing more to do stays where it ended.)
      if (shot.step - before < asked) break;
    }
    const test = Object.fromEntries(columns.map(([key]) => [key, shot.test[key]]));
    return { value: shot.test[metric], peak, other: shot.test[other[0]], test, steps: shot.step, collapsed: Boolean(shot.collapsed), warning: shot.warning };
  } catch (error) {
    if (isSuperseded(error)) throw error;
    return { value: NaN, other: NaN, test: {}, steps: NaN, collapsed: false, error: String(error.message ?? error) };
  } finally {
    trainer?.dispose();
  }
}

export async function train() {
  const mine = turn.begin();
  const of = subject();
  const show = (part) => (repeats.value = { of, draws: [], summary: null, stopped: false, ...repeats.peek(), ...part });
  repeats.value = { of, draws: [], summary: null, stopped: false };
  // (Where it is not known yet, few steps.)
  const slice = Math.min(Math.ceil(state.peek().steps / MOMENTS), pace() > 0 ? Math.max(1, Math.floor(SLICE / pace())) : 50);
  try {
    const { seed: first } = state.peek();
    for (let seed = first; seed < first + DRAWS; seed += 1) {
      const drawn = seed === first ? rows.peek() : await mine(loadData(seed));
      const [best, a, b] = await mine(Promise.all([bestOf(drawn), ...LANES.map((name) => outcome(name, drawn, seed, slice, mine))]));
      show({ draws: [...repeats.peek().draws, { seed, a, b, ...(best && { best: Math.max(best.ap, ...[a.value, b.value].filter(Number.isFinite)) }) }] });
    }
    show({ summary: summarise(repeats.peek().draws) });
  } catch (error) {
    if (isSuperseded(error)) return;
    show({ stopped: true });
    say(`The ${DRAWS} draws ended early: ${error.message ?? error}`);
  }
}

export function stop() {
  turn.end();
  if (isUnder(repeats.peek())) repeats.value = { ...repeats.peek(), stopped: true };
}

/** Ends what nobody waits for any more; what is done stays for when the same is shown again. */
export function leave() {
  const all = repeats.peek();
  if (!all || (all.summary && all.of === subject())) return;
  turn.end();
  repeats.value = null;
}
