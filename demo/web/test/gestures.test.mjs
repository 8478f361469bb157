// Rankings, the cut through them, scenes and the lecture in headless Chromium: pixels and numbers. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { heightOf } from "../src/draw/columns.js";
import { tie } from "../src/ranking.js";
import { axe, browser, finished, home, open, watch } from "./page.mjs";

/** What the page shows, for counting again: scores and labels of the held-out rows, and the metrics of both lanes. */
const shown = (page) => page.evaluate(() => {
  const { a, b, step } = globalThis.undercurve.shots();
  const { test } = globalThis.undercurve.rows();
  const cut = globalThis.undercurve.cut();
  return { y: [...test.y], step, a: { scores: [...a.scores], test: a.test, cut: cut.a.shown }, b: { scores: [...b.scores], test: b.test, cut: cut.b.shown } };
});
const sorted = ({ scores }) => [...scores.keys()].sort((a, b) => scores[b] - scores[a] || tie(a) - tie(b));
const count = (n) => n.toLocaleString("en");
const sum = (all) => all.reduce((total, one) => total + one, 0);
/** Rows of a canvas or part of it, in device pixels. */
const pixels = (page, selector) => page.$eval(selector, (canvas) => {
  const { width, height } = canvas;
  return { width, height, ratio: width / canvas.clientWidth, data: [...canvas.getContext("2d").getImageData(0, 0, width, height).data] };
});
const colours = (page) => page.evaluate(() => Object.fromEntries(["a", "b", "ink", "no", "soft"].map((name) => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return [name, hex.match(/\w\w/g).map((two) => parseInt(two, 16))];
})));
const near = (data, at, colour, within = 40) => colour.every((value, c) => Math.abs(data[4 * at + c] - value) <= within);
/** The counts at the threshold with which so many positives are found. */
function counted(lane, y, wanted) {
  const threshold = sorted(lane).filter((row) => y[row]).map((row) => lane.scores[row])[wanted - 1];
  const taken = lane.scores.map((score) => score >= threshold);
  const tp = sum(taken.map((is, row) => Number(is && y[row])));
  const fp = sum(taken.map(Number)) - tp;
  return { threshold, tp, fp, fn: sum(y) - tp, tn: y.length - sum(y) - fp, precision: tp / (tp + fp) };
}
const hash = (page, selector) => page.$eval(selector, (canvas) => {
  let hash = 7;
  for (const byte of canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data) hash = (hash * 31 + byte) | 0;
  return hash;
});
const wanted = (page) => page.evaluate(() => globalThis.undercurve.cut().wanted);
const settledCut = (page, before) => page.waitForFunction((before) => globalThis.undercurve.cut().wanted !== before, before);

test("the columns are the rows in the order of their scores, and every positive is lit where it ranks", async () => {
  const { page, errors, close } = await open("#steps=60&find=1");
  for (const step of ["60", "0"]) {
    if (step === "0") {
      await page.click("#reset");
      await page.waitForFunction(() => document.documentElement.dataset.step === "0" && !document.querySelector("#play").disabled);
    }
    const [now, shape, palette, picture] = [await shown(page), await page.evaluate(() => globalThis.undercurve.columns()), await colours(page), await pixels(page, "#columns")];
    let checked = 0;
    for (const lane of ["a", "b"]) {
      const labels = sorted(now[lane]).map((row) => now.y[row]);
      for (const { from, count: rows, y, each, lines, pitch } of shape.parts) {
        for (let line = 0; line < lines; line += 1) {
          const positives = sum(labels.slice(from + line * each, Math.min(from + rows, from + (line + 1) * each)));
          const long = Math.min(shape.half, positives * shape.unit);
          const at = Math.round((y + line * pitch + Math.min(1, pitch / 3)) * picture.ratio) * picture.width;
          let lit = 0;
          // (Each lane on its own side.)
          const side = lane === "a" ? [0, shape.width / 2] : [shape.width / 2, shape.width];
          for (let x = Math.floor(side[0] * picture.ratio); x < side[1] * picture.ratio; x += 1) if (near(picture.data, at + x, palette[lane])) lit += 1;
          // (The cut lies over a line.)
          if (Math.abs(heightOf(shape, now[lane].cut) - y - line * pitch) < pitch + 2) continue;
          if (Math.abs(lit / picture.ratio - long) > 1.5) assert.fail(`step ${step}, lane ${lane}, line ${line} from ${from}: ${lit / picture.ratio} lit, ${long} are positive`);
          checked += 1;
        }
      }
    }
    assert.ok(checked > 150, `${checked} lines`);
  }
  assert.match(await page.textContent("#columns-hint"), /^Above: the top 5\u00a0%\. Each lit piece is one ill person\. 6,000 rows are shown in lines: \d+ rows? a line above, \d+ rows a line below\.$/);
  assert.match(await page.getAttribute("#columns", "aria-label"), /^Rankings, best rows first\. Of the first 300 of 6,000 held-out people, \d+ are ill people in lane A, \d+ in lane B\.$/);
  assert.deepEqual(errors, []);
  await close();
  // Several classes have no such columns.
  const several = await open("#steps=20&data=pinwheel");
  assert.ok(await several.page.isHidden("#rankings") && await several.page.isHidden("#cut"));
  await several.close();
});

test("digits are drawn as digits, and the wrong ones of the top are framed", async () => {
  const { page, close } = await open("#steps=3&data=digits");
  const [now, shape, palette, picture] = [await shown(page), await page.evaluate(() => globalThis.undercurve.columns()), await colours(page), await pixels(page, "#columns")];
  const [{ count: top, y, tall }] = shape.parts;
  assert.equal(top, 24);
  const size = Math.max(...[1, 2, 3, 4, 6].map((columns) => Math.min(shape.half / columns, tall / Math.ceil(24 / columns))));
  const columns = [1, 2, 3, 4, 6].find((one) => Math.abs(Math.min(shape.half / one, tall / Math.ceil(24 / one)) - size) < 1e-9);
  let framed = 0;
  for (const lane of ["a", "b"]) {
    const left = lane === "a" ? shape.half - columns * size : shape.width - shape.half;
    sorted(now[lane]).slice(0, 24).forEach((row, k) => {
      const [x0, y0] = [left + (k % columns) * size, y + Math.floor(k / columns) * size].map((one) => one * picture.ratio);
      let [red, lit] = [0, 0];
      for (let j = 0; j < size * picture.ratio; j += 1) {
        for (let i = 0; i < size * picture.ratio; i += 1) {
          const at = Math.min(picture.height - 1, Math.floor(y0 + j)) * picture.width + Math.floor(x0 + i);
          // (Frames lie just within the cell; lane B's own colour is not far from theirs.)
          const edge = Math.min(i, j, size * picture.ratio - i, size * picture.ratio - j) / picture.ratio;
          if (edge >= 1 && edge < 3.5 && near(picture.data, at, palette.no, 18)) red += 1;
          if (near(picture.data, at, palette[lane], 60)) lit += 1;
        }
      }
      assert.equal(red > 25, !now.y[row], `lane ${lane}, digit ${k}: ${red} red pixels`);
      if (now.y[row]) assert.ok(lit > 20, `lane ${lane}, digit ${k}: ${lit} lit pixels`);
      framed += Number(!now.y[row]);
    });
  }
  assert.ok(framed > 0);
  await close();
});

test("one cut: its counts are those of the scores, and each picture shows it", async () => {
  const { page, errors, close } = await open("#steps=60");
  const now = await shown(page);
  const positives = sum(now.y);
  const range = page.locator("#cut-range");
  for (const share of [0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1]) {
    const want = Math.max(1, Math.round(share * positives));
    await range.fill(String(want));
    const [a, b] = ["a", "b"].map((lane) => counted(now[lane], now.y, want));
    assert.equal(await page.textContent("#cut-sentence"), `To find ${want} of ${positives} ill people, Cross-entropy shows ${count(a.fp)} healthy ${a.fp === 1 ? "person" : "people"}, SOAP ${count(b.fp)}.`);
    assert.equal(await range.getAttribute("aria-valuetext"), await page.textContent("#cut-sentence"));
    const cells = await page.$$eval("#cut-table tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
    for (const [k, [lane, of]] of [["a", a], ["b", b]].entries()) {
      const first = sum(sorted(now[lane]).slice(0, 100).map((row) => now.y[row])) / 100;
      assert.deepEqual(cells[k], [count(of.tp), count(of.fp), count(of.fn), count(of.tn), of.precision.toFixed(3), first.toFixed(3), of.threshold.toPrecision(3)]);
      // The line in the histogram.
      const [low, high] = await page.evaluate((lane) => [...globalThis.undercurve.shots()[lane].histogram.slice(0, 2)], lane);
      const [bins, { ink }] = [await pixels(page, `#lane-${lane} .bins`), await colours(page)];
      const x = Math.min(bins.width - 1, Math.max(0, Math.round(((of.threshold - low) / (high - low)) * bins.width)));
      const dark = [-1, 0, 1].some((by) => near(bins.data, bins.width * 2 + Math.min(bins.width - 1, Math.max(0, x + by)), ink, 30));
      assert.ok(dark, `lane ${lane}, ${want}: a line at ${x}`);
    }
    // The dots on the curves.
    if (share > 0.2 && share < 0.9) {
      for (const [chart, xs, ys] of [["#roc", [a.fp / (a.fp + a.tn), b.fp / (b.fp + b.tn)], [a.tp / positives, b.tp / positives]], ["#pr", [a.tp / positives, b.tp / positives], [a.precision, b.precision]]]) {
        const found = await page.$eval(chart, (root, { xs, ys }) => {
          const canvas = root.querySelector("canvas");
          const [box, over] = [canvas.getBoundingClientRect(), root.querySelector(".u-over").getBoundingClientRect()];
          const ratio = canvas.width / box.width;
          return xs.map((x, k) => [...canvas.getContext("2d").getImageData(Math.round((over.left - box.left + x * over.width) * ratio), Math.round((over.top - box.top + (1 - ys[k] / 1.02) * over.height) * ratio), 1, 1).data]);
        }, { xs, ys });
        const palette = await colours(page);
        const apart = Math.hypot((xs[0] - xs[1]) * 200, (ys[0] - ys[1]) * 200) > 12;
        assert.ok(near(found[1], 0, palette.b) && (!apart || near(found[0], 0, palette.a)), `${chart} at ${want}: ${found}`);
      }
    }
  }
  // By pointer, on every picture: numbers and pixels change.
  for (const [selector, at] of [["#columns", [0.8, 0.1]], ["#lane-a canvas.map", [0.75, 0.2]], ["#lane-b canvas.bins", [0.9, 0.5]], ["#roc .u-over", [0.6, 0.55]], ["#pr .u-over", [0.3, 0.5]]]) {
    const [before, map, columns] = [await wanted(page), await hash(page, "#lane-a canvas.map"), await hash(page, "#columns")];
    const { x, y, width, height } = await page.locator(selector).boundingBox();
    await page.mouse.move(x + at[0] * width, y + at[1] * height);
    await page.mouse.down();
    await settledCut(page, before);
    const pressed = await wanted(page);
    assert.notEqual(await hash(page, "#lane-a canvas.map"), map, `${selector}: the map shows it`);
    assert.notEqual(await hash(page, "#columns"), columns, `${selector}: the columns show it`);
    await page.mouse.move(x + (at[0] - 0.15) * width, y + (at[1] + 0.15) * height, { steps: 3 });
    await settledCut(page, pressed);
    await page.mouse.up();
  }
  // Where the pointer was on the columns is where the cut lies: it is what scores as high.
  const box = await page.locator("#columns").boundingBox();
  await page.mouse.click(box.x + 0.9 * box.width, box.y + 80);
  const shape = await page.evaluate(() => globalThis.undercurve.columns());
  const [{ count: lens, tall }] = shape.parts;
  const above = Math.round((lens * 80) / tall);
  const found = sum(sorted(now.b).slice(0, above).map((row) => now.y[row]));
  assert.ok(Math.abs((await wanted(page)) - found) <= 1, `${await wanted(page)} wanted, ${found} above the pointer`);
  // By keys; the page's own arrow stays out of it. The address keeps it.
  const before = await wanted(page);
  await range.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await wanted(page), before + 1);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "60");
  await page.waitForFunction((share) => Math.abs(Number(new URLSearchParams(location.hash.slice(1)).get("find")) - share) < 1e-4, (before + 1) / positives);
  await page.reload();
  await finished(page);
  assert.equal(await wanted(page), before + 1);
  assert.deepEqual(errors, []);
  await close();
});

test("rows, ranks, scores and curves are drawn where they lie", async () => {
  const { page, errors, close } = await open("#steps=60&find=0.5");
  const [palette, of] = [await colours(page), await page.evaluate(() => {
    const { a, b } = globalThis.undercurve.shots();
    const plain = ({ roc, pr, histogram, surface }) => ({ roc: [...roc], pr: [...pr], histogram: [...histogram], surface: [...surface] });
    return { a: plain(a), b: plain(b) };
  })];
  const { X, y } = await page.evaluate(() => ({ X: [...globalThis.undercurve.rows().plane], y: [...globalThis.undercurve.rows().test.y] }));
  // The window of the map, as it is made: all but the outermost rows, with equal scales.
  const span = (axis) => {
    const values = Float32Array.from({ length: X.length / 2 }, (_, k) => X[2 * k + axis]).sort();
    const cut = Math.floor(values.length / 400);
    return [values[cut], values[values.length - 1 - cut]];
  };
  const [[x0, x1], [y0, y1]] = [span(0), span(1)];
  for (const lane of ["a", "b"]) {
    const map = await pixels(page, `#lane-${lane} canvas.map`);
    const aspect = map.width / map.height;
    const tall = Math.max((y1 - y0) * 1.12, ((x1 - x0) * 1.12) / aspect);
    const [left, bottom] = [(x0 + x1) / 2 - (tall * aspect) / 2, (y0 + y1) / 2 - tall / 2];
    let [dark, all] = [0, 0];
    for (let k = 0; k < X.length / 2; k += 1) {
      if (!y[k]) continue;
      const [px, py] = [Math.round(((X[2 * k] - left) / (tall * aspect)) * map.width), Math.round(map.height - ((X[2 * k + 1] - bottom) / tall) * map.height)];
      if (px < 2 || py < 2 || px > map.width - 3 || py > map.height - 3) continue;
      all += 1;
      if (near(map.data, py * map.width + px, palette.ink, 60)) dark += 1;
    }
    assert.ok(all > 30 && dark / all > 0.85, `lane ${lane}: ${dark} of ${all} positives are dark`);
    // The surface: where ranks are highest the lane's colour is, and where they are lowest is none.
    const columns = 72;
    const rows = of[lane].surface.length / columns;
    const shade = (pick) => {
      const cells = [...of[lane].surface.keys()].sort((p, q) => of[lane].surface[p] - of[lane].surface[q]);
      const some = pick === "high" ? cells.slice(-300) : cells.slice(0, 300);
      // (Their middle, since rows and lines lie over some.)
      const red = some.map((cell) => 4 * (Math.floor(map.height * (1 - (Math.floor(cell / columns) + 0.5) / rows)) * map.width + Math.floor(map.width * ((cell % columns) + 0.5) / columns)));
      return [0, 1, 2].map((c) => red.map((at) => map.data[at + c]).sort((p, q) => p - q)[150]);
    };
    const [high, low] = [shade("high"), shade("low")];
    const toward = (colour) => Math.hypot(...colour.map((value, c) => value - palette[lane][c]));
    assert.ok(toward(high) < toward(low) - 60, `lane ${lane}: ${high} and ${low}`);
    // The bars of the histogram: one axis of counts for both classes, as logarithms and plainly.
    const total = [y.length - sum(y), sum(y)];
    const counts = [0, 1].map((label) => of[lane].histogram.slice(2 + 48 * label, 50 + 48 * label).map((share) => Math.round(share * total[label])));
    assert.deepEqual(counts.map(sum), total);
    for (const log of [true, false]) {
      await page.waitForFunction(([lane, log]) => document.querySelector(`#lane-${lane} .caption .near`).getAttribute("aria-pressed") === String(log), [lane, log]);
      const bins = await pixels(page, `#lane-${lane} .bins`);
      const most = log ? total[0] : Math.max(...counts.flat());
      let checked = 0;
      counts[1].forEach((count, bin) => {
        const x = Math.round(((bin + 0.5) / 48) * bins.width);
        let lit = 0;
        for (let row = 0; row < bins.height; row += 1) if (near(bins.data, row * bins.width + x, palette[lane], 60)) lit += 1;
        const expected = (log ? Math.log(1 + count) / Math.log(1 + most) : count / most) * (bins.height / bins.ratio - 6) * bins.ratio;
        if (Math.abs(lit - expected) <= 3 * bins.ratio) checked += 1;
      });
      // (The cut, and the numbers of the axis, lie over some.)
      assert.ok(checked >= 43, `lane ${lane}: ${checked} of 48 bars`);
      await page.click(`#lane-${lane} .caption .near`);
    }
  }
  // The curves: the lane's colour lies at their points. (B is solid.)
  for (const [chart, key] of [["#roc", "roc"], ["#pr", "pr"]]) {
    const at = [40, 60, 80, 120, 140, 160, 180];
    const seen = await page.$eval(chart, (root, { ys, at }) => {
      const canvas = root.querySelector("canvas");
      const [box, over] = [canvas.getBoundingClientRect(), root.querySelector(".u-over").getBoundingClientRect()];
      const ratio = canvas.width / box.width;
      return at.map((k) => [...canvas.getContext("2d").getImageData(Math.round((over.left - box.left + (k / 200) * over.width) * ratio), Math.round((over.top - box.top + (1 - ys[k] / 1.02) * over.height) * ratio) - 3, 1, 7).data]);
    }, { ys: of.b[key], at });
    const right = seen.filter((data) => Array.from({ length: 7 }, (_, k) => k).some((k) => near(data, k, palette.b, 60)));
    assert.ok(right.length >= 6, `${chart}: ${right.length} of ${at.length} points`);
  }
  assert.deepEqual(errors, []);
  await close();
});

/** The ROC curve of scores: both rates after each threshold, from (0, 0) on. */
function curveOf({ scores }, y) {
  const order = [...scores.keys()].sort((p, q) => scores[q] - scores[p]);
  const positives = sum(y);
  const points = [[0, 0]];
  let [fp, tp] = [0, 0];
  order.forEach((row, place) => {
    if (y[row]) tp += 1;
    else fp += 1;
    if (scores[row] !== scores[order[place + 1]]) points.push([fp / (y.length - positives), tp / positives]);
  });
  return points;
}
/** The mean true-positive rate of a curve in a range, and the rate at one place. */
function under(points, [low, high]) {
  let area = 0;
  for (let k = 1; k < points.length; k += 1) {
    const [[x0, y0], [x1, y1]] = [points[k - 1], points[k]];
    const [from, to] = [Math.max(low, x0), Math.min(high, x1)];
    const rate = (x) => y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
    if (to > from) area += ((to - from) * (rate(from) + rate(to))) / 2;
  }
  return area / (high - low);
}
function rateAt(points, x) {
  const above = points.findIndex(([fpr]) => fpr > x);
  if (above < 0) return 1;
  const [[x0, y0], [x1, y1]] = [points[above - 1], points[above]];
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}
const stretched = (rate) => Math.asinh(rate / 0.0005) / Math.asinh(1 / 0.0005);

test("the band near 0: the curve and the band are stretched, and partial AUC follows mouse, finger and keys", async () => {
  const { page, errors, close } = await open("#a=ce&b=pauc-exact&fpr=0-5&steps=60&speed=max&near=1", { hasTouch: true });
  const palette = await colours(page);
  const told = () => page.evaluate(() => ({ hash: location.hash, pauc: globalThis.undercurve.shots().b.test.pauc, title: document.querySelector("#metrics thead").textContent }));
  /** Whether lane B's curve and the band lie where the scores say. */
  const check = async (range, isNear) => {
    const now = await shown(page);
    const points = curveOf(now.b, now.y);
    assert.ok(Math.abs(under(points, range.map((percent) => percent / 100)) - now.b.test.pauc) < 1e-5, `${range}: ${now.b.test.pauc}`);
    const lies = isNear ? stretched : (rate) => rate;
    const at = [18, 26, 34, 42, 90, 130, 180].map((k) => (isNear ? 0.0005 * Math.sinh((k / 200) * Math.asinh(2000)) : k / 200));
    const places = at.map((rate) => [lies(rate), rateAt(points, rate)]);
    const seen = await page.$eval("#roc", (root, places) => {
      const canvas = root.querySelector("canvas");
      const [box, over] = [canvas.getBoundingClientRect(), root.querySelector(".u-over").getBoundingClientRect()];
      const ratio = canvas.width / box.width;
      return places.map(([x, y]) => [...canvas.getContext("2d").getImageData(Math.round((over.left - box.left + x * over.width) * ratio) - 1, Math.round((over.top - box.top + (1 - y / 1.02) * over.height) * ratio) - 3, 3, 7).data]);
    }, places);
    const right = seen.filter((data) => Array.from({ length: 21 }, (_, k) => k).some((k) => near(data, k, palette.b, 60)));
    assert.ok(right.length >= 6, `${right.length} of ${places.length} points of the curve`);
    const band = await page.$eval("#band", (root) => {
      const [all, fill] = [root, root.querySelector(".fill")].map((node) => node.getBoundingClientRect());
      return [(fill.left - all.left) / all.width, (fill.right - all.left) / all.width];
    });
    range.forEach((percent, k) => assert.ok(Math.abs(band[k] - lies(percent / 100)) < 0.01, `${band} for ${range}`));
  };
  await check([0, 5], true);
  const most = page.locator("#band .edge").nth(1);
  const record = () => page.evaluate(() => {
    globalThis.pictures = [];
    let last = null;
    const look = () => {
      const shots = globalThis.undercurve.shots();
      if (shots && shots !== last) globalThis.pictures.push({ pauc: shots.b.test.pauc, moved: Boolean(shots.moved), step: document.documentElement.dataset.step });
      last = shots;
      requestAnimationFrame(look);
    };
    look();
  });
  await record();
  const before = await told();
  const chart = await page.locator("#band").boundingBox();
  const edge = await most.boundingBox();
  // From 5 % to 0.5 %.
  const [x, y] = [edge.x + edge.width / 2, edge.y + edge.height / 2];
  const far = (stretched(0.005) - stretched(0.05)) * chart.width;
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let k = 1; k <= 8; k += 1) {
    await page.mouse.move(x + (far * k) / 8, y);
    await page.waitForTimeout(40);
  }
  await page.waitForFunction(() => /fpr=0-0\.5/.test(location.hash));
  await page.waitForFunction(() => globalThis.pictures.some(({ moved }) => moved));
  await page.mouse.up();
  await finished(page);
  const after = await told();
  assert.match(after.title, /pAUC ≤\s0\.5\s%/);
  const pictures = await page.evaluate(() => globalThis.pictures);
  assert.deepEqual([...new Set(pictures.map(({ step }) => step))], ["60"], "never through step 0");
  const least = Math.min(before.pauc, after.pauc) - 0.05;
  assert.ok(pictures.length > 2 && pictures.every(({ pauc }) => pauc >= least), `${pictures.map(({ pauc }) => pauc)} from ${before.pauc} to ${after.pauc}`);
  await check([0, 0.5], true);
  // A tenth by key; back by a finger.
  await most.press("ArrowRight");
  await page.waitForFunction(() => /fpr=0-0\.6/.test(location.hash));
  assert.equal(await most.getAttribute("aria-valuetext"), "0.6 %");
  await finished(page);
  const touch = await page.context().newCDPSession(page);
  const from = await most.boundingBox();
  const at = (share) => [{ x: from.x + from.width / 2 + share * (stretched(0.1) - stretched(0.006)) * chart.width, y: from.y + 80 }];
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0) });
  for (const share of [0.3, 0.6, 1]) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(share) });
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await page.waitForFunction(() => /fpr=0-10&/.test(location.hash));
  await finished(page);
  await check([0, 10], true);
  // As the axis usually is.
  await page.click("#roc-near");
  await page.waitForFunction(() => !location.hash.includes("near=1"));
  await check([0, 10], false);
  assert.deepEqual(errors, []);
  await close();
});

test("a finger moves the cut, on a phone that shows the rankings before the maps", async () => {
  const { page, close } = await open("#steps=40&speed=max", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const tops = await page.evaluate(() => ["#cut", "#rankings", "#lane-a"].map((one) => document.querySelector(one).getBoundingClientRect().top));
  assert.deepEqual([...tops].sort((a, b) => a - b), tops);
  for (const [selector, at] of [["#columns", [0.8, 0.1]], ["#columns", [0.2, 0.4]], ["#pr .u-over", [0.3, 0.5]]]) {
    const before = await wanted(page);
    await page.locator(selector).scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator(selector).boundingBox();
    await page.touchscreen.tap(x + at[0] * width, y + at[1] * height);
    await settledCut(page, before);
  }
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out sideways");
  await close();
});

/** Each fact of a scene, counted again from what is shown. */
async function facts(page) {
  const now = await shown(page);
  const { fpr, cut } = await page.evaluate(() => ({ fpr: document.querySelector("#band").hidden ? null : [...document.querySelectorAll("#band .edge")].map((edge) => Number(edge.getAttribute("aria-valuenow"))), cut: globalThis.undercurve.cut().wanted }));
  const titles = await page.$$eval(".lane .head select", (all) => all.map((select) => select.selectedOptions[0].textContent));
  const positives = sum(now.y);
  const lens = Math.round(now.y.length * 0.05);
  const of = { A: titles[0], B: titles[1], rows: count(now.y.length), positives: count(positives), share: (positives / now.y.length).toFixed(3), lens: count(lens), wanted: count(cut), band: fpr && `≤\u00a0${fpr[1]}\u00a0%` };
  const wrong = {};
  for (const lane of ["a", "b"]) {
    const { test } = now[lane];
    const labels = sorted(now[lane]).map((row) => now.y[row]);
    wrong[lane] = counted(now[lane], now.y, cut).fp;
    // AUROC and average precision from their definitions, ties by thresholds.
    const thresholds = [...new Set(now[lane].scores)].length === now.y.length;
    if (thresholds) {
      let [found, ap, above] = [0, 0, 0];
      labels.forEach((label, place) => {
        if (!label) above += positives - found;
        else ap += (found += 1) / (place + 1) / positives;
      });
      assert.ok(Math.abs(ap - test.ap) < 2e-3 || test.ap === undefined, `${ap}, ${test.ap}`);
      assert.ok(Math.abs(1 - above / positives / (now.y.length - positives) - test.auroc) < 2e-3);
    }
    Object.assign(of, { [`lens.${lane}`]: count(sum(labels.slice(0, lens))), [`hundred.${lane}`]: count(sum(labels.slice(0, 100))), [`${lane}.wrong`]: count(wrong[lane]) });
    for (const [name, key] of [["ap", "ap"], ["auroc", "auroc"], ["pauc", "pauc"], ["worst", "worst"], ["gap", "fprGap"]]) of[`${lane}.${name}`] = test[key]?.toFixed(3);
  }
  const order = (x, y, called) => (x - y >= 0.005 ? `${titles[0]} (A) ${called}` : y - x >= 0.005 ? `${titles[1]} (B) ${called}` : "They hardly differ");
  for (const name of ["ap", "auroc", "pauc"]) of[`more.${name}`] = order(now.a.test[name], now.b.test[name], "has more");
  const [groups, draws] = await page.evaluate(() => [[...(globalThis.undercurve.rows().test.groups ?? [])], globalThis.undercurve.draws()]);
  of.north = count(groups.filter((group) => group === 0).length);
  if (draws?.length === 20) {
    const mean = (lane) => (sum(draws.map((draw) => draw[lane].value)) / 20).toFixed(3);
    const ahead = (one, other) => count(draws.filter((draw) => draw[one].value - draw[other].value >= 0.005).length);
    Object.assign(of, { draws: "20", "mean.a": mean("a"), "mean.b": mean("b"), "ahead.a": ahead("a", "b"), "ahead.b": ahead("b", "a") });
  }
  of["fewer.wrong"] = wrong.a === wrong.b ? "Both show as many" : `${wrong.a < wrong.b ? `${titles[0]} (A)` : `${titles[1]} (B)`} shows fewer`;
  return of;
}

/** Until a step of a scene is shown, and what it trains. */
const arrived = (page, place) => page.waitForFunction((place) => {
  const { state, step } = document.documentElement.dataset;
  return location.hash.includes(`scene=${place}`) && globalThis.undercurve.cut() && !document.querySelector("#play").disabled && (place === "1.1" ? step === "0" : state === "done") && document.querySelector("#scene-text") && !document.querySelector("#scene-text").textContent.includes("…");
}, place);

test("scenes to their end, in a lecture on one screen: every number is that of what is shown", async (t) => {
  const context = watch(await browser.newContext({ viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" }));
  context.setDefaultTimeout(Number(process.env.PATIENCE) || 120000);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`${home}?lecture`);
  const lengths = [5, 4, 3, 4, 4, 4];
  const places = lengths.flatMap((steps, scene) => Array.from({ length: steps }, (_, step) => `${scene + 1}.${step + 1}`));
  let numbers = 0;
  for (const place of places) {
    await arrived(page, place);
    assert.equal(new URL(page.url()).hash, `#scene=${place}`);
    const [expected, told] = [await facts(page), await page.$$eval(".fact", (all) => all.map((one) => [one.dataset.of, one.textContent]))];
    assert.ok(told.length > 0);
    assert.equal(await page.isVisible("#lane-b"), !place.startsWith("4."), `${place}: one lane, or two`);
    for (const [key, text] of told) {
      if (key !== "bound") assert.equal(text, expected[key], `${place}: ${key}`);
      numbers += 1;
    }
    const faults = await page.evaluate(() => {
      const root = document.documentElement;
      const out = root.scrollHeight > innerHeight || root.scrollWidth > innerWidth || document.body.scrollHeight > innerHeight ? [`${root.scrollWidth} × ${root.scrollHeight}`] : [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const box = node.parentElement;
        if (!node.textContent.trim() || !box.checkVisibility() || box.closest("option, .unseen, svg, script, style, #wait:empty")) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const { left, top, right, bottom } = range.getBoundingClientRect();
        if (parseFloat(getComputedStyle(box).fontSize) < 18) out.push(`small: ${node.textContent.slice(0, 30)}`);
        if (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1) out.push(`outside: ${node.textContent.slice(0, 30)}`);
      }
      for (const one of document.querySelectorAll("#scene-text, #columns, canvas.map, #roc, #pr, #cut-range, #bound")) {
        const { left, right, top, bottom, width } = one.getBoundingClientRect();
        if (width && (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight)) out.push(`outside: ${one.id || one.className}`);
      }
      return out;
    });
    assert.deepEqual(faults, [], place);
    if (place !== places.at(-1)) await page.keyboard.press("PageDown");
  }
  t.diagnostic(`${numbers} facts in ${places.length} steps`);
  // Back, by the browser and by the clicker; leave and return.
  await page.goBack();
  await arrived(page, "6.3");
  await page.keyboard.press("PageUp");
  await arrived(page, "6.2");
  const text = await page.textContent("#scene-text");
  await page.click("#scene-leave");
  await page.waitForFunction(() => !location.hash.includes("scene=") && document.querySelectorAll("#scenes li").length === 6);
  await page.goBack();
  await arrived(page, "6.2");
  assert.equal(await page.textContent("#scene-text"), text);
  // N opens the speaker's window, which follows. B blanks.
  const [popup] = await Promise.all([context.waitForEvent("page"), page.keyboard.press("n")]);
  await popup.waitForFunction(() => document.body.textContent.includes("Other data, another model, 6.2"));
  await page.bringToFront();
  await page.keyboard.press("PageUp");
  await arrived(page, "6.1");
  await popup.waitForFunction(() => document.body.textContent.includes("Other data, another model, 6.1"));
  await popup.close();
  await page.keyboard.press("b");
  assert.ok(await page.isVisible("#blank"));
  assert.deepEqual(await page.$eval("#blank", (one) => [one.clientWidth, one.clientHeight, getComputedStyle(one).backgroundColor]), [1280, 720, "rgb(0, 0, 0)"]);
  await page.keyboard.press("b");
  assert.ok(await page.isHidden("#blank"));
  assert.deepEqual(errors, []);
  await context.close();
});

test("a link opens a step; other controls leave its numbers true, and it sets them back; no fault of accessibility", async () => {
  const { page, errors, close } = await open("#scene=2.3");
  await arrived(page, "2.3");
  const check = async () => {
    const [expected, told] = [await facts(page), await page.$$eval(".fact", (all) => all.map((one) => [one.dataset.of, one.textContent]))];
    for (const [key, text] of told) assert.equal(text, expected[key], key);
  };
  await check();
  const text = await page.textContent("#scene-text");
  await page.selectOption("#lane-b .head select", "ce");
  await page.waitForFunction(() => /scene=2\.3&/.test(location.hash));
  await arrived(page, "2.3");
  await check();
  await page.getByRole("button", { name: "Set the controls back" }).click();
  await page.waitForFunction(() => location.hash === "#scene=2.3");
  await arrived(page, "2.3");
  assert.equal(await page.textContent("#scene-text"), text);
  // A number points at where it is from.
  await page.locator('.fact[data-of="a.wrong"]').click();
  assert.ok(await page.$eval("#cut", (one) => one.classList.contains("pointed")));
  await page.evaluate(() => (location.hash = "#scene=9.9"));
  await page.waitForFunction(() => document.querySelector("#problem").textContent === "There is no scene 9.9.");
  await finished(page);
  assert.deepEqual(errors, []);
  await close();
  const wcag = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
  for (const [address, options] of [["#scene=2.3", {}], ["#scene=5.3", { colorScheme: "dark" }], ["?lecture#scene=1.3", { colorScheme: "dark", viewport: { width: 1280, height: 720 } }], ["#scene=1.3", { viewport: { width: 390, height: 844 } }], ["#scene=3.1", { forcedColors: "active" }]]) {
    const { page, close } = await open(address, options);
    await page.waitForFunction(() => document.querySelector(".fact"));
    await page.evaluate(axe);
    const faults = await page.evaluate((wcag) => globalThis.axe.run(document, wcag).then((result) => result.violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`)), wcag);
    assert.deepEqual(faults, [], address);
    await close();
  }
});
