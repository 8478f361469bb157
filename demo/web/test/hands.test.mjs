// What is done to the data, the line and the batch by hand, in headless Chromium: pixels and numbers. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { axe, finished, open, root } from "./page.mjs";

/** Tests that take more than a few seconds together. */
const long = { skip: !process.env.UNDERCURVE_LONG && "long: set UNDERCURVE_LONG=1" };
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

/** What is trained on, and how many of it. */
const data = (page) => page.evaluate(() => {
  const { X, y, test } = globalThis.undercurve.rows();
  return { X: [...X], y: [...y], test: { X: [...test.X], y: [...test.y] }, edits: new URLSearchParams(location.hash.slice(1)).get("edits") ?? "", shown: globalThis.undercurve.shots()?.moved };
});
/** The place of a point of the data on the page. */
const onPage = (page, lane, [x, y]) => page.evaluate(([lane, x, y]) => {
  const window = globalThis.undercurve.window(lane);
  const { left, top, width, height } = document.querySelector(`#lane-${lane} canvas.map`).getBoundingClientRect();
  return [left + ((x - window.x[0]) / (window.x[1] - window.x[0])) * width, top + height - ((y - window.y[0]) / (window.y[1] - window.y[0])) * height];
}, [lane, x, y]);
const hash = (page, selector) => page.$eval(selector, (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.reduce((sum, byte) => (sum * 31 + byte) | 0, 7));
const done = (page, deeds) => page.waitForFunction((deeds) => (new URLSearchParams(location.hash.slice(1)).get("edits") ?? "").split("*").filter(Boolean).length === deeds && (globalThis.undercurve.rows().hands?.deeds ?? 0) === deeds && document.documentElement.dataset.state === "done" && globalThis.undercurve.shots() && !globalThis.undercurve.shots().moved, deeds);
const inside = ({ X }, [x, y], r) => Array.from({ length: X.length / 2 }, (_, k) => k).filter((k) => Math.hypot(X[2 * k] - x, X[2 * k + 1] - y) <= r);
const tool = (page, kind) => page.check(`input[name="hands-tool"][value="${kind}"]`, { force: true });

test("rows are added, moved, flipped and erased by the mouse; both lanes follow from their weights, and Back undoes", async (t) => {
  const { page, errors, close } = await open("#steps=60&speed=max");
  await page.click("#hands-open");
  await page.waitForSelector("#hands:not([hidden])");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const first = await data(page);
  // Every picture, and how long after the pointer it came.
  await page.evaluate(() => {
    globalThis.pictures = [];
    globalThis.pressedAt = 0;
    globalThis.answers = [];
    addEventListener("pointerdown", () => (globalThis.pressedAt = performance.now()), true);
    const look = () => {
      const shots = globalThis.undercurve.shots();
      if (shots?.moved && globalThis.pressedAt && globalThis.pictures.at(-1)?.of !== shots) {
        globalThis.answers.push(performance.now() - globalThis.pressedAt);
        globalThis.pressedAt = 0;
      }
      if (shots && globalThis.pictures.at(-1)?.of !== shots) globalThis.pictures.push({ of: shots, moved: Boolean(shots.moved), rows: globalThis.undercurve.rows().y.length, step: document.documentElement.dataset.step, cells: [shots.a, shots.b].map(({ surfaceScores }) => surfaceScores?.[0]) });
      requestAnimationFrame(look);
    };
    look();
  });
  const ink = await rgb(page, "ink");
  const dark = async (lane, point) => {
    const [x, y] = await onPage(page, lane, point);
    return page.$eval(`#lane-${lane} canvas.map`, (canvas, { x, y, ink }) => {
      const { left, top, width } = canvas.getBoundingClientRect();
      const ratio = canvas.width / width;
      const { data } = canvas.getContext("2d").getImageData(Math.round((x - left) * ratio) - 3, Math.round((y - top) * ratio) - 3, 7, 7);
      let dark = 0;
      for (let at = 0; at < data.length; at += 4) if (ink.every((value, c) => Math.abs(data[at + c] - value) < 60)) dark += 1;
      return dark;
    }, { x, y, ink });
  };
  // Add: a drag where nothing was.
  const corner = await page.evaluate(() => {
    const { x, y } = globalThis.undercurve.window("a");
    return [x[0] + 0.12 * (x[1] - x[0]), y[1] - 0.12 * (y[1] - y[0])];
  });
  // How much is dark on the other lane's map, before the stroke and from there to the first picture that was trained.
  await page.evaluate((ink) => {
    const canvas = document.querySelector("#lane-b canvas.map");
    const count = () => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let dark = 0;
      for (let at = 0; at < data.length; at += 4) if (ink.every((value, c) => Math.abs(data[at + c] - value) < 60)) dark += 1;
      return dark;
    };
    globalThis.inked = [count(), 0];
    const each = () => {
      if (globalThis.undercurve.shots().moved) return;
      globalThis.inked[1] = Math.max(globalThis.inked[1], count());
      requestAnimationFrame(each);
    };
    each();
  }, ink);
  const top = () => page.$eval("#lane-a canvas.map", (map) => map.getBoundingClientRect().top);
  const begun = await top();
  await page.mouse.move(...(await onPage(page, "a", corner)));
  await page.mouse.down();
  await page.mouse.move(...(await onPage(page, "a", [corner[0] + 1, corner[1]])), { steps: 6 });
  await page.waitForFunction(() => globalThis.pictures.some(({ moved }) => moved));
  assert.equal(await top(), begun, "the map stays under the hand");
  const [before, early] = await page.evaluate(() => globalThis.inked);
  assert.ok(early > before + 40, `rows are drawn at once: ${before} dark, then ${early}`);
  const [under] = [await data(page)].map(({ X }) => X.slice(first.X.length, first.X.length + 2));
  for (const lane of ["a", "b"]) assert.ok((await dark(lane, under)) > 3, `lane ${lane} shows the first of them while the pointer is down`);
  await page.mouse.up();
  await done(page, 1);
  const added = await data(page);
  const more = added.y.length - first.y.length;
  assert.ok(more >= 20, `${more} rows more`);
  assert.deepEqual([added.X.slice(0, first.X.length), added.y.slice(0, first.y.length)], [first.X, first.y], "the others stay");
  for (let k = first.y.length; k < added.y.length; k += 1) {
    const along = added.X[2 * k] - corner[0];
    const near = Math.hypot(Math.max(0, along - 1, -along), added.X[2 * k + 1] - corner[1]);
    assert.ok(added.y[k] === 1 && near < 0.32, `row ${k}: ${near} from the stroke`);
  }
  assert.equal(added.test.y.length - first.test.y.length, 3 * more, "held-out rows too, as many for each");
  for (const lane of ["a", "b"]) assert.ok((await dark(lane, added.X.slice(-2))) > 3, `lane ${lane} shows the last of them`);
  const pictures = await page.evaluate(() => globalThis.pictures.map(({ of, ...one }) => one));
  const followed = pictures.filter(({ moved, rows }) => moved && rows > first.y.length);
  assert.ok(followed.length > 0, "they are trained on while the pointer is down");
  for (const [k, lane] of ["a", "b"].entries()) {
    const [before, after] = [pictures[0].cells[k], followed.at(-1).cells[k]];
    assert.ok(Math.abs(after - before) > 1e-3 * Math.abs(before), `lane ${lane} learns from them: ${before}, then ${after}`);
  }
  assert.deepEqual([...new Set(pictures.map(({ step }) => step))], ["60"], "never through step 0");
  // Move: what is in the circle, and nothing else.
  await page.fill("#hands-size", "0.7");
  await tool(page, "m");
  const from = [added.X.at(-2), added.X.at(-1)];
  const to = [from[0] + 1, from[1] - 1.5];
  await page.mouse.move(...(await onPage(page, "b", from)));
  await page.mouse.down();
  await page.mouse.move(...(await onPage(page, "b", to)), { steps: 4 });
  await page.mouse.up();
  await done(page, 2);
  const moved = await data(page);
  const [, x0, y0, x1, y1] = moved.edits.split("*")[1].slice(1).split(".").map((n) => Number(n) / 100);
  const taken = inside(added, [x0, y0], 0.7);
  assert.ok(taken.length > 3 && Math.hypot(x1 - x0 - 1, y1 - y0 + 1.5) < 0.06, `${taken.length} rows, ${moved.edits}`);
  for (let k = 0; k < added.y.length; k += 1) {
    const by = taken.includes(k) ? [x1 - x0, y1 - y0] : [0, 0];
    for (const axis of [0, 1]) assert.ok(Math.abs(moved.X[2 * k + axis] - added.X[2 * k + axis] - by[axis]) < 1e-5, `row ${k}`);
  }
  // Flip: training rows alone, and both lanes draw them in one batch.
  await tool(page, "f");
  await page.fill("#hands-size", "1");
  await page.uncheck("#hands-held");
  await page.mouse.click(...(await onPage(page, "a", [0, 0])));
  await done(page, 3);
  const flipped = await data(page);
  const turned = flipped.y.map((label, k) => (label !== moved.y[k] ? k : -1)).filter((k) => k >= 0);
  const [sx, sy] = flipped.edits.split("*")[2].slice(2).split(".").slice(1).map((n) => Number(n) / 100);
  assert.deepEqual(turned, inside(moved, [sx, sy], 1));
  assert.ok(turned.length > 200, `${turned.length} rows`);
  assert.deepEqual(flipped.test, moved.test, "no held-out row");
  const [mine, theirs] = await page.evaluate(() => globalThis.undercurve.batches().then((both) => both.map((rows) => [...rows])));
  assert.deepEqual(mine, theirs);
  assert.ok(mine.some((row) => turned.includes(row)), "flipped rows are in the batch");
  const positives = mine.filter((row) => flipped.y[row]).length;
  assert.equal(positives, 8, "by their new labels: as many positives as a batch has");
  // Erase.
  await tool(page, "e");
  await page.check("#hands-held");
  await page.mouse.click(...(await onPage(page, "a", [1, 1])));
  await done(page, 4);
  const erased = await data(page);
  assert.ok(erased.y.length < flipped.y.length && inside(erased, [1, 1], 0.9).length === 0 && inside(erased.test, [1, 1], 0.9).length === 0);
  const answers = (await page.evaluate(() => globalThis.answers)).sort((p, q) => p - q);
  t.diagnostic(`both lanes answer a press of the pointer after ${answers.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  assert.ok(answers.length >= 3, `${answers}`); // (by a picture of the rows that moved, before the runs are over)
  // The link brings it back, to the bit.
  const scores = await page.evaluate(() => [...globalThis.undercurve.shots().b.scores]);
  await page.reload();
  await finished(page);
  const again = await data(page);
  assert.deepEqual([again.X, again.y, again.test], [erased.X, erased.y, erased.test]);
  assert.deepEqual(await page.evaluate(() => [...globalThis.undercurve.shots().b.scores]), scores);
  assert.ok(await page.isVisible("#hands"), "an address with deeds opens the hands");
  // Back and Undo take one each, then Undo all.
  await page.goBack();
  await done(page, 3);
  const back = await data(page);
  assert.deepEqual([back.X, back.y, back.test], [flipped.X, flipped.y, flipped.test]);
  await page.click("#hands-undo");
  await done(page, 2);
  assert.deepEqual((await data(page)).y, moved.y);
  await page.click("#hands-clear");
  await done(page, 0);
  const last = await data(page);
  assert.deepEqual([last.X, last.y, last.test], [first.X, first.y, first.test]);
  assert.deepEqual(errors, []);
  await close();
});

test("by keys: a circle, its size, rows that are taken and let go, clusters, and Ctrl+Z", long, async () => {
  const { page, errors, close } = await open("#steps=30&speed=max");
  await page.click("#hands-open");
  await page.waitForSelector("#hands:not([hidden])");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const first = await data(page);
  const map = page.locator("#lane-b canvas.map");
  await map.focus();
  const ring = () => page.$eval("#lane-a .ring", (one) => [one.offsetLeft + one.offsetWidth / 2, one.offsetTop + one.offsetWidth / 2, one.offsetWidth]);
  const [x, y, wide] = await ring();
  for (const key of ["ArrowRight", "ArrowUp", "Shift+ArrowUp", "]"]) await page.keyboard.press(key);
  const [right, up, wider] = await ring();
  assert.ok(right > x && up < y && wider > wide, "both maps show where");
  const before = await hash(page, "#lane-a canvas.map");
  await page.keyboard.press(" ");
  await done(page, 1);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "30", "the page's own Space stays out of it");
  assert.notEqual(await hash(page, "#lane-a canvas.map"), before);
  const added = await data(page);
  assert.equal(added.y.length, first.y.length + 5);
  assert.match(await page.textContent("#hands-told"), /^2,005 training rows, \d+ positive; 1 change by hand\.$/);
  await page.keyboard.press("Control+z");
  await done(page, 0);
  assert.equal((await data(page)).y.length, first.y.length);
  // A cluster by its handle: all of its rows move, held-out ones too, and no other class.
  await tool(page, "m");
  const grip = await page.$eval("#lane-a .handles i.positive", (one) => [one.offsetLeft, one.offsetTop]);
  const box = await page.locator("#lane-a canvas.map").boundingBox();
  const [px, py] = [box.x + grip[0] + 9, box.y + grip[1] + 9];
  await page.mouse.move(px, py);
  await page.mouse.down();
  await page.mouse.move(px + 40, py - 30, { steps: 3 });
  await page.mouse.up();
  await done(page, 1);
  const moved = await data(page);
  assert.match(moved.edits, /^c/);
  const [u, v, to, on] = moved.edits.slice(1).split(".").slice(1).map((n) => Number(n) / 100);
  const labels = { train: new Set(), test: new Set() };
  for (const [part, was, is] of [["train", first, moved], ["test", first.test, moved.test]]) {
    let rows = 0;
    was.y.forEach((label, k) => {
      const by = [0, 1].map((axis) => is.X[2 * k + axis] - was.X[2 * k + axis]);
      if (by[0] === 0 && by[1] === 0) return;
      rows += 1;
      labels[part].add(label);
      assert.ok(Math.hypot(by[0] - to + u, by[1] - on + v) < 1e-4);
    });
    assert.ok(rows > 10 && rows < was.y.filter((label) => label === 1).length, `${rows} rows`);
  }
  assert.deepEqual([...labels.train, ...labels.test], [1, 1]);
  // By keys: Space takes, arrows move, Escape leaves it as it was.
  await map.focus();
  for (const key of [" ", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  await page.waitForFunction(() => globalThis.undercurve.rows().hands?.deeds === 2);
  await page.keyboard.press("Escape");
  await done(page, 1);
  assert.deepEqual((await data(page)).X, moved.X);
  // One stroke over all of it would leave no class: it is refused, and nothing is lost.
  await tool(page, "e");
  await page.fill("#hands-size", "1.5");
  const { x: left, y: top, width } = await page.locator("#lane-a canvas.map").boundingBox();
  await page.mouse.move(left + 5, top + 5);
  await page.mouse.down();
  for (const [k, across] of [[0.05, 0.95], [0.3, 0.05], [0.5, 0.95], [0.7, 0.05], [0.97, 0.95]]) {
    await page.mouse.move(left + (1 - across) * width, top + k * width);
    await page.mouse.move(left + across * width, top + k * width, { steps: 9 });
  }
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector("#problem").textContent === "Each class keeps at least two rows, held-out ones too: that was not done.");
  await done(page, 1);
  assert.deepEqual((await data(page)).X, moved.X);
  await map.focus();
  await page.keyboard.press("Escape");
  assert.ok(await page.isHidden("#hands") && await page.evaluate(() => document.activeElement.id === "hands-open"));
  assert.deepEqual(errors, []);
  // Other data has no hands, and forgets what was done.
  await page.evaluate(() => (location.hash = "#data=pinwheel&steps=20"));
  await page.waitForFunction(() => document.querySelector("#hands").hidden && document.querySelector("#hands-open").hidden && !location.hash.includes("edits"));
  await close();
});

test("a finger paints, and the page does not scroll away under it", long, async () => {
  const { page, errors, close } = await open("#steps=30&speed=max", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.click(".fold");
  await page.click("#hands-open");
  await page.waitForSelector("#hands:not([hidden])");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.locator("#lane-a canvas.map").scrollIntoViewIfNeeded();
  const first = await data(page);
  // (Where the map is seen: what is said above it may take another line, and the browser then scrolls by as much.)
  const top = async () => (await page.locator("#lane-a canvas.map").boundingBox()).y;
  const before = await top();
  const touch = await page.context().newCDPSession(page);
  const { x, y, width, height } = await page.locator("#lane-a canvas.map").boundingBox();
  const at = (u, v) => [{ x: x + u * width, y: y + v * height }];
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0.2, 0.2) });
  for (const v of [0.35, 0.5, 0.65, 0.8]) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(0.2, v) });
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await done(page, 1);
  const more = (await data(page)).y.length - first.y.length;
  assert.ok(more >= 15, `${more} rows`);
  assert.ok(Math.abs((await top()) - before) < 5);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out sideways");
  assert.deepEqual(errors, []);
  await close();
});

test("a line is turned by hand, by mouse, finger and keys: its metrics are those of its ranking, as the lanes' are", long, async () => {
  const { page, errors, close } = await open("#steps=60&speed=max&story=dial&dial=30&fpr=0-10", { hasTouch: true });
  await page.waitForFunction(() => document.querySelectorAll("#dial-table tbody tr").length === 4);
  const { X, y } = (await data(page)).test;
  const positives = y.reduce((sum, label) => sum + label, 0);
  /** From their definitions. */
  const counted = (degree) => {
    const [c, s] = [Math.cos((degree * Math.PI) / 180), Math.sin((degree * Math.PI) / 180)];
    const order = [...y.keys()].sort((p, q) => c * (X[2 * q] - X[2 * p]) + s * (X[2 * q + 1] - X[2 * p + 1]));
    let [found, ap, auroc, pauc] = [0, 0, 0, 0];
    order.forEach((row, place) => {
      if (!y[row]) return;
      const fpr = (place - found) / (y.length - positives);
      found += 1;
      ap += found / (place + 1) / positives;
      auroc += (1 - fpr) / positives;
      pauc += Math.max(0, 0.1 - fpr) / 0.1 / positives;
    });
    return [ap, auroc, pauc].map((value) => value.toFixed(3));
  };
  const table = () => page.$$eval("#dial-table tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent)));
  const check = async (degree) => {
    await page.waitForFunction((degree) => document.querySelector("#dial-table td").textContent === `${degree}°`, degree);
    assert.deepEqual((await table())[0], ["You", `${degree}°`, ...counted(degree)]);
    const text = await page.textContent("#dial-sentence");
    const [own, a, b] = (await table()).map((row) => Number(row[2]));
    assert.ok(text.startsWith(`Your direction, ${degree}°, has average precision ${own.toFixed(3)}; lane A ${a.toFixed(3)}, lane B ${b.toFixed(3)}.`), text);
    const beats = (other) => own - other >= 0.005;
    const expected = beats(a) && beats(b) ? "You beat both lanes." : a - own >= 0.005 && b - own >= 0.005 ? "Both lanes are ahead of you." : beats(a) && b - own >= 0.005 ? "You beat lane A, not lane B." : null;
    if (expected) assert.ok(text.endsWith(expected), text);
  };
  await check(30);
  const lanes = await page.evaluate(() => ["a", "b"].map((lane) => ["ap", "auroc", "pauc"].map((key) => globalThis.undercurve.shots()[lane].test[key].toFixed(3))));
  assert.deepEqual((await table()).slice(1, 3).map((row) => row.slice(2)), lanes);
  const best = (await table())[3];
  assert.deepEqual(best.slice(2), counted(parseInt(best[1])));
  // The curve of average precision and the marks lie where they are.
  const ink = await rgb(page, "ink");
  const at = (degree, value) => page.$eval("#dial-chart", (canvas, { degree, value, ink }) => {
    const ratio = canvas.width / canvas.clientWidth;
    const [x, y] = [34 + ((degree + 180) / 360) * (canvas.clientWidth - 44), 24 + (1 - value) * (canvas.clientHeight - 48)];
    const { data } = canvas.getContext("2d").getImageData(Math.round(x * ratio) - 2, Math.round(y * ratio) - 2, 5, 5);
    for (let k = 0; k < data.length; k += 4) if (data[k + 3] > 120 && ink.every((value, c) => Math.abs(data[k + c] - value) < 50)) return true;
    return false;
  }, { degree, value, ink });
  for (const degree of [-150, -60, 45, 100, 160]) assert.ok(await at(degree, Number(counted(degree)[0])), `the curve at ${degree}°`);
  assert.deepEqual([await at(30, 0.97), await at(-90, 0.93)], [true, false], "the mark at 30°");
  // By mouse: to the left on the plane, and upwards.
  await page.$eval("#dial", (one) => one.scrollIntoView());
  const box = await page.locator("#dial-plane").boundingBox();
  const before = await hash(page, "#dial-plane");
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.2, { steps: 4 });
  await check(90);
  await page.mouse.up();
  assert.notEqual(await hash(page, "#dial-plane"), before);
  assert.ok(await at(90, 0.99));
  // By finger, on the chart; by keys.
  await page.locator("#dial-chart").scrollIntoViewIfNeeded();
  const chart = await page.locator("#dial-chart").boundingBox();
  await page.touchscreen.tap(chart.x + 34 + (chart.width - 44) * 0.25, chart.y + 100);
  await check(-90);
  await page.focus("#dial-range");
  await page.keyboard.press("ArrowRight");
  await check(-89);
  await page.click("#dial-b");
  await check(parseInt((await table())[2][1]));
  assert.ok((await page.textContent("#dial-sentence")).includes("average precision"));
  await page.waitForFunction(() => /story=dial&dial=\d+/.test(location.hash));
  // A network has no direction.
  await page.evaluate(() => (location.hash = location.hash.replace("model=linear", "model=16")));
  await page.waitForFunction(() => document.querySelector("#dial").hidden);
  assert.deepEqual(errors, []);
  await close();
});

test("what the losses see: an arrow for each row of the batch, and what a positive loses to, by mouse, finger and keys", long, async () => {
  const { page, errors, close } = await open("#steps=60&speed=max&seed=4", { hasTouch: true, viewport: { width: 1600, height: 1000 } });
  await page.click("#sees-open");
  await page.waitForFunction(() => /^A: this/.test(document.querySelector("#sees-sentence")?.textContent ?? ""));
  const look = () => page.evaluate(() => {
    const { a, b, row } = globalThis.undercurve.sees();
    const plain = ({ batch, scores, share }) => ({ batch: [...batch], scores: [...scores], share: [...share] });
    return { a: plain(a), b: plain(b), row, text: document.querySelector("#sees-sentence").textContent };
  });
  const [now, { X, y }] = [await look(), await data(page)];
  const [mine] = await page.evaluate(() => globalThis.undercurve.batches().then((both) => both.map((rows) => [...rows])));
  assert.deepEqual([now.a.batch, now.b.batch], [mine, mine]);
  // Cross-entropy from its definition: rows of a class stand for the class's share of all.
  const positives = y.reduce((sum, label) => sum + label, 0);
  const drawn = now.a.batch.filter((row) => y[row]).length;
  const push = now.a.batch.map((row) => (y[row] ? positives / y.length / drawn : (1 - positives / y.length) / (64 - drawn)) * (y[row] - 1 / (1 + Math.exp(-now.a.scores[row]))));
  const all = push.reduce((sum, one) => sum + Math.abs(one), 0);
  push.forEach((one, k) => assert.ok(Math.abs(one / all - now.a.share[k]) < 1e-4, `row ${now.a.batch[k]}: ${now.a.share[k]}, ${one / all}`));
  for (const lane of ["a", "b"]) {
    assert.ok(Math.abs(now[lane].share.reduce((sum, one) => sum + Math.abs(one), 0) - 1) < 1e-4);
    now[lane].batch.forEach((row, k) => assert.ok(y[row] ? now[lane].share[k] >= 0 : now[lane].share[k] <= 0, "positives up, negatives down"));
  }
  // Arrows: in the lane's colour or ink, from the row along the slope, as long as its share.
  const check = async () => {
    for (const lane of ["a", "b"]) {
      const { batch, share } = now[lane];
      const map = await mapOf(page, lane);
      const ratio = map.width / (await page.$eval(`#lane-${lane} canvas.map`, (canvas) => canvas.clientWidth));
      const slope = Math.hypot(map.w[0], map.w[1]);
      const [ux, uy] = [map.w[0] / slope, -map.w[1] / slope];
      const [colour, ink] = [await rgb(page, lane), await rgb(page, "ink")];
      let [right, seen] = [0, 0];
      batch.forEach((row, k) => {
        if (Math.abs(share[k]) < 1e-3) return;
        // (Those that no other arrow, dot or line comes near.)
        const far = (other) => Math.hypot(...map.place([X[2 * row], X[2 * row + 1]]).map((at, axis) => at - map.place([X[2 * other], X[2 * other + 1]])[axis])) / ratio;
        if (batch.some((other) => other !== row && far(other) < 18) || y.some((label, other) => label && other !== row && far(other) < 16)) return;
        if (Math.abs((map.w[0] * X[2 * row] + map.w[1] * X[2 * row + 1] + map.w[2] - map.threshold) / slope) * (map.width / (map.window.x[1] - map.window.x[0])) < 30 * ratio) return;
        const long = Math.max(7, 400 * Math.abs(share[k]));
        const [x, v] = map.place([X[2 * row], X[2 * row + 1]]);
        /** Whether its colour lies so far from the row, along its arrow. */
        const lies = (far, within) => {
          const [px, py] = [x + Math.sign(share[k]) * ux * far * ratio, v + Math.sign(share[k]) * uy * far * ratio].map(Math.round);
          if (px < 2 || py < 2 || px > map.width - 3 || py > map.height - 3) return null;
          return [-1, 0, 1].some((i) => [-1, 0, 1].some((j) => near(map.pixel(px + i, py + j), y[row] ? colour : ink, within)));
        };
        if ([long, long + 9, -long].some((far) => lies(far, 1) === null)) return;
        seen += 1;
        if (lies(long - 1, 70) && !lies(long + 9, 30) && !lies(-long, 30)) right += 1;
      });
      assert.ok(seen >= 3 && right >= 0.7 * seen, `lane ${lane}: ${right} of ${seen} arrows`);
    }
  };
  await check();
  // What a positive loses to.
  const told = async () => {
    const { a, b, row, text } = await look();
    const part = (name, { batch, scores }) => {
      const higher = (k) => !y[k] && scores[k] >= scores[row];
      return `${name}: this positive loses to ${batch.filter(higher).length} of ${batch.filter((k) => !y[k]).length} negatives of the batch, ${[...y.keys()].filter(higher).length} of all.`;
    };
    assert.equal(text, `${part("A", a)} ${part("B", b)}`);
    return row;
  };
  const first = await told();
  const no = await rgb(page, "no");
  const rings = (lane) => page.$eval(`#lane-${lane} canvas.map`, (canvas, no) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) if (no.every((value, c) => Math.abs(data[at + c] - value) < 25)) found += 1;
    return found;
  }, no);
  const higher = now.a.batch.filter((k) => !y[k] && now.a.scores[k] >= now.a.scores[first]).length;
  assert.ok(higher > 0 && (await rings("a")) > 20 * higher, `${higher} rings, ${await rings("a")} pixels`);
  const { x: across, y: up } = await page.evaluate(() => globalThis.undercurve.window("a"));
  const best = now.a.batch.filter((row) => y[row] && [across, up].every(([low, high], axis) => X[2 * row + axis] > low + 0.2 && X[2 * row + axis] < high - 0.2)).sort((p, q) => now.a.scores[q] - now.a.scores[p])[0];
  const before = await hash(page, "#lane-b canvas.map");
  await page.locator("#lane-a canvas.map").scrollIntoViewIfNeeded();
  await page.mouse.move(...(await onPage(page, "a", [X[2 * best], X[2 * best + 1]])));
  await page.waitForFunction((best) => globalThis.undercurve.sees().row === best, best);
  assert.equal(await told(), best);
  assert.notEqual(await hash(page, "#lane-b canvas.map"), before, "both lanes show it");
  assert.ok((await rings("a")) < 20 * higher);
  const cut = await page.evaluate(() => globalThis.undercurve.cut().wanted);
  await page.touchscreen.tap(...(await onPage(page, "b", [X[2 * first], X[2 * first + 1]])));
  await page.waitForFunction((first) => globalThis.undercurve.sees().row === first, first);
  assert.equal(await page.evaluate(() => globalThis.undercurve.cut().wanted), cut, "the cut stays");
  await page.focus("#sees-range");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((first) => globalThis.undercurve.sees().row !== first, first);
  await told();
  // A method with an algorithm of its own has none, and says so; a step on, another batch.
  await page.selectOption("#lane-b .head select", "dca");
  await page.waitForFunction(() => document.querySelector("#sees-sentence").textContent.includes("B: no arrows, method dca has an algorithm of its own"));
  assert.match(page.url(), /sees=1/);
  await page.click("#sees-close");
  assert.ok((await page.isHidden("#sees")) && !/sees=1/.test(page.url()));
  assert.deepEqual(errors, []);
  await close();
});

test("what is copied as code ends with the numbers of the page, in JavaScript and on the command line", long, async (t) => {
  const { page, errors, close } = await open("#steps=60&speed=max&flips=2&b=soap&b.gamma=0.2", { acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
  const home = await mkdtemp(join(tmpdir(), "undercurve-code-"));
  const package_ = new URL("../../../wasm/js", import.meta.url);
  /** As it stands, in the package's folder; files are named where they are. */
  const run = (code, files = {}) => {
    const script = Object.entries(files).reduce((text, [name, path]) => text.replaceAll(`readFile("${name}")`, `readFile(${JSON.stringify(path)})`).replaceAll(`read("${name}")`, `read(${JSON.stringify(path)})`), code);
    const out = execFileSync(process.execPath, ["--input-type=module", "-"], { cwd: package_, input: script.replace("console.log(session.run().test)", "console.log(JSON.stringify(session.run().test))"), encoding: "utf8" });
    return JSON.parse(out);
  };
  const code = async (lane, language) => {
    if (!(await page.isVisible("#code"))) await page.click("#export-code");
    await page.check(`input[name="code-lane"][value="${lane}"]`, { force: true });
    await page.check(`input[name="code-language"][value="${language}"]`, { force: true });
    const written = await page.textContent("#code pre");
    await page.evaluate(() => navigator.clipboard.writeText(""));
    await page.click("#code-copy");
    await page.waitForFunction((written) => navigator.clipboard.readText().then((text) => text === written), written);
    return written;
  };
  const shown = (lane) => page.evaluate((lane) => globalThis.undercurve.shots()[lane].test, lane);
  await page.waitForFunction(() => document.querySelector("#export-code").onclick);
  const drawn = run(await code("b", "js"));
  assert.deepEqual(drawn, await shown("b"), "drawn rows with flips, and a setting");
  // What was done by hand is read from files.
  const to = async (hash) => {
    await page.keyboard.press("Escape");
    await page.evaluate((hash) => (location.hash = hash), hash);
    await page.waitForFunction(() => document.documentElement.dataset.state === "busy");
    await finished(page);
  };
  await to("#steps=60&speed=max&edits=f100.0.0*p30.300.300");
  const byHand = await code("a", "js");
  const files = {};
  for (const name of ["rows.csv", "held-out.csv"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    files[name] = join(home, name);
    await download.saveAs(files[name]);
  }
  const a = await shown("a");
  assert.deepEqual(run(byHand, files), a);
  const cli = process.env.UNDERCURVE ?? [...["debug", "release"].map((one) => join(root, `../../target/${one}/undercurve`))].find(existsSync);
  const [command, python] = [await code("a", "cli"), await code("a", "py")];
  assert.match(python, /^import pandas\nimport undercurve\n\nmodel = undercurve\.train\(\n {4}pandas\.read_csv\("rows\.csv"\), label="label", positive="1", scale="standard",\n {4}test=pandas\.read_csv\("held-out\.csv"\),\n {4}method="ce", model="linear", steps=60, seed=1, fpr=\(0, 0\.05\),\n\)\nprint\(model\.figures\)\n$/);
  if (cli) {
    const [, ...words] = command.replaceAll("\\\n", " ").trim().split(/\s+/);
    const [, auroc, ap] = execFileSync(cli, words, { cwd: home, encoding: "utf8" }).match(/Test[^:]*: AUROC ([\d.]+).*?AP ([\d.]+)/);
    assert.ok(Math.abs(auroc - a.auroc) < 2e-4 && Math.abs(ap - a.ap) < 2e-4, `${auroc} and ${ap} on the command line, ${a.auroc} and ${a.ap} here`);
  } else t.diagnostic("the command line is not built: its command is not run");
  assert.match(command, /^undercurve train rows\.csv --test held-out\.csv --label label --positive 1 --scale standard \\\n/);
  // A sample, by its name.
  await to("#data=page-blocks&steps=60&speed=max&b=pauc-exact");
  assert.deepEqual(run(await code("a", "js"), { "page-blocks.csv": join(root, "samples/page-blocks.csv") }), await shown("a"));
  assert.match(await code("b", "cli"), /^undercurve train page-blocks\.csv --label kind --positive other --split 0\.6 \\\n {2}--method pauc-exact /);
  await page.evaluate(axe);
  assert.deepEqual(await page.evaluate(() => globalThis.axe.run(document.querySelector("#code"), { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((result) => result.violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`))), []);
  assert.deepEqual(errors, []);
  await close();
  await rm(home, { recursive: true });
});

test("a term says what it means: under the pointer, focused, and touched", long, async () => {
  const { page, errors, close } = await open("#steps=20&speed=max", { viewport: { width: 390, height: 844 }, hasTouch: true });
  await page.waitForFunction(() => document.querySelector("#term"));
  const tip = page.locator("#term");
  const all = await page.$$eval("[data-term]", (terms) => terms.filter((one) => one.checkVisibility()).length);
  assert.ok(all >= 14, `${all} terms`);
  for (let k = 0; k < all; k += 1) {
    const term = page.locator("[data-term]:visible").nth(k);
    await term.focus();
    const text = await tip.textContent();
    assert.ok(text.length > 30 && !/undefined/.test(text), `${await term.textContent()}: ${text}`);
    assert.equal(await term.getAttribute("aria-describedby"), "term");
    const { x, y, width, height } = await tip.boundingBox();
    assert.ok(x >= 0 && y >= 0 && x + width <= 390 && y + height <= 844, `${await term.textContent()}: within the page`);
  }
  await page.keyboard.press("Escape");
  assert.ok(await tip.isHidden());
  await page.locator('#metrics [data-term="ap"]').tap();
  assert.match(await tip.textContent(), /^Average precision \(AP\): the mean, over positives, of the precision/);
  await page.evaluate(() => document.activeElement.blur());
  assert.ok(await tip.isHidden());
  await page.locator('#cut-table [data-term="fn"]').hover();
  assert.match(await tip.textContent(), /^False negatives: positives below the threshold\.$/);
  assert.ok(await tip.isVisible());
  await page.mouse.move(195, 5);
  assert.ok(await tip.isHidden());
  assert.deepEqual(errors, []);
  await close();
});

test("in a frame of another page a scene is whole, without scrolling, and leads to the page", long, async () => {
  for (const [address, options] of [["?embed=2", { viewport: { width: 960, height: 600 } }], ["?embed=5", { viewport: { width: 800, height: 560 }, colorScheme: "dark" }]]) {
    const { page, errors, close } = await open(address, options);
    const scene = address.at(-1);
    for (const step of [1, 2]) {
      await page.waitForFunction((place) => location.hash === `#scene=${place}` && document.querySelector("#scene-text") && !document.querySelector("#scene-text").textContent.includes("…") && document.documentElement.dataset.state === "done", `${scene}.${step}`);
      assert.equal(await page.getAttribute("#whole", "href"), `./#scene=${scene}.${step}`);
      const faults = await page.evaluate(() => [document.documentElement, document.body].flatMap((one) => (one.scrollWidth > innerWidth || one.scrollHeight > innerHeight ? [`${one.scrollWidth} × ${one.scrollHeight}`] : [])).concat([...document.querySelectorAll("#scene-text, #columns, canvas.map, #whole, #cut, #groups")].filter((one) => {
        const { left, top, right, bottom, width } = one.getBoundingClientRect();
        return width && (left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1);
      }).map((one) => `outside: ${one.id || one.className}`)));
      assert.deepEqual(faults, [], `${address}, step ${step}`);
      if (step === 1) await page.click("#scene-next");
    }
    const [a, b] = await page.$$eval("canvas.map", (maps) => maps.map((one) => one.getBoundingClientRect()).map(({ top, width, height }) => [top, width, height]));
    assert.deepEqual(a, b, "maps of one size, side by side");
    const covered = await page.$$eval("canvas.map", (maps) => maps.filter((map) => {
      const { left, top, width, height } = map.getBoundingClientRect();
      return document.elementFromPoint(left + width / 2, top + height / 2) !== map;
    }).length);
    assert.equal(covered, 0, "nothing lies over the maps");
    assert.deepEqual(errors, []);
    await close();
  }
});

test("hands, arrows and the dial have no fault of accessibility, wide and dark or narrow", long, async () => {
  for (const options of [{ colorScheme: "dark" }, { viewport: { width: 390, height: 844 }, forcedColors: "active" }]) {
    const { page, errors, close } = await open("#steps=20&speed=max&story=dial&sees=1&edits=p30.0.300", options);
    await page.waitForFunction(() => !document.querySelector("#hands").hidden && !document.querySelector("#sees").hidden && document.querySelectorAll("#dial-table tbody tr").length === 4 && document.querySelector("#term"));
    await page.evaluate(axe);
    assert.deepEqual(await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((result) => result.violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`))), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out sideways");
    assert.deepEqual(errors, []);
    await close();
  }
});
