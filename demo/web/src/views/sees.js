// What the losses see: the last batch, each row with an arrow of the gradient of its score, and what a positive loses to.

import { html, render } from "lit-html";
import { METHODS } from "undercurve/methods";
import { $, count } from "../dom.js";
import { place } from "../draw/canvas.js";
import { arrows, uphill } from "../draw/sees.js";
import { LANES } from "../kinds.js";
import { latest } from "../latest.js";
import { rates } from "../rates.js";
import { trainerOf } from "../runs.js";
import { colours, computed, effect, pushAddress, rows, seen, set, signal, state, together, untracked } from "../store.js";
import "../hands.css";

/** A positive is picked within so many pixels. */
const REACH = 16;
/** Averages of rows are those of all rows, where there are so many at most. */
const ALL = 20_000;

/**
 * @typedef {object} Seen
 * @property {Uint32Array} batch rows of it
 * @property {Float32Array} scores of all training rows
 * @property {Float32Array} share of the whole push on the batch's scores, that each row has: above 0 where its score is to rise
 * @property {string} [lacks] why there are no arrows
 * @property {boolean} first whether the method still begins with cross-entropy
 */

let worker = null;
/** What the worker finds: it has the module of objectives. */
function ask(of) {
  worker ??= new Worker(new URL("../sees-worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const failed = () => resolve({ lacks: "what computes them could not be started" });
    worker.addEventListener("error", failed);
    port1.onmessage = ({ data }) => {
      worker.removeEventListener("error", failed);
      port1.close();
      resolve(data);
    };
    worker.postMessage({ ...of, port: port2 }, [port2]);
  });
}

/** @returns {Promise<Seen>} */
async function look(name, shot, now) {
  const [batch, scores] = await Promise.all([trainerOf(name).batch(), trainerOf(name).score(now.X)]);
  const first = shot.step < shot.pretraining;
  const { method, settings } = first ? { method: "ce", settings: {} } : state.peek().lanes[name];
  const out = { batch, scores, share: new Float32Array(batch.length), first };
  if (!batch.length) return { ...out, lacks: "no batch is drawn yet" };
  const { params } = METHODS.find((one) => one.name === method);
  const value = (name) => settings[name] ?? params.find((param) => param.name === name)?.default;
  const sampling = value("sampling") === "uniform" || value("weights") === "as-drawn" ? "uniform" : "stratified";
  const fpr = rates(state.peek().fpr);
  return { ...out, ...(await ask({ method, settings, y: now.y, fpr, sampling, scores, batch, all: now.y.length <= ALL })) };
}

/** @param {Record<"a" | "b", import("../lane.js").Lane>} lanes */
export function sees(lanes) {
  const root = $("sees");
  const opened = signal(false);
  /** @type {import("@preact/signals-core").Signal<{ a: Seen, b: Seen, of: object } | null>} */
  const both = signal(null);
  /** Which of the batch's positives is pointed at, by its row; it stays while it is in the batch. */
  const picked = signal(-1);
  const positives = computed(() => {
    const now = both.value;
    if (!now) return [];
    // (Both lanes draw the same rows, unless their batches are of other sizes.)
    const rows = [...new Set(LANES.flatMap((name) => [...now[name].batch]))].filter((row) => now.of.y[row] === 1);
    return rows.sort((p, q) => now.a.scores[p] - now.a.scores[q] || p - q);
  });
  const at = computed(() => Math.max(0, positives.value.indexOf(picked.value)));
  const row = computed(() => positives.value[at.value]);

  /** Negatives that score at least as high, of the batch and of all. */
  const lost = (name) => {
    const { batch, scores } = both.peek()[name];
    const { y } = both.peek().of;
    const bar = scores[row.peek()];
    const higher = (k) => !y[k] && scores[k] >= bar;
    return { batch: [...batch].filter(higher), of: [...batch].filter((k) => !y[k]).length, all: y.reduce((sum, _, k) => sum + higher(k), 0) };
  };

  const follow = latest(async () => {
    const [shots, of] = [seen.peek(), rows.peek()];
    const found = await Promise.all(LANES.map((name) => look(name, shots[name], of))).catch(() => null); // (put away by a new run)
    if (found && rows.peek() === of && opened.peek()) both.value = { a: found[0], b: found[1], of };
  });
  effect(() => {
    if (seen.value && opened.value && together() && state.value) untracked(follow);
  });

  const placed = (name, k) => {
    const { window, map } = lanes[name];
    return place(window, map.clientWidth, map.clientHeight, both.peek().of.X).map((axis) => axis(k));
  };
  const pick = (name, x, y) => {
    if (!both.peek()) return false;
    const near = positives.peek().map((k) => [k, Math.hypot(placed(name, k)[0] - x, placed(name, k)[1] - y)]).filter(([, far]) => far <= REACH).sort((p, q) => p[1] - q[1]);
    if (near.length) picked.value = near[0][0];
    return near.length > 0;
  };
  for (const name of LANES) {
    lanes[name].map.addEventListener("pointermove", (event) => {
      if (!opened.peek() || event.pointerType === "touch" || event.buttons) return;
      const { left, top } = lanes[name].map.getBoundingClientRect();
      pick(name, event.clientX - left, event.clientY - top);
    });
  }

  effect(() => {
    const [on, now, palette, chosen] = [opened.value, both.value, colours.value, row.value];
    untracked(() => {
      for (const name of LANES) {
        if (!on) {
          lanes[name].see(null);
          continue;
        }
        const over = (context, width, height) => {
          if (!now || now.of !== rows.peek()) return;
          const { window, last, grid } = lanes[name];
          const { batch, share } = now[name];
          const higher = new Set(chosen === undefined ? [] : lost(name).batch);
          arrows(context, {
            points: [...batch].map((k, i) => ({ at: place(window, width, height, now.of.X).map((axis) => axis(k)), way: uphill(last.surfaceScores, grid, now.of.X[2 * k], now.of.X[2 * k + 1], window), share: share[i], positive: now.of.y[k] === 1, lit: higher.has(k), picked: k === chosen })),
            lane: name,
          }, palette);
        };
        lanes[name].see(over, (x, y) => pick(name, x, y));
      }
    });
  });
  effect(() => {
    const on = opened.value;
    if (on && root.hidden) requestAnimationFrame(() => root.scrollIntoView({ block: "nearest" }));
    root.hidden = !on;
    $("sees-open").setAttribute("aria-expanded", String(on));
    if (!on) return;
    const [now, all, k] = [both.value, positives.value, at.value];
    untracked(() => {
      const text = (name) => {
        const { lacks, first } = now[name];
        if (lacks) return `${name.toUpperCase()}: no arrows, ${lacks}.`;
        const { batch, of, all } = lost(name);
        return `${name.toUpperCase()}${first ? " (still cross-entropy)" : ""}: this positive loses to ${count(batch.length)} of ${count(of)} negatives of the batch, ${count(all)} of all.`;
      };
      const told = !now ? "The batch is being looked at." : all.length ? LANES.map(text).join(" ") : LANES.map((name) => `${name.toUpperCase()}: ${now[name].lacks ?? "no positive is in the batch"}.`).join(" ");
      render(html`
        <p id="sees-sentence" role="status">${told}</p>
        <div class="slider"><label for="sees-range">Positive</label><input id="sees-range" type="range" min="1" max=${Math.max(1, all.length)} step="1" ?disabled=${all.length < 2} .value=${String(k + 1)} aria-valuetext=${`${k + 1} of ${all.length}`} @input=${(event) => (picked.value = all[Number(event.target.value) - 1])} /><span class="value" aria-hidden="true">${all.length ? k + 1 : "–"}</span></div>
        <button type="button" id="sees-close" @click=${() => { set({ sees: false }); pushAddress(true); $("sees-open").focus({ preventScroll: true }); }}>Done</button>
        <p class="hint">The last batch of each lane. The loss pushes the score of each row up or down: its arrow points to higher or lower scores on the map, and a longer arrow is a stronger push, on one scale in both lanes. Point at a positive: negatives with a score at least as high are ringed, and it loses to them.</p>`, root);
    });
  });
  globalThis.undercurve.sees = () => both.peek() && { a: both.peek().a, b: both.peek().b, row: row.peek() };
  return { open: (on) => (opened.value = on) };
}
