// The dial: every metric against the direction of a line, with a mark for each lane and for the visitor's own hand.

import { html, render } from "lit-html";
import { range, rates } from "../rates.js";
import { $, count, pressed, three } from "../dom.js";
import { measure, split } from "../directions.js";
import { frame, onResize, sizeOf } from "../draw/canvas.js";
import { angleAt, degreeAt, metrics, plane } from "../draw/dial.js";
import { leads } from "../draws.js";
import { ask } from "../finder.js";
import { LANES } from "../kinds.js";
import { latest } from "../latest.js";
import { trainerOf } from "../runs.js";
import { colours, effect, pushSoon, rows, seen, set, shots, signal, state, together, untracked } from "../store.js";
import "../dial.css";

const radians = (degree) => (degree * Math.PI) / 180;
const degrees = (angle) => Math.round((angle * 180) / Math.PI);
const CALLED = { a: "Lane A", b: "Lane B", own: "You" };

let made = null;
export const dial = () => (made ??= build());

function build() {
  const root = $("dial-view");
  const opened = signal(false);
  /** Directions of the lanes' lines, in the data's units. @type {import("@preact/signals-core").Signal<{ a?: number, b?: number }>} */
  const lanes = signal({});
  /** Metrics all around, of which rows and range. */
  const all = signal(null);
  let parts = null;

  render(html`
    <div class="dial-hand">
      <p id="dial-sentence" aria-live="polite"></p>
      <div class="slider"><label for="dial-range">Your direction</label><input id="dial-range" type="range" min="-180" max="180" step="1" /><span class="value" aria-hidden="true"></span></div>
      <div class="dial-buttons"><button type="button" id="dial-a" class="small">As lane A</button><button type="button" id="dial-b" class="small">As lane B</button></div>
      <div class="scroll" tabindex="0" role="region" aria-label="Table of directions"><table id="dial-table"></table></div>
      <p class="hint">A linear model ranks rows by how far they lie along its direction; nothing else about it matters for a ranking. Solid: average precision; dashed: AUROC; dotted: partial AUC in the band. Accuracy depends on a threshold, so it is not here.</p>
    </div>
    <figure><figcaption><b>Direction</b> <span>drag to turn yours; scores rise along an arrow</span></figcaption><div class="dial-plane"><canvas id="dial-plane" role="img"></canvas></div></figure>
    <figure><figcaption><b>Held-out metrics</b> <span>against the direction; drag your mark</span></figcaption><div class="dial-chart"><canvas id="dial-chart" role="img"></canvas></div></figure>`, root);
  const [range_, shown] = [$("dial-range"), root.querySelector(".value")];

  const own = () => state.peek().dial ?? 0;
  const turn = (degree) => {
    set({ dial: degree });
    pushSoon(true);
  };
  range_.oninput = () => turn(Number(range_.value));
  for (const name of LANES) $(`dial-${name}`).onclick = () => lanes.peek()[name] !== undefined && turn(degrees(lanes.peek()[name]));
  pressed($("dial-plane"), (x, y) => turn(degrees(angleAt(sizeOf($("dial-plane")), x, y))));
  pressed($("dial-chart"), (x) => turn(degreeAt(sizeOf($("dial-chart")), x)));

  const draw = () => {
    const [now, palette, found] = [rows.peek(), colours.peek(), all.peek()];
    if (!opened.peek() || !now || !palette || !parts) return;
    const angles = { ...lanes.peek(), own: radians(own()) };
    const fpr = rates(state.peek().fpr);
    const values = Object.fromEntries(Object.entries(angles).map(([who, angle]) => [who, measure(parts, angle, fpr)]));
    const { width, height } = sizeOf($("dial-plane"));
    if (width) plane($("dial-plane"), { window: frame(now.framed ?? now.plane, width / height), points: now.plane, labels: now.test.y }, angles, palette);
    if (found) metrics($("dial-chart"), found, angles, values, palette);
    tell(angles, values, found);
  };
  for (const id of ["dial-plane", "dial-chart"]) onResize($(id), draw);

  function tell(angles, values, found) {
    const mine = values.own.ap;
    const beaten = LANES.filter((name) => values[name] && leads(mine, values[name].ap));
    const ahead = LANES.filter((name) => values[name] && leads(values[name].ap, mine));
    const both = (names) => (names.length > 1 ? "both lanes" : `lane ${names[0].toUpperCase()}`);
    const against = !values.a ? "" : beaten.length && ahead.length ? ` You beat ${both(beaten)}, not ${both(ahead)}.` : beaten.length ? ` You beat ${both(beaten)}.` : ahead.length > 1 ? " Both lanes are ahead of you." : ahead.length ? ` L${both(ahead).slice(1)} is ahead of you.` : " You and both lanes hardly differ.";
    const text = `Your direction, ${own()}°, has average precision ${three(mine)}; ${LANES.filter((name) => values[name]).map((name) => `lane ${name.toUpperCase()} ${three(values[name].ap)}`).join(", ")}.${against}`;
    if ($("dial-sentence").textContent !== text) $("dial-sentence").textContent = text;
    range_.value = String(own());
    shown.textContent = `${own()}°`;
    range_.setAttribute("aria-valuetext", `${own()} degrees, average precision ${three(mine)}`);
    const best = found ? found.ap.indexOf(Math.max(...found.ap)) : -1;
    const lines = [...["own", ...LANES].filter((who) => values[who]).map((who) => [CALLED[who], degrees(angles[who]), values[who], who]), ...(found ? [[`Best AP of ${count(360)} angles`, best - 180, { ap: found.ap[best], auroc: found.auroc[best], pauc: found.pauc[best] }, ""]] : [])];
    render(html`<thead><tr>${["Line", "Direction", "AP", "AUROC", `pAUC ${range(state.peek().fpr)}`].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${lines.map(([name, degree, { ap, auroc, pauc }, who]) => html`<tr data-of=${who}><th scope="row">${name}</th><td>${degree}°</td><td>${three(ap)}</td><td>${three(auroc)}</td><td>${three(pauc)}</td></tr>`)}</tbody>`, $("dial-table"));
    $("dial-plane").setAttribute("aria-label", `Held-out rows and directions: ${lines.slice(0, 3).map(([name, degree]) => `${name} ${degree} degrees`).join(", ")}`);
    $("dial-chart").setAttribute("aria-label", found ? `Average precision, AUROC and partial AUC against the direction: the highest average precision is ${three(found.ap[best])} at ${best - 180} degrees` : "Directions are being tried");
  }

  // Where the lanes' lines are, with each picture.
  const follow = latest(async () => {
    const next = await Promise.all(LANES.map(async (name) => {
      const [params, columns] = await Promise.all([trainerOf(name).params(), trainerOf(name).columns()]);
      const [x, y] = [0, 1].map((k) => params[k] * (columns?.[k][1] ?? 1));
      return x || y ? [[name, Math.atan2(y, x)]] : [];
    })).catch(() => null); // (put away by a new run, of which there is a picture soon)
    if (next) lanes.value = Object.fromEntries(next.flat());
  });
  effect(() => {
    if (seen.value && opened.value && together()) untracked(follow);
  });
  // What all directions come to, once for rows and range.
  effect(() => {
    const now = rows.value;
    const low = state.value.fpr.join();
    if (!now || !opened.value || now.dims !== 2) return;
    untracked(async () => {
      const { X, y } = now.test;
      if (parts?.of !== now) parts = { ...split(X, y), of: now };
      if (all.peek()?.of === now && all.peek().low === low) return;
      const found = await ask({ X, y, range: rates(state.peek().fpr) });
      if (found && rows.peek() === now && state.peek().fpr.join() === low) all.value = { ...found, of: now, low };
    });
  });
  effect(() => {
    if (lanes.value && all.value && colours.value && opened.value && state.value) untracked(draw);
    else untracked(draw);
  });
  // A hand that has turned nothing yet begins across the lanes.
  effect(() => {
    const { a } = lanes.value;
    if (a !== undefined && untracked(() => opened.peek() && state.peek().dial === null && shots.peek())) untracked(() => set({ dial: 0 }));
  });
  return { open: (on) => (opened.value = on) };
}
