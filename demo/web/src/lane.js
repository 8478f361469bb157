// One lane: method and parameters, the map of scores, the histogram.

import { $, h, three } from "./dom.js";
import * as draw from "./draw/canvas.js";

const GRID = 72;
/** Shown without a click into the folded settings. */
const BRIEF = ["lr", "optimizer", "surrogate", "gamma", "sampling"];

export class Lane {
  /**
   * @param {"a" | "b"} name
   * @param {object[]} methods the registry
   * @param {(change: { method: string, settings: Record<string, string> }) => void} change
   */
  constructor(name, methods, change) {
    this.name = name;
    this.methods = methods;
    this.change = change;
    this.points = null;
    this.last = null;
    const title = name.toUpperCase();
    this.select = h("select", { "aria-label": `Method of lane ${title}`, onchange: () => change({ method: this.select.value, settings: {} }) },
      ...methods.map((method) => h("option", { value: method.name, textContent: method.title })));
    this.figure = h("div", { className: `figure ${name}` }, "AP", h("b", { textContent: "–" }));
    this.settings = h("details", { className: "settings" });
    this.map = h("canvas", { className: "map", role: "img", "aria-label": `Lane ${title}: no scores yet` });
    this.bins = h("canvas", { className: "bins", role: "img", "aria-label": `Lane ${title}: no scores yet` });
    this.caption = h("span");
    $(`lane-${name}`).append(
      h("div", { className: "head" }, h("span", { className: "key", "aria-hidden": "true", textContent: title }), this.select, this.figure),
      this.settings,
      h("div", { className: "card" }, this.map),
      h("div", { className: "caption" }, this.caption, h("span", { textContent: "● positive  · negative" })),
      h("div", { className: "card" }, this.bins),
      h("div", { className: "caption" }, h("span", { textContent: "Scores of held-out rows: low" }), h("span", { textContent: "high" })),
    );
  }

  get method() {
    return this.methods.find((method) => method.name === this.choice.method);
  }

  /** Shows a choice of method and settings. */
  configure(choice) {
    this.choice = choice;
    this.select.value = choice.method;
    const { params, about, paper } = this.method;
    const value = (param) => choice.settings[param.name] ?? param.default;
    const brief = params.filter((param) => BRIEF.includes(param.name) || param.name in choice.settings);
    const set = (param, text) => {
      const settings = { ...choice.settings, [param.name]: text };
      if (text === param.default || text === "") delete settings[param.name];
      this.change({ method: choice.method, settings });
    };
    const field = (param) =>
      h("label", { title: param.about }, param.name,
        param.domain.kind === "choice"
          ? h("select", { onchange: (event) => set(param, event.target.value) },
            ...param.domain.values.map((word) => h("option", { value: word, textContent: word, selected: word === value(param) })))
          : h("input", { type: "text", inputMode: "decimal", value: value(param), onchange: (event) => set(param, event.target.value.trim()) }));
    this.settings.replaceChildren(
      h("summary", { textContent: brief.map((param) => `${param.name} ${value(param)}`).join("  ·  ") }),
      h("div", {}, h("p", { textContent: `${about} ${paper}.` }), ...params.filter((param) => param.name !== "steps").map(field)),
    );
  }

  /** The held-out rows to draw. */
  show({ dims, plane, test }) {
    this.flat = dims === 2;
    this.points = plane;
    this.labels = test.y;
    this.caption.textContent = this.flat ? "lines: 20, 5 and 1 % of negatives rank higher" : "first two principal components, tint: rank";
    this.layer = this.aspect = null;
  }

  /** What a snapshot must hold for this lane. */
  view() {
    const { width, height } = draw.sizeOf(this.map);
    // The window sorts all rows by both coordinates: once for a shape of the map, not in each frame.
    if (this.aspect !== width / height) {
      this.aspect = width / height;
      this.window = draw.frame(this.points, this.aspect);
      this.layer = null;
    }
    const rows = Math.max(8, Math.round((GRID * height) / width));
    this.grid = { columns: GRID, rows };
    return { curve: 201, bins: 48, ...(this.flat ? { surface: { ...this.window, ...this.grid } } : { ranks: this.points.length / 2 }) };
  }

  /** Draws a snapshot, or the last one again. */
  draw(colours, snapshot = this.last) {
    if (!snapshot) return;
    if (colours !== this.colours) {
      this.layer = this.surface = null;
      this.shade = draw.shade(colours, this.name);
    }
    this.colours = colours;
    this.last = snapshot;
    const { context, width, height } = draw.sharp(this.map);
    const title = `Lane ${this.name.toUpperCase()}, ${this.method.title}`;
    if (this.flat && snapshot.surface) {
      const { columns, rows } = this.grid;
      if (this.surface?.rows !== rows) this.surface = new draw.Surface(columns, rows, colours, this.name);
      this.surface.draw(context, width, height, snapshot.surface);
      if (!this.layer || this.layer.width !== this.map.width) {
        // The points do not move while training: they are drawn once.
        const ratio = this.map.width / width;
        this.layer = new OffscreenCanvas(this.map.width, this.map.height);
        const points = this.layer.getContext("2d");
        points.scale(ratio, ratio);
        draw.scatter(points, width, height, this.window, this.points, this.labels, colours);
      }
      context.drawImage(this.layer, 0, 0, width, height);
    } else if (snapshot.ranks) {
      draw.scatter(context, width, height, this.window, this.points, this.labels, colours, {
        size: 2,
        tint: (k) => this.shade(0.45 + 0.55 * snapshot.ranks[k]),
      });
    }
    draw.histogram(this.bins, snapshot.histogram, colours, this.name);
    this.figure.lastChild.textContent = three(snapshot.test.ap);
    this.map.setAttribute("aria-label", `${title}: held-out rows and where the model ranks them, average precision ${three(snapshot.test.ap)}`);
    this.bins.setAttribute("aria-label", `${title}: histogram of held-out scores by class, AUROC ${three(snapshot.test.auroc)}`);
  }
}
