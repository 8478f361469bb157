// Maps of ranks and histograms of scores.

import { count as written } from "../dom.js";
import { rgb, sharp } from "./canvas.js";

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

  /** The bytes of the image, smoothed over the whole canvas: finely where the picture rests. */
  spread(context, width, height, rests = true) {
    this.pixels.putImageData(this.image, 0, 0);
    context.imageSmoothingQuality = rests ? "high" : "low";
    context.drawImage(this.small, 0, 0, width, height);
  }
}

/**
 * Adds the points where a grid of values, each in the middle of its cell, reaches a level: by straight lines from side to side.
 * @param {CanvasRenderingContext2D} context @param {ArrayLike<number>} values row by row @param {number} wide of a cell, in pixels
 */
function trace(context, values, columns, rows, level, wide, tall, height) {
  let open = false;
  const point = (x, y) => {
    if (open) context.lineTo((x + 0.5) * wide, height - (y + 0.5) * tall);
    else context.moveTo((x + 0.5) * wide, height - (y + 0.5) * tall);
    open = !open;
  };
  for (let j = 0; j + 1 < rows; j += 1) {
    for (let i = 0, at = j * columns; i + 1 < columns; i += 1, at += 1) {
      const [a, b, c, d] = [values[at] >= level, values[at + 1] >= level, values[at + columns + 1] >= level, values[at + columns] >= level];
      if (a === b && b === c && c === d) continue;
      // Where the four sides are crossed: below, right, above, left.
      const share = (from, to) => (level - values[from]) / (values[to] - values[from]);
      if (a !== b) point(i + share(at, at + 1), j);
      if (b !== c) point(i + 1, j + share(at + 1, at + columns + 1));
      if (c !== d) point(i + share(at + columns, at + columns + 1), j + 1);
      if (a !== d) point(i, j + share(at, at + columns));
    }
  }
}

/** A map of ranks. */
export class Surface extends Raster {
  constructor(columns, rows, colours, lane) {
    super(columns, rows, colours);
    this.lane = lane;
    this.table = shades(colours, lane);
  }

  /** The line of points with this score: a cut. (Ranks have steps where few negatives are, scores have none.) */
  level(context, width, height, scores, threshold, rests) {
    // (Rims and round ends are for a picture that rests: they cost as much as all the rest of it.)
    this.rests = rests;
    for (const [stroke, thick] of [[this.colours.card, 5], [this.colours.ink, 2]].slice(rests ? 0 : 1)) {
      context.strokeStyle = stroke;
      context.lineWidth = thick;
      context.globalAlpha = 0.9;
      this.stroke(context, width, height, scores, threshold);
    }
    context.globalAlpha = 1;
  }

  /** Strokes the points of a level. */
  stroke(context, width, height, values, level) {
    const { columns, rows } = this;
    context.lineCap = this.rests ? "round" : "butt";
    context.beginPath();
    trace(context, values, columns, rows, level, width / columns, height / rows, height);
    context.stroke();
    context.lineCap = "butt";
  }

  /** Ranks on the grid as a shaded map, with lines where 20 %, 5 % and 1 % of the negatives rank higher: from these scores on. */
  draw(context, width, height, ranks, scores, levels, rests) {
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
    this.rests = rests;
    this.spread(context, width, height, rests);
    context.strokeStyle = this.colours[this.lane];
    SHARES.forEach((share, line) => {
      context.lineWidth = line === 1 ? 2 : 1;
      context.globalAlpha = line === 1 ? 0.95 : 0.55;
      this.stroke(context, width, height, levels ? scores : ranks, levels ? levels[line] : 1 - share);
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
    context.beginPath();
    for (let k = 0; k < bins; k += 1) {
      if (of[k] > 0) context.rect(k * wide + (positive ? wide * 0.2 : 0.5), base - tall(of[k]), positive ? wide * 0.6 : wide - 1, tall(of[k]));
    }
    context.fill();
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
