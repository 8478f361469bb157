// The story of step sizes: AI-SARAH on the page's data, its steps beside the curvature that allows them.

import { METHODS } from "undercurve/methods";
import { createTrainer } from "undercurve/worker";
import { $, h } from "./dom.js";
import { chart } from "./draw/charts.js";

const METHOD = METHODS.find(({ name }) => name === "ai-sarah");
/** What the run has unless told otherwise. */
const usual = (name) => Number(METHOD.params.find((param) => param.name === name).default);
const PASSES = 20;
/** Looks at the run about so often in a pass. */
const LOOKS = 4;
const BATCH = usual("batch");

const short = (x) => (Number.isFinite(x) ? (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(3)))) : "–");

export class Steps {
  /** @param {{ engine: import("undercurve/worker").Engine, toggled: (open: boolean) => void }} options */
  constructor({ engine, toggled }) {
    this.engine = engine;
    this.root = $("steps");
    this.chart = chart($("steps-chart"), { x: [0, PASSES], y: null, log: true });
    this.colours = null;
    this.data = null;
    this.run = 0;
    $("steps-batch").textContent = BATCH;
    /** What was run, so that opening again does not run it again. */
    this.shown = null;
    this.root.ontoggle = () => {
      toggled(this.root.open);
      if (this.root.open && this.colours) this.chart.restyle(this.colours);
      this.start();
    };
    $("steps-lambda").onchange = () => {
      this.shown = null;
      this.start();
    };
  }

  /** @param {{ X: Float32Array, y: Uint8Array, dims: number }} data @param {number} seed @param {boolean} open */
  show(data, seed, open) {
    // (It is of two classes.)
    this.root.hidden = Boolean(data.names);
    if (data.names) {
      this.data = null;
      this.run += 1;
      return;
    }
    if (data !== this.data || seed !== this.seed) this.shown = null;
    [this.data, this.seed] = [data, seed];
    if (open !== this.root.open) this.root.open = open; // (starts by its event)
    else this.start();
  }

  restyle(colours) {
    this.colours = colours;
    if (this.root.open) this.chart.restyle(colours);
  }

  async start() {
    if (!this.root.open || !this.data || this.shown === this.data) return;
    this.shown = this.data;
    const mine = ++this.run;
    const { X, y, dims } = this.data;
    const method = { name: METHOD.name, settings: { passes: PASSES, lambda: $("steps-lambda").value } };
    let trainer;
    this.root.dataset.state = "busy";
    try {
      trainer = await createTrainer({ X, y, dims, method, seed: this.seed, scale: "unit", engine: this.engine });
      const points = [];
      for (let last = -1; mine === this.run; ) {
        const shot = await trainer.advance({ steps: Math.max(1, Math.round(y.length / BATCH / LOOKS)) }, { sum: true });
        if (shot.step === last) break;
        last = shot.step;
        points.push({ pass: shot.pass, ...shot.sum });
        if (mine === this.run) this.draw(points);
      }
      if (mine === this.run) this.root.dataset.state = "done";
    } catch (error) {
      if (mine === this.run) $("steps-sentence").textContent = String(error.message ?? error);
    } finally {
      trainer?.dispose();
    }
  }

  draw(points) {
    const of = (value) => points.map((point) => (Number.isFinite(value(point)) && value(point) > 0 ? value(point) : null));
    const [alpha, most, safe] = [of((point) => point.alpha), of((point) => point.alphaMax), of((point) => 1 / point.curvature)];
    const known = alpha.filter((value) => value !== null);
    const last = points.at(-1);
    const text = `AI-SARAH after ${last.pass.toFixed(1)} passes: steps from ${short(Math.min(...known))} to ${short(Math.max(...known))}, where 1/λmax of the Hessian is ${short(1 / last.curvature)}; squared gradient ${short(last.gradNormSq)}.`;
    this.chart.draw(points.map((point) => point.pass), [safe, most, alpha], text);
    $("steps-sentence").textContent = text;
    // About ten lines, evenly over the run, and the last.
    const stride = Math.max(1, Math.ceil(points.length / 10));
    const chosen = points.filter((_, k) => k % stride === 0 || k === points.length - 1);
    const row = (point) => h("tr", {}, h("th", { scope: "row", textContent: point.pass.toFixed(1) }),
      ...[point.alpha, point.alphaMax, 1 / point.curvature, point.gradNormSq, point.objective].map((value) => h("td", { textContent: short(value) })));
    const head = ["Passes", "α", "α max", "1/λmax(∇²P)", "‖∇P‖²", "P"];
    $("steps-table").replaceChildren(
      h("caption", { textContent: "Step sizes by pass, over the training rows" }),
      h("thead", {}, h("tr", {}, ...head.map((title) => h("th", { scope: "col", textContent: title })))),
      h("tbody", {}, ...chosen.map(row)),
    );
  }
}
