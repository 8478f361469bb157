// A map of two parameters of a lane's method: a run for every point, filled while they train.

import { createTrainer } from "undercurve/worker";
import { $, count, h, three } from "./dom.js";
import { spread } from "./draws.js";
import { engine } from "./engine.js";

/** Looks at the runs about so often. */
const LOOKS = 15;
/** So many values of a parameter at most. */
const MOST = 16;
/** With more than so many columns the points are pixels, without their numbers. */
const WRITTEN = 8;
/** Within so many deviations of a difference of two points, nothing tells them apart. */
const NOISE = 1.96 * Math.SQRT2;

/** Numbers in words of the package: 0.0316, not 0.03162277660168379. */
const brief = (x) => String(Number(x.toPrecision(2)));

/** The parameters that are numbers. */
const numbers = ({ params }) => params.filter(({ name, domain }) => (domain.kind === "number" || domain.kind === "count") && name !== "steps");

/** Values around the one that the lane has: shares between 0 and 1, others by ratio. */
function around(param, settings, linear) {
  const { low, high, kind } = param.domain;
  const [first, second] = param.auto?.match(/[\d.]+(?:e-?\d+)?/g) ?? [];
  const value = [settings[param.name], param.default, linear ? first : (second ?? first)].map(Number).find((x) => x > 0) ?? 1;
  if (high <= 1 && kind === "number") return Array.from({ length: MOST }, (_, k) => brief((k + 1) / (MOST + 1)));
  const values = Array.from({ length: MOST }, (_, k) => value * 10 ** ((k - MOST / 2) / 5)).filter((x) => x >= low && x <= high);
  return [...new Set(values.map((x) => (kind === "count" ? String(Math.max(low, Math.round(x))) : brief(x))))];
}

export class GridMap {
  /**
   * @param {{ toggled: (open: boolean) => void, load: (lane: string, settings: Record<string, string>) => void }} options
   */
  constructor({ toggled, load }) {
    this.load = load;
    /** A worker of its own, from the first grid on. */
    this.engine = null;
    this.root = $("grid");
    this.run = 0;
    this.given = null;
    /** The point that the keyboard is at. */
    this.at = [0, 0];
    this.root.ontoggle = () => toggled(this.root.open);
    $("grid-lane").onchange = () => this.offer();
    for (const axis of ["across", "up"]) $(`grid-${axis}`).onchange = () => this.fill(axis);
    $("grid-form").onsubmit = (event) => {
      event.preventDefault();
      if (this.root.dataset.state === "busy") this.stop();
      else this.start();
    };
    $("grid-map").onkeydown = (event) => this.moved(event);
  }

  /**
   * What there is to train: `options` of a lane for `createTrainer`, its method and settings, and what runs are measured by.
   * @param {{ of: unknown[], hidden: boolean, open: boolean, linear: boolean, steps: number, options: (lane: string) => object, lane: (name: string) => { method: object, settings: Record<string, string> }, measured: { metric: string, called: string } }} given `of` what the map is of: another one begins anew
   */
  show(given) {
    const same = this.given?.of.every((part, k) => part === given.of[k]);
    this.given = given;
    this.root.hidden = given.hidden;
    if (given.open !== this.root.open) this.root.open = given.open;
    if (same) return;
    this.stop();
    $("grid-map").replaceChildren();
    $("grid-sentence").textContent = $("grid-backend").textContent = "";
    this.offer();
  }

  /** The parameters of the lane's method. */
  offer() {
    const params = numbers(this.given.lane($("grid-lane").value).method);
    for (const [axis, usual] of [["across", ["lr"]], ["up", ["gamma", "margin", "decay", "scale"]]]) {
      const chosen = usual.find((name) => params.some((param) => param.name === name)) ?? params.at(axis === "up" ? 1 : 0)?.name;
      $(`grid-${axis}`).replaceChildren(...params.map(({ name }) => h("option", { value: name, textContent: name, selected: name === chosen })));
      this.fill(axis);
    }
  }

  fill(axis) {
    const { method, settings } = this.given.lane($("grid-lane").value);
    const param = method.params.find(({ name }) => name === $(`grid-${axis}`).value);
    $(`grid-${axis}-values`).value = param ? around(param, settings, this.given.linear).join(", ") : "";
  }

  /** The values of an axis; throws what is wrong with them. */
  values(axis) {
    const name = $(`grid-${axis}`).value;
    const values = $(`grid-${axis}-values`).value.split(/[,;\s]+/).filter(Boolean);
    const odd = values.find((value) => !Number.isFinite(Number(value)));
    if (odd !== undefined) throw new Error(`${name}: “${odd}” is no number.`);
    if (values.length < 1 || values.length > MOST || new Set(values.map(Number)).size < values.length) throw new Error(`${name}: expected 1 to ${MOST} different values.`);
    return { name, values: values.sort((a, b) => a - b) };
  }

  async start() {
    const mine = ++this.run;
    const { options, steps, measured } = this.given;
    const lane = $("grid-lane").value;
    let runs;
    try {
      const [across, up] = [this.values("across"), this.values("up")];
      if (across.name === up.name) throw new Error("Two different parameters make a grid.");
      const { method, ...rest } = options(lane);
      const set = Object.fromEntries(Object.entries(method.settings).filter(([name]) => name !== across.name && name !== up.name));
      this.state("busy");
      this.lay(lane, across, up);
      $("grid-sentence").textContent = `Training ${count(across.values.length * up.values.length * Number($("grid-seeds").value))} runs…`;
      const grid = { [across.name]: across.values, [up.name]: up.values };
      this.engine ??= engine();
      runs = await createTrainer({ ...rest, method: { ...method, settings: set }, lanes: { grid, seeds: Number($("grid-seeds").value) }, backend: "auto", engine: this.engine });
      $("grid-backend").textContent = runs.backendReason;
      const points = across.values.length * up.values.length;
      for (let done = false, step = 0; !done && mine === this.run; ) {
        const shot = await runs.advance({ steps: Math.ceil(steps / LOOKS) });
        [done, step] = [shot.done, shot.step];
        $("grid-backend").textContent = runs.backendReason;
        if (mine === this.run) this.draw(shot, { across, up, points, step, steps, measured, lane });
      }
      if (mine === this.run) this.state("done");
    } catch (error) {
      if (mine === this.run) {
        this.state("done");
        $("grid-sentence").textContent = String(error.message ?? error);
      }
    } finally {
      runs?.dispose();
    }
  }

  stop() {
    this.run += 1;
    this.state("");
  }

  state(state) {
    this.root.dataset.state = state;
    $("grid-train").textContent = state === "busy" ? "Stop" : "Train the map";
  }

  /** The empty table: the first parameter runs to the right, the second up. */
  lay(lane, across, up) {
    this.cells = [...up.values].reverse().map((high) =>
      across.values.map((wide) => {
        const settings = { [across.name]: wide, [up.name]: high };
        return { settings, button: h("button", { type: "button", tabIndex: -1, textContent: "–", onclick: () => this.load(lane, settings) }) };
      }),
    );
    this.at = [0, 0];
    this.cells[0][0].button.tabIndex = 0;
    const head = (text, scope) => h("th", { scope, textContent: text });
    $("grid-map").replaceChildren(
      h("caption", { textContent: `${across.name} across, ${up.name} up; arrow keys move` }),
      h("tbody", {}, ...this.cells.map((row, k) => h("tr", {}, head(up.values.at(-1 - k), "row"), ...row.map(({ button }) => h("td", {}, button))))),
      h("tfoot", {}, h("tr", {}, h("td", { textContent: `${up.name} \\ ${across.name}` }), ...across.values.map((value) => head(value, "col")))),
    );
    $("grid-map").dataset.lane = lane;
    this.fine = across.values.length > WRITTEN;
    $("grid-map").classList.toggle("fine", this.fine);
  }

  /** Fills the cells with what the runs are at. */
  draw({ reports, summary }, { across, up, points, step, steps, measured, lane }) {
    const metric = reports.metrics[measured.metric] ?? new Float64Array(reports.step.length).fill(NaN);
    const { means: values, noise } = spread(Array.from(metric, (value, at) => (reports.collapsed[at] ? NaN : value)), points);
    const known = values.filter(Number.isFinite);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const best = values.indexOf(high);
    this.cells.forEach((row, k) =>
      row.forEach(({ settings, button }, column) => {
        const point = column * up.values.length + (up.values.length - 1 - k);
        const value = values[point];
        const share = high > low ? (value - low) / (high - low) : 1;
        button.textContent = this.fine ? "" : three(value);
        button.className = point === best ? "best" : value >= high - NOISE * noise ? "near" : "";
        button.style.setProperty("--share", Number.isFinite(value) ? String(Math.round(100 * share)) : "0");
        const text = Object.entries(settings).map(([name, set]) => `${name} ${set}`).join(", ");
        const error = reports.errors[point];
        button.title = error ?? text;
        button.setAttribute("aria-label", `${text}: ${Number.isFinite(value) ? `${measured.called} ${three(value)}` : error ?? "no result"}${point === best ? ", the best" : ""}. Train lane ${lane.toUpperCase()} with it`);
      }),
    );
    const at = best < 0 ? "" : `; the best ${three(high)} at ${across.name} ${across.values[Math.floor(best / up.values.length)]}, ${up.name} ${up.values[best % up.values.length]}`;
    const near = values.filter((value) => value >= high - NOISE * noise).length;
    const told = Number.isFinite(noise) ? `; ± ${three(noise)} from seeds, so that ${count(near)} of ${count(points)} points are within noise of the best` : "";
    const failed = summary.failed ? `; ${count(summary.failed)} runs broke off` : "";
    const text = `${count(metric.length)} runs, step ${count(step)} of ${count(steps)}: held-out ${measured.called} ${known.length ? `from ${three(low)} to ${three(high)}` : "is not known"}${at}${told}${failed}. Chosen on the rows it is measured on, the best looks better than it is.`;
    // (Who listens hears the end, not every look.)
    $("grid-sentence").setAttribute("aria-live", summary.done ? "polite" : "off");
    $("grid-sentence").textContent = text;
  }

  /** Arrow keys go from point to point. */
  moved(event) {
    const [right, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [0, 0];
    if (!right && !down) return;
    event.preventDefault();
    event.stopPropagation();
    const [row, column] = this.at;
    const next = [Math.min(this.cells.length - 1, Math.max(0, row + down)), Math.min(this.cells[0].length - 1, Math.max(0, column + right))];
    this.cells[row][column].button.tabIndex = -1;
    this.at = next;
    const { button } = this.cells[next[0]][next[1]];
    button.tabIndex = 0;
    button.focus();
  }
}
