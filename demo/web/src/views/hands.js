// Hands on the data: add, move, flip and erase rows on the maps, whole clusters, and undo.

import { html, render } from "lit-html";
import { $, count, h } from "../dom.js";
import { place, sizeOf } from "../draw/canvas.js";
import { ROOM, SIZES, centres, read, write } from "../hands.js";
import { LANES } from "../kinds.js";
import { follow, rowsWith, settle, warm } from "../runs.js";
import { effect, rows, say, signal, state, together, untracked } from "../store.js";
import "../hands.css";

const TOOLS = [["p", "Add positives"], ["n", "Add negatives"], ["m", "Move"], ["f", "Flip"], ["e", "Erase"]];
/** A cluster is taken by its handle, so near to it in pixels. */
const GRASP = 18;
/** Of what the arrow keys move by, in units. */
const STRIDE = 0.1;

/** @param {Record<"a" | "b", import("../lane.js").Lane>} lanes */
export function hands(lanes) {
  const root = $("hands");
  const tool = signal("p");
  const size = signal(SIZES.usual);
  const training = signal(false);
  /** Where the circle is, in the data's units; null while no pointer and no key points. @type {import("@preact/signals-core").Signal<[number, number] | null>} */
  const at = signal(null);
  /** The deed that is being done. @type {import("../hands.js").Deed | null} */
  let deed = null;
  let before = "";
  const opened = signal(false);

  const rings = Object.fromEntries(LANES.map((name) => {
    const ring = h("div", { className: "ring", "aria-hidden": "true" });
    const handles = h("div", { className: "handles", "aria-hidden": "true" });
    lanes[name].map.after(handles, ring);
    return [name, { ring, handles }];
  }));
  /** From pixels of a map to units, and back. */
  const scale = (name) => {
    const { window, map } = lanes[name];
    const { width, height } = sizeOf(map);
    return {
      unit: width / (window.x[1] - window.x[0]),
      from: (x, y) => [window.x[0] + (x / width) * (window.x[1] - window.x[0]), window.y[0] + (1 - y / height) * (window.y[1] - window.y[0])],
      to: (point) => place(window, width, height, point).map((axis) => axis(0)),
    };
  };
  const rounded = (point) => point.map((x) => Math.round(100 * x) / 100);

  /** The text of all deeds, with the one on its way. */
  const text = () => [before, deed && write(deed)].filter(Boolean).join("*");

  let painting = 0;
  let latest = null;
  let answered = null;
  /** Rows as they are now: drawn at once, trained on as soon as can be. */
  async function show(edits) {
    const mine = ++painting;
    const given = await rowsWith(edits);
    if (mine !== painting) return null;
    for (const name of LANES) lanes[name].hand(opened.peek(), given);
    latest = given;
    answered = follow({ edits }, given);
    return given;
  }

  function begin(kind, point) {
    // (Rows on their way are not those that are seen.)
    if (!together() || deed) return false;
    before = state.peek().edits;
    root.dataset.busy = "true";
    say(null);
    deed = { kind, training: training.peek(), size: size.peek(), at: [rounded(point)] };
    if (/[mc]/.test(kind)) deed.at.push(rounded(point));
    return true;
  }
  let pushed = false;
  async function go() {
    if (text().length > ROOM) {
      say(`The address holds no more of what is done by hand, ${count(ROOM)} characters. Undo some of it.`);
      return;
    }
    // Back returns from each deed.
    if (!pushed) history.pushState({ step: true, deed: true }, "", location.href);
    pushed = true;
    await show(text());
  }
  async function end() {
    if (!deed) return;
    const nothing = /[mc]/.test(deed.kind) && deed.at[0].every((x, k) => x === deed.at[1][k]);
    if (!nothing) await go();
    // (What is seen first is where the present weights go.)
    await answered;
    if (!nothing && !latest.hands.refused) settle({ edits: text() }, latest);
    else if (pushed) {
      const refused = !nothing;
      await to(before);
      if (refused) say("Each class keeps at least two rows, held-out ones too: that was not done.");
    }
    deed = null;
    pushed = false;
    delete root.dataset.busy;
  }
  /** These edits and no others. */
  async function to(edits) {
    const given = await show(edits);
    await answered;
    if (given) settle({ edits }, given);
  }

  /** Back by one deed. */
  function undo() {
    if (history.state?.deed) return history.back();
    return to(state.peek().edits.split("*").slice(0, -1).join("*"));
  }

  /** The pointer, in the units of the map it is on. */
  for (const name of LANES) {
    const { map } = lanes[name];
    const point = (event) => {
      const { left, top } = map.getBoundingClientRect();
      return scale(name).from(event.clientX - left, event.clientY - top);
    };
    map.addEventListener("pointerdown", (event) => {
      if (!opened.peek() || event.button !== 0) return;
      map.setPointerCapture(event.pointerId);
      map.focus({ preventScroll: true });
      const here = point(event);
      at.value = here;
      const grasped = tool.peek() === "m" && handles().find(({ end }) => Math.hypot(...[0, 1].map((k) => (end[k] - here[k]) * scale(name).unit)) <= GRASP);
      if (begin(grasped ? "c" : tool.peek(), grasped ? grasped.end : here)) {
        deed.from = here;
        if (!/[mc]/.test(deed.kind)) go();
      }
    });
    map.addEventListener("pointermove", (event) => {
      if (!opened.peek()) return;
      const here = point(event);
      at.value = here;
      if (deed && map.hasPointerCapture(event.pointerId)) drag(here);
    });
    for (const over of ["pointerup", "pointercancel"]) map.addEventListener(over, () => opened.peek() && end());
    map.addEventListener("pointerleave", () => !deed && document.activeElement !== map && (at.value = null));
    map.addEventListener("keydown", (event) => opened.peek() && key(event, name));
    map.addEventListener("focus", () => opened.peek() && (at.value ??= scale(name).from(sizeOf(map).width / 2, sizeOf(map).height / 2)));
    map.addEventListener("blur", () => {
      end();
      at.value = null;
    });
  }
  function drag(here) {
    if (/[mc]/.test(deed.kind)) {
      const [start] = deed.at;
      deed.at[1] = rounded([0, 1].map((k) => start[k] + here[k] - (deed.from ?? start)[k]));
      go();
    } else if (Math.hypot(...[0, 1].map((k) => here[k] - deed.at.at(-1)[k])) >= Math.max(0.1, deed.size / 2)) {
      deed.at.push(rounded(here));
      go();
    }
  }

  function key(event, name) {
    if (/^z$/i.test(event.key) && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!by && ![" ", "Enter", "[", "]", "Escape"].includes(event.key)) return;
    event.preventDefault();
    // (The page has keys of its own.)
    event.stopPropagation();
    const { window } = lanes[name];
    if (by) {
      const stride = STRIDE * (event.shiftKey ? 5 : 1);
      const inside = (x, [low, high]) => Math.min(high, Math.max(low, x));
      at.value = [inside(at.peek()[0] + stride * by[0], window.x), inside(at.peek()[1] + stride * by[1], window.y)];
      if (deed) drag(at.peek());
    } else if (event.key === "[" || event.key === "]") {
      size.value = Math.min(SIZES.most, Math.max(SIZES.least, Math.round(10 * (size.peek() + (event.key === "]" ? 0.1 : -0.1))) / 10));
    } else if (event.key === "Escape") {
      if (!deed) return close();
      if (/[mc]/.test(deed.kind)) deed.at[1] = [...deed.at[0]];
      end();
    } else if (deed) end();
    else {
      const kind = tool.peek();
      const grasped = kind === "m" && handles().find(({ end }) => Math.hypot(...[0, 1].map((k) => (end[k] - at.peek()[k]) * scale(name).unit)) <= GRASP);
      if (begin(grasped ? "c" : kind, grasped ? grasped.end : at.peek())) {
        deed.from = at.peek();
        // (What moves is let go by the next.)
        if (!/[mc]/.test(deed.kind)) end();
      }
    }
  }

  /** The centres of clusters, of the rows that are seen. */
  function handles() {
    const { points: X, labels: y } = lanes.a.training;
    return [1, 0].flatMap((label) => centres(X, y, label).map((end) => ({ label, end })));
  }

  effect(() => {
    const [here, wide, on, now] = [at.value, size.value, opened.value, rows.value];
    if (!now) return;
    untracked(() => {
      for (const name of LANES) {
        const { ring } = rings[name];
        ring.hidden = !on || !here;
        if (ring.hidden) continue;
        const { to, unit } = scale(name);
        const [x, y] = to(here);
        const across = 2 * wide * unit;
        Object.assign(ring.style, { left: `${x - across / 2}px`, top: `${y - across / 2}px`, width: `${across}px`, height: `${across}px` });
      }
    });
  });
  const grips = () => {
    const ends = opened.peek() && tool.peek() === "m" ? handles() : [];
    for (const name of LANES) {
      const { to } = scale(name);
      rings[name].handles.replaceChildren(...ends.map(({ label, end }) => {
        const [x, y] = to(end);
        const grip = h("i", { className: label ? "positive" : "" });
        Object.assign(grip.style, { left: `${x}px`, top: `${y}px` });
        return grip;
      }));
    }
  };
  effect(() => {
    if (opened.value && tool.value && rows.value) untracked(grips);
    else if (rows.peek()) untracked(grips);
  });
  // New rows are shown as training rows too.
  effect(() => {
    if (rows.value && opened.value) untracked(() => LANES.forEach((name) => lanes[name].handy !== true || lanes[name].hand(true)));
  });

  effect(() => {
    const on = opened.value;
    if (on && root.hidden) requestAnimationFrame(() => root.scrollIntoView({ block: "nearest" }));
    root.hidden = !on;
    $("hands-open").setAttribute("aria-expanded", String(on));
    for (const name of LANES) {
      const { map } = lanes[name];
      if (on) map.setAttribute("tabindex", "0");
      else map.removeAttribute("tabindex");
      map.setAttribute("role", on ? "application" : "img");
      untracked(() => lanes[name].training && lanes[name].hand(on));
    }
  });
  effect(() => {
    const { edits } = state.value;
    const [chosen, wide, only, now] = [tool.value, size.value, training.value, rows.value];
    const deeds = read(edits).length;
    const told = !now ? "" : `${count(now.y.length)} training rows, ${count(now.y.reduce((sum, y) => sum + y, 0))} positive${deeds ? `; ${count(deeds)} change${deeds > 1 ? "s" : ""} by hand` : ""}.`;
    untracked(() => render(html`
      <div class="segments" role="radiogroup" aria-label="What the pointer does">${TOOLS.map(([kind, title]) => html`<label><input type="radio" name="hands-tool" value=${kind} .checked=${kind === chosen} @change=${() => (tool.value = kind)} /><span>${title}</span></label>`)}</div>
      <div class="slider"><label for="hands-size">Circle</label><input id="hands-size" type="range" min=${SIZES.least} max=${SIZES.most} step="0.1" .value=${String(wide)} aria-valuetext=${wide.toFixed(1)} @input=${(event) => (size.value = Number(event.target.value))} /><span class="value" aria-hidden="true">${wide.toFixed(1)}</span></div>
      <label class="check"><input type="checkbox" id="hands-held" .checked=${!only} @change=${(event) => (training.value = !event.target.checked)} />Held-out rows too</label>
      <span class="spring"></span>
      <button type="button" id="hands-undo" ?disabled=${!deeds} @click=${() => undo()}>Undo</button>
      <button type="button" id="hands-clear" ?disabled=${!deeds} @click=${() => to("")}>Undo all</button>
      <button type="button" id="hands-close" @click=${close}>Done</button>
      <p class="hint"><span id="hands-told" role="status">${told}</span> Press or drag on a map.${chosen === "m" ? " A diamond moves its whole cluster." : ""} <span class="keys">By keys: arrows move the circle, Space ${chosen === "m" ? "takes and lets go" : "applies"}, [ and ] change its size, Ctrl+Z undoes.</span></p>`, root));
  });

  function close() {
    opened.value = false;
    $("hands-open").focus({ preventScroll: true });
  }
  return {
    open(on) {
      opened.value = on;
      if (on) warm();
    },
  };
}
