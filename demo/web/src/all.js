// All data: a linear scorer on a sample of up to a million points, its exact objective and gradient at every move. The sample and
// the sums are a worker's; here are the controls and the pictures.

import { Band } from "./band.js";
import { $, count, h, segments, three } from "./dom.js";
import { plane, scaleOf, scores } from "./draw/all.js";
import { frame, onResize, sizeOf } from "./draw/canvas.js";
import { chart } from "./draw/charts.js";
import { range } from "./rates.js";
import { ALL } from "./state.js";

const OBJECTIVES = { auc: ["AUC", "AUC loss"], pauc: ["Partial AUC", "partial-AUC loss"], ap: ["AP", "AP loss"] };
const COMPUTERS = { auto: "the faster of CPU and GPU", cpu: "this CPU", gpu: "a GPU", "gpu-software": "a GPU in software" };
/** The least length of a scorer by hand, and the largest of any. */
const LENGTHS = [0.1, 4];
/**
 * Of steps along the gradient: the first one's length, the shortest; so many in a row that together lower the loss by less than this
 * part of what was gained so far are the last, and so many are tried at most.
 */
const STEPS = { first: 0.1, shortest: 1e-4, row: 10, part: 1e-3, most: 300 };
/** Milliseconds without a change, after which the sentence is read out and the address written. */
const REST = 300;

/** The line from corner to corner or at a height, and a curve. */
const LINES = (colours) => [
  { stroke: colours.soft, width: 1, dash: [2, 4] },
  { stroke: colours.ink, width: 2 },
];

const minus = (text) => text.replaceAll("-", "−");

/** No longer than may be. @returns {[number, number]} */
function fit(w) {
  const part = Math.min(1, LENGTHS[1] / Math.hypot(...w));
  return [part * w[0], part * w[1]];
}

/** The share of the rates from `low` to `high` below a curve of points. */
function under({ fpr, tpr }, [low, high]) {
  let [sum, x, y] = [0, 0, 0];
  for (let k = 0; k < fpr.length; k += 1) {
    const [from, to] = [Math.max(low, x), Math.min(high, fpr[k])];
    if (to > from) sum += ((to - from) * (2 * y + ((tpr[k] - y) * (from + to - 2 * x)) / (fpr[k] - x))) / 2;
    [x, y] = [fpr[k], tpr[k]];
  }
  return sum / (high - low);
}

/** Which way the step turns the scorer. */
function turns(w, grad) {
  const long = Math.hypot(...w);
  const along = -(grad[0] * w[0] + grad[1] * w[1]) / long;
  const across = (grad[0] * w[1] - grad[1] * w[0]) / long;
  if (Math.hypot(along, across) * long < 1e-4) return "is all but flat here";
  if (Math.abs(across) >= Math.abs(along)) return across > 0 ? "turns it anticlockwise" : "turns it clockwise";
  return along > 0 ? "lengthens it" : "shortens it";
}

export class AllData {
  /**
   * @param {{ changed: (part: object) => void, laneOf: (name: "a" | "b") => Promise<[number, number] | null> }} options
   * `changed` is told of what the address is to keep; `laneOf` says the weights of a lane, if it is a linear model
   */
  constructor({ changed, laneOf }) {
    Object.assign(this, { changed, laneOf, colours: null, all: null, of: "", sample: null, shown: null, waiting: new Map(), last: 0, run: 0, moves: 0, broken: null, wanted: false, busy: false, following: false, unwritten: false });
    this.worker = new Worker(new URL("./all-worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data: { id, value, error, progress } }) => {
      const { resolve, reject, told } = this.waiting.get(id) ?? {};
      if (!resolve) return;
      if (progress !== undefined) return told?.(progress);
      this.waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
    this.worker.onerror = (event) => {
      const error = (this.broken = new Error(event.message || "the worker could not be started"));
      for (const { reject } of this.waiting.values()) reject(error);
      this.waiting.clear();
    };
    this.band = new Band($("all-band"), { moved: (fpr) => this.set({ fpr: [...fpr] }), settled: () => {} });
    this.charts = {
      roc: chart($("all-roc"), { x: [0, 1], y: [0, 1.02], placed: (area) => this.band.place(area) }),
      pr: chart($("all-pr"), { x: [0, 1], y: [0, 1.02] }),
    };
    for (const one of Object.values(this.charts)) one.show(LINES);
    const options = (names) => names.map(([value, textContent]) => h("option", { value, textContent }));
    $("all-loss").replaceChildren(...options(ALL.loss.map((name) => [name, name.replace("-", " ")])));
    $("all-loss").onchange = () => this.set({ loss: $("all-loss").value });
    $("all-on").onchange = () => this.set({ on: $("all-on").value });
    $("all-angle").oninput = $("all-length").oninput = () => {
      const [angle, long] = [(Number($("all-angle").value) * Math.PI) / 180, Number($("all-length").value)];
      this.turn([long * Math.cos(angle), long * Math.sin(angle)]);
    };
    for (const name of ["a", "b"]) $(`all-${name}`).onclick = () => this.as(name);
    $("all-follow").onclick = () => (this.following ? this.stay() : this.follow());
    $("all-form").onsubmit = (event) => event.preventDefault();
    for (const id of ["all-plane", "all-scores"]) onResize($(id), () => this.draw());
    this.grab($("all-tip"), true);
    this.grab($("all-plane"), false);
  }

  ask(call, asked, told) {
    if (this.broken) return Promise.reject(this.broken);
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, told });
      this.worker.postMessage({ id, call, asked });
    });
  }

  /** The scorer of a lane, unless it is moved before the lane answers. */
  async as(name) {
    const mine = ++this.moves;
    try {
      const w = await this.laneOf(name);
      if (w && mine === this.moves) this.turn(fit(w));
    } catch (error) {
      if (mine === this.moves) $("all-sentence").textContent = `${error.message ?? error}.`;
    }
  }

  /** Drags the scorer's tip; on the plane itself with a mouse or pen, since a finger scrolls there. */
  grab(node, touch) {
    node.onpointerdown = (event) => {
      if (event.button !== 0 || !this.sample || (!touch && event.pointerType === "touch")) return;
      event.preventDefault();
      node.setPointerCapture(event.pointerId);
      const box = $("all-plane").getBoundingClientRect();
      const { x, y, unit } = scaleOf(box, this.window());
      const to = ({ clientX, clientY }) => {
        const w = [(clientX - box.left - x) / unit, (y - clientY + box.top) / unit];
        if (Math.hypot(...w) >= LENGTHS[0]) this.turn(fit(w));
      };
      to(event);
      const end = () => (node.onpointermove = node.onpointerup = node.onpointercancel = null);
      Object.assign(node, { onpointermove: to, onpointerup: end, onpointercancel: end });
    };
  }

  /** What the address says, of which sample, and whether the lanes are lines. */
  show(all, sample, linear) {
    // (A scorer that nobody has moved yet stays with its data.)
    const same = JSON.stringify(sample) === JSON.stringify(this.kind);
    if (!same) this.moves += 1;
    this.all = { ...all, fpr: [...all.fpr], w: all.w ? fit(all.w) : same ? this.all.w : null };
    Object.assign(this, { kind: sample, linear });
    this.configure();
    this.open();
  }

  /** Nothing is at work or held until it is shown again. */
  close() {
    if (this.of === "" && !this.sample) return;
    this.run += 1;
    this.moves += 1;
    this.stay();
    clearTimeout(this.resting);
    // (A change made just before is not lost.)
    if (this.unwritten) this.write();
    Object.assign(this, { of: "", sample: null, shown: null, wanted: false });
    $("all-tip").hidden = true;
    this.state("closed");
    this.ask("close").catch(() => {});
  }

  restyle(colours) {
    this.colours = colours;
    for (const one of Object.values(this.charts)) one.restyle(colours);
    this.draw();
  }

  configure() {
    const { rows, of, loss, on, fpr, w } = this.all;
    segments($("all-rows"), ALL.rows.map((one) => [String(one), count(one)]), String(rows), (one) => this.set({ rows: Number(one) }));
    segments($("all-of"), ALL.of.map((one) => [one, OBJECTIVES[one][0]]), of, (one) => this.set({ of: one }));
    $("all-loss").value = loss;
    // (That in software is for who asks for it in the address.)
    $("all-on").replaceChildren(...ALL.on.filter((one) => one !== "gpu-software" || on === one).map((value) => h("option", { value, textContent: COMPUTERS[value], selected: value === on })));
    this.band.show(fpr, of === "pauc");
    for (const name of ["a", "b"]) $(`all-${name}`).disabled = !this.linear;
    for (const name of ["a", "b"]) $(`all-${name}`).title = this.linear ? "" : "Its model is a network";
    if (w) this.place();
  }

  /** The sliders and the tip, where the scorer is. */
  place() {
    const { w } = this.all;
    const [angle, long] = [Math.round((Math.atan2(w[1], w[0]) * 180) / Math.PI), Math.hypot(...w)];
    for (const [name, value, text] of [["angle", angle, `${angle}°`], ["length", long, long.toFixed(2)]]) {
      $(`all-${name}`).value = value;
      $(`all-${name}`).setAttribute("aria-valuetext", text);
      $(`all-${name}-value`).textContent = text;
    }
    if (!this.sample) return;
    const { x, y, unit } = scaleOf(sizeOf($("all-plane")), this.window());
    Object.assign($("all-tip").style, { left: `${x + w[0] * unit}px`, top: `${y - w[1] * unit}px` });
  }

  window() {
    const { width, height } = sizeOf($("all-plane"));
    const aspect = width / Math.max(1, height);
    if (this.framed?.of !== this.sample || this.framed.aspect !== aspect) this.framed = { of: this.sample, aspect, ...frame(this.sample.points, aspect) };
    return this.framed;
  }

  set(part) {
    this.stay();
    Object.assign(this.all, part);
    this.configure();
    this.keep();
    if ("rows" in part || "on" in part) this.open();
    else this.look();
  }

  turn(w) {
    this.stay();
    this.move(w);
    this.look();
  }

  move(w) {
    this.moves += 1;
    this.all.w = w;
    this.place();
    this.keep();
  }

  /** The address has it when it rests, as who listens has the sentence. */
  keep() {
    clearTimeout(this.resting);
    this.unwritten = true;
    $("all-sentence").setAttribute("aria-live", "off");
    const say = () => {
      if (this.following) return;
      if ($("all").dataset.state === "busy") return (this.resting = setTimeout(say, REST));
      $("all-sentence").setAttribute("aria-live", "polite");
      this.tell();
    };
    this.resting = setTimeout(() => {
      if (this.following) return;
      this.write();
      say();
    }, REST);
  }

  write() {
    this.unwritten = false;
    this.changed({ ...this.all });
  }

  state(state) {
    $("all").dataset.state = state;
  }

  /** Another sample, or something else that computes. */
  async open() {
    const { rows, on } = this.all;
    const asked = { ...this.kind, rows, backend: on };
    const of = JSON.stringify(asked);
    if (of === this.of) return this.look();
    this.of = of;
    const mine = ++this.run;
    this.stay();
    // (What is shown was of the sample before.)
    this.sample = this.shown = null;
    this.state("busy");
    $("all-tip").hidden = true;
    const told = (progress) => mine === this.run && ($("all-sentence").textContent = `${progress} ${count(rows)} points…`);
    told("Drawing");
    try {
      const w = this.all.w ?? fit((this.linear && (await this.laneOf("a"))) || [0, 1]);
      if (mine !== this.run) return;
      // (The address may have been read again meanwhile.)
      this.all.w ??= w;
      const sample = await this.ask("open", asked, told);
      if (mine !== this.run) return;
      this.sample = sample;
      $("all-tip").hidden = false;
      this.place();
      this.look();
    } catch (error) {
      if (mine === this.run) this.fail(error);
    }
  }

  fail(error) {
    this.of = "";
    this.state("failed");
    $("all-sentence").setAttribute("aria-live", "polite");
    $("all-sentence").textContent = `${error.message ?? error}.`;
    $("all-backend").textContent = "";
  }

  /** Asks for what is exact here, unless an answer is on its way: then after it. */
  async look() {
    if (!this.sample) return;
    this.wanted = true;
    if (this.busy) return;
    this.busy = true;
    let failed;
    while (this.wanted && this.sample) {
      this.wanted = failed = false;
      this.state("busy");
      const mine = this.run;
      try {
        const found = await this.evaluate();
        if (mine === this.run) await this.picture(found);
      } catch (error) {
        failed = mine === this.run;
        if (failed) this.fail(error);
      }
    }
    this.busy = false;
    if (this.sample && !failed) this.state("done");
  }

  evaluate(w = this.all.w) {
    const { of, fpr, loss } = this.all;
    return this.ask("look", { w, of, fpr: fpr.map((rate) => rate / 100), loss });
  }

  /** Drawn in the next frame, and no more than once in one. */
  picture(found) {
    this.shown = found;
    return new Promise((resolve) =>
      requestAnimationFrame(() => {
        this.draw();
        resolve();
      }),
    );
  }

  stay() {
    this.following = false;
    $("all-follow").textContent = "Follow the gradient";
  }

  /** Steps along the gradient: longer after each that lowers the loss, half as long after each that does not. */
  async follow() {
    if (!this.sample || this.busy) return;
    const mine = this.run;
    this.moves += 1;
    this.busy = this.following = true;
    this.state("following");
    $("all-follow").textContent = "Stop";
    $("all-sentence").setAttribute("aria-live", "off");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let end = "";
    let failed = false;
    try {
      let at = await this.evaluate();
      const first = at;
      let step = STEPS.first;
      const values = [at.value];
      let tried = 0;
      for (; this.following && tried < STEPS.most; tried += 1) {
        const steep = Math.hypot(...at.grad);
        if (step < STEPS.shortest || !(steep > 0)) break;
        if (values.length > STEPS.row && values.at(-1 - STEPS.row) - at.value < STEPS.part * (first.value - at.value)) break;
        const next = await this.evaluate(fit(at.w.map((x, k) => x - (step * at.grad[k]) / steep)));
        if (!this.following) break;
        if (next.value < at.value) {
          [at, step] = [next, 1.3 * step];
          values.push(at.value);
          this.move([...at.w]);
          if (!still) await this.picture(at);
        } else {
          step /= 2;
        }
      }
      if (this.following) {
        await this.picture(at);
        const [steps, long] = [values.length - 1, Math.hypot(...at.w)];
        const cut = tried === STEPS.most ? `, when it was stopped at ${STEPS.most} tries` : "";
        const gone = long < LENGTHS[0] ? `, and the scorer has shrunk to a length of ${three(long)}` : "";
        if (steps > 0) end = `After ${count(steps)} ${steps === 1 ? "step" : "steps"} of the exact gradient the loss has fallen from ${minus(three(first.value))}${cut}${gone}. `;
        else end = Math.hypot(...at.grad) > 0 ? "No step tried along the exact gradient lowers the loss. " : "The exact gradient is zero here. ";
        this.ended = { at, text: end };
      }
    } catch (error) {
      failed = mine === this.run;
      if (failed) this.fail(error);
    } finally {
      this.stay();
      this.busy = false;
    }
    if (failed || mine !== this.run) {
      if (this.wanted) this.look();
      return;
    }
    this.keep();
    if (this.wanted || !end) this.look();
    else {
      this.tell();
      this.state("done");
    }
  }

  /** The scores between which the negatives lie that count. */
  between() {
    const { of, fpr, metrics: { curve } } = this.shown;
    if (of !== "pauc") return null;
    const at = (rate) => curve.threshold[curve.fpr.findIndex((one) => one >= rate)] ?? -Infinity;
    return [at(fpr[1]), fpr[0] > 0 ? at(fpr[0]) : Infinity];
  }

  draw() {
    if (!this.colours || !this.sample || !this.shown) return;
    const { shown, colours, sample } = this;
    const begin = performance.now();
    const [between, { metrics: { curve, auroc, ap } }] = [this.between(), shown];
    plane($("all-plane"), { window: this.window(), points: sample.points, labels: sample.labels, w: shown.w, grad: shown.grad, between }, colours);
    scores($("all-scores"), { ...shown, between }, colours);
    const ends = [0, ...curve.fpr];
    this.charts.roc.draw(ends, [ends, [0, ...curve.tpr]], `ROC curve of ${count(shown.all)} points: AUROC ${three(auroc)}`);
    const share = shown.positives / shown.all;
    this.charts.pr.draw([...curve.tpr], [Array.from(curve.tpr, () => share), [...curve.precision]], `Precision–recall curve of ${count(shown.all)} points: average precision ${three(ap)}, ${three(share)} by chance`);
    this.tell();
    // For the tests: the last ones.
    const { drawn } = (globalThis.undercurve.all ??= { drawn: [] });
    if (drawn.push(performance.now() - begin) > 500) drawn.shift();
  }

  /** The sentence, the table, and what the pictures are called. */
  tell() {
    if (!this.shown) return;
    const { w, of, fpr, value, grad, milliseconds, metrics, all, positives, reason } = this.shown;
    const percent = fpr.map((rate) => Math.round(100 * rate));
    const called = of === "pauc" ? `${OBJECTIVES[of][1]} (false positives ${range(percent)})` : OBJECTIVES[of][1];
    const way = turns(w, grad);
    const ended = this.ended?.at === this.shown ? this.ended.text : "";
    const negatives = all - positives;
    const part = of === "pauc" ? fpr[1] - fpr[0] : 1;
    const pairs = `${count(Math.round(part * metrics.pairs))} pairs of ${count(positives)} positives and ${of === "pauc" ? "the " : ""}${count(Math.round(part * negatives))} negatives${of === "pauc" ? " in that range" : ""}`;
    $("all-sentence").textContent = `${ended}The ${called} of this scorer, over all ${pairs}, is ${minus(three(value))}, and a step down its gradient ${way}.`;
    $("all-plane").setAttribute("aria-label", `Some points of the sample and the scorer, ${$("all-angle-value").textContent} from the right, ${$("all-length-value").textContent} long; a step down the gradient ${way}`);
    $("all-scores").setAttribute("aria-label", `Scores of both classes, and below the push of the gradient on each range of them: positives up, negatives down`);
    const cells = [["Loss", minus(value.toFixed(6))], ["Gradient", minus(grad.map((g) => g.toFixed(4)).join(", "))], ["AUROC", metrics.auroc.toFixed(6)], ["AP", metrics.ap.toFixed(6)]];
    if (of === "pauc") cells.push([`pAUC ${range(percent)}, as drawn`, three(under(metrics.curve, fpr))]);
    cells.push(["ms, loss and gradient", milliseconds.toFixed(1)], ["ms, metrics", metrics.milliseconds.toFixed(1)]);
    $("all-table").replaceChildren(h("thead", {}, h("tr", {}, ...cells.map(([name]) => h("th", { scope: "col", textContent: name })))), h("tbody", {}, h("tr", {}, ...cells.map(([, textContent]) => h("td", { textContent })))));
    const text = `${reason}.`;
    if ($("all-backend").textContent !== text) $("all-backend").textContent = text;
    // For the tests.
    globalThis.undercurve.shown = this.shown;
  }
}
