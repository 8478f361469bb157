// Every draw behind the headline, so that it can be checked.

import { $, h, three } from "../dom.js";
import { strip } from "../draw/strip.js";
import { stands } from "../draws.js";
import { LANES } from "../kinds.js";
import { effect, measured, repeats, untracked } from "../store.js";

/** @param {(name: "a" | "b") => string} titleOf */
export function draws(titleOf) {
  effect(() => {
    const { summary, draws } = repeats.value ?? {};
    $("draws").hidden = !summary;
    if (summary) untracked(() => fill(summary, draws, titleOf));
  });
}

function fill(summary, draws, titleOf) {
  const { called, title } = measured.peek();
  const also = (cell) => (summary.best ? [cell] : []);
  const text = ({ value, collapsed, error }) => `${three(value)}${collapsed ? " (collapsed)" : error ? " (broke off)" : ""}`;
  const line = (head, cells) => h("tr", {}, h("th", { scope: "row", textContent: head }), ...cells.map((cell) => h("td", { textContent: cell })));
  const result = (outcome) => (stands(outcome) ? outcome.value : NaN);
  const values = draws.map(({ a, b }) => ({ a: result(a), b: result(b) }));
  const known = summary.a.runs + summary.b.runs > 0;
  $("draws-chart").replaceChildren(...(known ? [strip({ values, mean: { a: summary.a.mean, b: summary.b.mean } }, `Held-out ${called}`)] : []));
  $("draws-of").textContent = title;
  $("draws-table").replaceChildren(
    h("caption", { textContent: `Held-out ${called} of each draw; mean and deviation over the runs that have a result.${summary.best ? " Best direction: of those tried on the draw’s held-out rows, the lanes’ own among them, the one that their labels choose." : ""}` }),
    h("thead", {}, h("tr", {}, ...["Seed", ...LANES.map(titleOf), ...(summary.best ? ["Best direction"] : [])].map((head) => h("th", { scope: "col", textContent: head })))),
    h("tbody", {}, ...draws.map(({ seed, a, b, best }) => line(seed, [text(a), text(b), ...also(three(best))]))),
    h("tfoot", {},
      line("Mean", [three(summary.a.mean), three(summary.b.mean), ...also(three(summary.best?.mean))]),
      line("Deviation", [three(summary.a.deviation), three(summary.b.deviation), ...also(three(summary.best?.deviation))]),
      line("Ahead", [summary.ahead.a, summary.ahead.b, ...also("")])),
  );
}
