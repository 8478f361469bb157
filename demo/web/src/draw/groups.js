// Marks and lines of groups: each has a colour, a dash and a shape of its own.

import { place } from "./canvas.js";
import { mark } from "./classes.js";

/** Dashes of the line of all rows, and of the groups in turn. */
export const DASHES = { all: [1, 3], groups: [[], [8, 4], [8, 3, 2, 3], [3, 3]] };

/** A piece of a group's line with its mark, or of that of all rows, as an SVG. */
export function swatch(one) {
  const dash = one === undefined ? DASHES.all : DASHES.groups[one % DASHES.groups.length];
  const colour = one === undefined ? "var(--ink)" : `var(--g${one % DASHES.groups.length})`;
  const marks = ["<circle cx='17' cy='6' r='4'/>", "<path d='M17 1 21.5 9.5h-9Z'/>", "<rect x='13.5' y='2.5' width='7' height='7'/>", "<path d='M17 1 22 6 17 11 12 6Z'/>"];
  const template = document.createElement("template");
  template.innerHTML = `<svg viewBox="0 0 34 12" aria-hidden="true"><path fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash.join(" ")}" d="M0 6H34"/>${one === undefined ? "" : `<g fill="${colour}" stroke="var(--card)">${marks[one % 4]}</g>`}</svg>`;
  return template.content.firstChild;
}

const SHAPES = ["circle", "triangle", "square", "diamond"];

/** Rows as marks of their group: negatives small and pale, positives large with a rim. */
export function marks(context, width, height, window, points, labels, groups, colours) {
  const [px, py] = place(window, width, height, points);
  for (const positive of [0, 1]) {
    const paths = new Map();
    for (let k = 0; k < points.length / 2; k += 1) {
      if (labels[k] !== positive) continue;
      if (!paths.has(groups[k])) paths.set(groups[k], new Path2D());
      mark(paths.get(groups[k]), SHAPES[groups[k] % SHAPES.length], px(k), py(k), positive ? 2.9 : 1.5);
    }
    context.globalAlpha = positive ? 1 : 0.42;
    context.lineWidth = 0.8;
    context.strokeStyle = colours.card;
    for (const one of [...paths.keys()].sort((a, b) => a - b)) {
      context.fillStyle = colours.groups[one % colours.groups.length];
      context.fill(paths.get(one));
      if (positive) context.stroke(paths.get(one));
    }
  }
  context.globalAlpha = 1;
}
