// Several classes on a canvas: a colour and, beyond eight, a shape for each. The colours were searched for the largest least
// distance between any two as seen with and without each kind of colour blindness; names and shapes stand beside them.

import { place, rgb } from "./canvas.js";
import { Raster } from "./surface.js";

const COLOURS = 8;
const SHAPES = ["circle", "square", "triangle", "diamond"];

/** @param {number} one number of a class */
export const colourOf = (colours, one) => colours.classes[one % COLOURS];
export const shapeOf = (one) => SHAPES[Math.floor(one / COLOURS) % SHAPES.length];

/** Adds a mark around a point to a path. */
export function mark(path, shape, x, y, size) {
  const wide = shape === "circle" ? size : size * 1.1;
  if (shape === "circle") {
    path.moveTo(x + size, y);
    path.arc(x, y, size, 0, 2 * Math.PI);
  } else if (shape === "square") {
    path.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
  } else {
    const corners = shape === "triangle" ? [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]] : [[0, -1.25], [1.05, 0], [0, 1.25], [-1.05, 0]];
    corners.forEach(([dx, dy], k) => path[k ? "lineTo" : "moveTo"](x + dx * wide, y + dy * wide));
    path.closePath();
  }
}

/** The same as an SVG of 12 × 12. */
export function swatch(one) {
  const shapes = {
    circle: "<circle cx='6' cy='6' r='5'/>",
    square: "<rect x='1.5' y='1.5' width='9' height='9'/>",
    triangle: "<path d='M6 .5 11.5 10.5H.5Z'/>",
    diamond: "<path d='M6 0 11.2 6 6 12 .8 6Z'/>",
  };
  const template = document.createElement("template");
  template.innerHTML = `<svg viewBox="0 0 12 12" aria-hidden="true" style="fill:var(--c${one % COLOURS})">${shapes[shapeOf(one)]}</svg>`;
  return template.content.firstChild;
}

/** Rows as marks of a class each. */
export function marks(context, width, height, window, points, classes, colours, size) {
  const [px, py] = place(window, width, height, points);
  const paths = new Map();
  for (let k = 0; k < points.length / 2; k += 1) {
    if (!paths.has(classes[k])) paths.set(classes[k], new Path2D());
    mark(paths.get(classes[k]), shapeOf(classes[k]), px(k), py(k), size);
  }
  context.lineWidth = 0.6;
  context.strokeStyle = colours.card;
  for (const one of [...paths.keys()].sort((a, b) => a - b)) {
    context.fillStyle = colourOf(colours, one);
    context.fill(paths.get(one));
    context.stroke(paths.get(one));
  }
}

/** Rings around the rows that are given to another class than their own. */
export function errors(context, width, height, window, points, labels, winners, colours, size) {
  const [px, py] = place(window, width, height, points);
  const path = new Path2D();
  for (let k = 0; k < winners.length; k += 1) if (winners[k] !== labels[k]) mark(path, "circle", px(k), py(k), size);
  context.lineWidth = 1;
  context.strokeStyle = colours.ink;
  context.stroke(path);
}

/** The name of each class where the middle of its rows is. */
export function names(context, width, height, window, points, labels, called, colours) {
  const [px, py] = place(window, width, height, points);
  context.font = '600 13px "Inter Variable", system-ui, sans-serif';
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  called.forEach((name, one) => {
    const rows = [...labels.keys()].filter((k) => k < points.length / 2 && labels[k] === one);
    if (!rows.length) return;
    const text = name.length > 14 ? `${name.slice(0, 13)}…` : name;
    const half = context.measureText(text).width / 2 + 4;
    const x = Math.min(width - half, Math.max(half, middle(rows.map(px))));
    const y = Math.min(height - 12, Math.max(12, middle(rows.map(py))));
    context.strokeStyle = colours.card;
    context.strokeText(text, x, y);
    context.fillStyle = colours.ink;
    context.fillText(text, x, y);
  });
}

/** The class that wins each point of the plane, paler where it wins by less. */
export class ClassSurface extends Raster {
  constructor(columns, rows, colours, classes) {
    super(columns, rows, colours);
    this.classes = classes;
    this.paper = rgb(colours.card);
    this.own = Array.from({ length: classes }, (_, one) => rgb(colourOf(colours, one)));
  }

  draw(context, width, height, { winner, odds, lead }) {
    const { columns, rows, paper, own, classes } = this;
    const bytes = this.image.data;
    for (let j = 0; j < rows; j += 1) {
      for (let i = 0; i < columns; i += 1) {
        const from = (rows - 1 - j) * columns + i;
        const to = 4 * (j * columns + i);
        // From the least share that can win to all of it.
        const sure = Math.max(0, (1 / (1 + Math.exp(-odds[from])) - 1 / classes) / (1 - 1 / classes));
        const part = 0.1 + 0.26 * sure;
        const colour = own[winner[from]];
        for (let c = 0; c < 3; c += 1) bytes[to + c] = paper[c] + (colour[c] - paper[c]) * part;
      }
    }
    this.spread(context, width, height);
    this.border(context, width, height, winner, lead);
  }

  /** Lines between the areas: on the way from one point of the grid to the next where the leads of both are used up. */
  border(context, width, height, winner, lead) {
    const { columns, rows } = this;
    const px = (x) => ((x + 0.5) / columns) * width;
    const py = (y) => height - ((y + 0.5) / rows) * height;
    const part = (from, to) => (lead[from] + lead[to] > 0 ? lead[from] / (lead[from] + lead[to]) : 0.5);
    context.beginPath();
    for (let j = 0; j + 1 < rows; j += 1) {
      for (let i = 0; i + 1 < columns; i += 1) {
        const at = j * columns + i;
        const [right, up, both] = [at + 1, at + columns, at + columns + 1];
        const [a, b, c, d] = [winner[at], winner[right], winner[both], winner[up]];
        if (a === b && b === c && c === d) continue;
        const ends = [];
        if (a !== b) ends.push([i + part(at, right), j]);
        if (b !== c) ends.push([i + 1, j + part(right, both)]);
        if (c !== d) ends.push([i + part(up, both), j + 1]);
        if (d !== a) ends.push([i, j + part(at, up)]);
        // Where three areas meet or more, their borders meet in the middle.
        const from = ends.length === 2 ? ends.pop() : [i + 0.5, j + 0.5];
        for (const [x, y] of ends) {
          context.moveTo(px(from[0]), py(from[1]));
          context.lineTo(px(x), py(y));
        }
      }
    }
    context.lineWidth = 1.2;
    context.globalAlpha = 0.55;
    context.strokeStyle = this.colours.ink;
    context.stroke();
    context.globalAlpha = 1;
  }
}
