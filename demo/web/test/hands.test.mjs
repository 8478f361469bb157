// What is done to the data, the line and the batch by hand, in headless Chromium: pixels and numbers. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, browser, finished, home, open } from "./page.mjs";

const near = (pixel, colour, within) => colour.every((value, c) => Math.abs(pixel[c] - value) <= within);
const rgb = (page, name) => page.evaluate((name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim().match(/\w\w/g).map((two) => parseInt(two, 16)), name);

/** The pixels of a map, where a point of the data lies on it, and the scores there by the lane's linear model. */
async function mapOf(page, lane) {
  const { width, height, data } = await page.$eval(`#lane-${lane} canvas.map`, (canvas) => ({ width: canvas.width, height: canvas.height, data: [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data] }));
  const { window, X, scores, threshold } = await page.evaluate((lane) => ({
    window: globalThis.undercurve.window(lane),
    X: [...globalThis.undercurve.rows().test.X.slice(0, 4000)],
    scores: [...globalThis.undercurve.shots()[lane].scores.slice(0, 2000)],
    threshold: globalThis.undercurve.cut()[lane].threshold,
  }), lane);
  // Three rows give the line.
  const rows = [0, 1, 2].map((k) => [X[2 * k], X[2 * k + 1], 1, scores[k]]);
  for (let c = 0; c < 3; c += 1) {
    const pivot = rows.slice(c).reduce((best, row) => (Math.abs(row[c]) > Math.abs(best[c]) ? row : best));
    rows.splice(rows.indexOf(pivot), 1);
    rows.splice(c, 0, pivot);
    for (const row of rows) if (row !== pivot) for (let k = 3, by = row[c] / pivot[c]; k >= 0; k -= 1) row[k] -= by * pivot[k];
  }
  const w = rows.map((row, c) => row[3] / row[c]);
  const place = ([x, y]) => [((x - window.x[0]) / (window.x[1] - window.x[0])) * width, height - ((y - window.y[0]) / (window.y[1] - window.y[0])) * height];
  return { width, height, window, w, threshold, place, pixel: (x, y) => data.slice(4 * (y * width + x), 4 * (y * width + x) + 4) };
}

test("the cut of a linear model is a straight line on its map, also where few negatives rank higher", async () => {
  const { page, errors, close } = await open("#steps=60&find=0.04");
  const ink = await rgb(page, "ink");
  for (const lane of ["a", "b"]) {
    const { width, height, window, w, threshold, place, pixel } = await mapOf(page, lane);
    let [on, all] = [0, 0];
    for (let k = 0; k <= 400; k += 1) {
      // Along the axis that the line is steeper to.
      const part = (range) => range[0] + ((range[1] - range[0]) * k) / 400;
      const at = Math.abs(w[0]) > Math.abs(w[1]) ? [(threshold - w[2] - w[1] * part(window.y)) / w[0], part(window.y)] : [part(window.x), (threshold - w[2] - w[0] * part(window.x)) / w[1]];
      const [x, y] = place(at).map(Math.round);
      if (x < 8 || y < 8 || x > width - 8 || y > height - 8) continue;
      all += 1;
      if ([-1, 0, 1].some((i) => [-1, 0, 1].some((j) => near(pixel(x + i, y + j), ink, 60)))) on += 1;
    }
    assert.ok(all > 60 && on / all > 0.97, `lane ${lane}: ${on} of ${all} points of the line are dark`);
  }
  assert.deepEqual(errors, []);
  await close();
});
