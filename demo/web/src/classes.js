// Several classes: the legend, which also chooses the class that is shown against all others, and the table of each class.

import { $, brief, count, h, three } from "./dom.js";
import { swatch } from "./draw/classes.js";
import { leads } from "./draws.js";

/** A class's mark and its name, which is cut after two lines. */
const named = (name, one) => [swatch(one), h("span", { className: "name", title: name, textContent: name })];

export class Classes {
  /** @param {(one: number) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.root = $("classes");
    this.legend = h("div", { className: "legend-classes", role: "radiogroup", "aria-label": "Class shown against all others" });
    this.said = h("p", { className: "hint", id: "classes-hint" });
    this.legend.setAttribute("aria-describedby", this.said.id);
    this.root.append(this.legend, this.said);
    this.names = null;
  }

  /** @param {string[] | undefined} names none of data with two classes @param {number} chosen */
  show(names, chosen) {
    this.root.hidden = !names;
    if (!names) this.names = null; // (Others use the table meanwhile.)
    if (!names) return;
    if (names !== this.names) {
      this.names = names;
      const choice = (name, one) => h("label", {},
        h("input", { type: "radio", name: "class", value: String(one), onchange: () => this.choose(one) }),
        h("span", {}, ...named(name, one)));
      this.legend.replaceChildren(...names.map(choice));
      this.cells = names.map(() => ["rows", "a", "b", "a", "b"].map(() => h("td", { textContent: "–" })));
      $("each-table").replaceChildren(
        h("caption", { textContent: "Each class against all others, held-out rows" }),
        h("thead", {}, h("tr", {}, ...["Class", "Rows", "AUROC A", "AUROC B", "AP A", "AP B"].map((text) => h("th", { scope: "col", textContent: text })))),
        h("tbody", {}, ...names.map((name, one) => h("tr", {}, h("th", { scope: "row" }, h("div", {}, ...named(name, one))), ...this.cells[one]))),
      );
    }
    this.said.textContent = `Curves and histograms are of class ${brief(names[chosen])} against all others.`;
    for (const [one, input] of this.legend.querySelectorAll("input").entries()) input.checked = one === chosen;
    // One that an address names may lie below what is seen of the legend.
    const { offsetTop: top, offsetHeight: height } = this.legend.children[chosen];
    const { scrollTop, clientHeight } = this.legend;
    if (top < scrollTop || top + height > scrollTop + clientHeight) this.legend.scrollTop = top;
    for (const [one, row] of $("each-table").querySelectorAll("tbody tr").entries()) row.classList.toggle("chosen", one === chosen);
  }

  /** @param {{ a: object, b: object }} shots */
  measure({ a, b }) {
    const [ours, theirs] = [a.test.classes, b.test.classes];
    this.cells.forEach((cells, one) => {
      cells[0].textContent = count(ours[one].rows);
      ["auroc", "ap"].forEach((metric, k) => {
        const [first, second] = [cells[1 + 2 * k], cells[2 + 2 * k]];
        const [x, y] = [ours[one][metric], theirs[one][metric]];
        [first.textContent, second.textContent] = [three(x), three(y)];
        [first.className, second.className] = [leads(x, y) ? "best" : "", leads(y, x) ? "best" : ""];
      });
    });
  }
}
