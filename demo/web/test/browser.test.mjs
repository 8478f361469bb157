// The built page in headless Chromium. Needs `cargo demo --build-only` first; CHROMIUM names the browser, SCREENSHOT
// a file for the picture of the README.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { Model, initFiles } from "../../../wasm/js/files.js";
import { train } from "../../../wasm/js/index.js";
import { parquetWriteBuffer } from "hyparquet-writer";
import { axe, browser, dist, finished, home, metrics, open, root, serve, settled, tabled, watch } from "./page.mjs";

const drop = (page, name, text) => page.setInputFiles("#file", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
function goodCsv() {
  let text = "size,weight,colour,outcome\n";
  for (let k = 0; k < 300; k += 1) {
    const sick = k % 10 === 0;
    text += `${Math.sin(k) + (sick ? 2 : 0)},${k === 7 ? "" : Math.cos(3 * k)},${k % 3 ? "red" : "blue"},${sick ? "ill" : "well"}\n`;
  }
  return text;
}

test("the first result comes in time, is the measured one, and stays on this machine", async (t) => {
  const { page, early, foreign, errors, modules, close } = await open();
  const first = Number(await page.evaluate(() => document.documentElement.dataset.first));
  const work = await page.evaluate(() => globalThis.undercurve.timings.main.slice(1).sort((a, b) => a - b));
  t.diagnostic(`first result after ${first} ms; drawing a frame: median ${work[work.length >> 1].toFixed(1)} ms, most ${work.at(-1).toFixed(1)} ms`);
  assert.ok(first > 0);
  const [a, b] = await metrics(page);
  t.diagnostic(`average precision: cross-entropy ${a[0]}, SOAP ${b[0]}`);
  assert.ok(b[0] > a[0] + 0.1, "SOAP is ahead on the default set");
  const sentence = await page.evaluate(() => globalThis.said.find((one) => one.startsWith("After")));
  assert.match(sentence, /^After 300 steps of one run, /);
  assert.ok(sentence.includes(a[0].toFixed(3)) && sentence.includes(b[0].toFixed(3)), sentence);
  assert.match(await page.textContent("#about"), /searching for a large gap/);
  const [mine, theirs] = await page.evaluate(() => globalThis.undercurve.batches().then((both) => both.map((rows) => [...rows])));
  assert.deepEqual(mine, theirs, "both lanes drew the same batch");
  await settled(page);
  const files = [...new Set(early)].map((path) => join(dist, path === "/" ? "index.html" : path));
  const bytes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file)).length));
  t.diagnostic(`${bytes.length} files before the first result, ${(bytes.reduce((sum, one) => sum + one, 0) / 1000).toFixed(1)} KB gzip`);
  assert.ok(bytes.reduce((sum, one) => sum + one, 0) <= 226_000, files.map((file, k) => `${file} ${bytes[k]}`).join("\n"));
  // What a link to the page is shown with.
  const [, image] = (await readFile(join(dist, "index.html"), "utf8")).match(/property="og:image" content="([^"]+)"/);
  const picture = await readFile(join(dist, image));
  assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [1440, 900]);
  assert.equal(early.filter((path) => path.endsWith(".wasm")).length, 1, "one module for all workers");
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
  assert.ok(mine.length > 0);
  assert.deepEqual(foreign, []);
  assert.deepEqual(errors, []);
  assert.deepEqual([...modules], ["undercurve"], "what is not needed yet is not loaded");
  await close();
});

/** Every number of a text, as it is written. */
const numbers = (text) => text.match(/\d+(?:,\d{3})*(?:\.\d+)?/g);

test("every number of the result is computed from the runs of the data shown", async () => {
  for (const [hash, seed, data] of [["#data=split", 1, "drawn"], ["#data=overlap&seed=4&steps=60", 4, "drawn"], ["#data=breast-cancer&steps=60", 1, "file"], ["#data=digits-all&steps=40&seed=2", 2, "classes"]]) {
    const { page, errors, close } = await open(hash);
    await settled(page);
    const metric = data === "classes" ? "handTill" : "ap";
    const [draws, shots, direction, rows] = await page.evaluate(() => {
      const { draws, shots, direction, rows } = globalThis.undercurve;
      const { a, b } = shots();
      const { y, dims, test, names } = rows();
      return [draws(), { a: a.test, b: b.test }, direction(), { train: y.length, dims, held: [...test.y], classes: names?.length }];
    });
    // The draws are 20, the first the one shown, and what the lanes show is what it counts for.
    assert.deepEqual(draws.map((draw) => draw.seed), Array.from({ length: 20 }, (_, k) => seed + k));
    for (const lane of ["a", "b"]) {
      assert.equal(draws[0][lane].value, shots[lane][metric]);
    }
    const cells = await tabled(page);
    // The rest is recomputed here.
    const of = (lane, key = "value") => draws.map((draw) => draw[lane][key]);
    const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length;
    const deviation = (all) => Math.sqrt(all.reduce((sum, one) => sum + (one - mean(all)) ** 2, 0) / (all.length - 1));
    const both = (all) => [mean(all).toFixed(3), deviation(all).toFixed(3)];
    const wins = draws.filter(({ a, b }) => b.value - a.value >= 0.005).length;
    const losses = draws.filter(({ a, b }) => a.value - b.value >= 0.005).length;
    // Figures, headline and table are of the same runs.
    for (const [k, lane] of ["a", "b"].entries()) {
      assert.equal(await page.textContent(`#lane-${lane} .figure`), `${data === "classes" ? "Hand–Till" : "AP"}, mean of 20${mean(of(lane)).toFixed(3)}`);
      assert.equal(cells[k][0], Number(mean(of(lane)).toFixed(3)));
      assert.equal(cells[k][1], Number(mean(of(lane, "other")).toFixed(3)));
    }
    assert.equal(await page.textContent("#metrics-of"), `mean of 20 ${data === "drawn" ? "draws" : "splits"}`);
    const sentence = await page.textContent("#sentence");
    const ends = wins === losses ? ["20"] : [String(Math.max(wins, losses)), "20"];
    const [first, second] = mean(of("b")) >= mean(of("a")) ? ["b", "a"] : ["a", "b"];
    const level = 20 - wins - losses;
    const near = Math.abs(mean(of("a")) - mean(of("b"))) < 0.005;
    assert.deepEqual(numbers(sentence).slice(0, 5), ["20", ...both(of(first)), ...both(of(second))], sentence);
    if (near && level < 20) assert.match(sentence, /; they differ by less than 0\.005\.$/);
    else assert.deepEqual(numbers(sentence).slice(5), [...(wins === losses ? [String(wins), "20"] : ends), ...(level ? [String(level)] : [])], sentence);
    const best = draws[0].best === undefined ? [] : draws.map((draw) => draw.best);
    assert.equal(best.length > 0, data === "drawn");
    for (const { a, b, best } of draws) assert.ok(best === undefined || best >= Math.max(a.value, b.value), "no run is above the best direction");
    const note = await page.textContent("#note");
    const others = [mean(of("a", "other")).toFixed(3), mean(of("b", "other")).toFixed(3)].sort();
    const directions = best.length ? [String(direction.tried + 2), ...both(best), best[0].toFixed(3)] : [];
    // The lane that is behind, at its best moments: never below its mean at the end.
    const less = mean(of("a")) < mean(of("b")) ? "a" : "b";
    const peak = mean(of(less, "peak"));
    for (const { a, b } of draws) assert.ok(a.peak >= a.value && b.peak >= b.value);
    if (hash === "#data=split") assert.ok(peak > mean(of("a")) + 0.05, "cross-entropy passes a better moment");
    const peaked = Math.abs(mean(of("a")) - mean(of("b"))) >= 0.005 && peak - mean(of(less)) >= 0.005 ? [peak.toFixed(3)] : [];
    const length = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("steps");
    assert.deepEqual(numbers(note), [String(seed), String(seed + 19), String(seed), length, ...(/pays for it in mean/.test(note) ? others : []), ...peaked, ...directions], note);
    const count = (n) => n.toLocaleString("en");
    const { held, classes, train, dims } = rows;
    const share = (one) => (held.filter((label) => label === one).length / held.length).toFixed(3);
    const chance = classes ? ["0.500", Array.from({ length: classes }, (_, one) => share(one)).sort().at(-1)] : [count(held.filter((label) => label === 1).length), share(1)];
    const about = await page.textContent("#about");
    assert.deepEqual(numbers(about), [count(train), ...(data === "drawn" ? [] : [count(dims)]), count(held.length), ...chance], about);
    // The table shows every draw.
    await page.click("#draws summary");
    const table = await page.$$eval("#draws-table tbody tr", (all) => all.map((row) => [...row.children].map((cell) => Number(cell.textContent))));
    assert.deepEqual(table, draws.map(({ seed, a, b, best }) => [seed, a.value, b.value, best].filter((cell) => cell !== undefined).map((cell) => Number(cell.toFixed(3)))));
    // Another draw, opened as a page of its own, shows what it counted for.
    const third = await open(new URL(page.url()).hash.replace(`seed=${seed}`, `seed=${seed + 2}`));
    assert.deepEqual((await metrics(third.page)).map(([value]) => value), ["a", "b"].map((lane) => Number(draws[2][lane].value.toFixed(3))));
    assert.deepEqual([...errors, ...third.errors], []);
    await third.close();
    await close();
  }
});

test("a run that collapsed is told where it is, and is no result", async () => {
  const warning = "the scores are tied: a smaller lr helps";
  const told = "Collapsed. The scores are tied: a smaller lr helps.";
  const { page, errors, close } = await open("#steps=60", { collapse: { method: "soap", warning } });
  const status = page.locator("#lane-b .warning");
  assert.equal(await status.getAttribute("role"), "status");
  assert.equal(await status.textContent(), told);
  assert.match(await page.textContent("#lane-b .figure"), /^collapsed, AP/);
  assert.ok(await status.locator("svg").isVisible());
  assert.equal(await page.textContent("#lane-a .warning"), "");
  await settled(page);
  const [a, b] = await metrics(page);
  const said = await page.evaluate(() => globalThis.said);
  const single = said.find((one) => one.includes("After"));
  assert.equal(single, `SOAP collapsed in this run and has no result. After 60 steps, Cross-entropy reaches average precision ${a[0].toFixed(3)} on held-out rows.`);
  assert.match(await page.textContent("#sentence"), /^SOAP collapsed in all 20 runs, and has no result\. Over 20 draws of this data Cross-entropy’s /);
  assert.ok(said.every((one) => !one.includes(b[0].toFixed(3)) || a[0] === b[0]), "its number is in no sentence");
  assert.match(await page.textContent("#metrics tbody tr:last-child th"), /SOAP, collapsed$/);
  assert.equal(await page.locator("#metrics tbody tr:last-child .best").count(), 0);
  assert.ok((await page.$$eval("#draws-table tbody tr td:nth-child(3)", (all) => all.map((cell) => cell.textContent))).every((text) => text.endsWith("(collapsed)")));
  await page.evaluate(axe);
  const faults = await page.evaluate(() => globalThis.axe.run("body > main").then((result) => result.violations.filter((fault) => ["serious", "critical"].includes(fault.impact)).map((fault) => fault.id)));
  assert.deepEqual(faults, []);
  // Going back to the start takes it back.
  await page.click("#reset");
  await page.waitForFunction(() => document.querySelector("#lane-b .warning").textContent === "");
  assert.doesNotMatch(await page.textContent("#metrics"), /collapsed/);
  assert.deepEqual(errors, []);
  await close();

  // Some of the draws only, none of them the one that is shown.
  const some = await open("#steps=60", { collapse: { method: "soap", seeds: [3, 5, 6] } });
  await settled(some.page);
  assert.equal(await some.page.textContent("#lane-b .warning"), "");
  const sentence = await some.page.textContent("#sentence");
  assert.match(sentence, / SOAP collapsed in 3 of 20 runs; its mean is of the others\.$/);
  const left = await some.page.evaluate(() => globalThis.undercurve.draws().filter((draw) => ![3, 5, 6].includes(draw.seed)).map((draw) => draw.b.value));
  assert.ok(sentence.includes((left.reduce((sum, one) => sum + one, 0) / 17).toFixed(3)), sentence);
  await some.close();

  // A warning of a run that has a result: told in its lane, and no more.
  const warned = await open("#steps=60", { collapse: { method: "soap", warning: "few steps for so many rows", collapsed: false } });
  assert.equal(await warned.page.textContent("#lane-b .warning"), "Warning. Few steps for so many rows.");
  await settled(warned.page);
  assert.doesNotMatch(await warned.page.textContent("body > main"), /[Cc]ollapsed/);
  await warned.close();
});

test("a method that learns nothing says so of itself, and one that begins with cross-entropy says for how long", async () => {
  const { page, errors, close } = await open("#steps=60&a=smooth-ap&b=smooth-ap&b.lr=1e6&b.pretrain=0");
  assert.match(await page.textContent("#lane-b .warning"), /^Collapsed\. The scores lie where the sigmoid link is flat, so gradients vanish; try .* or another method\.$/);
  assert.equal(await page.textContent("#lane-a .warning"), "");
  assert.match(await page.textContent("#lane-a summary"), /^first 30 steps: cross-entropy  ·  /);
  assert.doesNotMatch(await page.textContent("#lane-b summary"), /cross-entropy/);
  // What “auto” stands for is told with the field.
  await page.click("#lane-a summary");
  await page.locator("#lane-a .settings").getByLabel("pretrain", { exact: true }).focus();
  assert.match(await page.textContent("#lane-a .about"), /^pretrain: .* \(auto or a whole number of at least 0\); auto: \d/);
  assert.deepEqual(errors, []);
  await close();
});

test("a ranking that is hardly better than chance is warned of, below maps that stay side by side", async () => {
  const { page, errors, close } = await open("#steps=60&data=ring&b=ap-exact");
  const [shots, base] = await page.evaluate(() => {
    const { a, b } = globalThis.undercurve.shots();
    const { y } = globalThis.undercurve.rows().test;
    return [{ a: a.test.ap, b: b.test.ap }, y.reduce((sum, label) => sum + label, 0) / y.length];
  });
  assert.ok(shots.a < 1.5 * base, `${shots.a}, ${base}`);
  assert.match(await page.textContent("#lane-a .warning"), /^Warning\. An average precision of 3 % is little above chance, 3 % of positives; try a network\.$/);
  const tops = () => page.$$eval("canvas.map", (all) => all.map((map) => map.getBoundingClientRect().top));
  await page.evaluate(() => (location.hash = "#steps=300&data=ring&model=16"));
  await page.waitForFunction(() => location.hash.includes("model=16") && document.querySelector("#lane-a .warning").textContent === "");
  await finished(page);
  await page.evaluate(() => (location.hash = "#steps=60&data=split&positives=50&b=smooth-ap&b.lr=1e6&b.pretrain=0"));
  await page.waitForFunction(() => document.querySelector("#lane-b .warning").textContent.startsWith("Collapsed"));
  assert.equal(await page.textContent("#lane-a .warning"), "");
  assert.equal(new Set(await tops()).size, 1);
  assert.deepEqual(errors, []);
  await close();
});

test("the draws can be stopped and begun again, and end with what they are of", async () => {
  const { page, errors, close } = await open("#steps=20&speed=max");
  await settled(page);
  assert.match(await page.textContent("#sentence"), /^Over 20 draws /);
  const button = page.locator("#seeds");
  // Long enough that the first of them is not done before it is stopped.
  await page.evaluate(() => (location.hash = "#steps=5000&speed=max&b=ce"));
  await page.waitForFunction(() => document.documentElement.dataset.draws === "busy");
  assert.match(await button.textContent(), /^Stop \d+\/20$/);
  await button.click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.draws), "stopped");
  await finished(page);
  assert.match(await page.textContent("#sentence"), /^After 5,000 steps of one run, /);
  assert.match(await page.textContent("#note"), /“Repeat” trains 20 draws/);
  await button.click();
  await page.waitForFunction(() => /^Stop [1-9]/.test(document.querySelector("#seeds").textContent));
  // Other data: nothing of the old draws is told.
  await page.evaluate(() => (location.hash = "#steps=20&speed=max&data=breast-cancer"));
  await page.waitForFunction(() => location.hash.includes("steps=20&") && document.documentElement.dataset.state === "done");
  await settled(page);
  assert.match(await page.textContent("#sentence"), /^Over 20 splits /);
  const seeds = await page.evaluate(() => globalThis.undercurve.draws().length);
  assert.equal(seeds, 20);
  assert.deepEqual(errors, []);
  await close();
});

test("the address brings back the same numbers", async () => {
  const one = await open("#seed=5&positives=6&a=ce-balanced&b=soap&b.lr=0.05&steps=200&model=16");
  const before = await metrics(one.page);
  await one.page.reload();
  await finished(one.page);
  assert.deepEqual(await metrics(one.page), before);
  const other = await open(new URL(one.page.url()).hash);
  assert.deepEqual(await metrics(other.page), before);
  await one.close();
  await other.close();
});

test("a file is described before training and trained on; a broken one says where", async () => {
  const { page, errors, close } = await open("#steps=100");
  await drop(page, "good.csv", goodCsv());
  await page.waitForSelector("#inspect");
  const shown = await page.textContent("#inspect");
  assert.match(shown, /300 rows/);
  assert.match(shown, /outcome is ill in 30 of 300 rows \(10\.0\u00a0%\): these are to be found\. 30 rows are few/);
  assert.match(shown, /1 missing value/);
  await page.click("#inspect button");
  await finished(page);
  assert.match(page.url(), /data=file/);
  const trained = await metrics(page);
  assert.ok(trained.flat().every(Number.isFinite));

  await drop(page, "broken.csv", "x,label\n1,0\n2\n");
  await page.waitForSelector("#problem:not([hidden])");
  assert.match(await page.textContent("#problem"), /broken\.csv:3/);
  assert.deepEqual(await metrics(page), trained, "what was shown stays");
  await page.click("#play");
  await finished(page);
  assert.deepEqual(await metrics(page), trained, "and trains again to the same numbers");
  assert.deepEqual(errors, []);
  await close();
});

test("an own file begins with two models, as the package trains them without being told how; then a loss beside cross-entropy on one", async () => {
  const rows = Array.from({ length: 500 }, (_, row) => [Math.sin(row * row), row % 13 === 5 ? "" : Math.cos(3 * row * row), ["red", "blue"][row % 2]]);
  const text = `a,b,c,d\n${rows.map(([a, b, c], row) => `${a},${b},${c},${a * b > 0.25 || row % 41 === 0 ? "ill" : "well"}`).join("\n")}\n`;
  const { page, errors, close } = await open("#steps=20&data=overlap");
  const asked = async () => {
    await finished(page);
    const query = new URLSearchParams(new URL(page.url()).hash.slice(1));
    return ["data", "model", "a", "b", "steps", "speed"].map((name) => query.get(name)).join(" ");
  };
  const then = async (deed) => {
    await page.evaluate(() => (document.documentElement.dataset.state = "busy"));
    await deed();
    return asked();
  };
  await drop(page, "own.csv", text);
  await page.waitForSelector("#inspect");
  assert.equal(await then(() => page.click("#inspect button.primary")), "file linear/16 ce-exact ce 6000 max");
  const shots = await page.evaluate(() => globalThis.undercurve.shots());
  for (const [lane, model] of [["a", undefined], ["b", { kind: "mlp", hidden: [16] }]]) {
    const { test } = await train(text, { label: "d", positive: "ill", split: 0.6, model });
    assert.deepEqual(shots[lane].test, test, lane);
  }
  assert.ok(shots.b.test.ap > shots.a.test.ap + 0.2, "what no line finds");
  assert.match(await page.textContent("#question"), /^A: .*, as in logistic regression\. B: .*, as in most networks\./);
  assert.match(await page.textContent("#sentence"), /, MLP 16.*, linear/);
  assert.match(await page.textContent("#note"), /Choose one model on the left/);
  // The choices of its columns change; what is trained stays.
  await page.click("#inspect > summary");
  assert.equal(await then(() => page.click("#inspect button.primary")), "file linear/16 ce-exact ce 6000 max");
  const pick = (model) => then(() => page.check(`#model input[value="${model}"]`, { force: true }));
  assert.equal(await pick("16"), "file 16 ce soap 6000 max");
  assert.equal(await pick("linear"), "file linear ce soap 6000 max");
  assert.equal(await pick("linear/16"), "file linear/16 ce-exact ce 6000 max");
  assert.equal(await pick("linear"), "file linear ce-exact soap 6000 max");
  // Drawn data comes back as it was, and so does the file.
  assert.equal(await then(() => page.click('.kinds button[title]:has-text("Overlap")')), "overlap linear ce soap 20 10");
  assert.deepEqual(errors, []);
  // A link to it opens with the models, on other data.
  const link = await open("#data=file&model=linear/16&a=ce-exact&b=ce&steps=20");
  assert.match(await link.page.textContent("#problem"), /stayed on its owner’s machine|stayed on its owner's machine/);
  assert.match(await link.page.textContent("#sentence"), /MLP 16/);
  assert.deepEqual(link.errors, []);
  await link.close();
  await close();
});

test("files in Windows-1252 and in UTF-16, as spreadsheets write them, are read as what they say", async () => {
  const { page, errors, close } = await open("#steps=20");
  const text = `größe,straße,fällig\n${Array.from({ length: 60 }, (_, k) => `${Math.sin(k)},${k % 2 ? "Köln" : "Orléans"},${Math.sin(k) > 0.5 ? "überfällig" : "nein"}`).join("\n")}\n`;
  for (const [encoding, buffer, said] of [["latin1", Buffer.from(text, "latin1"), "CSV in Windows-1252, 60 rows × 3 columns"], ["utf16", Buffer.from(`\ufeff${text}`, "utf16le"), "CSV, 60 rows × 3 columns"]]) {
    await page.setInputFiles("#file", { name: `${encoding}.csv`, mimeType: "text/csv", buffer });
    await page.waitForFunction((name) => document.querySelector("#inspect strong")?.textContent === name, `${encoding}.csv`);
    const shown = await page.textContent("#inspect");
    for (const part of [said, "straße", "Köln, Orléans", "überfällig (21 rows)"]) assert.ok(shown.includes(part), `${encoding}: ${part}: ${shown}`);
    await page.click("#inspect button.primary");
    await page.waitForFunction((dims) => location.hash.includes("data=file") && document.documentElement.dataset.state === "done" && globalThis.undercurve.rows().dims === dims, 3);
    assert.ok((await metrics(page)).flat().every(Number.isFinite));
  }
  // Few rows a column are warned of, as the package does.
  await page.check('#model input[value="linear"]', { force: true });
  await page.selectOption("#lane-b .head select", "ce");
  await page.waitForFunction(() => /^Warning\. Fewer than ten rows of the rarer class a column.*try method ce-exact\.$/.test(document.querySelector("#lane-b .warning").textContent));
  assert.deepEqual(errors, []);
  await close();
});

test("a column in doubt is asked about: left out, or a category, and it trains either way", async () => {
  const { page, errors, close } = await open("#steps=20");
  const day = (k) => `0${1 + (k % 9)}/0${1 + (k % 7)}/2024`;
  await drop(page, "days.csv", `day,x,y\n${Array.from({ length: 90 }, (_, k) => `${day(k)},${Math.sin(k)},${Math.sin(k) + (k % 2) > 0.8 ? "yes" : "no"}`).join("\n")}\n`);
  await page.waitForSelector("#inspect");
  await page.click(".columns-list summary");
  const said = await page.textContent(".columns-list li");
  assert.match(said, /^day in doubt: "0\d\/0\d\/2024" in column "day": does the day or the month come first\? No cell tells.*category$/);
  assert.equal(await page.textContent("#found"), "day: does the day or the month come first? No cell tells. It is left out until you tick it below.");
  for (const used of [false, true]) {
    if (used) {
      await page.click("#inspect > summary");
      await page.check(".columns-list input");
    }
    await page.evaluate(() => (document.documentElement.dataset.state = "busy"));
    await page.click("#inspect button.primary");
    await page.waitForFunction((used) => location.hash.includes("data=file") && globalThis.undercurve.rows().dims > 20 === used, used);
    await finished(page);
    assert.equal(await page.textContent("#problem"), "");
  }
  assert.deepEqual(errors, []);
  await close();
});

test("columns of a file are listed with kind and reason, dropped, and positives weighed; a Parquet file is read alike", async () => {
  const { page, errors, close } = await open("#steps=40");
  const table = Array.from({ length: 200 }, (_, k) => ({ id: `n${k}`, size: Math.sin(k) + (k % 10 ? 0 : 2), colour: ["red", "green", "blue"][k % 3], grade: k === 7 ? "tall" : String(k % 4), flat: 5, hole: null, outcome: k % 10 ? "well" : "ill" }));
  const names = Object.keys(table[0]);
  await drop(page, "some.csv", `${names.join()}\n${table.map((row) => names.map((name) => row[name] ?? "").join()).join("\n")}\n`);
  await page.waitForSelector("#inspect");
  await page.click(".columns-list summary");
  const listed = () => page.$$eval(".columns-list li:not([hidden])", (all) => all.map((one) => [one.textContent, one.querySelector("input").checked]));
  assert.deepEqual(await listed(), [
    ["id left out: tells rows apart: mostly different values", false],
    ["size number: from −1 to 2.998", true],
    ["colour category: blue, green, red", true],
    ["grade category: no number because of “tall” in line 9", true],
    ["flat number: always 5, so it tells nothing", true],
    ["hole left out: no values", false],
  ]);
  assert.equal(await page.textContent(".columns-list summary"), "4 of 6 columns are used");
  // What was found, in words of the file; what a column alone knows comes when it is measured.
  const found = () => page.$$eval("#found li", (all) => all.map((one) => one.textContent));
  await page.waitForFunction(() => document.querySelector("#found").textContent.includes("alone"));
  assert.deepEqual(await found(), [
    "id tells rows apart, so it is left out.",
    "hole has no values and is left out.",
    "grade has “tall” among its numbers (line 9), so each value is a category.",
    "flat is the same in every row and tells nothing.",
    "size alone tells outcome almost without error. Not known beforehand? Untick it below.",
  ]);
  await page.getByRole("checkbox", { name: "size" }).uncheck();
  assert.equal((await found()).length, 4, "what is left out is not asked about");
  await page.getByRole("checkbox", { name: "size" }).check();
  await page.getByRole("checkbox", { name: "colour" }).uncheck();
  assert.equal(await page.textContent(".columns-list summary"), "3 of 6 columns are used");
  const weight = page.getByLabel("A positive row counts as");
  assert.deepEqual(await weight.locator("option").allTextContents(), ["1 row", "2 rows", "5 rows", "9 rows: both classes alike"]);
  await weight.selectOption("5");
  await page.click("#inspect button.primary");
  await page.waitForFunction(() => location.hash.includes("data=file"));
  await finished(page);
  const counted = () => page.evaluate(() => {
    const { y, dims, test } = globalThis.undercurve.rows();
    const positives = (labels) => labels.reduce((sum, label) => sum + label, 0);
    return { dims, rows: y.length, positives: positives(y), held: test.y.length, heldPositives: positives(test.y) };
  });
  assert.deepEqual(await counted(), { dims: 6, rows: 168, positives: 60, held: 80, heldPositives: 8 });
  assert.match(await page.textContent("#about"), /A positive training row counts as 5\./);
  const trained = await metrics(page);
  // The code says so, too.
  await page.click("#export-code");
  assert.match(await page.textContent("#code pre"), /ignore: \["colour"\], categorical: \["grade"\], weight: 5, share/);
  await page.locator("#code label", { hasText: "Command line" }).click();
  assert.match(await page.textContent("#code pre"), /--ignore colour --categorical grade --class-weight 5:1 /);
  await page.keyboard.press("Escape");
  // All dropped: nothing is left.
  await page.click("#inspect > summary");
  for (const name of ["size", "grade", "flat"]) await page.getByRole("checkbox", { name }).uncheck();
  assert.equal(await page.textContent("#ratio"), "No column is left to learn from.");
  assert.ok(await page.isDisabled("#inspect button.primary"));

  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => /parquet/.test(name)).length);
  assert.equal(await loaded(), 0);
  const type = { size: "DOUBLE", flat: "INT32" };
  const parquet = (columns) => Buffer.from(parquetWriteBuffer({ columnData: columns.map(([name, type, data]) => ({ name, type, data, nullable: true })) }));
  await page.setInputFiles("#file", { name: "some.parquet", mimeType: "", buffer: parquet(names.map((name) => [name, type[name] ?? "STRING", table.map((row) => row[name])])) });
  await page.waitForFunction(() => document.querySelector("#inspect strong")?.textContent === "some.parquet");
  assert.ok(await loaded() > 0);
  assert.match(await page.textContent("#inspect"), /Parquet, 200 rows × 7 columns/);
  await page.click(".columns-list summary");
  await page.getByRole("checkbox", { name: "colour" }).uncheck();
  await weight.selectOption("5");
  await page.evaluate(() => (globalThis.undercurve.shots().old = true));
  await page.click("#inspect button.primary");
  await page.waitForFunction(() => !globalThis.undercurve.shots()?.old && document.documentElement.dataset.state === "done");
  assert.deepEqual(await metrics(page), trained, "the same rows");
  await page.setInputFiles("#file", { name: "deep.parquet", mimeType: "", buffer: parquet([["x", "JSON", [{ a: 1 }, { a: 2 }]], ["label", "STRING", ["a", "b"]]]) });
  await page.waitForFunction(() => document.querySelector("#problem").textContent.startsWith("deep.parquet: column x holds lists or structures"));
  const list = [{ name: "root", num_children: 2 }, { name: "size", repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" }, { name: "list", repetition_type: "REPEATED", num_children: 1 }, { name: "element", type: "INT32", repetition_type: "OPTIONAL" }, { name: "label", type: "INT32", repetition_type: "REQUIRED" }];
  const lists = parquetWriteBuffer({ schema: list, columnData: [{ name: "size", data: [[1, 2], [3]] }, { name: "label", data: [0, 1] }] });
  await page.setInputFiles("#file", { name: "lists.parquet", mimeType: "", buffer: Buffer.from(lists) });
  await page.waitForFunction(() => document.querySelector("#problem").textContent.startsWith("lists.parquet: column size holds lists or structures"));
  await page.setInputFiles("#file", { name: "cut.parquet", mimeType: "", buffer: parquet([["x", "DOUBLE", [1, 2]]]).subarray(0, 40) });
  await page.waitForFunction(() => document.querySelector("#problem").textContent.startsWith("cut.parquet: "));
  assert.deepEqual(errors, []);
  await close();
});

test("weights are exported as safetensors, and a model as the file that other programs read: both score as the page does", async () => {
  await initFiles();
  for (const hash of ["#data=breast-cancer&steps=40&model=16", "#data=digits-all&steps=40", "#steps=40"]) {
    const { page, errors, close } = await open(hash);
    const saved = async (id) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click(id)]);
      return [download.suggestedFilename(), await readFile(await download.path())];
    };
    const { X, dims, scores, names } = await page.evaluate(() => {
      const { test, dims, names } = globalThis.undercurve.rows();
      return { X: [...test.X.slice(0, 50 * dims)], dims, names, scores: [...(globalThis.undercurve.shots().b.scores ?? [])].slice(0, 50) };
    });
    const [name, bytes] = await saved("#export-b");
    assert.equal(name, "undercurve-b.safetensors");
    const length = Number(bytes.readBigUInt64LE(0));
    const { __metadata__: told, ...tensors } = JSON.parse(bytes.subarray(8, 8 + length));
    assert.equal((8 + length) % 8, 0);
    const tensor = (key) => {
      const { dtype, shape, data_offsets: [from, to] } = tensors[key];
      const part = Uint8Array.from(bytes.subarray(8 + length + from, 8 + length + to)).buffer;
      const data = dtype === "F64" ? new Float64Array(part) : new Float32Array(part);
      assert.equal(data.length, shape.reduce((product, n) => product * n, 1));
      return { shape, data };
    };
    const deep = Object.keys(tensors).length / 2;
    assert.equal(told.method, names ? "ppd-sg" : "soap");
    const columns = told.columns && JSON.parse(told.columns);
    const score = (row) => {
      let values = row.map((x, k) => (columns ? (x - columns[k][0]) * columns[k][1] : x));
      for (let k = 0; k < deep; k += 1) {
        const [{ shape: [, units], data: weights }, { data: bias }] = [tensor(`layers.${k}.weights`), tensor(`layers.${k}.bias`)];
        const next = Array.from(bias, (b, unit) => values.reduce((sum, x, at) => sum + x * weights[at * units + unit], b));
        values = k < deep - 1 ? next.map((x) => (told.activation === "tanh" ? Math.tanh(x) : Math.max(0, x))) : next;
      }
      return values;
    };
    scores.forEach((expected, row) => {
      const [found] = score(X.slice(row * dims, (row + 1) * dims));
      assert.ok(Math.abs(found - expected) < 1e-3 * (1 + Math.abs(expected)), `${found}, ${expected}`);
    });
    await page.click("#export-code");
    await page.waitForSelector("#code pre");
    if (hash === "#steps=40") assert.equal(await page.locator("#code-model").count(), 0);
    else {
      const [file, model] = await saved("#code-model");
      assert.equal(file, "undercurve-b.uc");
      const sample = names ? "digits" : "breast-cancer";
      const read = await Model.load(new Uint8Array(model));
      const found = read.predict(await readFile(join(root, `samples/${sample}.csv`)));
      if (names) assert.deepEqual(read.about.classes, names);
      else scores.forEach((expected) => assert.ok(found.scores.some((one) => Math.abs(one - expected) < 1e-4 * (1 + Math.abs(expected))), `${expected} is no score of the model`));
      read.dispose();
      const [named, card] = await saved("#code-card");
      assert.equal(named, "undercurve-b.md");
      const { ap, auroc } = await page.evaluate(() => globalThis.undercurve.shots().b.test);
      for (const figure of [ap, auroc]) assert.ok(String(card).includes(`| ${figure.toFixed(4)} |`), String(card));
      if (names) assert.match(String(card), /ranks rows by digit: 0, 1, /);
      else {
        assert.match(String(card), /how likely diagnosis is malignant\.[^]*Trained on 341 rows; 228 others[^]*Reads: mean_radius, /);
        // Five lines in each language, as they stand: those for which there is a program here.
        const folder = await mkdtemp(join(tmpdir(), "undercurve-home-"));
        await writeFile(join(folder, file), model);
        await copyFile(join(root, "samples/breast-cancer.csv"), join(folder, "breast-cancer.csv"));
        await page.check('input[name="code-use"][value="use"]', { force: true });
        const code = async (language) => {
          await page.check(`input[name="code-language"][value="${language}"]`, { force: true });
          return page.textContent("#code pre");
        };
        const near = (text, of) => assert.ok(Math.abs(Number(text) - of) < 1e-5 * (1 + Math.abs(of)), `${text}, ${of}`);
        const run = (program, words, more = {}) => execFileSync(program, words, { cwd: folder, encoding: "utf8", ...more });
        const js = (await code("js")).replaceAll(/readFile\("(.*?)"\)/g, (_, name) => `readFile(${JSON.stringify(join(folder, name))})`).replace("console.log(", "console.log(Number(").replace(").scores)", ").scores[0]))");
        near(run(process.execPath, ["--input-type=module", "-"], { cwd: new URL("../../../wasm/js", import.meta.url), input: js }), found.scores[0]);
        const cli = ["debug", "release"].map((one) => join(root, `../../target/${one}/undercurve`)).find(existsSync);
        if (cli) {
          const [, ...words] = (await code("cli")).trim().split(" ");
          near(run(cli, words).match(/-?\d+\.\d+/)[0], found.scores[0]);
          await writeFile(join(folder, "use.c"), await code("c"));
          run(cli, ["export", file, "model.c"]);
          run("cc", ["use.c", "-o", "use", "-lm"]);
          const [, first] = String(await readFile(join(folder, "breast-cancer.csv"))).split(/\r?\n/);
          near(run("./use", [], { input: first.split(",").slice(0, 30).join(" ") }), found.scores[0]);
        }
        assert.match(await code("py"), /^import undercurve\n\nmodel = undercurve\.load\("undercurve-b\.uc"\)\nprint\(model\.scores\("breast-cancer\.csv"\)\)\n$/);
        // (The package as its own tests have put it together.)
        const [python, PYTHONPATH] = [process.env.UNDERCURVE_PYTHON, join(root, "../../target/tmp/python")];
        if (python && existsSync(PYTHONPATH)) near(run(python, ["-"], { input: (await code("py")).replace('csv"))', 'csv")[0])'), env: { ...process.env, PYTHONPATH } }), found.scores[0]);
        await rm(folder, { recursive: true });
      }
    }
    assert.deepEqual(errors, []);
    await close();
  }
});

/** What the page says after a file that it cannot train on. */
async function refusal(page, name, text) {
  await drop(page, name, text);
  await page.waitForFunction((start) => document.querySelector("#problem").textContent.startsWith(start), name);
  return page.textContent("#problem");
}

test("a file of several classes trains all of them, or one against the others; what is no data is told apart", async () => {
  const { page, errors, close } = await open("#steps=20&b=soap");
  const rows = Array.from({ length: 120 }, (_, k) => `${Math.sin(k) + (k % 4)},${Math.cos(k)},${["red", "green", "blue", "green"][k % 4]}`);
  await drop(page, "three.csv", `x,z,colour\n${rows.join("\n")}\n`);
  await page.waitForSelector("#inspect");
  assert.equal(await page.textContent("#ratio"), "3 classes of 30 to 60 rows are trained at once.");
  const positive = page.getByLabel("Positive class");
  assert.ok(!(await positive.isVisible()));
  await page.click("#inspect button");
  await page.waitForFunction(() => location.hash.includes("data=file"));
  await finished(page);
  assert.deepEqual(await page.$$eval("#classes label", (all) => all.map((one) => one.textContent)), ["blue", "green", "red"]);
  await settled(page);
  assert.match(await page.textContent("#sentence"), /^Over 20 splits of this data .* held-out Hand–Till AUC /);
  assert.ok((await metrics(page)).flat().every(Number.isFinite));
  assert.match(page.url(), /b=ppd-sg/);

  await page.click("#inspect summary");
  await page.click("#what label:nth-child(2)");
  await positive.selectOption("green");
  assert.equal(await page.textContent("#ratio"), "colour is green in 60 of 120 rows (50.0\u00a0%): these are to be found. The rows of the other 2 classes are negatives.");
  await page.click("#inspect button.primary");
  await page.waitForFunction(() => /a=ce-exact&b=ce$/.test(location.hash) && document.querySelector("#classes").hidden);
  await finished(page);
  assert.match(await page.textContent("#about"), /48 are held out, 24 rows with colour green/);
  const trained = await metrics(page);
  assert.ok(trained.flat().every(Number.isFinite), `${trained}`);

  await drop(page, "numbers.csv", `x,label\n${Array.from({ length: 150 }, (_, k) => `${k},${k / 7}`).join("\n")}\n`);
  await page.waitForFunction(() => document.querySelector("#inspect strong")?.textContent === "numbers.csv");
  assert.match(await page.textContent("#ratio"), /more than 100 different values: a number to predict/);
  assert.ok(await page.isDisabled("#inspect button"));
  assert.ok(!(await positive.isVisible()), "there is none to choose");

  // Names are text, and a class that cannot be split is named before anything is trained.
  const odd = ["<b>&amp;", "it's \"1\"", "ünï 日本"];
  await drop(page, "odd.csv", `x,kind\n${Array.from({ length: 31 }, (_, k) => `${k},"${k < 30 ? odd[k % 3].replaceAll('"', '""') : "one"}"`).join("\n")}\n`);
  await page.waitForFunction(() => document.querySelector("#inspect strong")?.textContent === "odd.csv");
  assert.match(await page.textContent("#ratio"), /^Class one has one row, and all 4 classes need two/);
  assert.ok(await page.isDisabled("#inspect button"));
  assert.deepEqual(await positive.locator("option").allTextContents(), [`${odd[0]} (10 rows)`, `${odd[1]} (10 rows)`, "one (1 row)", `${odd[2]} (10 rows)`]);

  // Missing labels are not filled in, other values are.
  await drop(page, "gaps.csv", `x,kind\n${Array.from({ length: 40 }, (_, k) => `${k || ""},${k < 39 ? "abc"[k % 3] : ""}`).join("\n")}\n`);
  await page.waitForFunction(() => document.querySelector("#inspect strong")?.textContent === "gaps.csv");
  assert.equal(await page.textContent("#ratio"), "1 row without a label, and every row needs one.");
  assert.equal(await page.textContent("#inspect .check"), "Fill in 1 missing value (x)");
  assert.ok(await page.isDisabled("#inspect button"));

  // The head of what is saved of several classes, and of two.
  assert.match(await refusal(page, "many.uc", "undercurvek\0\x01\0rest"), /a run that undercurve saved\. .*undercurve eval many\.uc/);
  const two = await refusal(page, "two.uc", "undercurvem\0\x01\0rest");
  assert.match(two, /a run that undercurve saved\. The page takes data to train on/);
  assert.match(await refusal(page, "some.json", '{"a": 1}'), /looks like JSON/);
  assert.deepEqual(await metrics(page), trained, "what was shown stays");
  assert.deepEqual(errors, []);
  await close();
});

test("a sparse file of many columns trains without being filled up", async () => {
  const { page, errors, close } = await open("#steps=20");
  const rows = Array.from({ length: 600 }, (_, k) => `${k % 6 ? -1 : 1} ${1 + (k % 6 ? k : 0)}:1 ${1000 + k * 7}:0.5 ${99_000 + (k % 500)}:1 100000:0.1`);
  await drop(page, "wide.svm", rows.join("\n"));
  await page.waitForSelector("#inspect");
  assert.match(await page.textContent("#inspect"), /LIBSVM, 600 rows/);
  await page.click("#inspect button");
  await page.waitForFunction(() => location.hash.includes("data=file"));
  await finished(page);
  assert.match(await page.textContent("#about"), /360 rows × 100,000 features train/);
  const stored = await page.evaluate(() => globalThis.undercurve.rows().X.val.length);
  assert.ok(stored > 0 && stored <= 4 * 360, `${stored} values`);
  assert.ok((await metrics(page)).every(([ap, auroc]) => ap > 0 && auroc > 0.8), `${await metrics(page)}`);
  assert.deepEqual(errors, []);
  await close();
});

test("labels are flipped for training only, alike in both lanes, and the address keeps the share", async () => {
  const clean = await open("#steps=40");
  const flips = clean.page.getByRole("slider", { name: "Label flips" });
  const before = await clean.page.evaluate(() => [globalThis.undercurve.rows().y, globalThis.undercurve.rows().test.y].map((y) => [...y]));
  await flips.fill("10");
  await clean.page.waitForFunction(() => location.hash.includes("flips=10&"));
  await finished(clean.page);
  assert.equal(await flips.getAttribute("aria-valuetext"), "10 %");
  assert.match(await clean.page.textContent("#about"), /200 of the 2,000 training labels are flipped, no held-out one/);
  const after = await clean.page.evaluate(() => [globalThis.undercurve.rows().y, globalThis.undercurve.rows().test.y].map((y) => [...y]));
  assert.equal(after[0].filter((label, row) => label !== before[0][row]).length, 200);
  assert.deepEqual(after[1], before[1]);
  const [mine, theirs] = await clean.page.evaluate(() => globalThis.undercurve.batches().then((both) => both.map((rows) => [...rows])));
  assert.deepEqual(mine, theirs, "both lanes drew the same batch, from the same labels");
  const trained = await metrics(clean.page);
  await clean.page.reload();
  await finished(clean.page);
  assert.deepEqual(await metrics(clean.page), trained);
  // On real data as well, and its own rows.
  await clean.page.goto(`${home}#data=breast-cancer&steps=40&flips=20`);
  await clean.page.waitForFunction(() => /68 of the 341 training labels are flipped/.test(document.querySelector("#about").textContent));
  assert.ok(await flips.isVisible());
  assert.deepEqual(clean.errors, []);
  await clean.close();
});

test("a choice that cannot be trained is named with its lane and its range; the next good one trains", async () => {
  const { page, errors, close } = await open("#steps=20");
  await page.evaluate(() => (location.hash = "#steps=20&b=soap&b.lr=-3&data=ring"));
  await page.waitForSelector("#problem:not([hidden])");
  assert.equal(await page.textContent("#problem"), 'Lane B, SOAP: lr = "-3": expected auto or a number above 0');
  assert.ok(await page.isDisabled("#play"));
  // Data of several classes, refused: the pictures stay those of two, in other colours too.
  await page.evaluate(() => (location.hash = "#steps=20&b=ppd-sg&b.lr=-3&data=pinwheel"));
  await page.waitForFunction(() => document.querySelector("#problem").textContent.includes("Lane B, PPD-SG"));
  const before = await page.getAttribute("#roc", "aria-label");
  await page.evaluate(() => document.querySelector("#roc").removeAttribute("aria-label"));
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction((label) => document.querySelector("#roc").getAttribute("aria-label") === label, before);
  await page.evaluate(() => (location.hash = "#steps=20&b=nothing&data=ring"));
  await page.waitForFunction(() => document.querySelector("#problem").textContent.includes("no method called “nothing”"));
  await finished(page);
  assert.ok(!(await page.isDisabled("#play")));
  // A file that cannot be prepared leaves nothing of itself behind.
  await drop(page, "lone.csv", `x,label\n${Array.from({ length: 40 }, (_, k) => `${k},${k ? 0 : 1}`).join("\n")}\n`);
  await page.waitForSelector("#inspect");
  await page.click("#inspect button");
  await page.waitForFunction(() => document.querySelector("#problem").textContent.includes("lone.csv"));
  await page.click("#play", { force: true });
  await page.selectOption("#lane-a .head select", "soap");
  await page.waitForFunction(() => document.querySelector("#problem").textContent.includes("lone.csv"));
  assert.ok(await page.isDisabled("#play"), "the old rows are not trained under the new name");
  await page.click(".kinds button");
  await page.waitForFunction(() => location.hash.includes("data=split"));
  await finished(page);
  assert.deepEqual(errors, []);
  await close();
});

test("real samples train", async () => {
  for (const name of ["page-blocks", "digits", "breast-cancer"]) {
    const { page, close } = await open(`#data=${name}&steps=100&speed=max`);
    const [a, b] = await metrics(page);
    assert.ok(a[1] > 0.8 && b[1] > 0.8, `${name}: AUROC ${a[1]}, ${b[1]}`);
    await close();
  }
});

/** The table of each class: rows, AUROC of both lanes, average precision of both. */
const eachClass = (page) => page.$$eval("#each-table tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent.replace(",", "")))));

test("samples of several classes train them at once; the address brings back the same numbers", async (t) => {
  for (const [name, classes, held] of [["digits-all", 10, 719], ["pinwheel", 5, 6000]]) {
    const { page, foreign, errors, modules, close } = await open(`#data=${name}&steps=200&class=3&seed=2`);
    assert.deepEqual([...modules].sort(), ["undercurve", ...(name === "pinwheel" ? [] : ["undercurve_files"]), "undercurve_groups"]);
    const work = await page.evaluate(() => globalThis.undercurve.timings.main.slice(1).sort((a, b) => a - b));
    t.diagnostic(`${name}: drawing a frame: median ${work[work.length >> 1].toFixed(1)} ms`);
    const [before, each] = [await metrics(page), await eachClass(page)];
    t.diagnostic(`${name}: Hand–Till AUC and accuracy: cross-entropy ${before[0].slice(0, 2)}, PPD-SG ${before[1].slice(0, 2)}`);
    for (const [handTill, accuracy] of before) assert.ok(handTill > 0.95 && accuracy > 0.8, `${name}: ${handTill}, ${accuracy}`);
    assert.equal(each.length, classes);
    assert.equal(each.reduce((sum, [rows]) => sum + rows, 0), held);
    for (const [lane, [, , auroc, ap]] of before.entries()) {
      const mean = (column) => each.reduce((sum, row) => sum + row[column + lane], 0) / classes;
      assert.ok(Math.abs(mean(1) - auroc) < 2e-3 && Math.abs(mean(3) - ap) < 2e-3, `${name}: means of the table`);
    }
    const [a, b] = before.map(([handTill]) => handTill.toFixed(3));
    const sentence = await page.evaluate(() => globalThis.said.find((one) => one.startsWith("After")));
    assert.match(sentence, new RegExp(`reaches? Hand–Till AUC (${a}|${b}) on held-out rows`));
    assert.match(await page.getAttribute("#roc", "aria-label"), new RegExp(`^ROC curves of class 3 against all others: AUROC ${each[3][1].toFixed(3)} for lane A`));
    assert.match(await page.getAttribute("#lane-b .map", "aria-label"), new RegExp(`the class that wins, Hand–Till AUC ${before[1][0].toFixed(3)}, accuracy ${before[1][1].toFixed(3)}`));
    for (const lane of ["a", "b"]) {
      assert.deepEqual(await page.$$eval(`#lane-${lane} .head option`, (all) => all.map((one) => one.value)), ["ce", "ppd-sg", "ppd-adagrad"]);
    }
    await page.reload();
    await finished(page);
    assert.deepEqual([await metrics(page), await eachClass(page)], [before, each]);
    assert.deepEqual(foreign, []);
    assert.deepEqual(errors, []);
    await close();
  }
});

test("the class that is shown is chosen by keyboard; what has no meaning for several classes is not there", async () => {
  const { page, errors, close } = await open("#data=pinwheel&steps=20&b=ppd-adagrad&b.lr=0.2");
  for (const name of ["Positives", "Label flips"]) assert.ok(!(await page.getByRole("slider", { name }).isVisible()), name);
  assert.ok(await page.getByRole("slider", { name: "Noise" }).isVisible());
  const before = await metrics(page);
  await page.getByRole("radiogroup", { name: "Class shown against all others" }).getByRole("radio", { name: "0" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /class=1/.test(location.hash) && document.querySelector("#roc").getAttribute("aria-label").startsWith("ROC curves of class 1 "));
  assert.equal(await page.evaluate(() => document.activeElement.value), "1");
  assert.match(await page.getAttribute("#lane-a .bins", "aria-label"), /held-out scores of class 1, its own rows and all others/);
  assert.match(await page.textContent("#classes-hint"), /class 1 against all others/);
  assert.deepEqual(await metrics(page), before, "nothing is trained by it");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "20");

  // Data of two classes, and back: each kind finds its own lanes again.
  await page.click(".kinds button");
  await page.waitForFunction(() => location.hash.includes("data=split"));
  await finished(page);
  assert.match(page.url(), /a=ce&b=soap$/);
  assert.ok(!(await page.isVisible("#classes")) && !(await page.isVisible("#each")));
  assert.match(await page.getAttribute("#roc", "aria-label"), /^ROC curves: /);
  await page.getByRole("button", { name: "Pinwheel" }).click();
  await page.waitForFunction(() => location.hash.includes("data=pinwheel"));
  await finished(page);
  assert.match(page.url(), /b=ppd-adagrad&b\.lr=0\.2$/);
  assert.deepEqual(await metrics(page), before);

  // An address that asks for what several classes do not have.
  await page.evaluate(() => (location.hash = "#data=pinwheel&steps=20&a=soap&class=77"));
  await page.waitForFunction(() => document.querySelector("#problem").textContent === "soap trains two classes, and this data has more.");
  await finished(page);
  assert.match(page.url(), /a=ce&b=ppd-sg$/);
  // A link to somebody's file of several classes: what the default data cannot use of it is left out.
  await page.evaluate(() => (location.hash = "#data=file&steps=20&a=soap&a.lr=0.01&b=ppd-sg&b.per-class=4"));
  await page.waitForFunction(() => /a=soap&a\.lr=0\.01&b=soap$/.test(location.hash));
  await finished(page);
  assert.match(await page.textContent("#problem"), /a file that stayed on its owner's machine/);
  assert.deepEqual(errors, []);
  await close();
});

test("exact methods are offered, train, and end where nothing is left to do", async () => {
  for (const [a, b] of [["auc-exact", "ap-exact"], ["pauc-exact", "ce"]]) {
    const { page, errors, modules, close } = await open("#steps=20&speed=max");
    assert.deepEqual([...modules], ["undercurve"]);
    for (const [lane, method] of [["a", a], ["b", b]]) {
      await page.selectOption(`#lane-${lane} .head select`, method);
    }
    // Far more steps than the exact ones need to converge.
    await page.goto(`${home}#a=${a}&b=${b}&steps=600&speed=max`);
    await page.reload();
    await finished(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "600");
    // How long each was is told, of the run that is shown and of the draws. (On a busy machine these are not trained unasked.)
    if (await page.evaluate(() => !document.documentElement.dataset.draws)) await page.click("#seeds");
    await settled(page);
    const [shots, draws] = await page.evaluate(() => [globalThis.undercurve.shots(), globalThis.undercurve.draws()].map((of) => JSON.parse(JSON.stringify(of))));
    const note = await page.textContent("#note");
    for (const lane of ["a", "b"]) {
      const title = await page.$eval(`#lane-${lane} .head select`, (select) => select.selectedOptions[0].textContent);
      assert.equal(note.includes(`${title} had nothing more to do after ${shots[lane].step} step`), shots[lane].step < 600, note);
    }
    assert.equal(note.includes("at most 600 steps each"), draws.some((draw) => Math.min(draw.a.steps, draw.b.steps) < 600), note);
    const trained = await metrics(page);
    assert.ok(trained.flat().every(Number.isFinite), `${a}, ${b}: ${trained}`);
    assert.ok(trained.every(([, auroc]) => auroc > 0.6), `${a}, ${b}: AUROC ${trained.map((lane) => lane[1])}`);
    assert.deepEqual(errors, []);
    assert.deepEqual([...modules].sort(), ["undercurve", "undercurve_whole"]);
    await close();
  }
});

test("the range of false-positive rates is dragged, by pointer and by key, and training follows", async () => {
  const { page, errors, close } = await open("#a=ce&b=pauc-exact&fpr=2-20&steps=60&speed=max");
  const [low, most] = [0, 1].map((k) => page.locator("#band .edge").nth(k));
  const told = () => page.evaluate(() => ({ pauc: globalThis.undercurve.shots().b.test.pauc, hash: location.hash }));
  const before = await told();
  assert.match(await page.textContent("#sentence"), /partial AUC \(false positives 2–20\u00a0%\)/);
  assert.match(await page.textContent("#metrics thead"), /pAUC 2–20\u00a0%/);
  // Every picture from now on: the drag goes on from the weights that are there.
  await page.evaluate(() => {
    globalThis.pictures = [];
    const look = () => {
      const shots = globalThis.undercurve.shots();
      const last = globalThis.pictures.at(-1);
      if (shots && (!last || last.of !== shots)) globalThis.pictures.push({ of: shots, pauc: shots.b.test.pauc, step: document.documentElement.dataset.step, moved: shots.moved, a: shots.a.test.auroc });
      requestAnimationFrame(look);
    };
    look();
  });
  // While the pointer is down.
  const { x, y, width, height } = await most.boundingBox();
  const chart = await page.locator("#band").boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 0.3 * chart.width, y + height / 2, { steps: 5 });
  await page.waitForFunction(() => /fpr=2-50/.test(location.hash));
  // (Between two starts there is nothing to show yet.)
  await page.waitForFunction((old) => ![old, undefined].includes(globalThis.undercurve.shots()?.b?.test.pauc), before.pauc);
  await page.mouse.up();
  await finished(page);
  const after = await told();
  assert.match(after.hash, /fpr=2-50/);
  assert.ok(after.pauc > before.pauc, `${after.pauc} in the wider range, ${before.pauc} before`);
  const pictures = await page.evaluate(() => globalThis.pictures.map(({ of, ...one }) => one));
  assert.ok(pictures.some(({ moved }) => moved), "it is followed");
  assert.deepEqual([...new Set(pictures.map(({ step }) => step))], ["60"], "never through step 0");
  const least = Math.min(before.pauc, after.pauc) - 0.05;
  assert.ok(pictures.every(({ pauc }) => pauc >= least), `${pictures.map(({ pauc }) => pauc)} from ${before.pauc} to ${after.pauc}`);
  assert.equal(new Set(pictures.map(({ a }) => a)).size, 1, "cross-entropy ignores the range, and is not trained again");
  // The keys move an edge as far as the other lets it, and leave the page's own arrow alone.
  await low.focus();
  for (const key of ["End", "ArrowRight", "PageDown", "ArrowLeft"]) await page.keyboard.press(key);
  assert.deepEqual([await low.getAttribute("aria-valuetext"), await most.getAttribute("aria-valuemin")], ["38 %", "39"]);
  await page.waitForFunction(() => /fpr=38-50/.test(location.hash));
  await finished(page);
  // The address brings it back; what makes no range is left at the default; several classes have none.
  await page.evaluate(() => (location.hash = location.hash.replace("fpr=38-50", "fpr=50-38")));
  await page.waitForFunction(() => !location.hash.includes("fpr"));
  await finished(page);
  assert.equal(await most.getAttribute("aria-valuetext"), "5 %");
  await page.evaluate(() => (location.hash = "#data=pinwheel&steps=20"));
  await page.waitForFunction(() => document.querySelector("#band").hidden);
  assert.deepEqual(errors, []);
  await close();
});

test("the average rises while one group falls, until their gap is bounded", async () => {
  const { page, errors, modules, close } = await open("#data=towns&bound=none&steps=100&speed=max");
  const told = () => page.evaluate(() => {
    const { a, b } = globalThis.undercurve.shots();
    return { a, b, lines: [...document.querySelectorAll(".verdicts li")].map((line) => line.textContent), heard: document.querySelector("#groups [role=status]").textContent };
  });
  const each = ({ byGroup }) => byGroup.test.groups.map(({ auroc }) => auroc);
  const free = await told();
  for (const shot of [free.a, free.b]) {
    assert.ok(shot.test.auroc > 0.85 && shot.test.worst === Math.min(...each(shot)) && shot.test.worst < 0.5, JSON.stringify(shot.test));
    assert.ok(shot.byGroup.test.gaps.fpr.value > 0.4);
  }
  assert.ok(free.lines.every((line) => line.endsWith("nothing is asked")) && !free.heard.includes("met"), `${free.lines}`);
  assert.deepEqual(await page.$$eval(".legend-groups li", (all) => all.map((one) => one.textContent)), ["North 80\u00a0% of the rows", "South 20\u00a0% of the rows", "all rows"]);
  assert.match(await page.getAttribute("#roc", "aria-label"), /^ROC curves by group, lane A, Cross-entropy: AUROC 0\.\d+ of all rows, 0\.\d+ in group North, 0\.\d+ in group South$/);
  assert.match(await page.getAttribute("#objective", "aria-label"), /^AUROC over 100 steps, lane B: now /);
  assert.ok(await page.locator("#band").isHidden());

  // By the keys, down to 0.05; the page's own arrow does nothing meanwhile.
  const slider = page.getByRole("slider", { name: "Bound: gap(fpr) ≤" });
  assert.equal(await slider.getAttribute("aria-valuetext"), "none");
  await slider.focus();
  await page.keyboard.press("Home");
  for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  assert.equal(await slider.getAttribute("aria-valuetext"), "at most 0.05");
  await page.waitForFunction(() => !location.hash.includes("bound"));
  await finished(page);
  const bound = await told();
  const [before, after] = [free, bound].map(({ b }) => b.byGroup.test.gaps.fpr.value);
  assert.ok(after < 0.08 && after < 0.2 * before, `the gap fell from ${before} to ${after}`);
  assert.ok(bound.b.test.worst > 0.7 && bound.b.test.auroc < free.b.test.auroc, "the worst group rose, and the average paid");
  assert.deepEqual(bound.a.test, free.a.test, "cross-entropy knows no bound");
  const [a, b] = bound.lines;
  const { verdict } = bound.b.constraints[0];
  assert.match(a, /^ACross-entropy: gap\(fpr\) 0\.\d+\u00a0±\u00a00\.\d+✗not mettrained without it$/);
  assert.ok(b.includes(`gap(fpr) ${after.toFixed(3)}\u00a0±`) && b.includes(`${verdict}trained under the bound, weight `) && / of 4(, conflict)?$/.test(b) && verdict !== "not met", b);
  assert.ok(bound.heard.startsWith("Bound 0.05. Lane A, Cross-entropy: gap ") && bound.heard.endsWith(`, ${verdict}.`), bound.heard);
  assert.equal(bound.b.judged[0].target, "gap(fpr) <= 0.05");
  await settled(page);
  assert.match(await page.textContent("#sentence"), /^Over 20 draws of this data SONEX’s held-out AUROC of the worst group is 0\.\d+ ± .*; SONEX is ahead in 20 of 20\.$/);
  assert.match(await page.textContent("#note"), /SONEX pays for it in mean AUROC of all rows: 0\.\d+, Cross-entropy 0\.\d+\./);
  const rows = await page.$$eval("#each-table tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map(([group, n, x, y]) => [group, n, x, y]), ["North", "South"].map((group, k) => [group, ["24,000", "6,000"][k], each(bound.a)[k].toFixed(3), each(bound.b)[k].toFixed(3)]));
  assert.deepEqual([...modules].sort(), ["undercurve", "undercurve_groups"]);

  // Multipliers in the other lane, the worst groups in this; then data without groups, which has neither.
  await page.selectOption("#lane-a .head select", "lagrange");
  await page.selectOption("#lane-b .head select", "ooa");
  await page.waitForFunction(() => /a=lagrange&b=ooa/.test(location.hash));
  await finished(page);
  const others = await told();
  assert.ok(others.lines[0].includes("trained under the bound, weight ") && others.lines[1].endsWith("trained without it"), `${others.lines}`);
  assert.ok(others.a.byGroup.test.gaps.fpr.value < 0.5 * before && others.b.test.worst > free.b.test.worst);
  await page.evaluate(() => (location.hash = "#data=overlap&steps=20&b=sonex"));
  await page.waitForFunction(() => document.querySelector("#problem").textContent === "sonex is of groups, and this data has none.");
  await finished(page);
  assert.ok(await page.locator("#groups").isHidden());
  assert.equal(await page.textContent("#pr-title"), "Precision–recall");
  assert.equal(await page.locator("#lane-b option[value=sonex]").count(), 0);
  assert.deepEqual(errors, []);
  await close();
});

/** A host of plain files, as of a static site: the least that a browser needs of it. */
async function plain(folder) {
  const types = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm", woff2: "font/woff2" };
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://host").pathname).slice(1) || "index.html";
    const body = await readFile(join(folder, name)).catch(() => undefined);
    response.writeHead(body ? 200 : 404, { "content-type": types[name.split(".").at(-1)] ?? "application/octet-stream" });
    response.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { home: `http://127.0.0.1:${server.address().port}/`, stop: () => new Promise((closed) => server.close(closed) && server.closeAllConnections()) };
}

/** The lists of what the service worker keeps: of a first visit, of the page behind it, and for later. */
async function kept(folder = dist) {
  const script = await readFile(join(folder, "offline.js"), "utf8");
  return ["FIRST", "PAGE", "LATER"].map((list) => JSON.parse(script.match(`${list} = (\\[.*?\\]);`)[1]));
}

for (const [host, start] of [["its server", serve], ["a static host", plain]]) {
  test(`after one visit the page opens and trains with ${host} gone`, async (t) => {
    const own = await start(dist);
    t.after(() => own.stop());
    const context = watch(await browser.newContext(), /ERR_CONNECTION_REFUSED/);
    context.setDefaultTimeout(120000);
    const page = await context.newPage();
    await page.goto(`${own.home}#steps=20`);
    await finished(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller, undefined, { timeout: 60000 });
    const [first, whole, later] = await kept();
    const names = () => page.evaluate(async () => (await (await caches.open((await caches.keys())[0])).keys()).map(({ url }) => url));
    for (let turn = 0; turn < 600 && (await names()).length < first.length + whole.length; turn += 1) await page.waitForTimeout(100);
    assert.equal((await names()).length, first.length + whole.length, "who only looks keeps no more than that took");
    await page.keyboard.press("Shift");
    const left = async () => {
      const there = await names();
      return later.filter((name) => !there.some((url) => url.endsWith(name)));
    };
    for (let turn = 0; turn < 600 && (await left()).length > 0; turn += 1) await page.waitForTimeout(100);
    assert.deepEqual(await left(), [], "kept for later");
    await own.stop();
    await page.goto(`${page.url().split("#")[0]}#data=digits&steps=20`);
    await page.reload();
    await finished(page);
    const trained = await metrics(page);
    assert.ok(trained.flat().every(Number.isFinite), `${trained}`);
    assert.equal(await page.textContent("#problem"), "");
    // A file needs the module that reads files, which this page has not loaded yet.
    await drop(page, "good.csv", goodCsv());
    await page.waitForSelector("#inspect");
    await context.close();
  });
}

test("who only looks can come back without a network, too", async (t) => {
  const own = await plain(dist);
  t.after(() => own.stop());
  // (Samples are looked for ahead, for their thumbnails.)
  const context = watch(await browser.newContext(), /ERR_CONNECTION_REFUSED|ERR_FAILED/);
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  const said = () => page.waitForFunction(() => document.documentElement.classList.contains("tried") && !document.querySelector("#face-train").disabled).then(() => page.textContent("#face-said"));
  await page.goto(`${own.home}#you=45&models=1`);
  const before = await said();
  assert.match(before, /^You find \d+, A \d+, B \d+\.$/);
  await page.waitForFunction(() => navigator.serviceWorker.controller, undefined, { timeout: 60000 });
  await own.stop();
  await page.reload();
  assert.equal(await said(), before);
  await context.close();
});

test("what is kept is all there, and first of all what a first visit asks for", async () => {
  const [first, whole, later] = await kept();
  const there = (await readdir(join(dist, "assets"))).filter((name) => !/webgpu|\.png$/.test(name)).map((name) => `assets/${name}`);
  assert.deepEqual([...first, ...whole, ...later].toSorted(), ["./", ...there].toSorted());
  const { early, close } = await open();
  assert.deepEqual([...new Set(early)].map((path) => path.slice(1) || "./").toSorted(), [...first, ...whole].filter((name) => !/\/(later|texts)-/.test(name)).toSorted());
  await close();
});

test("a folder for any host of files: each compressed, its policy in the page, its picture by an address in full", { skip: !process.env.UNDERCURVE_LONG && "the long tier" }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "undercurve-packed-"));
  t.after(() => rm(folder, { recursive: true }));
  await promisify(execFile)("npx", ["vite", "build", "--mode", "packed", "--outDir", folder, "--logLevel", "error"], { cwd: root, env: { ...process.env, PAGE_URL: "https://example.org/under" } });
  const html = await readFile(join(folder, "index.html"), "utf8");
  const [, image] = html.match(/property="og:image" content="https:\/\/example\.org\/under\/(assets\/[^"]+)"/);
  assert.ok((await readdir(join(folder, "assets"))).includes(image.slice("assets/".length)));
  const [, policy] = html.match(/http-equiv="Content-Security-Policy" content="([^"]+)"/);
  const [first] = await kept(folder);
  const bytes = await Promise.all(first.map((name) => readFile(join(folder, `${name === "./" ? "index.html" : name}`)).then(async (plain) => [plain, await readFile(join(folder, `${name === "./" ? "index.html" : name}.br`)).catch(() => plain)])));
  for (const [plain, small] of bytes) if (small !== plain) assert.deepEqual(brotliDecompressSync(small), plain);
  t.diagnostic(`a first visit: ${(bytes.reduce((sum, [, small]) => sum + small.length, 0) / 1000).toFixed(1)} KB brotli`);
  const own = await serve(folder);
  t.after(() => own.stop());
  const of = async (path, accepted) => (await fetch(`${own.home}${path}`, { headers: { "accept-encoding": accepted } })).headers;
  const script = first.find((name) => name.endsWith(".js"));
  for (const [accepted, coding] of [["gzip, deflate, br", "br"], ["gzip;q=1.0", "gzip"], ["identity", null]]) assert.equal((await of(script, accepted)).get("content-encoding"), coding);
  assert.match((await of(script, "br")).get("cache-control"), /immutable/);
  assert.equal((await of("", "br")).get("cache-control"), "no-cache");
  assert.equal((await of(script, "br")).get("content-security-policy"), policy);
  const context = watch(await browser.newContext(), /Content Security Policy/);
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  await page.goto(`${own.home}#steps=20`);
  await finished(page);
  // What another site has is refused, whatever the host says.
  assert.equal(await page.evaluate(() => fetch("https://example.org/").then(() => "loaded", () => "refused")), "refused");
  await context.close();
});

test("what takes long is shown and heard, and Play is off meanwhile", async () => {
  const context = watch(await browser.newContext());
  context.setDefaultTimeout(120000);
  const page = await context.newPage();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${home}#steps=20`);
  await page.waitForFunction(() => document.querySelector("#wait").textContent === "Loading the rows…");
  assert.equal(await page.getAttribute("#wait", "role"), "status");
  assert.ok(await page.isVisible("#wait") && await page.isDisabled("#play") && await page.isDisabled("#step"));
  release();
  await finished(page);
  assert.equal(await page.textContent("#wait"), "");
  assert.ok(!(await page.isVisible("#wait")) && !(await page.isDisabled("#play")));
  await context.close();
});

test("an address beyond the limits is named and trains within them", async () => {
  const { page, errors, close } = await open("#steps=20&model=999,999,999&data=overlap");
  assert.match(await page.textContent("#problem"), /^The address was made otherwise: model=999,999,999 is not “linear”, nor one to three layers of at most 256 units and 100,000 weights\.$/);
  assert.match(page.url(), /model=linear/);
  await page.evaluate(() => (location.hash = "#steps=999999999&data=overlap&speed=max&a=auc-exact&b=auc-exact"));
  await page.waitForFunction(() => document.querySelector("#problem").textContent.includes("steps=999999999 is not from 1 to 100000"));
  assert.deepEqual(errors, []);
  await close();
});

test("a page that cannot train says why", async () => {
  for (const [options, without, told] of [
    [{ javaScriptEnabled: false }, "", /JavaScript is off/],
    [{}, "WebAssembly", /trains models with WebAssembly, which this browser does not have/],
    [{}, "Worker", /trains models with Web Workers, which/],
    [{}, "module", /wasm|WebAssembly|fetch|load/i],
  ]) {
    const context = watch(await browser.newContext(options), /ERR_FAILED/);
    context.setDefaultTimeout(120000);
    const page = await context.newPage();
    if (without === "module") await page.route("**/*.wasm", (route) => route.abort());
    else if (without) await page.addInitScript(`delete globalThis.${without}`);
    // The first picture, and the page behind it.
    await page.goto(home);
    const face = page.locator("#face");
    if (options.javaScriptEnabled !== false) await page.waitForFunction(() => document.querySelector("#face-said").textContent);
    assert.match(await face.innerText(), told);
    if (options.javaScriptEnabled !== false) {
      await page.evaluate(() => (location.hash = "#data=split"));
      const story = page.locator(".story");
      await (without === "module" ? page.locator("#problem:not([hidden])") : story).waitFor();
      await page.waitForFunction(() => document.querySelector("#sentence").textContent !== "Loading…");
      assert.match(await story.innerText(), told);
      assert.doesNotMatch(await story.innerText(), /Loading/);
    }
    await context.close();
  }
});

test("what only drawn data has is shown for drawn data only; the dice bring another seed", async () => {
  const { page, close } = await open("#steps=20");
  const slider = page.getByRole("slider", { name: "Positives" });
  assert.ok(await slider.isVisible());
  await page.click(".samples button");
  await finished(page);
  assert.ok(!(await slider.isVisible()));
  await page.evaluate(() => (Math.random = () => 0.5));
  await page.click("#dice");
  await finished(page);
  assert.match(page.url(), /seed=500\b/);
  await close();
});

test("keys play, step and reset, also with a button focused, and fields keep theirs", async () => {
  const { page, close } = await open("#steps=50");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("r");
  await page.waitForFunction(() => document.documentElement.dataset.step === "0" && document.querySelector("#play").textContent === "Play");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.documentElement.dataset.step === "1");
  await page.focus("#share");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.documentElement.dataset.step === "2");
  await page.focus("#seed");
  await page.keyboard.press("r");
  await page.focus("#play");
  await page.keyboard.press(" ");
  await finished(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "50");
  await page.keyboard.press("r");
  await page.waitForFunction(() => document.documentElement.dataset.step === "0");
  await close();
});

test("a choice made by keyboard keeps the focus", async () => {
  const { page, close } = await open("#steps=20");
  await page.focus("#speed input:checked");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => location.hash.includes("speed=max"));
  assert.equal(await page.evaluate(() => document.activeElement.value), "max");
  await page.click("#lane-b summary");
  const gamma = page.locator("#lane-b .settings").getByLabel("gamma", { exact: true });
  await gamma.fill("0.5");
  await gamma.press("Enter");
  await page.waitForFunction(() => location.hash.includes("b.gamma=0.5"));
  await finished(page);
  assert.ok(await gamma.evaluate((field) => document.activeElement === field));
  assert.match(await page.textContent("#lane-b .about"), /^gamma: .*above 0, up to 1/);
  await close();
});

test("maps stay square and charts keep to their boxes when the page around them changes", async () => {
  const { page, close } = await open("#steps=20");
  const shapes = () => page.evaluate(() => [...document.querySelectorAll("canvas.map")].map((map) => map.clientWidth - map.clientHeight));
  await page.evaluate(() => document.fonts.ready.then(() => true));
  const top = () => page.evaluate(() => document.querySelector("#lane-a").getBoundingClientRect().top + scrollY);
  const ended = await top();
  await page.click("#reset");
  await page.waitForFunction(() => document.documentElement.dataset.step === "0");
  assert.equal(await top(), ended, "the lanes do not move when the sentence of the result comes");
  await page.click("#lane-b summary");
  await page.setViewportSize({ width: 1000, height: 800 });
  await page.waitForFunction(() => [...document.querySelectorAll("canvas.map")].every((map) => map.width === Math.round(map.clientWidth * devicePixelRatio)));
  assert.deepEqual(await shapes(), [0, 0]);
  const middles = await page.$$eval("#speed, #seed, #share, #backend", (all) => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => Math.round(top + bottom)));
  assert.equal(new Set(middles).size, 1, "one of the bar's two rows");
  for (const width of [1100, 1181, 1241, 1401, 1436]) {
    await page.setViewportSize({ width, height: 800 });
    // (The charts follow a resize a frame later.)
    await page.waitForFunction((width) => innerWidth === width && document.documentElement.scrollWidth <= innerWidth && document.querySelector(".bar").offsetHeight < 100, width);
  }
  await page.waitForFunction(() => [...document.querySelectorAll("#roc, #pr, #ap, #objective")].every((root) => root.querySelector(".uplot").clientWidth === root.clientWidth));
  // A wide screen is used, and what a figure is of leaves the names of methods whole.
  await page.setViewportSize({ width: 2560, height: 1300 });
  await page.waitForFunction(() => document.querySelector("body > main").clientWidth > 2400 && document.querySelector("canvas.map").clientWidth > 500 && document.documentElement.scrollWidth <= innerWidth);
  await page.setViewportSize({ width: 390, height: 844 });
  const fold = page.getByRole("button", { name: "Data and model" });
  await fold.click();
  assert.equal(await fold.getAttribute("aria-expanded"), "true");
  // Thumbnails that were never seen are drawn when they are.
  await page.waitForFunction(() => [...document.querySelectorAll(".kinds canvas")].every((canvas) => canvas.width > 1 && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte)));
  await close();
});

test("without motion a run is drawn when it ends", async () => {
  const { page, close } = await open("#steps=50", { reducedMotion: "reduce" });
  await page.click("#reset");
  await page.waitForFunction(() => document.documentElement.dataset.step === "0");
  await page.evaluate(() => {
    globalThis.seen = new Set();
    new MutationObserver(() => globalThis.seen.add(document.querySelector("#metrics td").textContent)).observe(document.querySelector("#metrics"), { subtree: true, childList: true, characterData: true });
  });
  await page.click("#play");
  await finished(page);
  const [[ap]] = await metrics(page);
  assert.deepEqual((await page.evaluate(() => [...globalThis.seen])).map(Number), [ap]);
  await close();
});

test("no serious accessibility fault, wide or narrow, light or dark", async () => {
  const narrow = { viewport: { width: 390, height: 844 } };
  const two = [{}, { colorScheme: "dark" }, narrow, { viewport: { width: 820, height: 900 } }].map((options) => ["#steps=20", options]);
  const several = [{ colorScheme: "dark" }, narrow].map((options) => ["#steps=20&data=digits-all", options]);
  const groups = [{ colorScheme: "dark" }, narrow].map((options) => ["#steps=20&data=towns", options]);
  for (const [hash, options] of [...two, ...several, ...groups]) {
    const { page, close } = await open(hash, options);
    await page.evaluate(() => document.querySelector(".fold").click());
    await page.click("#lane-a summary");
    await settled(page);
    await page.click("#draws summary");
    await page.evaluate(axe);
    const faults = await page.evaluate(() => globalThis.axe.run().then((result) => result.violations.filter((fault) => ["serious", "critical"].includes(fault.impact)).map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`)));
    assert.deepEqual(faults, []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out sideways");
    const small = await page.evaluate(() => [...document.querySelectorAll("button, select, summary, input, .segments label, .legend-classes label")]
      .filter((node) => node.checkVisibility() && !node.closest("label > input[type=radio]"))
      .map((node) => [node, node.getBoundingClientRect()])
      .filter(([, { width, height }]) => width < 24 || height < 24)
      .map(([node, { width, height }]) => `${node.tagName} ${node.id || node.textContent} ${width} × ${height}`));
    assert.deepEqual(small, [], "targets of at least 24 pixels");
    await close();
  }
});

test("the story of step sizes runs on the page's data, as a chart and as a table", async () => {
  const { page, errors, close } = await open("#steps=20&story=steps", { colorScheme: "dark" });
  await page.waitForSelector("#steps[data-state=done]");
  assert.match(await page.textContent("#steps-sentence"), /AI-SARAH after 2\d\.\d passes/);
  const rows = await page.$$eval("#steps-table tbody tr", (all) => all.map((row) => [...row.children].map((cell) => Number(cell.textContent))));
  assert.ok(rows.length >= 8, `${rows.length} rows`);
  const last = rows.at(-1);
  assert.ok(last[1] > 0 && last[1] <= last[2] * 1.01, `α ${last[1]} is at most α max ${last[2]}`);
  assert.ok(last[4] < 1e-3 * rows[0][4], `the gradient fell from ${rows[0][4]} to ${last[4]}`);
  assert.ok(await page.$("#steps-chart canvas"));
  await page.evaluate(axe);
  const faults = await page.evaluate(() => globalThis.axe.run("#steps").then((result) => result.violations.map((fault) => fault.id)));
  assert.deepEqual(faults, []);
  const before = await page.textContent("#steps-table tbody tr:last-child");
  await page.selectOption("#steps-lambda", "0");
  await page.waitForFunction((before) => document.querySelector("#steps[data-state=done]") && document.querySelector("#steps-table tbody tr:last-child").textContent !== before, before);
  // Folding tells the page by an event of its own, some time after the click.
  await page.click("#steps summary");
  await page.waitForFunction(() => location.hash.includes("story=workbench"));
  assert.deepEqual(errors, []);
  await close();
});

test("the workbench is a page of its own, which is loaded by who asks; what is trained stays", async () => {
  const { page, errors, close } = await open("#steps=40&find=0.3");
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => /workbench/.test(name)).length);
  assert.equal(await loaded(), 0);
  await page.evaluate(() => (globalThis.undercurve.shots().kept = true));
  await page.click("#bench");
  await page.waitForSelector("#grid");
  assert.ok(await loaded() > 0);
  assert.equal(await page.title(), "Workbench · undercurve");
  assert.match(page.url(), /story=workbench/);
  assert.equal(await page.evaluate(() => document.activeElement.id), "workbench-title");
  for (const [selector, seen] of [["#grid", true], ["#all", true], ["#steps", true], ["#lane-b .head select", true], ["#side", true], ["canvas.map", false], ["#columns", false], ["#roc", false], ["#sentence", false]]) assert.equal(await page.locator(selector).first().isVisible(), seen, selector);
  assert.ok(await page.evaluate(() => globalThis.undercurve.shots().kept), "nothing was trained again");
  // A lane trains here, too; its pictures are drawn when they are seen again.
  await page.selectOption("#lane-a .head select", "ce-balanced");
  await page.waitForFunction(() => location.hash.includes("a=ce-balanced") && !globalThis.undercurve.shots()?.kept);
  await finished(page);
  const [[ap]] = await metrics(page);
  await page.waitForFunction((ap) => document.querySelector("#lane-a .figure b").textContent === ap, ap.toFixed(3));
  await page.evaluate(() => (globalThis.undercurve.shots().kept = true));
  await page.click("#bench");
  await page.waitForFunction(() => !location.hash.includes("story"));
  assert.equal(await page.title(), "undercurve");
  assert.ok(await page.isHidden("#grid") && await page.isVisible("#columns"));
  await page.waitForFunction((ap) => document.querySelector("#lane-a .map").getAttribute("aria-label").endsWith(`average precision ${ap}`), ap.toFixed(3));
  await page.waitForFunction(() => [...document.querySelectorAll("canvas.map")].every((map) => map.width === Math.round(map.clientWidth * devicePixelRatio)));
  assert.ok(await page.evaluate(() => globalThis.undercurve.shots().kept), "nor when it is left");
  await page.goBack();
  await page.waitForSelector("#grid", { state: "visible" });
  assert.ok(await page.evaluate(() => globalThis.undercurve.shots().kept));
  assert.match(page.url(), /find=0\.3/);
  // Enlarged to 200 and 400 %, nothing sticks out sideways.
  await page.click("#all > summary");
  await page.waitForSelector("#all[data-state=done]");
  for (const width of [1440, 720, 360]) {
    await page.setViewportSize({ width, height: 700 });
    await page.waitForFunction((width) => innerWidth === width && document.documentElement.scrollWidth <= innerWidth, width);
  }
  await page.evaluate(axe);
  const faults = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((result) => result.violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`)));
  assert.deepEqual(faults, []);
  await page.setViewportSize({ width: 1440, height: 900 });
  // Of several classes there is none, and it is said.
  await page.getByRole("button", { name: "Pinwheel" }).click();
  await page.waitForFunction(() => location.hash.includes("data=pinwheel"));
  await finished(page);
  await page.waitForFunction(() => document.querySelector("#all").hidden);
  assert.deepEqual(await page.$$eval("#grid, #all, #steps, #workbench-none", (all) => all.map((one) => one.checkVisibility())), [true, false, false, false]);
  assert.deepEqual(errors, []);
  await close();
});

test("each change by hand is a step back, however long it is dragged; Back and Forward bring back what was shown", async () => {
  const { page, errors, close } = await open("#steps=20&story=dial&b=pauc-exact");
  await settled(page);
  const there = async () => [page.url(), await metrics(page), await page.evaluate(() => history.length)];
  const places = [await there()];
  const drag = async (selector, across) => {
    const { x, y, width, height } = await page.locator(selector).boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    for (let k = 1; k <= 4; k += 1) {
      await page.mouse.move(x + width / 2 + (across * k) / 4, y + height / 2);
      await page.waitForTimeout(250);
    }
    await page.mouse.up();
  };
  const deeds = [
    () => page.click('.kinds button:has-text("Overlap")'),
    () => page.check('#model input[value="16"]', { force: true }),
    () => page.selectOption("#lane-b select", "pauc-threshold"),
    () => page.click("#dice"),
    () => page.click("#roc-near"),
    () => page.check('#speed input[value="max"]', { force: true }),
    () => drag("#band .edge >> nth=1", 40),
    () => page.locator("#cut-range").press("PageUp"),
  ];
  for (const deed of deeds) {
    await deed();
    await page.waitForFunction((before) => location.href !== before, places.at(-1)[0]);
    await page.waitForTimeout(300);
    await finished(page);
    places.push(await there());
    assert.equal(places.at(-1)[2], places[0][2] + places.length - 1, `${deed}`);
  }
  const walk = async (step, to) => {
    await page.evaluate(step);
    await page.waitForFunction((url) => location.href === url, to[0]);
    await page.waitForTimeout(100);
    await finished(page);
    assert.deepEqual((await there()).slice(0, 2), to.slice(0, 2));
  };
  for (const place of places.slice(0, -1).reverse()) await walk(() => history.back(), place);
  for (const place of places.slice(1)) await walk(() => history.forward(), place);
  assert.deepEqual(errors, []);
  await close();
});

test("AI-SARAH trains in a lane beside a method that steps otherwise", async () => {
  const { page, close } = await open("#steps=60&a=ce&b=ai-sarah");
  const [a, b] = await metrics(page);
  assert.ok(Math.abs(a[1] - b[1]) < 0.1, `AUROC ${a[1]}, ${b[1]}`);
  await close();
});

test("many runs of each lane are drawn as bands, in the worker, and the badge says what ran", async (t) => {
  const { page, errors, close } = await open("#runs=20&steps=60");
  const { crowd, shown } = await page.evaluate(() => {
    const crowd = Object.fromEntries(["a", "b"].map((name) => {
      const { summary, reports } = globalThis.undercurve.crowd()[name];
      return [name, { ap: [...reports.metrics.ap], of: summary.metrics.ap, points: summary.roc.median.length }];
    }));
    return { crowd, shown: Object.fromEntries(["a", "b"].map((name) => [name, globalThis.undercurve.shots()[name].test.ap])) };
  });
  const note = await page.textContent("#note");
  for (const name of ["a", "b"]) {
    const { ap, of, points } = crowd[name];
    const sorted = [...ap].sort((one, other) => one - other);
    assert.deepEqual([ap.length, ap[0], points], [20, shown[name], 201], "the first is the run that is shown");
    assert.ok(Math.abs(of.median - (sorted[9] + sorted[10]) / 2) < 1e-12 && of.low < of.high);
    for (const value of [of.median, of.low, of.high]) assert.ok(note.includes(value.toFixed(3)), note);
  }
  for (const [chart, part] of [["roc", /ROC curves of 20 runs, median and band: AUROC of lane A 0\.\d+, 10–90 %/], ["pr", /Precision–recall curves of 20 runs/], ["ap", /Average precision of 20 runs over 60 steps/]]) {
    assert.match(await page.getAttribute(`#${chart}`, "aria-label"), part);
  }
  assert.match(await page.textContent("#reason"), /^CPU, WebAssembly with 128-bit SIMD, 20 runs in turn: /);
  // While 256 train, the page stays its visitor's.
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  });
  assert.ok(await page.isHidden("#seeds"), "one control for repetition");
  await page.selectOption("#runs", "256");
  await page.waitForFunction(() => globalThis.undercurve.crowd()?.a.summary.runs === 256 && Number(document.documentElement.dataset.step) >= 20);
  const { long, work } = await page.evaluate(() => ({ long: globalThis.long, work: globalThis.undercurve.timings.main.slice(-3).sort((a, b) => a - b) }));
  // (Of a loaded machine the middle one says more than the longest.)
  assert.ok(work[1] < 50, `${work} ms for a picture`);
  t.diagnostic(`tasks of the page over 50 ms while 2 × 256 runs train: ${long.length}, the longest ${Math.max(0, ...long).toFixed(0)} ms`);
  assert.match(page.url(), /runs=256/);
  await page.selectOption("#runs", "1");
  await finished(page);
  assert.match(await page.textContent("#reason"), /one run is faster here than on a GPU/);
  assert.equal(await page.evaluate(() => globalThis.undercurve.crowd()), null);
  assert.deepEqual(errors, []);
  await close();
  // Several classes and groups have one.
  const other = await open("#runs=20&steps=20&data=pinwheel");
  assert.ok(await other.page.isHidden("#runs"));
  await other.close();
});

test("a grid of two parameters fills while it trains, and a point is loaded by keys", async () => {
  for (const options of [{}, { colorScheme: "dark", viewport: { width: 390, height: 844 } }]) {
    const { page, errors, close } = await open("#story=grid&steps=60", options);
    await page.waitForFunction(() => document.querySelector("#grid-up")?.value === "gamma");
    await page.fill("#grid-across-values", "0.3, 0.01");
    await page.fill("#grid-up-values", "0.5 0.9 0.7");
    await page.selectOption("#grid-seeds", "1");
    await page.click("#grid-train");
    await page.waitForFunction(() => document.querySelector("#grid").dataset.state === "done");
    const cells = await page.$$eval("#grid-map tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual([cells.map(([head]) => head), cells[3].slice(1)], [["0.9", "0.7", "0.5", "gamma \\ lr"], ["0.01", "0.3"]]);
    const values = cells.slice(0, 3).flatMap((row) => row.slice(1).map(Number));
    assert.match(await page.textContent("#grid-sentence"), new RegExp(`^6 runs, step 60 of 60: .*; the best ${Math.max(...values).toFixed(3)} at lr `));
    assert.match(await page.textContent("#grid-backend"), /6 runs in turn/);
    assert.equal(await page.getAttribute("#grid-map", "data-lane"), "b");
    await page.evaluate(axe);
    const faults = await page.evaluate(() => globalThis.axe.run("#grid").then((result) => result.violations.map((fault) => `${fault.id}: ${fault.nodes.map((node) => node.target).join(" ")}`)));
    assert.deepEqual(faults, []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out sideways");
    // From the first point one to the right and one down; the page's own keys stay out of it.
    await page.locator("#grid-map button").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^lr 0\.3, gamma 0\.7: average precision 0\.\d+.*Train lane B with it$/);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.step), "60");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.includes("b.gamma=0.7"));
    await finished(page);
    assert.match(page.url(), /b\.lr=0\.3/);
    assert.equal((await metrics(page))[1][0].toFixed(3), cells[1][2], "the run of the map");
    // What is wrong is said, and the map stays.
    await page.fill("#grid-across-values", "0.1, fast");
    await page.click("#grid-train");
    assert.match(await page.textContent("#grid-sentence"), /“fast” is no number/);
    assert.equal(await page.$$eval("#grid-map button", (all) => all.length), 6);
    assert.deepEqual(errors, []);
    await close();
  }
});
