// Processor time of the page's thread for a picture: whole tasks from a trace, beside a control loop.
//
//     node demo/web/bench/pictures.mjs [--rounds 3] [--steps 300] [--hash '#data=split'] [--dist DIR] [--beside DIR]
//
// A round plays a run from its start and adds up the thread's time of every task on the page's thread, idle ones too, by pictures. The
// same is done of a page that only asks for as many frames. The control loop is a fixed sum in the same page: figures of two machines
// are compared by it. `--beside` plays another build in turn and prints the ratio. Needs `cargo demo --build-only`; CHROMIUM names the
// browser.

import { parseArgs } from "node:util";
import { TASK, opened, times, traced } from "./traced.mjs";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "3" }, steps: { type: "string", default: "300" }, hash: { type: "string", default: "#data=split" }, dist: { type: "string", default: "dist" }, beside: { type: "string" } } });
const ms = (x) => x.toFixed(1);

/** A build in a browser of its own, whose first run is over. */
async function player(dist) {
  const own = await opened(dist);
  const { page } = own;
  /** Milliseconds of thread time in the tasks of the page's thread, and parts of them, while `work` goes on. */
  const parts = async (work) => {
    const events = await traced(own, ["devtools.timeline", "disabled-by-default-devtools.timeline"], work);
    const sum = (...names) => times(events, ...names).reduce((all, ms) => all + ms, 0);
    return { all: sum(TASK), longest: Math.max(0, ...times(events, TASK)), script: sum("FunctionCall", "FireAnimationFrame", "RunMicrotasks"), layout: sum("UpdateLayoutTree", "Layout"), paint: sum("Paint", "PrePaint", "Layerize", "Commit") };
  };
  const control = () => page.evaluate(() => {
    const begin = performance.now();
    let sum = 0;
    for (let k = 0; k < 2e7; k += 1) sum += Math.sqrt(k % 1000);
    return sum > 0 ? performance.now() - begin : NaN;
  });
  const at = (text) => page.waitForFunction((text) => document.documentElement.dataset.state === "done" && document.documentElement.dataset.draws !== "busy" && document.documentElement.dataset.step === text, text);
  await page.goto(`${own.address}${values.hash}&steps=${values.steps}`);
  await at(values.steps);
  const play = async (round) => {
    await page.click("#reset");
    await page.waitForFunction(() => document.documentElement.dataset.step === "0" && !document.querySelector("#play").disabled);
    const before = await page.evaluate(() => globalThis.undercurve.timings.main.length);
    // (Asking from outside whether it is over would be work of the page's thread.)
    const found = await parts(() => page.evaluate((steps) => new Promise((done) => {
      const watch = new MutationObserver(() => document.documentElement.dataset.step === steps && (watch.disconnect(), done()));
      watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-step"] });
      document.querySelector("#play").click();
    }), values.steps));
    const pictures = (await page.evaluate(() => globalThis.undercurve.timings.main.length)) - before;
    // (The draws behind the headline are there already.)
    await at(values.steps);
    const empty = await parts(() => page.evaluate((frames) => new Promise((done) => {
      const next = () => (frames-- > 0 ? requestAnimationFrame(next) : done());
      next();
    }), pictures));
    console.log(`| ${round} | ${dist} | ${pictures} | ${ms(found.all / pictures)} | ${ms(found.script / pictures)} | ${ms(found.layout / pictures)} | ${ms(found.paint / pictures)} | ${ms(found.longest)} | ${ms(empty.all / pictures)} | ${ms(await control())} ms |`);
    return found.all / pictures;
  };
  return { play, close: own.close };
}

const players = await Promise.all([values.dist, ...(values.beside ? [values.beside] : [])].map(player));
console.log("| round | build | pictures | ms a picture | script | layout | paint | longest task | as many empty frames | control loop |\n|---|---|---|---|---|---|---|---|---|---|");
const all = players.map(() => []);
for (let round = 1; round <= Number(values.rounds); round += 1) for (const [k, one] of players.entries()) all[k].push(await one.play(round));
const [ours, theirs] = all.map((found) => found.sort((a, b) => a - b)[found.length >> 1]);
if (theirs) console.log(`median ${ms(ours)} ms, beside ${ms(theirs)}: ${(theirs / ours).toFixed(2)} times`);
for (const one of players) await one.close();
process.exit(0);
