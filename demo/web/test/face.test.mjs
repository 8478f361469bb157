// The first picture and what is sent of it, and of the page, in headless Chromium. Needs `cargo demo --build-only` first. UNDERCURVE_LONG: five visits.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Session, init, synthetic } from "../../../wasm/js/index.js";
import { tie } from "../src/ranking.js";
import { axe, browser, dist, finished, home, watch } from "./page.mjs";

const DRAWN = { rows: 2000, testRows: 6000, noise: 0, positives: 0.03 };
const CALLS = 100;
/** What nobody needs to know before the first picture. */
const GLOSSARY = /\b(soap|ap|auc|auroc|pauc|roc|lanes?|held|logits?|precision|recall|cross|entropy|loss|positives?|negatives?|seed|threshold|metric|batch|steps?|train|gradient|linear|rows?)\b/i;

before(() => init());

const found = (scores, y) => [...scores.keys()].sort((a, b) => scores[b] - scores[a] || tie(a) - tie(b)).slice(0, CALLS).filter((row) => y[row]).length;
/** What a line and both models find, counted here. */
async function counted(seed, degree) {
  const rows = synthetic("split", { ...DRAWN, seed });
  const { X, y } = rows.test;
  const [c, s] = [Math.cos((degree * Math.PI) / 180), Math.sin((degree * Math.PI) / 180)];
  const out = { ill: y.reduce((sum, one) => sum + one, 0), you: found(Float32Array.from(y, (_, k) => c * X[2 * k] + s * X[2 * k + 1]), y) };
  for (const [lane, name] of [["a", "ce"], ["b", "soap"]]) {
    const session = await Session.create({ ...rows, model: { kind: "linear" }, method: { name, fpr: [0, 0.05] }, seed, steps: 300, scale: "standard" });
    session.advance({ steps: 300 });
    out[lane] = found(session.snapshot({ scores: y.length }).scores, y);
    session.dispose();
  }
  return out;
}
const there = (page) => page.waitForFunction(() => document.documentElement.dataset.face === "there");
const tried = (page) => page.waitForFunction(() => location.hash.includes("models=1") && !document.querySelector("#face-train").disabled && document.documentElement.classList.contains("tried"));
const said = (page) => page.textContent("#face-said");

/** A first visit, with what it asks for and what moves. */
async function visit(options = {}, hash = "") {
  const context = watch(await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options }), /favicon|status of 404/);
  context.setDefaultTimeout(Number(process.env.PATIENCE) || 120000);
  const page = await context.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url())));
  await page.addInitScript(() => {
    globalThis.moved = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => (globalThis.moved += hadRecentInput ? 0 : value))).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(home + hash);
  await there(page);
  return { context, page, asked };
}
const bytesOf = (asked, packed) => Promise.all([...new Set(asked.map(({ pathname }) => pathname))].map(async (path) => packed(await readFile(join(dist, path === "/" ? "index.html" : path))).length)).then((all) => all.reduce((sum, one) => sum + one, 0) / 1000);

test("a first visit: a question, a line to turn, two models that turn it, in few words and bytes; what is sent opens with the same numbers", async (t) => {
  const { context, page, asked } = await visit({ permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
  // Before anything is asked of the visitor.
  const words = (await page.evaluate(() => document.body.innerText)).match(/\S+/g);
  t.diagnostic(`${words.length} words: ${words.join(" ")}`);
  assert.ok(words.length + 1 <= 25, `${words.length}, and the one in the picture`);
  assert.doesNotMatch(words.join(" "), GLOSSARY);
  const first = await counted(1, 0);
  assert.equal(await page.textContent("#face-question"), `6,000 people. ${first.ill} are ill. You can call ${CALLS}.`);
  assert.equal(await said(page), `Turn the line to choose whom: you find ${first.you}.`);
  const early = await bytesOf(asked, gzipSync);
  t.diagnostic(`${early.toFixed(1)} KB gzip to the first picture`);
  assert.ok(early <= 150, `${early}`);
  // Their turn.
  await page.click("#face-train");
  await tried(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "face-train", "who trains by keys stays there");
  assert.equal(await said(page), `You find ${first.you}, A ${first.a}, B ${first.b}.`);
  assert.doesNotMatch(await page.evaluate(() => document.body.innerText), GLOSSARY);
  const cold = await bytesOf(asked.filter(({ origin, pathname }) => origin === new URL(home).origin && !pathname.endsWith("offline.js")), brotliCompressSync);
  t.diagnostic(`${cold.toFixed(1)} KB brotli for the visit, with both trainings`);
  assert.ok(cold <= 160, `${cold}`);
  assert.ok((await page.evaluate(() => globalThis.moved)) <= 0.02, "nothing moves");
  // The visitor's turn, by mouse and by keys; Back returns.
  const map = await page.locator("#face-map").boundingBox();
  await page.mouse.move(map.x + map.width / 2 + 100, map.y + map.height / 2);
  await page.mouse.down();
  await page.mouse.move(map.x + map.width / 2, map.y + map.height / 2 - 120, { steps: 4 });
  await page.mouse.up();
  const turned = await counted(1, 90);
  assert.equal(await said(page), `You find ${turned.you}, A ${first.a}, B ${first.b}.`);
  assert.equal(new URL(page.url()).hash, "#you=90&models=1");
  await page.focus("#face-line");
  // (Keys in a row are one step back.)
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await said(page), `You find ${(await counted(1, 88)).you}, A ${first.a}, B ${first.b}.`);
  assert.equal(await page.getAttribute("#face-said", "aria-live"), "off", "the slider says it");
  assert.equal(await page.getAttribute("#face-line", "aria-valuetext"), await said(page));
  await page.waitForFunction(() => location.hash === "#you=88&models=1");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#face-line").value === "90");
  await page.evaluate(axe);
  assert.deepEqual(await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`))), []);
  // Sent: picture, link and frame.
  await page.click("#face-send");
  const sentence = `6,000 people. ${first.ill} are ill. You can call ${CALLS}. You find ${turned.you}, A ${first.a}, B ${first.b}.`;
  const save = async (button) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    return readFile(await file.path());
  };
  const svg = String(await save("#send-svg"));
  const link = `${home}#you=90&models=1`;
  assert.ok(svg.includes(`<title>${sentence}</title><desc>${link.replaceAll("&", "&amp;")}</desc>`), svg.slice(0, 400));
  for (const [name, of] of [["You", turned.you], ["A", first.a], ["B", first.b]]) {
    const [, list] = svg.match(RegExp(`>${name} ${of}</text>(.*?)</g>`));
    assert.deepEqual([list.match(/<circle/g).length, list.match(/opacity/g)?.length ?? 0], [CALLS, CALLS - of], name);
  }
  const png = await save("#send-png");
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2400, 1260]);
  const copied = async (button) => {
    await page.click(button);
    await page.waitForFunction((button) => document.querySelector(button).textContent === "Copied", button);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied("#send-link"), link);
  const frame = await copied("#send-frame");
  const lecture = await copied("#send-lecture");
  assert.equal(lecture, `${home}?lecture`);
  // Without a clipboard what was to be copied is there to be copied by hand.
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true }));
  await page.click("#send-frame");
  await page.waitForFunction(() => document.querySelector("#send-frame").textContent === "Copy it from below");
  assert.deepEqual([await page.textContent("#send-address"), await page.evaluate(() => String(getSelection()))], [frame, frame]);
  await page.click("#send-frame");
  await page.waitForFunction(() => document.querySelector("#send-frame").textContent === "Copy frame");
  await page.click("#send-close");
  // A clean profile that follows the link, on a phone in the dark: the same numbers on one screen.
  const other = await visit({ viewport: { width: 390, height: 844 }, colorScheme: "dark" }, "#you=90&models=1");
  await tried(other.page);
  assert.equal(`${await other.page.textContent("#face-question")} ${await said(other.page)}`, sentence);
  const outside = (page) => page.evaluate(() => [...document.querySelectorAll("#face-question, #face-said, #face-map, #face-calls, #face-line, #face-train, #face-send, #face-what")].filter((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
  }).map(({ id }) => id));
  assert.deepEqual(await outside(other.page), []);
  assert.ok(await other.page.evaluate(() => document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth));
  await other.page.setViewportSize({ width: 640, height: 400 });
  await other.page.waitForFunction(() => document.querySelector("#face-calls").getBoundingClientRect().left > 200);
  assert.deepEqual((await outside(other.page)).filter((id) => id !== "face-what"), [], "640 × 400");
  await other.context.close();
  // An article that has the frame in it, and one of a scene.
  const article = await context.newPage();
  // (A file of text has no icon.)
  await article.goto(`${home}licenses.md`);
  await article.setContent(`<article><h1>Who is called</h1><p>Text before.</p>${frame}<p>Text after.</p></article>`);
  const inside = await (await article.waitForSelector("iframe")).contentFrame();
  await inside.waitForFunction(() => document.documentElement.classList.contains("tried") && location.hash.includes("models=1") && !document.querySelector("#face-train").disabled);
  assert.equal(await inside.textContent("#face-said"), `You find ${turned.you}, A ${first.a}, B ${first.b}.`);
  await article.close();
  // Other people: another draw, with its own numbers. The page itself is one click away, and Back returns from it.
  await page.click("#face-new");
  await page.waitForFunction(() => location.hash.includes("seed=") && document.documentElement.dataset.seed === new URLSearchParams(location.hash.slice(1)).get("seed"));
  await tried(page);
  const { seed } = Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
  const drawn = await counted(Number(seed), 90);
  assert.equal(await said(page), `You find ${drawn.you}, A ${drawn.a}, B ${drawn.b}.`);
  await page.click("#face details summary");
  await page.click('#face a[href="#scene=1.1"]');
  await page.waitForFunction(() => document.querySelector("#scene-text")?.textContent.includes("6,000"));
  await page.click("#scene-next");
  await finished(page);
  await page.waitForFunction(() => !document.querySelector("#scene-text").textContent.includes("…"));
  // What the page sends is its two columns and the sentence of the cut.
  await page.click("#share");
  const sent = String(await save("#send-svg"));
  const [cut, at] = [await page.textContent("#cut-sentence"), await page.textContent("#send-address")];
  assert.ok(sent.includes(`<title>${cut}</title>`) && (sent.match(/<rect/g) ?? []).length > 60);
  await page.click("#send-close");
  const clean = await browser.newContext();
  const same = await clean.newPage();
  await same.goto(at);
  await finished(same);
  assert.equal(await same.textContent("#cut-sentence"), cut);
  await clean.close();
  // (What the page would put into the address soon is not put into that of the first picture.)
  await page.$eval("#cut-range", (range) => {
    range.value = "5";
    range.dispatchEvent(new Event("input"));
    history.go(-2);
  });
  await page.waitForFunction(() => !document.documentElement.classList.contains("whole"));
  await page.waitForTimeout(400);
  assert.match(new URL(page.url()).hash, /^#you=90&seed=/);
  assert.equal(await said(page), `You find ${drawn.you}, A ${drawn.a}, B ${drawn.b}.`);
  await context.close();
});
