// Rows of a batch, each with an arrow for the push on its score.

/** Pixels of an arrow with the whole push of a batch; short ones are drawn at least so long, and those of nearly nothing not at all. */
export const LONGEST = 400;
export const LEAST = 7;
const NOTHING = 1e-4;

/**
 * Where scores rise on a map, as a unit vector in pixels, from the scores of its cells; upwards where they are flat.
 * @param {Float32Array | undefined} scores
 */
export function uphill(scores, { columns, rows }, x, y, window) {
  if (!scores) return [0, -1];
  const cell = (at, [low, high], cells) => Math.min(cells - 2, Math.max(1, Math.floor(((at - low) / (high - low)) * cells)));
  const [i, j] = [cell(x, window.x, columns), cell(y, window.y, rows)];
  const at = (i, j) => scores[j * columns + i];
  const [dx, dy] = [at(i + 1, j) - at(i - 1, j), at(i, j + 1) - at(i, j - 1)];
  const long = Math.hypot(dx, dy);
  return long > 0 ? [dx / long, -dy / long] : [0, -1];
}

/** How long an arrow is drawn. */
export const lengthOf = (share) => (Math.abs(share) > NOTHING ? Math.max(LEAST, LONGEST * Math.abs(share)) : 0);

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{ points: { at: [number, number], way: [number, number], share: number, positive: boolean, lit: boolean, picked: boolean }[], lane: "a" | "b" }} shown
 */
export function arrows(context, { points, lane }, colours) {
  context.setLineDash([]);
  context.lineCap = "butt";
  // The positives last, over the others.
  for (const { at: [x, y], way: [ux, uy], share, positive, lit, picked } of [...points].sort((p, q) => p.positive - q.positive)) {
    const colour = positive ? colours[lane] : colours.ink;
    const long = lengthOf(share);
    const sign = Math.sign(share);
    const [tx, ty] = [x + sign * ux * long, y + sign * uy * long];
    if (long) {
      const head = Math.min(9, Math.max(5, long / 2));
      for (const [stroke, wide] of [[colours.card, 4.5], [colour, 2]]) {
        context.strokeStyle = context.fillStyle = stroke;
        context.lineWidth = wide;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(tx, ty);
        context.stroke();
        context.beginPath();
        context.moveTo(tx + sign * ux * 3, ty + sign * uy * 3);
        context.lineTo(tx - sign * ux * head * 0.6 - uy * head * 0.55, ty - sign * uy * head * 0.6 + ux * head * 0.55);
        context.lineTo(tx - sign * ux * head * 0.6 + uy * head * 0.55, ty - sign * uy * head * 0.6 - ux * head * 0.55);
        context.fill();
      }
    }
    context.beginPath();
    context.arc(x, y, positive ? 4.5 : 3, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    context.lineWidth = 1.2;
    context.strokeStyle = colours.card;
    context.stroke();
    if (!lit && !picked) continue;
    context.beginPath();
    context.arc(x, y, picked ? 10 : 7, 0, 2 * Math.PI);
    context.lineWidth = picked ? 3 : 2.5;
    context.strokeStyle = picked ? colours.ink : colours.no;
    context.stroke();
  }
}
