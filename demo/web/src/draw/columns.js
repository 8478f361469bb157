// Two rankings back to back: held-out rows best first, from the top down. Every lit piece is one positive.

import { count as written } from "../dom.js";

/** The share of the rows that the lens shows. */
export const LENS = 0.05;
/** Up to so many rows each has a place of its own; more are put together in lines. */
const APART = 2000;
/** Digits that are drawn as such. */
export const TOP = 24;
const [GAP, PITCH] = [22, 4];
/** Of the height, for the lens. */
const UPPER = 0.66;

/**
 * Where rows lie: the lens above, the rest below it, both in lines of so many rows.
 * @param {number} width @param {number} height in CSS pixels @param {number} rows
 * @param {number} [top] rows of the lens, where it is not a share of them
 * @param {number} [text] height of the numbers between the columns
 */
export function geometry(width, height, rows, top = 0, text = 11) {
  const lens = top || Math.max(1, Math.round(rows * LENS));
  const upper = Math.floor((height - GAP) * UPPER);
  const part = (from, count, y, tall) => {
    const lines = Math.max(1, Math.min(count, Math.floor(tall / PITCH)));
    const each = Math.ceil(count / lines);
    const used = Math.ceil(count / each);
    return { from, count, y, tall, each, lines: used, pitch: tall / used };
  };
  const gutter = Math.round(14 + 4 * text);
  const half = (width - gutter) / 2;
  const parts = [part(0, lens, 0, upper), part(lens, rows - lens, upper + GAP, height - GAP - upper)].filter(({ count }) => count > 0);
  // A positive is as long above as below. Where lines hold many rows it is cut at the edge.
  const unit = half / Math.max(1, parts[0].each);
  return { width, height, rows, half, gutter, parts, unit, apart: rows <= APART };
}

/** The height at which a cut after so many rows lies. */
export function heightOf({ parts, height }, shown) {
  for (const { from, count, y, tall } of parts) if (shown <= from + count) return y + (tall * (shown - from)) / count;
  return height;
}

/** How many rows lie above a height. */
export function shownAt({ parts, rows }, at) {
  let shown = 0;
  for (const { from, count, y, tall } of parts) if (at >= y) shown = from + Math.round(count * Math.min(1, (at - y) / tall));
  return Math.min(rows, shown);
}

/** Lit lengths of the lines of one part, from the places of the positives. @param {Uint32Array} places ascending */
export function lit({ from, count, each, lines }, places) {
  const out = new Uint32Array(lines);
  for (const place of places) {
    if (place < from) continue;
    if (place >= from + count) break;
    out[Math.floor((place - from) / each)] += 1;
  }
  return out;
}

/** Pixels of digits, which are scaled by columns: the least step between their values is one of sixteen. */
export function digits({ X, y }, dims) {
  const shades = new Uint8Array(X.length);
  for (let column = 0; column < dims; column += 1) {
    const values = Float32Array.from({ length: y.length }, (_, row) => X[row * dims + column]).sort();
    let step = Infinity;
    for (let k = 1; k < values.length; k += 1) if (values[k] - values[k - 1] > 1e-4) step = Math.min(step, values[k] - values[k - 1]);
    for (let row = 0; row < y.length; row += 1) shades[row * dims + column] = Number.isFinite(step) ? Math.min(255, Math.round((X[row * dims + column] - values[0]) / step)) : 0;
  }
  return shades;
}

/** One lane's column: A to the left of the middle, B to the right. */
export function column(context, shape, ranking, lane, colours, from = 0) {
  const { width, half, unit, parts } = shape;
  const [base, way] = lane === "a" ? [half, -1] : [width - half, 1];
  for (const part of parts.slice(from)) {
    context.fillStyle = colours.soft;
    context.globalAlpha = 0.16;
    context.fillRect(lane === "a" ? 0 : base, part.y, half, part.tall);
    context.globalAlpha = 1;
    context.fillStyle = colours[lane];
    const thick = Math.max(1, part.pitch - (part.pitch >= 3 ? 1 : 0));
    context.beginPath();
    lit(part, ranking.places).forEach((positives, line) => {
      const long = Math.min(half, positives * unit);
      if (long > 0) context.rect(way < 0 ? base - long : base, part.y + line * part.pitch, long, thick);
    });
    context.fill();
  }
}

/** The first rows of a lane as digits, those that are none of the class framed. */
export function top(context, shape, ranking, lane, colours, pixels) {
  const { width, half, parts: [{ y, tall }] } = shape;
  const left = lane === "a" ? 0 : width - half;
  const sizeOf = (columns) => Math.min(half / columns, tall / Math.ceil(TOP / columns));
  const columns = [1, 2, 3, 4, 6].reduce((best, one) => (sizeOf(one) > sizeOf(best) ? one : best));
  const size = sizeOf(columns);
  for (let k = 0; k < TOP && k < ranking.rows; k += 1) {
    const row = ranking.order[k];
    const positive = ranking.labels[row] === 1;
    const [x, at] = [left + (k % columns) * size + (lane === "a" ? half - columns * size : 0), y + Math.floor(k / columns) * size];
    const pixel = (size - 4) / 8;
    context.fillStyle = colours.card;
    context.fillRect(x + 1, at + 1, size - 2, size - 2);
    context.fillStyle = positive ? colours[lane] : colours.soft;
    for (let one = 0; one < 64; one += 1) {
      context.globalAlpha = Math.min(1, pixels[row * 64 + one] / 16);
      if (context.globalAlpha > 0) context.fillRect(x + 2 + (one % 8) * pixel, at + 2 + Math.floor(one / 8) * pixel, pixel + 0.3, pixel + 0.3);
    }
    context.globalAlpha = 1;
    if (positive) continue;
    context.strokeStyle = colours.no;
    context.lineWidth = 2;
    context.setLineDash([3, 2]);
    context.strokeRect(x + 1.5, at + 1.5, size - 3, size - 3);
    context.setLineDash([]);
  }
}

/** Ranks in the middle, and each lane's cut. @param {{ a: number, b: number }} shown rows above the cut */
export function middle(context, shape, shown, colours) {
  const { width, half, gutter, parts, rows } = shape;
  context.font = `${colours.text}px "Inter Variable", system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const cuts = [heightOf(shape, shown.a), heightOf(shape, shown.b)];
  // The cut, from edge to edge: each lane's own, and a line between the two.
  context.lineWidth = 2;
  for (const [k, lane] of ["a", "b"].entries()) {
    context.strokeStyle = colours.ink;
    context.setLineDash(lane === "a" ? [5, 3] : []);
    context.beginPath();
    context.moveTo(lane === "a" ? 0 : width - half, cuts[k]);
    context.lineTo(lane === "a" ? half : width, cuts[k]);
    context.stroke();
  }
  context.setLineDash([]);
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(half, cuts[0]);
  context.bezierCurveTo(half + gutter / 2, cuts[0], half + gutter / 2, cuts[1], width - half, cuts[1]);
  context.stroke();
  // The ranks, with a rim where the line between the cuts runs below them.
  context.fillStyle = colours.soft;
  context.strokeStyle = colours.paper;
  context.lineWidth = 4;
  context.lineJoin = "round";
  const label = (rank, y) => {
    if (!cuts.every((cut) => Math.abs(cut - y) > colours.text)) return;
    context.strokeText(written(rank), width / 2, y);
    context.fillText(written(rank), width / 2, y);
  };
  const [lens, rest] = parts;
  label(1, lens.y + colours.text / 2 + 1);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000].find((one) => (lens.count / one) * 2.5 * colours.text <= lens.tall) ?? lens.count;
  for (let rank = step; rank < lens.count - step / 3; rank += step) label(rank, heightOf(shape, rank));
  context.fillText(written(lens.count), width / 2, lens.y + lens.tall + GAP / 2);
  if (rest) label(rows, rest.y + rest.tall - colours.text / 2 - 2);
}
