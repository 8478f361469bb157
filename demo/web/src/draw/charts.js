// Line charts.

import uPlot from "uplot";
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
  /** Of the run, where the horizontal axis counts steps: the curves grow into it. */
  let length = 1;
  /** Where the vertical axis begins, unless values lie below. */
  let base = 0;
  const size = () => ({ width: Math.max(120, root.clientWidth), height: Math.max(100, root.clientHeight) });
  const settle = ({ bbox }) => {
    const [left, top, width, height] = [bbox.left, bbox.top, bbox.width, bbox.height].map((pixels) => pixels / devicePixelRatio);
    placed?.({ left, top, width, height });
  };
  const build = () => {
    plot?.destroy();
    const font = '11px "Inter Variable", system-ui, sans-serif';
    const axis = { stroke: colours.soft, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false }, border: { show: false } };
    plot = new uPlot(
      {
        ...size(),
        legend: { show: false },
        cursor: { show: false },
        padding: [8, 16, 0, 0],
        scales: { x: { time: false, range: () => x ?? [0, length] }, y: log ? { distr: 3 } : y ? { range: y } : { range: (_, low, high) => [Math.min(base, low), high > base ? high + (high - base) * 0.05 : base + 1] } },
        axes: [{ ...axis, size: 24, gap: 4, space: 48 }, { ...axis, size: log ? 48 : 34, gap: 4, space: 32 }],
        hooks: { ready: [settle], setSize: [settle] },
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
    /** Other lines from now on. @param {(colours: object) => Line[]} of */
    show(of) {
      if (of === lines) return;
      [lines, data] = [of, [[0, 1]]];
      if (colours) build();
    },
    /** @param {(number[] | null)[]} curves one for each line, null for none */
    draw(xs, curves, label, end = 1, from = 0) {
      length = end;
      base = from;
      data = [xs, ...curves.map((curve) => curve ?? xs.map(() => null))];
      root.setAttribute("aria-label", label);
      plot?.setData(data);
    },
  };
}
