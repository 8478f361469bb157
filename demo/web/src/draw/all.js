// Pictures of a linear scorer on all data: the plane with its arrow and the gradient's, and scores with the push on them.

import { place, scatter, sharp } from "./canvas.js";

/** Where the scorer's arrow begins, and pixels a unit of the plane. */
export function scaleOf({ width, height }, window) {
  const [px, py] = place(window, width, height, [0, 0]);
  return { x: px(0), y: py(0), unit: width / (window.x[1] - window.x[0]) };
}

function arrow(context, from, to, wide) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const long = Math.hypot(dx, dy);
  if (long < 1) return;
  const [ux, uy] = [dx / long, dy / long];
  const head = Math.min(4.2 * wide, long);
  context.lineWidth = wide;
  context.lineCap = "butt";
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(to[0] - ux * head * 0.8, to[1] - uy * head * 0.8);
  context.stroke();
  context.beginPath();
  context.moveTo(...to);
  context.lineTo(to[0] - ux * head - uy * head * 0.55, to[1] - uy * head + ux * head * 0.55);
  context.lineTo(to[0] - ux * head + uy * head * 0.55, to[1] - uy * head - ux * head * 0.55);
  context.fill();
}

/** How long the step's arrow is drawn, in units of the plane: longer for a steeper gradient, with an end to it. */
const stepLength = (grad) => {
  const steep = Math.hypot(...grad);
  return (2.2 * steep) / (steep + 0.6);
};

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ window: object, points: Float32Array, labels: Uint8Array, w: [number, number], grad?: [number, number], between?: [number, number] | null }} shown
 * `between` two scores lie the negatives that count
 */
export function plane(canvas, { window, points, labels, w, grad, between }, colours) {
  const { context, width, height } = sharp(canvas);
  const { x, y, unit } = scaleOf({ width, height }, window);
  const long = Math.hypot(...w);
  if (between) {
    // Along the scorer, a stripe across everything.
    const [from, to] = between.map((score) => Math.min(100, Math.max(-100, score / long)) * unit);
    context.save();
    context.translate(x, y);
    context.rotate(-Math.atan2(w[1], w[0]));
    context.fillStyle = colours.b;
    context.globalAlpha = 0.16;
    context.fillRect(from, -2 * (width + height), to - from, 4 * (width + height));
    context.restore();
  }
  scatter(context, width, height, window, points, labels, colours);
  const tip = [x + w[0] * unit, y - w[1] * unit];
  context.strokeStyle = context.fillStyle = colours.card;
  arrow(context, [x, y], tip, 7);
  context.strokeStyle = context.fillStyle = colours.ink;
  arrow(context, [x, y], tip, 3.5);
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fill();
  const steep = grad ? Math.hypot(...grad) : 0;
  if (!(steep > 0)) return;
  const step = (stepLength(grad) * unit) / steep;
  const to = [tip[0] - grad[0] * step, tip[1] + grad[1] * step];
  context.strokeStyle = context.fillStyle = colours.card;
  arrow(context, tip, to, 7);
  context.strokeStyle = context.fillStyle = colours.b;
  arrow(context, tip, to, 4);
}

/**
 * Both classes' scores above, each to its own height; below what the gradient does to each bin of them.
 * @param {HTMLCanvasElement} canvas
 * @param {{ range: [number, number], rows: Float64Array[], push: Float64Array[], between?: [number, number] | null }} shown
 */
export function scores(canvas, { range, rows, push, between }, colours) {
  const { context, width, height } = sharp(canvas);
  const bins = rows[0].length;
  const wide = width / bins;
  const base = Math.round(height * 0.54);
  const middle = Math.round(height * 0.78);
  if (between) {
    const [from, to] = between.map((score) => Math.min(width, Math.max(0, ((score - range[0]) / (range[1] - range[0])) * width)));
    context.fillStyle = colours.b;
    context.globalAlpha = 0.16;
    context.fillRect(from, 0, Math.max(1, to - from), height);
    context.globalAlpha = 1;
  }
  [colours.soft, colours.ink].forEach((colour, of) => {
    const most = Math.max(...rows[of]);
    context.fillStyle = colour;
    context.globalAlpha = of ? 0.8 : 0.34;
    for (let k = 0; k < bins; k += 1) {
      const tall = (rows[of][k] / most) * (base - 12);
      if (tall > 0) context.fillRect(k * wide + (of ? wide * 0.28 : 0.5), base - tall, of ? wide * 0.44 : wide - 1, tall);
    }
    context.globalAlpha = 1;
  });
  const most = Math.max(...push.flatMap((values) => [...values].map(Math.abs)), 1e-300);
  const room = height - middle - 8;
  push.forEach((values) =>
    values.forEach((value, k) => {
      const tall = (value / most) * room;
      if (Math.abs(tall) < 0.5) return;
      const [at, to] = [(k + 0.5) * wide, middle - tall];
      const head = Math.min(wide * 0.9, Math.abs(tall));
      context.fillStyle = value > 0 ? colours.b : colours.a;
      const sign = Math.sign(tall);
      context.fillRect(at - wide * 0.2, Math.min(middle, to + sign * head * 0.8), wide * 0.4, Math.max(0, Math.abs(tall) - head * 0.8));
      context.beginPath();
      context.moveTo(at, to);
      context.lineTo(at - wide * 0.46, to + sign * head);
      context.lineTo(at + wide * 0.46, to + sign * head);
      context.fill();
    }),
  );
  context.fillStyle = colours.line;
  context.fillRect(0, base, width, 1);
  context.fillRect(0, middle, width, 1);
}
