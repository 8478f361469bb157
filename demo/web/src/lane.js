// One lane: method and parameters, the map of scores, the histogram.

import { $, h, three } from "./dom.js";
import * as draw from "./draw/canvas.js";

const GRID = 72;
/** Shown without a click into the folded settings. */
const BRIEF = ["lr", "optimizer", "surrogate", "gamma", "sampling"];

/** What a parameter may be, in words; nothing for a list of choices, which is seen. */
function expects({ kind, low, high, word }) {
  if (kind === "choice") return "";
  const number = kind === "count" ? "a whole number" : "a number";
  // Limits that only keep numbers representable are not named.
  const [above, bounded] = [low > 0 && low < 1e-9, high < 4e9];
  const range = bounded ? (above ? `above 0, up to ${high}` : `from ${low} to ${high}`) : above ? "above 0" : `of at least ${low}`;
  return `${word ? `${word} or ` : ""}${number} ${range}`;
}

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
    // Maps are square and so keep their window: the last snapshot is right for every size.
    for (const canvas of [this.map, this.bins]) draw.onResize(canvas, () => this.colours && this.draw(this.colours));
    this.caption = h("span");
    $(`lane-${name}`).append(
      h("div", { className: "head" }, h("span", { className: "key", "aria-hidden": "true", textContent: title }), this.select, this.figure),
      this.settings,
      h("div", { className: "card" }, this.map),
      h("div", { className: "caption" }, this.caption, h("span", { className: "legend" }, h("i", { className: "positive" }), "positive", h("i"), "negative")),
      h("div", { className: "card" }, this.bins),
      h("div", { className: "caption" }, h("span", { textContent: "Scores of held-out rows: low" }), h("span", { textContent: "high" })),
    );
  }

  get method() {
    return this.methods.find((method) => method.name === this.choice.method);
  }

  /** Shows a choice of method and settings. */
  configure(choice) {
    const rebuilt = this.choice?.method !== choice.method;
    this.choice = choice;
    this.select.value = choice.method;
    const { params } = this.method;
    const value = (param) => choice.settings[param.name] ?? param.default;
    if (rebuilt) this.build();
    for (const param of params) if (param.name in this.fields) this.fields[param.name].value = value(param);
    const brief = params.filter((param) => BRIEF.includes(param.name) || param.name in choice.settings);
    this.summary.textContent = brief.map((param) => `${param.name} ${value(param)}`).join("  ·  ");
  }

  /** A field for each parameter. They stay while the method does, so that the focus does. */
  build() {
    const { params, about, paper } = this.method;
    const set = (param, text) => {
      const settings = { ...this.choice.settings, [param.name]: text };
      if (text === param.default || text === "") delete settings[param.name];
      this.change({ method: this.choice.method, settings });
    };
    const hint = h("p", { className: "about", "aria-hidden": "true" });
    const field = (param) => {
      const expected = expects(param.domain);
      const text = `${param.name}: ${param.about}${expected ? ` (${expected})` : ""}`;
      const explain = () => (hint.textContent = text);
      const common = { "aria-description": text, onfocus: explain };
      const input = param.domain.kind === "choice"
        ? h("select", { ...common, onchange: () => set(param, input.value) }, ...param.domain.values.map((word) => h("option", { value: word, textContent: word })))
        : h("input", { ...common, type: "text", inputMode: "decimal", onchange: () => set(param, input.value.trim()) });
      this.fields[param.name] = input;
      return h("label", { onpointerenter: explain }, param.name, input);
    };
    this.fields = {};
    this.summary = h("summary");
    const fields = params.filter((param) => param.name !== "steps").map(field);
    this.settings.replaceChildren(this.summary, h("div", {}, h("p", { textContent: `${about} ${paper}.` }), ...fields, hint));
  }

  /** What is wrong, with the lane, and with the range where the module that trains is too small to name it. */
  explain(error) {
    const text = String(error.message ?? error);
    const param = this.method.params.find(({ name }) => text.startsWith(`${name} = `));
    return new Error(`Lane ${this.name.toUpperCase()}, ${this.method.title}: ${param ? text.replace("a number in its range", expects(param.domain)) : text}`);
  }

  /** The held-out rows to draw. */
  show({ dims, plane, test }) {
    this.flat = dims === 2;
    this.points = plane;
    this.labels = test.y;
    this.caption.textContent = this.flat ? "lines: 20, 5, 1 % of negatives rank higher" : "first two principal components, tint: rank";
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
