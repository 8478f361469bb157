// Every draw as a point for each lane on one axis, and a line between the two of a pair.

import { three } from "../dom.js";

const [WIDTH, HEIGHT] = [620, 178];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 20, 16, 30];

/** Round numbers between two, about five. */
function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  const out = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) out.push(Number((at * step).toPrecision(6)));
  return out;
}

/**
 * @param {{ values: { a: number, b: number }, mean: { a: number, b: number } }} all values of each draw, NaN where there is no result
 * @param {string} what is measured
 * @returns {Element} an SVG
 */
export function strip({ values, mean }, what) {
  const known = values.flatMap(({ a, b }) => [a, b]).filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const pad = Math.max(1e-3, (high - low) * 0.04);
  const [from, to] = [low - pad, high + pad];
  const x = (value) => (LEFT + ((value - from) / (to - from)) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = { a: TOP + 22, b: HEIGHT - BOTTOM - 22 };
  const parts = ticks(from, to).map((at) => `<path class="grid" d="M${x(at)} ${TOP - 8}V${HEIGHT - BOTTOM}"/><text class="tick" x="${x(at)}" y="${HEIGHT - 10}">${at}</text>`);
  for (const { a, b } of values) {
    if (Number.isFinite(a) && Number.isFinite(b)) parts.push(`<path class="pair" d="M${x(a)} ${y.a}L${x(b)} ${y.b}"/>`);
  }
  for (const lane of ["a", "b"]) {
    parts.push(`<text class="lane-name ${lane}" x="6" y="${y[lane] + 5}">${lane.toUpperCase()}</text>`);
    for (const { [lane]: value } of values) if (Number.isFinite(value)) parts.push(`<circle class="${lane}" cx="${x(value)}" cy="${y[lane]}" r="4.5"/>`);
    if (Number.isFinite(mean[lane])) parts.push(`<path class="mean ${lane}" d="M${x(mean[lane])} ${y[lane] - 15}v30"/>`);
  }
  const range = (lane) => {
    const of = values.map((pair) => pair[lane]).filter(Number.isFinite);
    return of.length ? `from ${three(Math.min(...of))} to ${three(Math.max(...of))} for lane ${lane.toUpperCase()}` : `none for lane ${lane.toUpperCase()}`;
  };
  const template = document.createElement("template");
  template.innerHTML = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${parts.join("")}</svg>`;
  const svg = template.content.firstChild;
  svg.setAttribute("aria-label", `${what} of each draw: ${range("a")}, ${range("b")}`);
  return svg;
}
