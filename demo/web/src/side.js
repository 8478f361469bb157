// The left column: data, file, model, length.

import { count, h, segments } from "./dom.js";
import * as draw from "./draw/canvas.js";
import { SAMPLES } from "./samples.js";

const slider = (name, text, { min, max, step, show }, change) => {
  const shown = h("span", { className: "value", "aria-hidden": "true" });
  const say = () => {
    shown.textContent = show(Number(input.value));
    // (The position on the slider is no number that means anything to a listener.)
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  const input = h("input", { type: "range", id: `${name}-range`, min, max, step, oninput: say, onchange: () => change(Number(input.value)) });
  return {
    input,
    node: h("div", { className: "slider" }, h("label", { for: input.id, textContent: text }), input, shown),
    set(value, visible = true) {
      input.value = value;
      this.node.hidden = !visible;
      say();
    },
  };
};

/** What a model is called. */
export const named = (model) => model.split("/").map((one) => (one === "linear" ? one : `MLP ${one.replaceAll(",", ", ")}`)).join(" | ");

/** 0.5–50 % on a slider whose steps are ratios. */
const toShare = (position) => Number((0.5 * 100 ** position).toPrecision(2));
const toPosition = (share) => Math.log(share / 0.5) / Math.log(100);

export class Side {
  /**
   * @param {HTMLElement} root
   * @param {{ kinds: object[], several: object[], groups: object[], change: (part: object) => void, file: (file: File) => void }} options
   */
  constructor(root, { kinds, several, groups, change, file }) {
    this.root = root;
    this.thumbs = new Map();
    this.titles = new Map();
    const button = (name, title, about, ...children) => {
      const node = h("button", { type: "button", className: "choice", title: about, onclick: () => change({ data: name }), "aria-pressed": "false" }, ...children);
      this.thumbs.set(name, node);
      this.titles.set(name, title);
      return node;
    };
    const row = (one) => button(one.name, one.title, "", one.title, h("small", { textContent: one.about }));
    const picker = h("input", { type: "file", hidden: true, onchange: () => { if (picker.files[0]) file(picker.files[0]); picker.value = ""; } });
    picker.id = "file";
    this.form = h("div");
    this.positives = slider("positives", "Positives", { min: 0, max: 1, step: 0.01, show: (x) => `${toShare(x)} %` }, (x) => change({ positives: toShare(x) }));
    this.noise = slider("noise", "Noise", { min: 0, max: 2, step: 0.05, show: (x) => x.toFixed(2) }, (noise) => change({ noise }));
    this.flips = slider("flips", "Label flips", { min: 0, max: 20, step: 0.5, show: (x) => `${x} %` }, (flips) => change({ flips }));
    this.clean = h("p", { className: "hint", id: "flips-hint", textContent: "In training rows only; held-out labels are unchanged" });
    this.flips.input.setAttribute("aria-describedby", this.clean.id);
    this.model = h("div", { className: "segments", role: "radiogroup", "aria-label": "Model", id: "model" });
    this.steps = h("select", { onchange: () => change({ steps: Number(this.steps.value) }) });
    this.changed = change;
    this.hands = h("button", { type: "button", id: "hands-open", className: "small", textContent: "Change by hand", "aria-controls": "hands", "aria-expanded": "false", hidden: true });
    this.sees = h("button", { type: "button", id: "sees-open", className: "small", textContent: "What the loss sees", "aria-controls": "sees", "aria-expanded": "false", hidden: true });
    // On a narrow screen what follows is folded.
    this.fold = h("button", { type: "button", className: "fold", "aria-expanded": "false", "aria-controls": "choices", onclick: () => this.unfold(this.fold.getAttribute("aria-expanded") !== "true") });
    root.append(this.fold, h("div", { id: "choices", className: "choices" },
      h("div", {}, h("h2", { textContent: "Data" }),
        h("div", { className: "kinds" }, ...kinds.map((kind) => button(kind.name, kind.title, kind.about, h("canvas", { "aria-hidden": "true" }), kind.title))),
        h("div", { className: "looks" }, this.hands, this.sees)),
      h("div", {}, h("h2", { textContent: "Real samples" }),
        h("div", { className: "samples" }, ...SAMPLES.filter((one) => one.positive).map(row))),
      h("div", {}, h("h2", { textContent: "Several classes, groups" }),
        h("div", { className: "samples three" }, ...[...several, ...SAMPLES.filter((one) => !one.positive), ...groups].map((one) => button(one.name, one.title, one.about, one.title)))),
      h("div", {}, h("button", { type: "button", className: "drop", textContent: "Drop or choose CSV, LIBSVM, Parquet", onclick: () => picker.click() }), picker, this.form),
      h("div", { className: "sliders" }, this.positives.node, this.noise.node, this.flips.node, this.clean),
      h("div", {}, h("div", { className: "row" }, h("h2", { textContent: "Model" }), h("label", { className: "field" }, "Steps", this.steps)), this.model),
    ));
    // Files may be dropped anywhere.
    let depth = 0;
    const over = (delta) => {
      depth = Math.max(0, depth + delta);
      document.body.classList.toggle("over", depth > 0);
    };
    addEventListener("dragenter", () => over(1));
    addEventListener("dragleave", () => over(-1));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      depth = 0;
      over(0);
      if (event.dataTransfer?.files[0]) file(event.dataTransfer.files[0]);
    });
  }

  unfold(open) {
    this.fold.setAttribute("aria-expanded", String(open));
    this.root.classList.toggle("open", open);
  }

  /** @param {import("./state.js").State} state @param {{ positives: boolean, noise: boolean, flips: boolean }} has what the data has */
  configure(state, has) {
    for (const [name, node] of this.thumbs) node.setAttribute("aria-pressed", String(name === state.data));
    this.positives.set(toPosition(state.positives), has.positives);
    this.noise.set(state.noise, has.noise);
    this.flips.set(state.flips, has.flips);
    this.clean.hidden = !has.flips;
    const models = ["linear", "16", "16,16", ...(state.data === "file" ? ["linear/16"] : [])];
    if (!models.includes(state.model)) models[2] = state.model;
    segments(this.model, models.map((model) => [model, named(model)]), state.model, (model) => this.changed({ model }));
    const lengths = [...new Set([300, 1000, 3000, 10000, state.steps])].sort((a, b) => a - b);
    this.steps.replaceChildren(...lengths.map((steps) => h("option", { value: steps, textContent: count(steps), selected: steps === state.steps })));
    this.fold.replaceChildren("Data and model", h("small", { textContent: `${this.titles.get(state.data) ?? "Your file"} · ${named(state.model)} · ${count(state.steps)} steps` }));
  }

  /** @param {string} name @param {{ plane: Float32Array, test: { y: Uint8Array } }} data */
  thumbnail(name, data, colours) {
    const canvas = this.thumbs.get(name)?.querySelector("canvas");
    if (!canvas) return;
    const paint = () => {
      const { context, width, height } = draw.sharp(canvas);
      draw.scatter(context, width, height, draw.frame(data.plane, width / height), data.plane, data.test.y, colours, { size: 0.9 });
    };
    draw.onResize(canvas, paint);
    if (draw.sizeOf(canvas).width) paint();
  }

  forget() {
    this.form.replaceChildren();
  }
}
