// The left column: data, file, model, length.

import { count, h, segments } from "./dom.js";
import * as draw from "./draw/canvas.js";
import { SAMPLES } from "./samples.js";

const slider = (name, text, { min, max, step, show }, change) => {
  // Not wrapped in its label: that would name the output, which comes first.
  const output = h("output", { for: `${name}-range` });
  const input = h("input", { type: "range", id: `${name}-range`, min, max, step, oninput: () => (output.textContent = show(Number(input.value))), onchange: () => change(Number(input.value)) });
  return {
    node: h("div", { className: "slider" }, h("label", { for: input.id, textContent: text }), output, input),
    set(value, shown) {
      input.value = value;
      this.node.hidden = !shown;
      output.textContent = show(Number(input.value));
    },
  };
};

/** 0.5–50 % on a slider whose steps are ratios. */
const toShare = (position) => Number((0.5 * 100 ** position).toPrecision(2));
const toPosition = (share) => Math.log(share / 0.5) / Math.log(100);

export class Side {
  /**
   * @param {HTMLElement} root
   * @param {{ kinds: object[], change: (part: object) => void, file: (file: File) => void, prepare: (choice: object) => void }} options
   */
  constructor(root, { kinds, change, file, prepare }) {
    this.prepare = prepare;
    this.thumbs = new Map();
    const button = (name, title, props, ...children) => {
      const node = h("button", { type: "button", className: "choice", title, onclick: () => change({ data: name }), "aria-pressed": "false", ...props }, ...children);
      this.thumbs.set(name, node);
      return node;
    };
    const picker = h("input", { type: "file", hidden: true, onchange: () => { if (picker.files[0]) file(picker.files[0]); picker.value = ""; } });
    picker.id = "file";
    this.form = h("div");
    this.positives = slider("positives", "Positives", { min: 0, max: 1, step: 0.01, show: (x) => `${toShare(x)} %` }, (x) => change({ positives: toShare(x) }));
    this.noise = slider("noise", "Noise", { min: 0, max: 2, step: 0.05, show: (x) => x.toFixed(2) }, (noise) => change({ noise }));
    this.model = h("div", { className: "segments", role: "radiogroup", "aria-label": "Model", id: "model" });
    this.steps = h("select", { "aria-label": "Steps of a run", onchange: () => change({ steps: Number(this.steps.value) }) });
    this.changed = change;
    root.append(
      h("div", {}, h("h2", { textContent: "Data" }),
        h("div", { className: "kinds" }, ...kinds.map((kind) => button(kind.name, kind.about, {}, h("canvas", { "aria-hidden": "true" }), kind.title)))),
      h("div", {}, h("h2", { textContent: "Real samples" }),
        h("div", { className: "samples" }, ...SAMPLES.map((one) => button(one.name, one.title, {}, one.title, h("small", { textContent: one.about }))))),
      h("div", {}, h("button", { type: "button", className: "drop", onclick: () => picker.click() }, "Drop or choose CSV, LIBSVM"), picker, this.form),
      this.positives.node,
      this.noise.node,
      h("div", { className: "row" }, h("h2", { textContent: "Model" }), this.model),
      h("div", { className: "row" }, h("h2", { textContent: "Steps" }), this.steps),
    );
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

  /** @param {import("./state.js").State} state @param {boolean} drawn whether the data is drawn from a seed */
  configure(state, drawn) {
    for (const [name, node] of this.thumbs) node.setAttribute("aria-pressed", String(name === state.data));
    this.positives.set(toPosition(state.positives), drawn);
    this.noise.set(state.noise, drawn);
    const models = [["linear", "Linear"], ["16", "MLP 16"], ["16,16", "16, 16"]];
    if (!models.some(([value]) => value === state.model)) models[2] = [state.model, state.model];
    segments(this.model, models, state.model, (model) => this.changed({ model }));
    const lengths = [...new Set([300, 1000, 3000, 10000, state.steps])].sort((a, b) => a - b);
    this.steps.replaceChildren(...lengths.map((steps) => h("option", { value: steps, textContent: count(steps), selected: steps === state.steps })));
  }

  /** @param {string} name @param {{ plane: Float32Array, test: { y: Uint8Array } }} data */
  thumbnail(name, data, colours) {
    const canvas = this.thumbs.get(name)?.querySelector("canvas");
    if (!canvas) return;
    const { context, width, height } = draw.sharp(canvas);
    draw.scatter(context, width, height, draw.frame(data.plane, width / height), data.plane, data.test.y, colours, { size: 0.9 });
  }

  /** What is in a file, and what to make of it, before anything is trained. */
  inspect(table) {
    const sparse = table.format === "LIBSVM";
    const usual = ["label", "target", "class", "y"];
    const twoValued = table.columns.filter((column) => column.values && column.values.length > 1);
    const guess = table.columns.find((column) => usual.includes(column.name.toLowerCase())) ?? twoValued.findLast((column) => column.values.length === 2) ?? twoValued.at(-1) ?? table.columns.at(-1);
    const label = h("select", {}, ...table.columns.map((column) => h("option", { value: column.name, textContent: column.name, selected: column === guess })));
    const positive = h("select");
    const ratio = h("p", { className: "hint" });
    const impute = h("input", { type: "checkbox", checked: true });
    const go = h("button", { type: "button", className: "primary", textContent: "Train on it" });
    const missing = table.columns.filter((column) => column.missing > 0);
    const holes = missing.reduce((sum, column) => sum + column.missing, 0);
    const describe = () => {
      const column = table.columns.find((one) => one.name === label.value);
      const chosen = column.values?.find(([value]) => value === positive.value);
      go.disabled = !chosen || column.values.length < 2;
      ratio.textContent = go.disabled
        ? column.values ? "This column has one value only." : "This column has more than 20 values: no class label."
        : `${count(chosen[1])} of ${count(table.rows)} rows are positive (${((100 * chosen[1]) / table.rows).toPrecision(3)} %).`;
    };
    const fill = () => {
      const values = table.columns.find((column) => column.name === label.value).values ?? [];
      const rare = values.length === 2 && values[0][1] < values[1][1] ? 0 : values.length - 1;
      positive.replaceChildren(...values.map(([value, n], k) => h("option", { value, textContent: `${value} (${count(n)} rows)`, selected: k === rare })));
      describe();
    };
    label.onchange = fill;
    positive.onchange = describe;
    go.onclick = () => this.prepare({ file: table.file, label: label.value, positive: positive.value, impute: impute.checked });
    const parts = [h("strong", { textContent: table.name }), h("p", { className: "hint", textContent: `${table.format}, ${count(table.rows)} rows${sparse ? "" : ` × ${table.columns.length} columns`}` })];
    if (!sparse) parts.push(h("label", {}, "Label column", label));
    parts.push(h("label", {}, "Positive class", positive), ratio);
    if (holes) parts.push(h("label", { className: "check" }, impute, `Fill in ${count(holes)} missing value${holes > 1 ? "s" : ""} (${missing.slice(0, 3).map((column) => column.name).join(", ")}${missing.length > 3 ? "…" : ""})`));
    this.form.replaceChildren(h("div", { className: "file", id: "inspect" }, ...parts, go));
    this.form.style.marginTop = "8px";
    fill();
  }

  forget() {
    this.form.replaceChildren();
  }
}
