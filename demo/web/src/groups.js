// Rows in groups: the legend, the bound on their gap as a slider, what is said of it lane by lane, and the table of each group.

import { $, count, h, three } from "./dom.js";
import { DASHES, swatch } from "./draw/groups.js";
import { leads } from "./draws.js";
import { BOUNDS } from "./state.js";

const LANES = /** @type {const} */ (["a", "b"]);

/** A bound as the constraint that it is; none bounds nothing, for the methods that train under something. */
export const constraint = (bound) => `gap(fpr) <= ${bound ?? 1}`;

/** What lanes are compared by, beside the metrics of all rows. */
export function compare(shot) {
  const { groups, gaps } = shot.byGroup?.test ?? {};
  if (groups) Object.assign(shot.test, { worst: Math.min(...groups.map(({ auroc }) => auroc)), fprGap: gaps.fpr.value, tprGap: gaps.tpr.value });
  return shot;
}

const called = (bound) => (bound === null ? "none" : bound.toFixed(2));

/** A verdict with a sign, so that colour is not all that tells them apart. */
const SIGNS = { met: "✓", "not met": "✗", "cannot tell": "?" };

/** How a lane trains under the bound. */
function weighed({ dual, dualBound, conflict }) {
  const weight = dual === undefined ? "" : `, weight ${dual.toFixed(2)}${dualBound === undefined ? "" : ` of ${dualBound}`}`;
  return `trained under the bound${weight}${conflict ? ", conflict" : ""}`;
}

export class Groups {
  /** @param {{ moved: (bound: number | null) => void, settled: (bound: number | null) => void }} told of every move of the slider, and of its end */
  constructor({ moved, settled }) {
    this.root = $("groups");
    this.names = null;
    const bound = () => BOUNDS[Number(this.slider.value)];
    this.value = h("output", { className: "value", for: "bound" });
    this.slider = h("input", { type: "range", id: "bound", min: 0, max: BOUNDS.length - 1, step: 1, oninput: () => { this.say(bound()); moved(bound()); }, onchange: () => settled(bound()) });
    this.slider.setAttribute("aria-describedby", "bound-hint");
    this.legend = h("ul", { className: "legend-groups", "aria-label": "Lines and marks of the groups" });
    this.lines = Object.fromEntries(LANES.map((name) => [name, h("li", { className: name })]));
    // What is told when a run ends or rests; the lines themselves change with every picture.
    this.told = h("p", { className: "unseen", role: "status" });
    this.root.append(
      h("div", { className: "slider" }, h("label", { for: "bound", textContent: "Bound: gap(fpr) ≤" }), this.slider, this.value),
      h("p", { className: "hint", id: "bound-hint", textContent: "The largest difference of the groups’ false-positive rates, over all thresholds. A new bound restarts both lanes." }),
      this.legend,
      h("ul", { className: "verdicts", "aria-label": "Exact gap of each lane on held-out rows" }, this.lines.a, this.lines.b),
      this.told,
    );
  }

  say(bound) {
    this.value.textContent = called(bound);
    this.slider.setAttribute("aria-valuetext", bound === null ? "none" : `at most ${called(bound)}`);
  }

  /** @param {string[] | undefined} names none of data without groups @param {Uint32Array} [of] the group of each held-out row */
  show(names, of) {
    this.root.hidden = !names;
    if (names && names === this.names && of === this.of) return;
    Object.assign(this, { names, of });
    if (!names) return;
    const rows = names.map((_, one) => of.reduce((sum, group) => sum + (group === one), 0));
    const share = (one) => `${Math.round((100 * rows[one]) / of.length)}\u00a0%`;
    this.legend.replaceChildren(
      ...names.map((name, one) => h("li", {}, swatch(one), h("b", { textContent: name }), ` ${share(one)} of the rows`)),
      h("li", {}, swatch(), "all rows"));
    this.cells = names.map(() => Array.from({ length: 5 }, () => h("td", { textContent: "–" })));
    $("each-table").replaceChildren(
      h("caption", { textContent: "Each group by itself, held-out rows; accuracy at score 0" }),
      h("thead", {}, h("tr", {}, ...["Group", "Rows", "AUROC A", "AUROC B", "Accuracy A", "Accuracy B"].map((text) => h("th", { scope: "col", textContent: text })))),
      h("tbody", {}, ...names.map((name, one) => h("tr", {}, h("th", { scope: "row" }, h("div", {}, swatch(one), name)), ...this.cells[one]))),
    );
    rows.forEach((n, one) => (this.cells[one][0].textContent = count(n)));
  }

  /** @param {number | null} bound */
  configure(bound) {
    this.slider.value = BOUNDS.indexOf(bound);
    this.say(bound);
  }

  /**
   * @param {{ a: object, b: object }} shots
   * @param {{ bound: number | null, titles: Record<"a" | "b", string>, under: Record<"a" | "b", boolean>, begun: boolean, rests: boolean }} run
   *   `under` where a lane trains under the bound, `begun` after the first step, `rests` where the run is not on its way
   */
  measure(shots, { bound, titles, under, begun, rests }) {
    this.cells.forEach((cells, one) => {
      ["auroc", "accuracy"].forEach((metric, k) => {
        const [x, y] = LANES.map((name) => shots[name].byGroup.test.groups[one][metric]);
        const [first, second] = [cells[1 + 2 * k], cells[2 + 2 * k]];
        [first.textContent, second.textContent] = [three(x), three(y)];
        [first.className, second.className] = [leads(x, y) ? "best" : "", leads(y, x) ? "best" : ""];
      });
    });
    const said = LANES.map((name) => {
      const gap = shots[name].byGroup.test.gaps.fpr;
      const verdict = bound === null || !begun ? "" : shots[name].judged[0].verdict;
      const figure = `${three(gap.value)}\u00a0±\u00a0${three(gap.noise)}`;
      const beside = bound === null ? "nothing is asked" : under[name] ? weighed(shots[name].constraints[0]) : "trained without it";
      this.lines[name].replaceChildren(
        h("span", { className: "key", "aria-hidden": "true", textContent: name.toUpperCase() }),
        h("span", {}, `${titles[name]}: gap(fpr) `, h("b", { textContent: figure })),
        ...(verdict ? [h("span", { className: `verdict ${verdict.replace(" ", "-")}` }, h("i", { "aria-hidden": "true", textContent: SIGNS[verdict] }), verdict)] : []),
        h("span", { className: "hint", textContent: beside }),
      );
      return `Lane ${name.toUpperCase()}, ${titles[name]}: gap ${figure}${verdict ? `, ${verdict}` : ""}.`;
    });
    const text = `Bound ${called(bound)}. ${said.join(" ")}`;
    if (begun && rests && this.told.textContent !== text) this.told.textContent = text;
  }
}

/** The lines of a chart by group: a reference, all rows, then each group. */
export const linesOf = (names) => (colours) => [
  { stroke: colours.soft, width: 1, dash: [2, 4] },
  { stroke: colours.ink, width: 1.5, dash: DASHES.all },
  ...names.map((_, one) => ({ stroke: colours.groups[one % colours.groups.length], width: 2, dash: DASHES.groups[one % DASHES.groups.length] })),
];
