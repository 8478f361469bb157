// The picture that is sent: what is shown, the sentence about it and where it is from, as an SVG.

import { NAMES } from "./face.js";
import { geometry, heightOf, lit } from "./columns.js";

/** As large as sites show a link's picture. */
export const SIZE = { width: 1200, height: 630 };
const FONT = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";
const [EDGE, LINE] = [48, 1.28];
const safe = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

/** A text in lines that fit, also one without spaces. */
function lines(text, size, weight) {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  context.font = `${weight} ${size}px ${FONT}`;
  const out = [""];
  for (const word of text.split(/(?<=[\s&])/)) {
    if (out.at(-1) && context.measureText((out.at(-1) + word).trimEnd()).width > SIZE.width - 2 * EDGE) out.push("");
    out[out.length - 1] += word;
  }
  return out.map((line) => line.trimEnd());
}

function written(text, { top, size, weight = 400, colour }) {
  const all = lines(text, size, weight);
  const svg = all.map((line, k) => `<text x="${EDGE}" y="${(top + size + k * size * LINE).toFixed(1)}" font-size="${size}" font-weight="${weight}" fill="${colour}">${safe(line)}</text>`).join("");
  return { svg, tall: all.length * size * LINE };
}

/**
 * @param {string} sentence @param {string} link
 * @param {(height: number) => string} picture what is between them, so high, from the left edge on
 */
export function whole(sentence, link, picture, colours) {
  const head = written(sentence, { top: EDGE - 10, size: sentence.length > 160 ? 28 : 36, weight: 650, colour: colours.ink });
  const address = written(link, { top: 0, size: 18, colour: colours.soft });
  const foot = SIZE.height - EDGE + 12 - address.tall;
  const top = EDGE + head.tall + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" font-family="${FONT}"><title>${safe(sentence)}</title><desc>${safe(link)}</desc><rect width="100%" height="100%" fill="${colours.paper}"/>${head.svg}<g transform="translate(${EDGE} ${top.toFixed(1)})">${picture(foot - top - 14)}</g><g transform="translate(0 ${foot.toFixed(1)})">${address.svg}</g></svg>`;
}

const inner = SIZE.width - 2 * EDGE;

/** The calls of each, one by one. */
export const lists = (all, calls, colours) => (height) => {
  const [head, gap] = [44, 60];
  const step = Math.min((height - head) / 10, (inner - 2 * gap) / 30);
  return Object.entries(NAMES).filter(([who]) => all[who]).map(([who, name], k) => {
    const { ranking, found } = all[who];
    const colour = who === "you" ? colours.ink : colours[who];
    const dots = Array.from({ length: calls }, (_, call) => {
      const ill = ranking.labels[ranking.order[call]] === 1;
      return `<circle cx="${(((call % 10) + 0.5) * step).toFixed(1)}" cy="${(head + (Math.floor(call / 10) + 0.5) * step).toFixed(1)}" r="${(0.36 * step).toFixed(1)}" fill="${ill ? colour : colours.soft}"${ill ? "" : ' opacity=".22"'}/>`;
    });
    return `<g transform="translate(${(k * (10 * step + gap)).toFixed(1)} 0)"><text y="28" font-size="28" font-weight="700" fill="${colour}">${name} ${found}</text>${dots.join("")}</g>`;
  }).join("");
};

/** Both rankings, best first, and the cut. @param {{ a: number, b: number }} shown rows above it */
export const columns = (both, shown, titles, colours) => (height) => {
  const top = 34;
  const shape = geometry(inner, height - top, both.a.rows);
  const { half, width, parts, unit } = shape;
  const drawn = ["a", "b"].map((lane) => {
    const base = lane === "a" ? half : width - half;
    const pieces = parts.map((part) => `<rect x="${lane === "a" ? 0 : base}" y="${part.y}" width="${half}" height="${part.tall.toFixed(1)}" fill="${colours.soft}" opacity=".14"/>${Array.from(lit(part, both[lane].places), (positives, line) => {
      const long = Math.min(half, positives * unit);
      return long > 0 ? `<rect x="${(lane === "a" ? base - long : base).toFixed(1)}" y="${(part.y + line * part.pitch).toFixed(1)}" width="${long.toFixed(1)}" height="${Math.max(1, part.pitch - 1).toFixed(1)}" fill="${colours[lane]}"/>` : "";
    }).join("")}`).join("");
    const at = heightOf(shape, shown[lane]).toFixed(1);
    return `${pieces}<path d="M${lane === "a" ? 0 : base} ${at}h${half}" stroke="${colours.ink}" stroke-width="2"${lane === "a" ? ' stroke-dasharray="5 3"' : ""}/>`;
  });
  const title = (lane, x, anchor) => `<text x="${x}" y="24" font-size="24" font-weight="700" text-anchor="${anchor}" fill="${colours[lane]}">${lane.toUpperCase()}  ${safe(titles[lane])}</text>`;
  return `${title("a", 0, "start")}${title("b", width, "end")}<g transform="translate(0 ${top})">${drawn.join("")}</g>`;
};
