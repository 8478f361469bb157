// The left column: data, file, model, length.

import { brief, count, h, segments } from "./dom.js";
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

/** 0.5–50 % on a slider whose steps are ratios. */
const toShare = (position) => Number((0.5 * 100 ** position).toPrecision(2));
const toPosition = (share) => Math.log(share / 0.5) / Math.log(100);

/** A share of rows in per cent. */
const percent = (part, all) => `${((100 * part) / all).toPrecision(3)}\u00a0%`;

export class Side {
  /**
   * @param {HTMLElement} root
   * @param {{ kinds: object[], several: object[], groups: object[], change: (part: object) => void, file: (file: File) => void, prepare: (choice: object) => void }} options
   */
  constructor(root, { kinds, several, groups, change, file, prepare }) {
    this.root = root;
    this.prepare = prepare;
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
      h("div", {}, h("button", { type: "button", className: "drop", textContent: "Drop or choose CSV or LIBSVM", onclick: () => picker.click() }), picker, this.form),
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
    const named = (model) => (model === "linear" ? "Linear" : `MLP ${model.replaceAll(",", ", ")}`);
    const models = ["linear", "16", "16,16"];
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

  /** What is in a file, and what to make of it, before anything is trained. */
  inspect(table) {
    const sparse = table.format === "LIBSVM";
    const usual = ["label", "target", "class", "y"];
    const twoValued = table.columns.filter((column) => column.values && column.values.length > 1);
    const guess = table.columns.find((column) => usual.includes(column.name.toLowerCase())) ?? twoValued.findLast((column) => column.values.length === 2) ?? twoValued.at(-1) ?? table.columns.at(-1);
    const rowsText = (n) => `${count(n)} row${n === 1 ? "" : "s"}`;
    const label = h("select", {}, ...table.columns.map((column) => h("option", { value: column.name, textContent: column.name, selected: column === guess })));
    const positive = h("select");
    const which = h("label", {}, "Positive class", positive);
    const all = h("div", { className: "segments", role: "radiogroup", "aria-label": "What to train", id: "what" });
    let several = true;
    const ratio = h("p", { className: "hint", id: "ratio", "aria-live": "polite" });
    const impute = h("input", { type: "checkbox", checked: true });
    const go = h("button", { type: "button", className: "primary", textContent: "Train on it" });
    const gaps = h("span");
    const fillIn = h("label", { className: "check" }, impute, gaps);
    const describe = () => {
      const { values, missing: unlabelled } = table.columns.find((column) => column.name === label.value);
      const missing = table.columns.filter((column) => column.missing > 0 && column.name !== label.value);
      const holes = missing.reduce((sum, column) => sum + column.missing, 0);
      fillIn.hidden = !holes;
      gaps.textContent = `Fill in ${count(holes)} missing value${holes > 1 ? "s" : ""} (${missing.slice(0, 3).map((column) => column.name).join(", ")}${missing.length > 3 ? "…" : ""})`;
      const chosen = values?.find(([value]) => value === positive.value);
      const what = sparse ? "The label" : "This column";
      const more = values?.length > 2;
      all.hidden = !more;
      // A split needs two rows of each class.
      const lone = more && several && values.find(([, n]) => n < 2);
      which.hidden = !(values?.length > 1) || (more && several);
      if (more) {
        segments(all, [["all", `All ${values.length} classes`], ["one", "One class"]], several ? "all" : "one", (choice) => {
          several = choice === "all";
          describe();
        });
      }
      go.disabled = !chosen || values.length < 2 || unlabelled > 0 || Boolean(lone);
      if (!values) ratio.textContent = `${what} has more than 100 different values: a number to predict, or more classes than the page takes.`;
      else if (unlabelled) ratio.textContent = `${rowsText(unlabelled)} without a label, and every row needs one.`;
      else if (values.length < 2) ratio.textContent = `${what} has one value only; two classes are needed.`;
      else if (lone) {
        ratio.textContent = `Class ${brief(lone[0])} has one row, and all ${values.length} classes need two: one to train on, one held out.`;
      } else if (more && several) {
        const rows = values.map(([, n]) => n);
        const [least, most] = [Math.min(...rows), Math.max(...rows)];
        ratio.textContent = `${values.length} classes of ${least < most ? `${count(least)} to ${rowsText(most)}` : `${rowsText(most)} each`} are trained at once.`;
      } else {
        ratio.textContent = `${count(chosen[1])} of ${count(table.rows)} rows are positive (${percent(chosen[1], table.rows)}).` +
          (more ? ` The rows of the other ${values.length - 1} classes are negatives.` : "");
      }
    };
    const fill = () => {
      const values = table.columns.find((column) => column.name === label.value).values ?? [];
      const rare = values.reduce((best, [, rows], k) => (rows <= values[best][1] ? k : best), 0);
      all.replaceChildren();
      positive.replaceChildren(...values.map(([value, n], k) => h("option", { value, textContent: `${value} (${rowsText(n)})`, selected: k === rare })));
      describe();
    };
    label.onchange = fill;
    positive.onchange = describe;
    const name = h("summary", {}, h("strong", { textContent: table.name }));
    go.onclick = () => {
      // Out of the way, and still there to choose otherwise.
      name.focus();
      name.parentNode.open = false;
      this.prepare({ file: table.file, name: table.name, label: label.value, positive: which.hidden ? undefined : positive.value, impute: impute.checked });
    };
    const parts = [h("p", { className: "hint", textContent: `${table.format}, ${rowsText(table.rows)}${sparse ? "" : ` × ${table.columns.length} columns`}` })];
    if (!sparse) parts.push(h("label", {}, "Label column", label));
    parts.push(all, which, ratio, fillIn);
    this.unfold(true);
    this.form.replaceChildren(h("details", { className: "file", id: "inspect", open: true }, name, h("div", {}, ...parts, go)));
    this.form.style.marginTop = "8px";
    fill();
  }

  forget() {
    this.form.replaceChildren();
  }
}
