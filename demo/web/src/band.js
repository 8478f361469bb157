// The range of false-positive rates, as a band over the ROC chart: its edges are dragged, or moved with the keys.

import { h } from "./dom.js";

/** A range in per cent, as words. @param {[number, number]} range */
export const range = ([low, high]) => (low > 0 ? `${low}–${high}\u00a0%` : `≤\u00a0${high}\u00a0%`);

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

export class Band {
  /**
   * @param {HTMLElement} root lies over the chart's plotting area
   * @param {{ moved: (range: [number, number]) => void, settled: (range: [number, number]) => void }} told of every move, and of its end
   */
  constructor(root, { moved, settled }) {
    Object.assign(this, { root, moved, settled, range: [0, 5] });
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

  /** @param {[number, number]} range whole per cents */
  show(range, visible = true) {
    this.root.hidden = !visible;
    this.range = range;
    const [low, high] = range;
    Object.assign(this.fill.style, { left: `${low}%`, width: `${high - low}%` });
    this.edges.forEach((edge, which) => {
      edge.style.left = `${range[which]}%`;
      const [least, most] = this.limits(which);
      for (const [name, value] of [["valuemin", least], ["valuemax", most], ["valuenow", range[which]]]) edge.setAttribute(`aria-${name}`, String(value));
      edge.setAttribute("aria-valuetext", `${range[which]} %`);
    });
  }

  /** Between what an edge may move: the band keeps one per cent. */
  limits(which) {
    return which === 0 ? [0, this.range[1] - 1] : [this.range[0] + 1, 100];
  }

  move(which, to) {
    const next = /** @type {[number, number]} */ ([...this.range]);
    if (which === 2) {
      const wide = next[1] - next[0];
      next[0] = clamp(to, 0, 100 - wide);
      next[1] = next[0] + wide;
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
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: least, End: most }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    // (The page has an arrow of its own.)
    event.stopPropagation();
    this.move(which, to);
    this.settled(this.range);
  }

  drag(event, which) {
    // A finger on the band's middle scrolls the page; the edges are what it drags.
    if (event.button !== 0 || (which === 2 && event.pointerType === "touch")) return;
    event.preventDefault();
    const { currentTarget: node, clientX: from } = event;
    const at = this.range[which === 2 ? 0 : which];
    const begin = [...this.range];
    node.setPointerCapture(event.pointerId);
    if (which < 2) node.focus({ preventScroll: true });
    const to = ({ clientX }) => this.move(which, Math.round(at + (100 * (clientX - from)) / this.width));
    const end = () => {
      node.onpointermove = node.onpointerup = node.onpointercancel = null;
      if (this.range.some((value, k) => value !== begin[k])) this.settled(this.range);
    };
    Object.assign(node, { onpointermove: to, onpointerup: end, onpointercancel: end });
  }
}
