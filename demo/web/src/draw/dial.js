// The dial: directions of lines over the rows, and metrics all around.

import { place, scatter, sharp } from "./canvas.js";

/** Whose directions there are, the last in front. */
const WHO = /** @type {const} */ (["a", "b", "own"]);
const NAMES = { a: "A", b: "B", own: "you" };
/** How each metric's line is drawn. */
export const DASHES = { ap: [], auroc: [7, 4], pauc: [2, 4] };
/** Room around the chart of metrics. */
const AREA = { left: 34, right: 10, top: 24, bottom: 24 };

const colourOf = (who, colours) => (who === "own" ? colours.ink : colours[who]);

/** Where a direction's arrow ends on the plane, around its middle. */
export function tip({ width, height }, angle) {
  const long = 0.38 * Math.min(width, height);
  return [width / 2 + long * Math.cos(angle), height / 2 - long * Math.sin(angle)];
}

/** The direction of a place on the plane. */
export const angleAt = ({ width, height }, x, y) => Math.atan2(height / 2 - y, x - width / 2);

/** The degree of a place on the chart of metrics. */
export const degreeAt = ({ width }, x) => Math.min(180, Math.max(-180, Math.round(((x - AREA.left) / (width - AREA.left - AREA.right)) * 360 - 180)));

/** Rows, and an arrow for each direction: scores rise along it. @param {Partial<Record<"a" | "b" | "own", number>>} angles */
export function plane(canvas, { window, points, labels }, angles, colours) {
  const { context, width, height } = sharp(canvas);
  if (!width) return;
  scatter(context, width, height, window, points, labels, colours);
  const middle = [width / 2, height / 2];
  for (const who of WHO) {
    if (angles[who] === undefined) continue;
    const [x, y] = tip({ width, height }, angles[who]);
    const [ux, uy] = [Math.cos(angles[who]), -Math.sin(angles[who])];
    for (const [stroke, wide] of [[colours.card, 6], [colourOf(who, colours), 3]]) {
      context.strokeStyle = context.fillStyle = stroke;
      context.lineWidth = wide;
      context.setLineDash(who === "a" ? [7, 4] : []);
      context.beginPath();
      context.moveTo(...middle);
      context.lineTo(x - 8 * ux, y - 8 * uy);
      context.stroke();
      context.setLineDash([]);
      context.beginPath();
      context.moveTo(x + 4 * ux, y + 4 * uy);
      context.lineTo(x - 10 * ux - 7 * uy, y - 10 * uy + 7 * ux);
      context.lineTo(x - 10 * ux + 7 * uy, y - 10 * uy - 7 * ux);
      context.fill();
    }
    badge(context, NAMES[who], x + 15 * ux, y + 15 * uy, colourOf(who, colours), colours);
  }
}

function badge(context, text, x, y, colour, colours) {
  context.font = `600 ${Math.max(12, colours.text)}px "Inter Variable", system-ui, sans-serif`;
  const half = context.measureText(text).width / 2 + 5;
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(x - half, y - 9, 2 * half, 18, 5);
  context.fill();
  context.fillStyle = colours.card;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}

/** Metrics against the direction, with a mark for each of those there are. @param {{ ap: Float64Array, auroc: Float64Array, pauc: Float64Array }} all */
export function metrics(canvas, all, angles, values, colours) {
  const { context, width, height } = sharp(canvas);
  if (!width) return;
  const [wide, tall] = [width - AREA.left - AREA.right, height - AREA.top - AREA.bottom];
  const x = (degree) => AREA.left + ((degree + 180) / 360) * wide;
  const y = (value) => AREA.top + (1 - value) * tall;
  context.font = `${colours.text}px "Inter Variable", system-ui, sans-serif`;
  context.lineWidth = 1;
  context.strokeStyle = colours.line;
  context.fillStyle = colours.soft;
  context.textBaseline = "middle";
  const line = (...points) => {
    context.beginPath();
    points.forEach(([u, v], k) => (k ? context.lineTo(u, v) : context.moveTo(u, v)));
    context.stroke();
  };
  context.textAlign = "right";
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    line([AREA.left, y(value)], [width - AREA.right, y(value)]);
    context.fillText(String(value), AREA.left - 6, y(value));
  }
  for (const degree of [-180, -90, 0, 90, 180]) {
    line([x(degree), AREA.top], [x(degree), height - AREA.bottom]);
    context.textAlign = degree === 180 ? "right" : degree === -180 ? "left" : "center";
    context.fillText(`${degree}°`, x(degree) + (degree === 180 ? AREA.right : 0), height - AREA.bottom / 2);
  }
  context.strokeStyle = colours.ink;
  for (const [name, dash] of Object.entries(DASHES)) {
    context.setLineDash(dash);
    context.lineWidth = name === "ap" ? 2.2 : 1.4;
    line(...Array.from(all[name], (value, k) => [x(k - 180), y(value)]));
  }
  context.setLineDash([]);
  for (const who of WHO) {
    if (angles[who] === undefined) continue;
    const at = x((angles[who] * 180) / Math.PI);
    context.strokeStyle = colourOf(who, colours);
    context.lineWidth = 2;
    line([at, AREA.top], [at, height - AREA.bottom]);
    for (const name of Object.keys(DASHES)) {
      context.beginPath();
      context.arc(at, y(values[who][name]), 4, 0, 2 * Math.PI);
      context.fillStyle = colourOf(who, colours);
      context.fill();
      context.strokeStyle = colours.card;
      context.stroke();
      context.strokeStyle = colourOf(who, colours);
    }
    badge(context, NAMES[who], at, 10, colourOf(who, colours), colours);
  }
}
