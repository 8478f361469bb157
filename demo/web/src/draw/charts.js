// Line charts.

import uPlot from "uplot";
import { pressed } from "../dom.js";
import { NEAR } from "../rates.js";
import "uplot/dist/uPlot.min.css";

/** @typedef {{ stroke: string, width: number, dash?: number[], fill?: string }} Line `fill` shades from it down to the next line */

/** The lines of both lanes after a reference: A dashed, B solid. @returns {Line[]} */
export const LANES = (colours) => [
  { stroke: colours.soft, width: 1, dash: [2, 4] },
  { stroke: colours.a, width: 2, dash: [7, 4] },
  { stroke: colours.b, width: 2 },
];

/** The same with the band of many runs of each lane: its upper and its lower end. @returns {Line[]} */
export const BANDS = (colours) => [
  ...LANES(colours),
  ...[colours.a, colours.b].flatMap((colour) => [{ stroke: `${colour}66`, width: 1, fill: `${colour}2b` }, { stroke: `${colour}66`, width: 1 }]),
];

/** An axis of rates that is stretched near 0. */
const STRETCHED = { scale: { distr: 4, asinh: NEAR }, axis: { splits: () => [0, 0.001, 0.01, 0.1, 1], values: (_, rates) => rates.map((rate) => (rate ? `${100 * rate}\u00a0%` : rate === 0 ? "0" : "")) } };

/**
 * @param {HTMLElement} root
 * @param {{ x: [number, number] | null, y: [number, number] | null, log?: boolean, placed?: (area: { left: number, top: number, width: number, height: number }) => void }} options
 * `placed` is told where the plotting area lies in the root, in CSS pixels
 */
export function chart(root, { x, y, log = false, placed }) {
  let plot = null;
  let colours = null;
  let lines = LANES;
  let data = [[0, 1]];
  /** Whether the horizontal axis is stretched near 0. */
  let stretched = false;
  /** Of the run, where the horizontal axis counts steps: the curves grow into it. */
  let length = 1;
  /** Where the vertical axis begins, unless values lie below. */
  let base = 0;
  /** A line through a value, and dots where it meets the curves. @type {{ x?: number, y?: number, dots: [number, number, string][] } | null} */
  let marked = null;
  const paintMark = (u) => {
    if (!marked) return;
    const { ctx, bbox } = u;
    const [x, y] = [(value) => u.valToPos(value, "x", true), (value) => u.valToPos(value, "y", true)];
    ctx.save();
    ctx.strokeStyle = colours.ink;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    if (marked.y !== undefined) {
      ctx.moveTo(bbox.left, y(marked.y));
      ctx.lineTo(bbox.left + bbox.width, y(marked.y));
    } else {
      ctx.moveTo(x(marked.x), bbox.top);
      ctx.lineTo(x(marked.x), bbox.top + bbox.height);
    }
    ctx.stroke();
    for (const [at, value, colour] of marked.dots) {
      ctx.beginPath();
      ctx.arc(x(at), y(value), 5 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.fillStyle = colour;
      ctx.fill();
      ctx.strokeStyle = colours.card;
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.stroke();
    }
    ctx.restore();
  };
  const size = () => ({ width: Math.max(120, root.clientWidth), height: Math.max(100, root.clientHeight) });
  const settle = ({ bbox }) => {
    const [left, top, width, height] = [bbox.left, bbox.top, bbox.width, bbox.height].map((pixels) => pixels / devicePixelRatio);
    placed?.({ left, top, width, height });
  };
  const build = () => {
    plot?.destroy();
    const { text } = colours;
    const font = `${text}px "Inter Variable", system-ui, sans-serif`;
    const axis = { stroke: colours.soft, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false }, border: { show: false } };
    plot = new uPlot(
      {
        ...size(),
        legend: { show: false },
        cursor: { show: false },
        // (The last number of a stretched axis is long.)
        padding: [8, stretched ? 2 * text : 16, 0, 0],
        scales: { x: { time: false, range: () => x ?? [0, length], ...(stretched && STRETCHED.scale) }, y: log ? { distr: 3 } : y ? { range: y } : { range: (_, low, high) => [Math.min(base, low), high > base ? high + (high - base) * 0.05 : base + 1] } },
        axes: [{ ...axis, size: 13 + text, gap: 4, space: 37 + text, ...(stretched && STRETCHED.axis) }, { ...axis, size: log ? 48 : 12 + 2 * text, gap: 4, space: 21 + text }],
        hooks: { ready: [settle], setSize: [settle], draw: [paintMark] },
        series: [{}, ...lines(colours).map(({ fill: _, ...line }) => ({ ...line, points: { show: false } }))],
        bands: lines(colours).flatMap(({ fill }, k) => (fill ? [{ series: [k + 1, k + 2], fill }] : [])),
      },
      // (None are there before the first, or of other lines.)
      [data[0], ...lines(colours).map((_, k) => data[k + 1] ?? data[0].map(() => null))],
      root,
    );
  };
  new ResizeObserver(() => {
    const { width, height } = size();
    if (plot && (plot.width !== width || plot.height !== height)) plot.setSize({ width, height });
  }).observe(root);
  return {
    /** @param {ReturnType<typeof import("../dom.js").colours>} next */
    restyle(next) {
      colours = next;
      build();
    },
    /** Where the cut lies; null for none. */
    mark(next) {
      marked = next;
      plot?.redraw(false);
    },
    /** Calls with the values under the pointer while it is pressed. @param {(x: number, y: number) => void} told */
    pressed(told) {
      pressed(root, (left, top) => {
        if (!plot) return;
        const { left: x, top: y } = plot.over.getBoundingClientRect();
        const from = root.getBoundingClientRect();
        told(plot.posToVal(left + from.left - x, "x"), plot.posToVal(top + from.top - y, "y"));
      });
    },
    /** Other lines from now on. @param {(colours: object) => Line[]} of */
    show(of) {
      if (of === lines) return;
      [lines, data] = [of, [[0, 1]]];
      if (colours) build();
    },
    /** Whether the horizontal axis, of rates, is stretched near 0. @param {boolean} near */
    stretch(near) {
      if (near === stretched) return;
      stretched = near;
      if (colours) build();
    },
    /** @param {(number[] | null)[]} curves one for each line, null for none */
    draw(xs, curves, label, end = 1, from = 0) {
      length = end;
      base = from;
      data = [xs, ...curves.map((curve) => curve ?? xs.map(() => null))];
      if (root.getAttribute("aria-label") !== label) root.setAttribute("aria-label", label);
      plot?.setData(data);
    },
  };
}
