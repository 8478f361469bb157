// Faults of the page on purpose, each built and shown to the tests: `node test/mutants.mjs [NAME …]`. Long: some 20 s for each.

import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { program } from "./server.mjs";

const run = promisify(execFile);
const root = new URL("..", import.meta.url).pathname;

/** Name, file below `src`, what is there, what is put in its place, and a pattern of the tests that are to fail. */
const MUTANTS = [
  ["no points on the maps", "lane.js", "else draw.scatter(...at, colours);", "", "each picture shows|drawn where they lie"],
  ["no surface on the maps", "draw/surface.js", "    this.spread(context, width, height, rests);\n    context.strokeStyle", "    context.strokeStyle", "drawn where they lie"],
  ["no columns", "views/rankings.js", "column(context, shape, both[name], name, palette, pixels ? 1 : 0);", "", "columns are the rows"],
  ["columns without the first row", "draw/columns.js", "if (place < from) continue;", "if (place <= from) continue;", "columns are the rows|has its place"],
  ["lanes of the columns swapped", "draw/columns.js", 'lane === "a" ? [half, -1] : [width - half, 1]', 'lane === "b" ? [half, -1] : [width - half, 1]', "columns are the rows"],
  ["worst rows first", "ranking.js", "bits[0] : ~bits[0] & 0x7fffffff", "~bits[0] : bits[0] | 0x80000000", "order of their scores|columns are the rows"],
  ["equal scores in any order", "ranking.js", "let from = inTies(count);", "let from = Uint32Array.from({ length: count }, (_, row) => row);", "order of their scores"],
  ["threshold off by one", "ranking.js", "this.places[positives - 1]", "this.places[Math.min(positives, this.positives - 1)]", "counts the rows|one cut"],
  ["counts above the threshold only", "ranking.js", "this.scores[this.order[middle]] >= score", "this.scores[this.order[middle]] > score", "counts the rows|one cut"],
  ["no line in the histogram", "draw/surface.js", "context.fillRect(x - 1, 0, 2, height);", "", "one cut"],
  ["an empty histogram", "draw/surface.js", "if (of[k] > 0) context.rect", "if (of[k] < 0) context.rect", "drawn where they lie"],
  ["curves without dots", "draw/charts.js", "marked = next;", "marked = next && { ...next, dots: [] };", "one cut"],
  ["ROC and precision–recall exchanged", "views/curves.js", "[[...a.roc], [...b.roc]]", "[[...a.pr], [...b.pr]]", "drawn where they lie"],
  ["no curves", "views/curves.js", "put(\"pr\", grid, [grid.map(() => share), [...a.pr], [...b.pr]],", "put(\"pr\", grid, [null, null, null],", "drawn where they lie"],
  ["the cut does not follow the pointer", "views/rankings.js", "if (both) want(", "if (!both) want(", "one cut|finger"],
  ["the sentence of the cut with the lanes swapped", "told.js", "shows ${count(a.wrong)} ${many(a.wrong,", "shows ${count(b.wrong)} ${many(b.wrong,", "sentence of a cut|one cut"],
  ["facts of the other lane", "facts.js", "const { test } = shots[lane];", 'const { test } = shots[lane === "a" ? "b" : "a"];', "scenes to their end"],
  ["a stale scene", "views/scenes.js", "seen.value, ranked.value, cut.value, summary.value, !playing.value]", "seen.peek(), ranked.peek(), cut.peek(), summary.peek(), !playing.peek()]", "scenes to their end"],
  ["a scene that sets no controls", "views/scenes.js", "    state.value = next;\n", "    state.value = { ...state.peek(), scene: place };\n", "scenes to their end"],
  ["small text in lectures", "style.css", ".lecture #scene-text { min-height: 96px; font-size: 22px;", ".lecture #scene-text { min-height: 96px; font-size: 16px;", "scenes to their end"],
  ["right digits framed", "draw/columns.js", "if (positive) continue;", "if (!positive) continue;", "digits are drawn"],
  ["drags begin at step 0", "runs.js", "createTrainer({ ...options(name, of), start, steps: few })", "createTrainer({ ...options(name, of), steps: few })", "range of false-positive rates is dragged"],
  ["nobody is ahead by a hair, but told", "told.js", "if (level === n && !said.startsWith(\"neither\")) parts", "if (level > n) parts", "nobody is ahead|says who is ahead"],
  ["chance is no bound", "told.js", "if (!values.some((value) => leads(value, chance)))", "if (!values.length)", "nobody is ahead"],
  ["the table stays with one run", "views/table.js", "const [now, all] = [seen.value, summary.value];", "const [now, all] = [seen.value, null];", "every number of the result"],
  ["the cut drawn from ranks", "lane.js", "this.surface.level(context, width, height, snapshot.surfaceScores, this.cut.threshold, rests);", "this.surface.level(context, width, height, snapshot.surface, this.cut.left / (this.cut.left + this.cut.wrong), rests);", "a straight line on its map"],
  ["hands that change one lane alone", "runs.js", "await goOn(now.given ? LANES : touched(now), now.given);", "await goOn(touched(now), now.given);", "by the mouse"],
  ["hands that begin at step 0", "views/hands.js", "answered = follow({ edits }, given);", "answered = null;", "by the mouse"],
  ["flips that the trainers do not see", "runs.js", "createTrainer({ ...options(name, of), start, steps: few })", "createTrainer({ ...options(name), start, steps: few })", "by the mouse"],
  ["held-out rows follow unasked", "hands.js", "deed.training ? { ...test } : one(test", "false ? { ...test } : one(test", "by the mouse|each deed does"],
  ["points that stay where they were on the map", "views/hands.js", "lanes[name].hand(opened.peek(), given);", "", "by the mouse"],
  ["maps that move under the hand", "views/headline.js", 'if (shown.hands) about.push("Some rows were changed by hand.");\n  else if (data === "split")', 'if (shown.hands) about.push("Some rows were changed by hand. ".repeat(9));\n  if (data === "split")', "by the mouse"],
  ["Back does not undo", "views/hands.js", 'history.pushState({ step: true, deed: true }, "", location.href);', "", "by the mouse"],
  ["a cluster of both classes", "hands.js", "is = (row) => y[row] === label && ", "is = (row) => ", "cluster"],
  ["keys that move down where up was asked", "views/hands.js", "ArrowUp: [0, 1], ArrowDown: [0, -1]", "ArrowUp: [0, -1], ArrowDown: [0, 1]", "by keys"],
  ["the last rows of a class erased", "hands.js", "positives >= KEPT && y.length - positives >= KEPT", "positives >= 0", "refused|by keys"],
  ["the dial turned the other way", "draw/dial.js", "Math.atan2(height / 2 - y, x - width / 2)", "Math.atan2(y - height / 2, x - width / 2)", "turned by hand"],
  ["lanes of the dial without their scaling", "views/dial.js", "params[k] * (columns?.[k][1] ?? 1)", "params[k]", "turned by hand"],
  ["the dial drawn from its far end", "draw/dial.js", "((degree + 180) / 360) * wide", "((180 - degree) / 360) * wide", "turned by hand"],
  ["AUROC of the dial against positives", "directions.js", "auroc += here * (1 - negative / all);", "auroc += here * (1 - negative / sorted.length);", "turned by hand"],
  ["who beats whom exchanged", "views/dial.js", "leads(mine, values[name].ap)", "leads(values[name].ap, mine)", "turned by hand"],
  ["the arrows' sign", "sees-worker.js", "share: gradient.map((one) => -one / whole)", "share: gradient.map((one) => one / whole)", "what the losses see"],
  ["arrows of another lane", "views/sees.js", "const { batch, share } = now[name];", "const { batch, share } = now.a;", "what the losses see"],
  ["arrows twice as long in one lane", "draw/sees.js", "const long = lengthOf(share);", 'const long = lengthOf(share) * (lane === "b" ? 2 : 1);', "what the losses see"],
  ["arrows across the slope", "draw/sees.js", "[dx / long, -dy / long]", "[dx / long, dy / long]", "what the losses see"],
  ["positives that lose to positives", "views/sees.js", "!y[k] && scores[k] >= bar", "scores[k] >= bar", "what the losses see"],
  ["negatives that nobody rings", "draw/sees.js", "if (!lit && !picked) continue;", "if (!picked) continue;", "what the losses see"],
  ["code without its settings", "code.js", "...(Object.keys(settings).length && { settings })", "", "copied as code"],
  ["code of the other lane", "views/code.js", "const of = shown(name);", 'const of = shown(name === "a" ? "b" : "a");', "copied as code"],
  ["code with the drawn rows, whatever was done by hand", "views/code.js", "byHand: Boolean(rows.peek().hands)", "byHand: false", "copied as code"],
  ["terms without their meaning", "glossary.js", "tip.textContent = TERMS[term.dataset.term];", "", "says what it means"],
  ["a frame that begins with the first scene", "main.js", 'const first = `${asked.get("embed")}.1`;', 'const first = "";', "in a frame of another page"],
  ["curves over the maps of a frame", "style.css", ".embed .curves { display: none; }", "", "in a frame of another page"],
  ["a band on a plain axis", "band.js", "return this.near ? 100 * stretch(percent / 100) : percent;", "return percent;", "band near 0"],
  ["a stretched curve of the coarse points", "views/curves.js", "const xs = exact ? stretched : grid;", "const xs = grid;", "band near 0"],
  ["a ROC curve that ignores ties", "ranking.js", "const share = to[0] > at ? (at - from[0]) / (to[0] - from[0]) : 1;", "const share = 1;", "ROC curve at any rate"],
  ["counts without logarithms", "draw/surface.js", "(log ? Math.log1p(count) / Math.log1p(most) : count / most)", "count / most", "drawn where they lie"],
  ["columns that are dropped and train all the same", "runs.js", "impute, ignore, categorical, share: 0.6", "impute, categorical, share: 0.6", "columns of a file"],
  ["positives that count as one", "runs.js", "{ positive, weight }", "{ positive }", "columns of a file"],
  ["a Parquet file without its last row", "parquet.js", "...read.map(line)]", "...read.slice(1).map(line)]", "columns of a file"],
  ["a visit of the workbench trains anew", "main.js", "if (shown === trained() && all !== whole()", "if (shown === \"\" && all !== whole()", "workbench is a page"],
  ["a change that Back does not return from", "runs.js", "if (step) pushAddress(true);", "if (step) pushAddress();", "each change by hand"],
  ["each move of the band is a step back", "runs.js", "else pushAddress(!following.moving);", "else pushAddress(true);", "each change by hand"],
  ["a cut that Back does not return from", "views/cut.js", "pushSoon(true);", "pushSoon();", "each change by hand"],
  ["an own file that begins with a loss", "own.js", "{ model: MODELS, lanes: modelsFirst(MODELS), steps", "{ model: \"linear\", lanes: modelsFirst(\"linear\"), steps", "an own file begins"],
  ["the line's lane has the network", "state.js", "at(lane === \"a\" ? 0 : -1)", "at(lane === \"b\" ? 0 : -1)", "an own file begins"],
  ["networks of an own file for as long as drawn data", "own.js", "Math.max(6000, ", "Math.max(300, ", "an own file begins"],
  ["a column in doubt that trains unasked", "inspect.js", "checked: !out && !column.doubt, disabled", "checked: !out, disabled", "in doubt"],
  ["a column that gives the label away, and nothing said", "inspect.js", ".alone >= AWAY", ".alone > 1", "columns of a file|what is said of columns"],
  ["words of columns that are left out", "inspect.js", "!dropped.has(column.name) && !taken(column, rows).out", "!taken(column, rows).out", "what is said of columns"],
  ["Windows-1252 is refused", "own.js", "/is not UTF-8/.test(error.message)", "/is no UTF-8/.test(error.message)", "as spreadsheets write"],
  // What a first visit meets.
  ["a line that calls from the other side", "face.js", "c * X[2 * k] + s * X[2 * k + 1]", "-c * X[2 * k] - s * X[2 * k + 1]", "a first visit"],
  ["a line that turns the other way", "face.js", "Math.atan2(height / 2 - y, x - width / 2)", "Math.atan2(y - height / 2, x - width / 2)", "a first visit"],
  ["one call too few", "face.js", "found: ranking.before(CALLS)", "found: ranking.before(CALLS - 1)", "a first visit"],
  ["models of the first picture exchanged", "face.js", "lanes(\"two\")[lane]", "lanes(\"two\")[lane === \"a\" ? \"b\" : \"a\"]", "a first visit"],
  ["models of the first picture that stop early", "face.js", "done < steps; ) {", "done < steps / 2; ) {", "a first visit"],
  ["people of the draw before", "face.js", "[rows, drawn, all] = [next, seed, {}];", "[rows, drawn, all] = [rows ?? next, seed, {}];", "a first visit"],
  ["terms of the glossary on the first picture", "face.js", "Turn the line to choose whom:", "Raise precision:", "a first visit"],
  ["a first picture that scrolls on a phone", "face.css", "#face-what { min-height: 7em; font-size: 14px; }", "#face-what { min-height: 27em; font-size: 14px; }", "a first visit"],
  ["a first picture without its question", "face.js", "$(\"face-question\").replaceChildren(", "void (", "a first visit"],
  ["charts of the page with the first picture", "face.js", "import { rates } from", "import uPlot from \"uplot\";\nglobalThis.uPlot = uPlot;\nimport { rates } from", "a first visit"],
  // What is sent, and its address.
  ["a link without the line", "face-address.js", "`#you=${you}", "`#you=0", "a first visit"],
  ["a link without the models", "face-address.js", "${models ? \"&models=1\" : \"\"}", "", "a first visit|only looks"],
  ["a link without its draw", "face-address.js", "${seed === 1 ? \"\" : `&seed=${seed}`}", "", "a first visit"],
  ["a frame of another line", "face.js", "embed: `?embed=face${address.write(at)}`", "embed: `?embed=face${address.write({ ...at, you: 0 })}`", "a first visit"],
  ["a picture with fewer calls", "draw/sent.js", "{ length: calls }", "{ length: calls - 1 }", "a first visit"],
  ["a picture whose calls are all right", "draw/sent.js", "${ill ? \"\" : ' opacity=\".22\"'}", "", "a first visit"],
  ["a picture without its sentence", "draw/sent.js", "<title>${safe(sentence)}</title>", "<title></title>", "a first visit"],
  ["a turn of the line that Back does not return from", "face.js", "history[step ? \"pushState\" : \"replaceState\"]", "history.replaceState", "a first visit"],
  ["Back to the first picture that the page takes over", "store.js", "if (placed && globalThis.location && isFace()) return;", "", "a first visit"],
  ["nothing is kept", "face.js", "return navigator.serviceWorker.register(\"./offline.js\");", "return undefined;", "only looks|with its server"],
  ["the page behind the first picture is not kept", "offline.js", "event.data === \"page\" ? PAGE : [...PAGE, ...LATER]", "LATER", "with its server"],
  ["the kept files do not answer", "offline.js", "if (found) return found;", "", "only looks|with its server"],
  ["a first visit that is not kept", "offline.js", "await kept.addAll(await missing(kept, FIRST));", "", "only looks|with its server"],
  ["words of no data", "nouns.js", "(plain ? PEOPLE : PLAIN)", "PLAIN", "one cut"],
  ["a lane at its best moments that is its end", "repeats.js", "peak = Math.max(peak, shot.test[metric]);", "peak = shot.test[metric];", "every number of the result"],
  ["scenes of one lane that show two", "style.css", ".one-lane :is(#lane-b, ", ".one-lane :is(", "scenes to their end"],
  ["no limits on addresses", "state.js", "widths.every((units) => units <= MOST.units)", "widths.every((units) => units > 0)", "address beyond the limits"],
];

const chosen = process.argv.slice(2);
/** The test files, and the names of their tests: a fault is shown to the files that have a test of its pattern. */
const FILES = await Promise.all(["ranking", "deeds", "told", "gestures", "hands", "browser", "face"].map(async (name) => {
  const file = `test/${name}.test.mjs`;
  return { file, tests: [...(await readFile(join(root, file), "utf8")).matchAll(/^ *test\(["`](.*?)["`]/gm)].map(([, test]) => test.replace("${host}", "its server")) };
}));
// (Before any is built, each must be there to be made.)
for (const [name, file, from, , pattern] of MUTANTS) {
  if (!FILES.some(({ tests }) => tests.some((test) => RegExp(pattern).test(test)))) throw new Error(`${name}: no test is called ${pattern}`);
  const found = (await readFile(join(root, "src", file), "utf8")).split(from).length - 1;
  if (found !== 1) throw new Error(`${name}: ${file} has “${from}” ${found} times`);
}
const home = await mkdtemp(join(tmpdir(), "undercurve-mutants-"));
let survived = 0;
for (const [name, file, from, to, pattern] of MUTANTS) {
  if (chosen.length && !chosen.some((one) => name.includes(one))) continue;
  const folder = join(home, "demo/web");
  await rm(home, { recursive: true, force: true });
  // (The built package beside the page is used as it is.)
  for (const part of ["index.html", "screenshot.png", "package.json", "vite.config.js", "src", "samples", "test"]) await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await symlink(join(root, "../../wasm"), join(home, "wasm"));
  const path = join(folder, "src", file);
  await writeFile(path, (await readFile(path, "utf8")).replace(from, () => to));
  await run("npx", ["vite", "build", "--logLevel", "error"], { cwd: folder });
  const tests = FILES.filter(({ tests }) => tests.some((test) => RegExp(pattern).test(test))).map(({ file }) => file);
  const env = { ...process.env, UNDERCURVE_LONG: "1", PATIENCE: process.env.PATIENCE ?? "15000", PAGE_DIST: join(folder, "dist"), PAGE_SERVER: program };
  const killed = await run(process.execPath, ["--test", `--test-name-pattern=${pattern}`, ...tests], { cwd: folder, env }).then(() => [], ({ stdout }) => [...stdout.matchAll(/^(?:✖|not ok \d+ -) (.*?)(?: \([\d.]+ms\))?$/gm)].map(([, test]) => test).filter((test) => !/failing tests|\.mjs$/.test(test)));
  if (!killed.length) survived += 1;
  console.log(`${killed.length ? "killed" : "SURVIVED"}: ${name}${killed.length ? ` (${killed[0]})` : ""}`);
}
await rm(home, { recursive: true, force: true });
console.log(survived ? `${survived} survived` : "none survived");
process.exitCode = survived ? 1 : 0;
