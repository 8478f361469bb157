// The first picture: people on a plane with lines that say whom to call, and the calls of each, one by one.

import { place, scatter, sharp } from "./canvas.js";

export const NAMES = { you: "You", a: "A", b: "B" };
const colourOf = (who, colours) => (who === "you" ? colours.ink : colours[who]);
const FONT = "system-ui, sans-serif";

/** The direction of a linear model, in the data's own units. */
export function angleOf(params, columns) {
  const [x, y] = [0, 1].map((k) => params[k] * (columns?.[k][1] ?? 1));
  return Math.atan2(y, x);
}

/** What does not move: people, once for a size of the canvas and its colours. */
let layer = null;
function still(canvas, { X, y, window }, colours, width, height) {
  const same = layer && layer.X === X && layer.picture.width === canvas.width && layer.picture.height === canvas.height && layer.ink === colours.ink;
  if (!same) {
    const picture = new OffscreenCanvas(canvas.width, canvas.height);
    const context = picture.getContext("2d");
    context.scale(canvas.width / width, canvas.height / height);
    scatter(context, width, height, window, X, y, colours);
    layer = { X, ink: colours.ink, picture };
  }
  return layer.picture;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ X: Float32Array, y: Uint8Array, window: object }} rows
 * @param {Record<string, { ranking: import("../ranking.js").Ranking, angle: number }>} all who has a line
 */
export function people(canvas, rows, all, calls, colours) {
  const { context, width, height } = sharp(canvas);
  if (!width) return;
  const { X, window } = rows;
  const scale = width / (window.x[1] - window.x[0]);
  const far = width + height;
  const lines = ["a", "b", "you"].filter((who) => all[who]).map((who) => {
    const { angle, ranking } = all[who];
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const last = ranking.order[calls - 1];
    const reach = c * X[2 * last] + s * X[2 * last + 1];
    // A point of the line, and its direction in pixels.
    return { who, at: [(c * reach - window.x[0]) * scale, height - (s * reach - window.y[0]) * scale], out: [c, -s], way: [s, c] };
  });
  const you = lines.at(-1);
  const corner = (sign, deep) => [you.at[0] + sign * far * you.way[0] + deep * you.out[0], you.at[1] + sign * far * you.way[1] + deep * you.out[1]];
  context.fillStyle = colours.ink;
  context.globalAlpha = 0.09;
  context.beginPath();
  for (const point of [corner(-1, 0), corner(1, 0), corner(1, far), corner(-1, far)]) context.lineTo(...point);
  context.fill();
  context.globalAlpha = 1;
  context.drawImage(still(canvas, rows, colours, width, height), 0, 0, width, height);
  for (const { who, at, way } of lines) {
    for (const [stroke, thick] of [[colours.card, 5], [colourOf(who, colours), who === "you" ? 3 : 2.5]]) {
      context.strokeStyle = stroke;
      context.lineWidth = thick;
      context.setLineDash(who === "a" && thick < 5 ? [8, 5] : []);
      context.beginPath();
      context.moveTo(at[0] - far * way[0], at[1] - far * way[1]);
      context.lineTo(at[0] + far * way[0], at[1] + far * way[1]);
      context.stroke();
    }
    context.setLineDash([]);
  }
  // Where the hand is: an arrow from the middle towards those who are called.
  const long = 0.36 * Math.min(width, height);
  const [x, y] = [width / 2 + long * you.out[0], height / 2 + long * you.out[1]];
  for (const [stroke, thick] of [[colours.card, 6], [colours.ink, 2.5]]) {
    context.strokeStyle = stroke;
    context.lineWidth = thick;
    context.beginPath();
    context.moveTo(width / 2, height / 2);
    context.lineTo(x, y);
    context.stroke();
  }
  context.beginPath();
  context.arc(x, y, 12, 0, 2 * Math.PI);
  context.fillStyle = colours.ink;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colours.card;
  context.stroke();
  context.fillStyle = colours.card;
  context.beginPath();
  for (const [along, across] of [[7, 0], [-4, 5], [-4, -5]]) context.lineTo(x + along * you.out[0] + across * you.way[0], y + along * you.out[1] + across * you.way[1]);
  context.fill();
  for (const { who, at } of lines.slice(0, -1)) badge(context, who, Math.min(width - 14, Math.max(14, at[0])), Math.min(height - 14, Math.max(14, at[1])), colours);
}

function badge(context, who, x, y, colours) {
  context.font = `600 13px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = colourOf(who, colours);
  context.beginPath();
  context.roundRect(x - 10, y - 10, 20, 20, 6);
  context.fill();
  context.fillStyle = colours.card;
  context.fillText(NAMES[who], x, y + 0.5);
}

/** The calls of each, best first, line by line: full where somebody is ill. */
export function calls(canvas, all, many, colours) {
  const { context, width, height } = sharp(canvas);
  if (!width) return;
  const who = ["you", "a", "b"];
  const [columns, head, gap] = [10, 26, 14];
  // Beside each other, or the models below, whichever is larger.
  const [row, square] = [Math.min((width - 2 * gap) / 3, height - head), Math.min((width - gap) / 2, (height - gap) / 2 - head)];
  const size = Math.max(row, square);
  who.forEach((one, k) => {
    if (!all[one]) return;
    const [left, top] = row >= square ? [k * (size + gap), 0] : [k === 2 ? size + gap : 0, k ? size + head + gap : 0];
    const { ranking, found } = all[one];
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.font = `600 15px ${FONT}`;
    context.fillStyle = colourOf(one, colours);
    context.fillText(all.a ? `${NAMES[one]} ${found}` : NAMES[one], left, top + 17);
    const step = size / columns;
    for (let call = 0; call < many; call += 1) {
      const ill = ranking.labels[ranking.order[call]] === 1;
      context.globalAlpha = ill ? 1 : 0.22;
      context.fillStyle = ill ? colourOf(one, colours) : colours.soft;
      context.beginPath();
      context.arc(left + ((call % columns) + 0.5) * step, top + head + (Math.floor(call / columns) + 0.5) * step, step * 0.36, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  });
}
