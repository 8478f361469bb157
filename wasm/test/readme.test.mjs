// The JavaScript of the README, of the guide and of the package's own page runs as it is printed, from the packed package. Needs `cargo demo --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { entry } from "./packed.mjs";

const [undercurve, files, objective] = await Promise.all(["undercurve", "undercurve/files", "undercurve/objective"].map(entry));

const texts = await Promise.all(["README.md", "core/src/guide/javascript.md", "wasm/js/README.md"].map((name) => readFile(new URL(`../../${name}`, import.meta.url), "utf8")));
const examples = texts.flatMap((text) => [...text.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code));

const packages = {
  undercurve,
  "undercurve/files": files,
  "undercurve/objective": objective,
  "node:fs/promises": {
    readFile: (name) => readFile(new URL(`../../${name}`, import.meta.url)),
    writeFile: async (name, bytes) => written.set(name, bytes),
  },
};
const written = new Map();

/** What an example prints, line by line. */
async function printed(code) {
  const lines = code.trim().split("\n");
  assert.ok(lines.length <= 20);
  const imports = lines.map((line) => line.match(/^import \{ ([\w, ]+) \} from "([\w:/]+)";/)).filter(Boolean);
  const given = imports.flatMap(([, names, from]) => names.split(", ").map((name) => [name, packages[from][name]]));
  const out = [];
  const body = lines.slice(imports.length).join("\n");
  const run = new Function(...given.map(([name]) => name), "console", `return (async () => {${body}\n})()`);
  await run(...given.map(([, value]) => value), { log: (...words) => out.push(words) });
  return out;
}

test("a model from a file scores rows as the command line and the library do", async () => {
  const [[what, ap], ...rows] = await printed(examples[0]);
  assert.ok(what === "test AP" && ap > 0.6 && ap < 0.9, `${what} ${ap}`);
  const golden = await readFile(new URL("../../tests/golden/readme.scores.csv", import.meta.url), "utf8");
  const [, ...lines] = golden.trim().split("\n").map((line) => line.split(","));
  assert.deepEqual(rows, lines.slice(0, 5).map(([kind, score]) => [kind, Math.fround(score)]));
  const model = await files.Model.load(written.get("model.uc"));
  const { scores } = model.predict(await packages["node:fs/promises"].readFile("demo/web/samples/page-blocks.csv"));
  lines.forEach(([, score], row) => assert.equal(scores[row], Math.fround(score)));
});

test("the examples of the guide run", async () => {
  assert.equal(examples.length, 12);
  const [[ap, params]] = await printed(examples[1]);
  assert.ok(ap > 0.2 && ap <= 1, `average precision ${ap}`);
  assert.equal(params.length, 3);
  const [[verdict, value, noise, groups]] = await printed(examples[2]);
  assert.ok(["met", "cannot tell"].includes(verdict) && value < 0.05 && noise < 0.05, `${verdict}: ${value} ± ${noise}`);
  assert.deepEqual(groups.map(([group, auroc]) => [group, auroc > 0.7]), [["North", true], ["South", true]]);
  const [half, whole, [runs, reason, best]] = await printed(examples[3]);
  assert.deepEqual([half[0], whole[0], runs], [100, 200, 24]);
  assert.ok(best >= whole[1] && whole[1] > 0.1 && /CPU/.test(reason), `${half} ${whole} ${best}`);
  const [[auroc, precision, points, loss, count, why], [ramp]] = await printed(examples[4]);
  assert.ok(auroc > 0.7 && precision > 0.05 && points > 100 && loss > 1 && /CPU/.test(why), `${auroc} ${precision} ${loss}`);
  assert.ok(count === 100_000 && ramp < 0 && ramp > -1, `${count} ${ramp}`);
  const [[left, aux, right, bytes]] = await printed(examples[5]);
  assert.ok(Math.abs(left) < 0.3 && aux.length === 3 && aux[0] > aux[1] && right && bytes > 40, `${left} ${aux} ${right} ${bytes}`);
});

// (The two of a file and another process run in pack.test.mjs, as processes; the ones in TypeScript there and in tfjs.test.mjs.)
test("the examples of the package's own page run", async () => {
  const [[average, ends], [p], [threshold]] = await printed(examples[8]);
  assert.ok(average > 0.9 && ends[0] < ends[1] && p > 0 && p <= 1 && threshold > 0.2, `${average} ${ends} ${p} ${threshold}`);
  const [[ap], [params], [scores]] = await printed(examples[9]);
  assert.ok(ap > 0.2 && ap <= 1 && params.length === 3 && scores.length === 2, `average precision ${ap}`);
  assert.equal(scores[0], scores[1]);
  const [[value, gradient]] = await printed(examples[10]);
  assert.ok(value > -1 && value < 0 && gradient[1] < 0 && gradient[2] > 0, `${value} ${gradient}`);
  const [[weights, reached]] = await printed(examples[11]);
  assert.ok(weights[0] > 1 && weights[1] > 1 && reached < -0.3, `${weights} ${reached}`);
});
