// The table of held-out metrics, and what is said of a lane beside its name.

import { $, h, put, term, three } from "../dom.js";
import { leads } from "../draws.js";
import { LANES, SEVERAL, drawnOf } from "../kinds.js";
import { effect, playing, run, seeing, seen, shots, state, untracked } from "../store.js";
import { summary } from "./headline.js";

/** The cells; they are made for a kind of data and then only filled. */
const table = Object.fromEntries(LANES.map((name) => [name, { title: h("span"), cells: [...SEVERAL.columns, "pass", "milliseconds"].map(() => h("td", { textContent: "–" })) }]));

function build({ columns, hint }) {
  $("metrics").replaceChildren(
    h("thead", {}, h("tr", {}, h("th", { scope: "col", textContent: "Lane" }), ...[...columns, ["pass", "Passes"], ["milliseconds", "ms a step"]].map(([key, title]) => h("th", { scope: "col" }, term(key, title))))),
    h("tbody", {}, ...LANES.map((name) => h("tr", { "data-lane": name }, h("th", { scope: "row" }, h("i"), table[name].title), ...table[name].cells))),
  );
  $("metrics-hint").textContent = hint;
}

/** Of the run that is shown, or the means of its draws. */
function fill(shots, summary, { columns }) {
  const of = summary ? { a: summary.a.test, b: summary.b.test } : { a: shots.a.test, b: shots.b.test };
  put($("metrics-of"), summary ? `mean of ${summary.draws} ${drawnOf(state.peek()) ? "draws" : "splits"}` : `seed ${state.peek().seed}`);
  for (const [name, other] of [["a", "b"], ["b", "a"]]) {
    const { cells } = table[name];
    columns.forEach(([key, , least], k) => {
      const [own, theirs] = [of[name][key], of[other][key]];
      put(cells[k], three(own));
      const best = Number.isFinite(own) && (shots[other].collapsed || !Number.isFinite(theirs) || (least ? leads(theirs, own) : leads(own, theirs)));
      const marked = !shots[name].collapsed && best ? "best" : "";
      if (cells[k].className !== marked) cells[k].className = marked;
    });
    const [pass, milliseconds] = cells.slice(columns.length);
    put(pass, shots[name].pass.toFixed(1));
    put(milliseconds, shots[name].milliseconds ? shots[name].milliseconds.toFixed(3) : "–");
  }
}

/** @param {Record<"a" | "b", import("../lane.js").Lane>} lanes @param {(name: "a" | "b") => string} titleOf */
export function metrics(lanes, titleOf) {
  const visible = seeing($("metrics"));
  effect(() => run.value && build(run.value.kind));
  effect(() => {
    const [now, all] = [seen.value, summary.value];
    // (While a run plays, what nobody sees waits.)
    if (now && run.value && (visible.value || !playing.value)) untracked(() => fill(now, all, run.peek().kind));
    for (const name of LANES) lanes[name].average(all && { value: all[name].mean, of: all[name].runs });
  });
  // What a run says against itself, when it rests.
  effect(() => {
    const [now, { lanes: of }] = [shots.value, state.value];
    if (!now || !of.a || (playing.value && now.step > 0)) return;
    untracked(() => {
      for (const name of LANES) {
        const said = now.step > 0 ? now[name] : null;
        lanes[name].warn(said);
        const title = `${titleOf(name)}${said?.collapsed ? ", collapsed" : ""}`;
        if (table[name].title.textContent !== title) table[name].title.textContent = title;
      }
    });
  });
}
