// The second page: tools for a closer look at what is trained. It is loaded when it is asked for; an own file and trained lanes stay.

import { $ } from "./dom.js";
import { GridMap } from "./grid.js";
import { SEVERAL, TWO, isPlain } from "./kinds.js";
import { engines, isBusy, options, restart, trainerOf } from "./runs.js";
import { WORKBENCH } from "./state.js";
import { Steps } from "./steps.js";
import { colours, computed, effect, kind, pushAddress, rows, run, say, set, state, untracked } from "./store.js";
import markup from "./workbench.html?raw";
import "./workbench.css";

const story = computed(() => state.value.story);

/** What is unfolded; nothing once it is folded. */
function unfold(tool, open) {
  if (open || state.peek().story === tool) set({ story: open ? tool : WORKBENCH[0] });
  pushAddress(true);
}

/** All data, of the kinds that can be drawn: loaded when it is unfolded. */
function everything() {
  let allData = null;
  const show = async () => {
    $("all").hidden = !isPlain(state.peek());
    const open = !$("all").hidden && state.peek().story === "all";
    if ($("all").open !== open) $("all").open = open; // (comes back by its event)
    if (!open && !allData) return;
    allData ??= import("./all.js").then(({ AllData }) => new AllData({
      changed: (all) => {
        set({ all });
        pushAddress(true);
      },
      // (Of a run on its way, what it comes to.)
      laneOf: async (name) => {
        while (isBusy()) await new Promise((resolve) => setTimeout(resolve, 50));
        // (In the data's units.)
        const [params, columns] = await Promise.all([trainerOf(name).params(), trainerOf(name).columns()]);
        const [x, y] = [0, 1].map((k) => params[k] * (columns?.[k][1] ?? 1));
        return state.peek().model === "linear" && Math.hypot(x, y) > 0 ? [x, y] : null;
      },
    }));
    let shown;
    try {
      shown = await allData;
    } catch (error) {
      allData = null;
      return say(error);
    }
    // (It may have been folded or hidden meanwhile.)
    if ($("all").hidden || state.peek().story !== "all") return shown.close();
    shown.restyle(colours.peek());
    const { all, data, positives, noise, seed, model } = state.peek();
    return shown.show(all, { kind: data, positives: positives / 100, noise, seed }, model === "linear");
  };
  $("all").ontoggle = () => unfold("all", $("all").open);
  effect(() => run.value && story.value && untracked(show));
  effect(() => {
    const palette = colours.value;
    allData?.then((shown) => shown.restyle(palette));
  });
}

/** @param {Record<"a" | "b", import("./lane.js").Lane>} lanes */
export function workbench(lanes) {
  $("workbench").innerHTML = markup;
  const steps = new Steps({ engine: engines.a, toggled: (open) => unfold("steps", open) });
  const gridMap = new GridMap({
    toggled: (open) => unfold("grid", open),
    load: (name, settings) => {
      say(null);
      const { lanes } = state.peek();
      set({ lanes: { ...lanes, [name]: { method: lanes[name].method, settings: { ...lanes[name].settings, ...settings } } } });
      restart({ fresh: false, play: true, step: true });
      $("play").scrollIntoView({ block: "nearest" });
    },
  });
  effect(() => {
    const [now, open] = [rows.value, story.value === "steps"];
    if (now) untracked(() => steps.show(now, state.peek().seed, open));
  });
  effect(() => colours.value && steps.restyle(colours.value));
  effect(() => {
    const [now, open] = [run.value, story.value === "grid"];
    if (!now) return;
    untracked(() => {
      const { model, steps, seed, lanes: of } = state.peek();
      gridMap.show({
        // (Runs of other rows or lengths are no longer those of the map.)
        of: [now.rows, model, steps, seed, now.kind.metric, of.a.method, of.b.method],
        hidden: kind.peek() !== TWO,
        open,
        linear: model === "linear",
        steps,
        options,
        lane: (name) => ({ method: lanes[name].method, settings: state.peek().lanes[name].settings }),
        measured: { metric: now.kind.metric, called: now.kind.called },
      });
    });
  });
  everything();
  effect(() => ($("workbench-none").hidden = kind.value !== SEVERAL));
  return {
    open(on) {
      $("workbench").hidden = !on;
      if (!on) return;
      scrollTo(0, 0);
      $("workbench-title").focus({ preventScroll: true });
    },
  };
}
