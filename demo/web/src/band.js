// The range of false-positive rates, as a band over the ROC chart: its edges are dragged, or moved with the keys.

import { h } from "./dom.js";
import { stretch, unstretch } from "./rates.js";

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

export class Band {
  /**
   * @param {HTMLElement} root lies over the chart's plotting area
   * @param {{ moved: (range: [number, number]) => void, settled: (range: [number, number]) => void }} told of every move, and of its end
   */
  constructor(root, { moved, settled }) {
    Object.assign(this, { root, moved, settled, range: [0, 5], visible: true, near: false });
    const edge = (which, label) => h("div", { className: "edge", role: "slider", tabIndex: 0, "aria-label": label, "aria-orientation": "horizontal", onkeydown: (event) => this.key(event, which), onpointerdown: (event) => this.drag(event, which) });
    this.edges = [edge(0, "Least false-positive rate"), edge(1, "Largest false-positive rate")];
    this.fill = h("div", { className: "fill", onpointerdown: (event) => this.drag(event, 2) });
    root.append(this.fill, ...this.edges);
  }

  /** Where the plotting area lies in the chart, in CSS pixels. */
  place({ left, top, width, height }) {
    this.width = width;
    Object.assign(this.root.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
  }

  /** Whether the axis is stretched near 0, and edges move in tenths of per cents there. @param {boolean} near */
  stretch(near) {
    this.near = near;
    this.show(this.range, this.visible);
  }

  /** Where a per cent lies on the axis, in per cents of its width, and back. */
  lies(percent) {
    return this.near ? 100 * stretch(percent / 100) : percent;
  }

  percent(at) {
    return this.near ? 100 * unstretch(at / 100) : at;
  }

  /** The steps that an edge moves in, at a per cent. */
  step(at) {
    return !this.near || at >= 10 ? 1 : at >= 2 ? 0.5 : 0.1;
  }

  round(percent) {
    const step = this.step(percent);
    return Number((step * Math.round(percent / step)).toFixed(1));
  }

  /** @param {[number, number]} range per cents, in tenths */
  show(range, visible = true) {
    this.root.hidden = !visible;
    Object.assign(this, { range, visible });
    const [low, high] = range.map((percent) => this.lies(percent));
    Object.assign(this.fill.style, { left: `${low}%`, width: `${high - low}%` });
    this.edges.forEach((edge, which) => {
      edge.style.left = `${[low, high][which]}%`;
      const [least, most] = this.limits(which);
      for (const [name, value] of [["valuemin", least], ["valuemax", most], ["valuenow", range[which]]]) edge.setAttribute(`aria-${name}`, String(value));
      edge.setAttribute("aria-valuetext", `${range[which]} %`);
    });
  }

  /** Between what an edge may move: the band keeps one step. */
  limits(which) {
    const [low, high] = this.range;
    return which === 0 ? [0, this.round(Math.max(0, high - this.step(high - 0.1)))] : [this.round(Math.min(100, low + this.step(low))), 100];
  }

  move(which, to) {
    const next = /** @type {[number, number]} */ ([...this.range]);
    if (which === 2) {
      const wide = next[1] - next[0];
      next[0] = clamp(to, 0, Number((100 - wide).toFixed(1)));
      next[1] = Number((next[0] + wide).toFixed(1));
    } else {
      next[which] = clamp(to, ...this.limits(which));
    }
    if (next.every((value, k) => value === this.range[k])) return;
    this.show(next);
    this.moved(next);
  }

  key(event, which) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [least, most] = this.limits(which);
    const at = this.range[which];
    const [less, more] = [at - this.step(at - 0.1), at + this.step(at)];
    const to = { ArrowLeft: less, ArrowDown: less, ArrowRight: more, ArrowUp: more, PageDown: at - 10, PageUp: at + 10, Home: least, End: most }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    // (The page has an arrow of its own.)
    event.stopPropagation();
    this.move(which, Number(to.toFixed(1)));
    this.settled(this.range);
  }

  drag(event, which) {
    // A finger on the band's middle scrolls the page; the edges are what it drags.
    if (event.button !== 0 || (which === 2 && event.pointerType === "touch")) return;
    event.preventDefault();
    const { currentTarget: node, clientX: from } = event;
    const at = this.lies(this.range[which === 2 ? 0 : which]);
    const begin = [...this.range];
    node.setPointerCapture(event.pointerId);
    if (which < 2) node.focus({ preventScroll: true });
    const to = ({ clientX }) => this.move(which, this.round(clamp(this.percent(at + (100 * (clientX - from)) / this.width), 0, 100)));
    const end = () => {
      node.onpointermove = node.onpointerup = node.onpointercancel = null;
      if (this.range.some((value, k) => value !== begin[k])) this.settled(this.range);
    };
    Object.assign(node, { onpointermove: to, onpointerup: end, onpointercancel: end });
  }
}
