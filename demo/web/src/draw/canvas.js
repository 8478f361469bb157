// Canvases of lanes and thumbnails. Colour says which lane, ink which class.

import { contours } from "d3-contour";
import { count as written } from "../dom.js";

/** Sizes of canvases in CSS pixels, told by the browser: asking for them while drawing would lay out the page. */
const sizes = new WeakMap();
const redraws = new WeakMap();
const watcher = new ResizeObserver((entries) => {
  for (const { target, contentRect: { width, height } } of entries) {
    const before = sizes.get(target);
    sizes.set(target, { width, height });
    if (width && height && (before?.width !== width || before?.height !== height)) redraws.get(target)?.();
  }
});

/** Calls `redraw` whenever the canvas has another size, also when it is shown for the first time. */
export function onResize(canvas, redraw) {
  redraws.set(canvas, redraw);
  watcher.observe(canvas);
}

/** @param {HTMLCanvasElement} canvas without padding @returns {{ width: number, height: number }} */
export function sizeOf(canvas) {
  let size = sizes.get(canvas);
  if (!size) {
    watcher.observe(canvas);
    const { width, height } = canvas.getBoundingClientRect();
    size = { width, height };
    sizes.set(canvas, size);
  }
  return size;
}

/** Makes a canvas as sharp as the screen; returns its context in CSS pixels. */
export function sharp(canvas) {
  const { width, height } = sizeOf(canvas);
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** #rgb or #rrggbb as three numbers. */
export const rgb = (hex) => {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  return digits.map((two) => parseInt(two, 16));
};

/** A window on the plane with equal scales that holds all but the outermost points. */
export function frame(points, aspect) {
  const range = (axis) => {
    const values = Float32Array.from({ length: points.length / 2 }, (_, k) => points[2 * k + axis]).sort();
    const cut = Math.floor(values.length / 400);
    return [values[cut], values[values.length - 1 - cut]];
  };
  const [[x0, x1], [y0, y1]] = [range(0), range(1)];
  const tall = Math.max((y1 - y0) * 1.12, ((x1 - x0) * 1.12) / aspect, 1e-6);
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return { x: [cx - (tall * aspect) / 2, cx + (tall * aspect) / 2], y: [cy - tall / 2, cy + tall / 2] };
}

/** Where the k-th point lies on a canvas. */
export const place = (window, width, height, points) => [
  (k) => ((points[2 * k] - window.x[0]) / (window.x[1] - window.x[0])) * width,
  (k) => height - ((points[2 * k + 1] - window.y[0]) / (window.y[1] - window.y[0])) * height,
];

/** Points of a data set: negatives small and grey, positives ink with a rim. `tint(k)` colours row k instead. */
export function scatter(context, width, height, window, points, labels, colours, { size = 1.5, tint } = {}) {
  const [px, py] = place(window, width, height, points);
  const count = points.length / 2;
  for (const positive of [0, 1]) {
    for (let k = 0; k < count; k += 1) {
      if (labels[k] !== positive) continue;
      context.beginPath();
      context.arc(px(k), py(k), positive ? size * 1.75 : size, 0, 2 * Math.PI);
      if (positive) {
        context.globalAlpha = 1;
        context.fillStyle = tint ? tint(k) : colours.ink;
        context.fill();
        context.lineWidth = tint ? 1.4 : 1;
        context.strokeStyle = tint ? colours.ink : colours.card;
        context.stroke();
      } else {
        context.globalAlpha = tint ? 0.75 : 0.34;
        context.fillStyle = tint ? tint(k) : colours.soft;
        context.fill();
      }
    }
  }
  context.globalAlpha = 1;
}

const SHADES = 256;
/** The negatives that rank higher than a line of the map. */
export const SHARES = [0.2, 0.05, 0.01];

/** The colours of ranks 0 … 1 in even steps, three bytes each: paper for most negatives, the lane's for the top. */
function shades(colours, lane) {
  const [from, to] = [rgb(colours.card), rgb(colours[lane])];
  const table = new Uint8ClampedArray(3 * SHADES);
  for (let k = 0; k < SHADES; k += 1) {
    const part = 0.04 + 0.56 * (k / (SHADES - 1)) ** 4;
    for (let c = 0; c < 3; c += 1) table[3 * k + c] = from[c] + (to[c] - from[c]) * part;
  }
  return table;
}

/** The place of a rank's colour in the table. */
const shadeOf = (rank) => 3 * Math.min(SHADES - 1, Math.max(0, Math.round(rank * (SHADES - 1))));

/** The colour of a rank as a fill style. */
export function shade(colours, lane) {
  const table = shades(colours, lane);
  const names = Array.from({ length: SHADES }, (_, k) => `rgb(${table.subarray(3 * k, 3 * k + 3).join()})`);
  return (rank) => names[shadeOf(rank) / 3];
}

/** A picture of one pixel a cell, drawn again and again: what stays the same between two frames is kept. */
export class Raster {
  constructor(columns, rows, colours) {
    Object.assign(this, { columns, rows, colours });
    this.image = new ImageData(columns, rows);
    this.image.data.fill(255);
    this.small = new OffscreenCanvas(columns, rows);
    this.pixels = this.small.getContext("2d");
  }

  /** The bytes of the image, smoothed over the whole canvas. */
  spread(context, width, height) {
    this.pixels.putImageData(this.image, 0, 0);
    context.imageSmoothingQuality = "high";
    context.drawImage(this.small, 0, 0, width, height);
  }
}

/** A map of ranks. */
export class Surface extends Raster {
  constructor(columns, rows, colours, lane) {
    super(columns, rows, colours);
    this.lane = lane;
    this.table = shades(colours, lane);
    this.contours = contours().size([columns, rows]);
  }

  /** The line of points with this score: a cut. (Ranks have steps where few negatives are, scores have none.) */
  level(context, width, height, scores, threshold) {
    const [line] = this.contours.thresholds([threshold])(scores);
    for (const [stroke, thick] of [[this.colours.card, 5], [this.colours.ink, 2]]) {
      context.strokeStyle = stroke;
      context.lineWidth = thick;
      context.globalAlpha = 0.9;
      this.trace(context, width, height, line);
    }
    context.globalAlpha = 1;
  }

  /** Strokes a line of level. */
  trace(context, width, height, line) {
    const { columns, rows } = this;
    context.beginPath();
    for (const ring of line.coordinates.flat()) {
      // Parts of a ring that run along the border close the area; they are no level lines.
      let drawing = false;
      for (const [x, y] of ring) {
        const inside = x > 0.6 && y > 0.6 && x < columns - 0.6 && y < rows - 0.6;
        const [px, py] = [(x / columns) * width, height - (y / rows) * height];
        if (inside && drawing) context.lineTo(px, py);
        else if (inside) context.moveTo(px, py);
        drawing = inside;
      }
    }
    context.stroke();
  }

  /** Ranks on the grid as a shaded map, with lines where 20 %, 5 % and 1 % of the negatives rank higher: from these scores on. */
  draw(context, width, height, ranks, scores, levels) {
    const { columns, rows, table } = this;
    const bytes = this.image.data;
    for (let j = 0; j < rows; j += 1) {
      for (let i = 0; i < columns; i += 1) {
        const from = shadeOf(ranks[(rows - 1 - j) * columns + i]);
        const to = 4 * (j * columns + i);
        bytes[to] = table[from];
        bytes[to + 1] = table[from + 1];
        bytes[to + 2] = table[from + 2];
      }
    }
    this.spread(context, width, height);
    context.strokeStyle = this.colours[this.lane];
    const lines = levels ? this.contours.thresholds(levels)(scores) : this.contours.thresholds(SHARES.map((share) => 1 - share))(ranks);
    lines.forEach((line, level) => {
      context.lineWidth = level === 1 ? 2 : 1;
      context.globalAlpha = level === 1 ? 0.95 : 0.55;
      this.trace(context, width, height, line);
    });
    context.globalAlpha = 1;
  }
}

/** Lines of the histogram's axis of logarithms. */
const TICKS = [10, 100, 1000, 10_000];

/** How high a count stands in the histogram, from 0 to 1: as a logarithm, the lowest line is one row and the highest all of them. */
export const raised = (count, most, log) => (log ? Math.log1p(count) / Math.log1p(most) : count / most);

/**
 * Counts of both classes' scores on one axis, negatives grey and positives in the lane's colour.
 * @param {Float32Array} values of a snapshot: lowest and highest score, then the shares of negatives and of positives in each bin
 * @param {[number, number]} sizes rows of each class
 * @param {boolean} log whether the axis is of logarithms, up to all rows of the larger class
 */
export function histogram(canvas, values, sizes, colours, lane, log, threshold) {
  const { context, width, height } = sharp(canvas);
  const bins = (values.length - 2) / 2;
  const counts = [0, 1].map((positive) => Array.from(values.subarray(2 + positive * bins, 2 + (1 + positive) * bins), (share) => Math.round(share * sizes[positive])));
  const base = height - 1;
  const most = Math.max(...(log ? sizes : counts.flat()), 1);
  const tall = (count) => raised(count, most, log) * (height - 6);
  const wide = width / bins;
  const ticks = log ? TICKS.filter((tick) => tick < most) : [most];
  context.fillStyle = colours.line;
  for (const tick of ticks) context.fillRect(0, Math.round(base - tall(tick)), width, 1);
  counts.forEach((of, positive) => {
    context.fillStyle = positive ? colours[lane] : colours.soft;
    context.globalAlpha = positive ? 0.85 : 0.32;
    for (let k = 0; k < bins; k += 1) {
      if (of[k] > 0) context.fillRect(k * wide + (positive ? wide * 0.2 : 0.5), base - tall(of[k]), positive ? wide * 0.6 : wide - 1, tall(of[k]));
    }
  });
  context.globalAlpha = 1;
  context.fillStyle = colours.line;
  context.fillRect(0, base, width, 1);
  context.font = '10px "Inter Variable", system-ui, sans-serif';
  // (Beside the cut.)
  const x = threshold === undefined ? 0 : Math.min(width - 1, Math.max(1, ((threshold - values[0]) / (values[1] - values[0])) * width));
  const left = x > 0.8 * width;
  context.textAlign = left ? "left" : "right";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.strokeStyle = colours.card;
  context.fillStyle = colours.soft;
  // (The lowest line is too near to the bars for a number.)
  for (const tick of ticks.filter((tick) => tick > TICKS[0])) {
    const at = [written(tick), left ? 4 : width - 4, Math.max(6, base - tall(tick))];
    context.strokeText(...at);
    context.fillText(...at);
  }
  if (threshold === undefined) return;
  context.fillStyle = colours.ink;
  context.fillRect(x - 1, 0, 2, height);
}
