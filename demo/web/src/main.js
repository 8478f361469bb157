// The page: state in the address ─► rows ─► two trainers in workers ─► signals ─► pictures.

import "./style.css";
import { METHODS } from "undercurve/methods";
import { CLASS_SYNTHETICS, GROUP_SYNTHETICS, SYNTHETICS } from "undercurve/synthetics";
import { Band } from "./band.js";
import { Classes } from "./classes.js";
import { $, colours as readColours } from "./dom.js";
import { SHARES } from "./draw/surface.js";
import { lack } from "./engine.js";
import { isFace } from "./face-address.js";
import { Groups, constraint } from "./groups.js";
import { LANES, SEVERAL, TWO, drawnOf, isPlain, sampleOf } from "./kinds.js";
import { Lane } from "./lane.js";
import { leave, subject, unasked } from "./repeats.js";
import { change, engines, follow, isHandy, look, options, page, pause, restart, rowsWith, settle, timings, trainerOf } from "./runs.js";
import { SAMPLES, fetchSample } from "./samples.js";
import { Side, named } from "./side.js";
import * as address from "./state.js";
import { WORKBENCH, isPair, modelOf } from "./state.js";
import { batch, colours, computed, direction, effect, find, kind, nouns, own, playing, pushAddress, repeats, rows, run, say, scripted, seen, set, shots, state, together, untracked, waits } from "./store.js";
import { bar } from "./views/bar.js";
import { curves } from "./views/curves.js";
import { headline, nothing } from "./views/headline.js";
import { cut, cuts, ranked, want } from "./views/cut.js";
import { rankings } from "./views/rankings.js";
import { metrics } from "./views/table.js";

/** For a lecture: one screen, large text, and the scenes by a clicker. The same, smaller, for a frame in another page, from a scene on. */
const asked = new URLSearchParams(location.search);
const embedded = asked.has("embed") && !asked.has("lecture");
const lecture = asked.has("lecture") || embedded;
document.documentElement.classList.toggle("lecture", lecture);
document.documentElement.classList.toggle("embed", embedded);

/** On a screen without motion the pictures are drawn when a run ends, not while it runs. */
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Takes over what the address says; what does not exist is replaced by the default, and named. */
function readAddress() {
  let next = address.read(location.hash, (text) => say(`The address was made otherwise: ${text}.`));
  const [, place] = location.hash.match(/^#scene=([^&]*)$/) ?? [];
  const { at, stateOf, PLACES } = later ?? {};
  if ((place ?? next.scene) && !at?.(place ?? next.scene)) {
    say(`There is no scene ${place ?? next.scene}.`);
    next.scene = "";
  } else if (place) next = stateOf(place);
  else if (lecture && !location.hash) {
    const first = `${asked.get("embed")}.1`;
    next = stateOf(PLACES.includes(first) ? first : PLACES[0]);
  }
  if (!drawnOf(next) && !sampleOf(next) && !(next.data === "file" && own.peek())) {
    if (next.data === "file") say("This link was made with a file that stayed on its owner's machine; here is the default data.");
    else say(`There is no data called “${next.data}”; here is the default.`);
    next.data = address.defaults().data;
    // A file of several classes has methods, and parameters of methods, that the default does not.
    const fits = ({ method, settings }) => METHODS.some(({ name, params }) => name === method && Object.keys(settings).every((set) => params.some((param) => param.name === set)));
    for (const name of LANES) if (next.lanes[name] && !fits(next.lanes[name])) next.lanes[name] = null;
  }
  find.value = next.find;
  const lanes = next.lanes;
  next.lanes = address.lanes("two");
  state.value = next;
  const usual = address.lanes(kind.peek().name);
  for (const name of LANES) {
    const lane = lanes[name] ?? usual[name];
    const known = kind.peek().methods.some((one) => one.name === lane.method);
    const other = !known && METHODS.find((one) => one.name === lane.method);
    if (other) say(kind.peek() === SEVERAL ? `${lane.method} trains two classes, and this data has more.` : `${lane.method} is of groups, and this data has none.`);
    else if (!known) say(`There is no method called “${lane.method}”.`);
    lanes[name] = known ? lane : usual[name];
  }
  set({ lanes });
}

/** What is loaded after the first result, or when the address asks for it. */
let later = null;
let loading = null;
const wanted = () => lecture || /[#&](scene|story)=/.test(location.hash);
/** Whether the step of a scene that is open has nothing trained yet. */
const isStill = () => Boolean(state.peek().scene && later?.at(state.peek().scene)?.step.still);

let side = null;
let shapeOf = () => null;
let shownIn = () => null;
/** A line that is turned by hand, of linear models on a plane: loaded when it is unfolded. */
function dials() {
  let made = null;
  const show = () => {
    const now = rows.peek();
    const fits = Boolean(now) && now.dims === 2 && kind.peek() === TWO && state.peek().model === "linear" && now.test.X instanceof Float32Array;
    $("dial").hidden = !fits;
    const open = fits && state.peek().story === "dial";
    if ($("dial").open !== open) $("dial").open = open; // (comes back by its event)
    if (!open && !made) return;
    made ??= import("./views/dial.js");
    made.then(({ dial }) => dial().open(!$("dial").hidden && $("dial").open), (error) => {
      made = null;
      say(error);
    });
  };
  $("dial").ontoggle = () => {
    const { open } = $("dial");
    if (open || state.peek().story === "dial") set({ story: open ? "dial" : "" });
    pushAddress(!$("dial").hidden);
    show();
  };
  effect(() => rows.value && state.value && untracked(show));
}

function keys() {
  addEventListener("keydown", (event) => {
    if (isFace()) return;
    // What is focused keeps the keys that it uses itself; a button has no use for arrows and letters.
    const focused = event.target.closest?.("input, select, textarea, button, summary, a");
    const field = focused && !focused.matches("button, summary, a");
    if (event.ctrlKey || event.metaKey || event.altKey || field || (focused && event.key === " ")) return;
    if (lecture && !embedded && /^b$/i.test(event.key)) {
      $("blank").hidden = !$("blank").hidden;
      return;
    }
    if (lecture && !embedded && /^n$/i.test(event.key)) {
      later?.notes();
      return;
    }
    if ((lecture || state.peek().scene) && ["PageDown", "PageUp"].includes(event.key)) {
      event.preventDefault();
      $("blank").hidden = true;
      later?.turn(event.key === "PageDown" ? 1 : -1);
      return;
    }
    if (event.repeat && event.key !== "ArrowRight") return;
    const button = { " ": "play", ArrowRight: "step", r: "reset", R: "reset" }[event.key];
    if (!button) return;
    event.preventDefault();
    $(button).click();
  });
}

async function thumbnails() {
  for (const { name } of SYNTHETICS) {
    side.thumbnail(name, await engines.a.call("synthetic", name, { rows: 10, testRows: 500, positives: 0.25 }), colours.peek());
  }
}

async function open() {
  if (lack) {
    $("sentence").textContent = `This page trains models with ${lack}, which this browser does not have or has turned off.`;
    for (const one of document.querySelectorAll("button, select, input")) one.disabled = true;
    return;
  }
  bar();
  const lanes = Object.fromEntries(LANES.map((name) => [name, new Lane(name, (choice) => {
    say(null);
    set({ lanes: { ...state.peek().lanes, [name]: choice } });
    restart({ fresh: false, play: true, step: true });
  }, (name, found) => {
    const ranking = ranked.peek()?.[name];
    if (ranking) want(found(ranking));
  }, () => {
    set({ log: !state.peek().log });
    pushAddress(true);
  })]));
  const titleOf = (name) => `${name.toUpperCase()}  ${lanes[name].title}`;
  const band = new Band($("band"), { moved: (fpr) => follow({ fpr: [...fpr] }), settled: (fpr) => settle({ fpr: [...fpr] }) });
  const groups = new Groups({ moved: (bound) => follow({ bound }), settled: (bound) => settle({ bound }) });
  const classes = new Classes((one) => {
    // (The legend of what was trained before says nothing of rows that are on their way.)
    if (!together()) return;
    set({ class: one });
    pushAddress(true);
    classes.show(rows.peek().names, one);
    // A run on its way shows it with its next picture.
    if (!playing.peek()) look();
  });
  const load = () => (loading ??= import("./later.js").then((all) => {
    later = all;
    scripted.of = all.stateOf;
    scripted.draws = (place) => Boolean(all.at(place)?.step.draws);
    scripted.one = (place) => Boolean(all.at(place)?.scene.one);
    all.describe();
    for (const name of LANES) lanes[name].describe();
    all.draws(titleOf);
    all.scenes(titleOf);
    all.exports();
    all.glossary();
  }));
  if (wanted()) await load();
  $("whole").hidden = !embedded;
  batch(readAddress);
  side = new Side($("side"), {
    kinds: SYNTHETICS,
    several: CLASS_SYNTHETICS,
    groups: GROUP_SYNTHETICS,
    change: (part) => {
      if ("data" in part) side.forget();
      change(part);
    },
    file: (file) => import("./own.js").then(({ openFile }) => openFile(side, file)).catch(say),
  });
  Object.assign(page, {
    view: (name, of = rows.peek()) => lanes[name].view(state.peek().class, of.groups && [constraint(state.peek().bound)], of.test.y.length),
    // (What a setting may be comes with the texts.)
    explain: (name, error) => load().then(() => lanes[name].explain(error), () => error),
    began: leave,
    ended: () => {
      unasked();
      load().catch(say);
      // (Not before the first result.)
      for (const sample of SAMPLES) fetchSample(sample.name).catch(() => {});
    },
    failed: nothing,
  });

  effect(() => {
    const now = state.value;
    const of = kind.value;
    side.configure(now, { positives: isPlain(now), noise: Boolean(drawnOf(now)), flips: of !== SEVERAL });
    for (const name of LANES) {
      lanes[name].offer(of.methods);
      lanes[name].configure(now.lanes[name], isPair(now.model) && named(modelOf(now, name)));
    }
    band.show(now.fpr, of === TWO);
    groups.configure(now.bound);
  });
  effect(() => {
    const now = rows.value;
    if (!now) return;
    untracked(() => {
      for (const name of LANES) lanes[name].show(now, nouns.peek());
    });
  });
  effect(() => {
    const now = run.value;
    if (!now) return;
    untracked(() => {
      const { names, groupNames, test } = now.rows;
      for (const name of LANES) lanes[name].measure(now.kind.metric, now.kind.short);
      classes.show(names, state.peek().class);
      groups.show(groupNames, test.groups);
      $("each").hidden = !(names ?? groupNames);
    });
  });
  effect(() => {
    const now = shots.value;
    if (now && !(still.matches && playing.peek() && now.step < state.peek().steps)) seen.value = now;
  });
  effect(() => {
    const [now, palette, at, rests] = [seen.value, colours.value, cut.value, !playing.value];
    if (!now || !palette || !together()) return;
    untracked(() => {
      for (const name of LANES) {
        const ranking = ranked.peek()?.[name];
        lanes[name].cut = at && at[name];
        lanes[name].levels = ranking && ranking.scores === now[name].scores ? SHARES.map((share) => ranking.scoreAt(share)) : null;
        lanes[name].draw(palette, now[name], rests, waits(0));
      }
      if (run.peek().kind === SEVERAL) classes.measure(now);
    });
  });
  const log = computed(() => state.value.log);
  effect(() => {
    for (const name of LANES) lanes[name].count(log.value);
  });
  headline(lanes);
  metrics(lanes, titleOf);
  curves({ band, groups, titleOf });
  cuts(titleOf);
  shapeOf = rankings();
  shownIn = (name) => lanes[name].window;
  dials();
  keys();
  let bench = null;
  const atWorkbench = computed(() => !lecture && WORKBENCH.includes(state.value.story));
  effect(() => {
    const on = atWorkbench.value;
    $("bench").textContent = on ? "Lanes" : "Workbench";
    document.title = on ? "Workbench · undercurve" : "undercurve";
    if (!on && !bench) return;
    // (Its fields need the texts of the methods.)
    bench ??= load().then(() => import("./workbench.js")).then(({ workbench }) => workbench(lanes));
    bench.then((one) => {
      const now = atWorkbench.peek();
      document.documentElement.classList.toggle("at-workbench", now);
      one.open(now);
    }, (error) => {
      bench = null;
      say(error);
    });
  });
  $("bench").onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    set({ story: atWorkbench.peek() ? "" : WORKBENCH[0], scene: "" });
    pushAddress(true);
  };
  // What is done to the data by hand: asked for by the button, or by an address that has some of it.
  let hands = null;
  const handle = (open) => (hands ??= import("./views/hands.js").then(({ hands }) => hands(lanes))).then((one) => one.open(open), (error) => {
    hands = null;
    say(error);
  });
  let sees = null;
  const looking = computed(() => kind.value === TWO && rows.value?.dims === 2 && rows.value.X instanceof Float32Array);
  side.sees.onclick = () => {
    set({ sees: !state.peek().sees });
    pushAddress(true);
  };
  effect(() => {
    side.sees.hidden = !looking.value;
    const on = looking.value && state.value.sees && Boolean(shots.value);
    if (!on && !sees) return;
    sees ??= import("./views/sees.js").then(({ sees }) => sees(lanes));
    sees.then((one) => one.open(untracked(() => looking.peek() && state.peek().sees)), (error) => {
      sees = null;
      say(error);
    });
  });
  side.hands.onclick = () => shots.peek() && handle($("hands").hidden);
  const handy = computed(() => kind.value === TWO && isHandy(state.value));
  effect(() => {
    side.hands.hidden = !handy.value;
    if (hands && !handy.value) handle(false);
  });
  effect(() => handy.value && state.value.edits && shots.value && untracked(() => hands || handle(true)));
  addEventListener("hashchange", async () => {
    if (isFace()) return pause();
    if (wanted()) await load();
    say(null);
    const whole = (part) => address.write({ ...state.peek(), find: find.peek(), ...part });
    const trained = () => subject() + state.peek().scene + (state.peek().story === "all" ? JSON.stringify(state.peek().all) : "");
    const [before, all, shown, { edits, class: one }] = [whole({ edits: "" }), whole(), trained(), state.peek()];
    batch(readAddress);
    // (What is only seen otherwise, or on the other page: what is trained stays.)
    if (shown === trained() && all !== whole() && together() && shots.peek()) {
      if (one === state.peek().class) return undefined;
      classes.show(rows.peek().names, state.peek().class);
      return playing.peek() || look();
    }
    // (Back from a deed: from the weights that are there.)
    if (edits === state.peek().edits || before !== whole({ edits: "" }) || !together() || !shots.peek()) return restart({ play: !isStill() });
    const given = await rowsWith(state.peek().edits);
    await follow({}, given);
    return settle({}, given);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    colours.value = readColours();
    thumbnails();
  });
  colours.value = readColours();
  await restart({ play: !isStill() });
  await thumbnails();
}

/** Until the first run has ended, or failed. */
export const opened = open().catch(say);

// For the tests: how long the page itself works on a frame, and what is trained on.
globalThis.undercurve = { timings, rows: () => rows.peek(), shots: () => shots.peek(), draws: () => repeats.peek()?.draws, direction: () => direction.peek(), crowd: () => run.peek()?.crowd, cut: () => cut.peek(), window: (name) => shownIn(name), columns: () => shapeOf(), batches: () => Promise.all(LANES.map((name) => trainerOf(name).batch())) };
