// The JavaScript of the README runs as it is printed. Needs `undercurve serve --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import * as undercurve from "../js/index.js";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
const examples = [...readme.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);

/** What an example prints, line by line. */
async function printed(code) {
  assert.ok(code.split("\n").length <= 16);
  const [head, ...body] = code.split("\n");
  const [, names] = head.match(/^import \{ ([\w, ]+) \} from "undercurve";$/);
  const lines = [];
  const given = names.split(", ");
  const run = new Function(...given, "console", `return (async () => {${body.join("\n")}})()`);
  await run(...given.map((name) => undercurve[name]), { log: (...words) => lines.push(words) });
  return lines;
}

test("the examples of the README run", async () => {
  assert.equal(examples.length, 2);
  const [[ap, params]] = await printed(examples[0]);
  assert.ok(ap > 0.2 && ap <= 1, `average precision ${ap}`);
  assert.equal(params.length, 3);
  const [[verdict, value, noise, groups]] = await printed(examples[1]);
  assert.ok(["met", "cannot tell"].includes(verdict) && value < 0.05 && noise < 0.05, `${verdict}: ${value} ± ${noise}`);
  assert.deepEqual(groups.map(([group, auroc]) => [group, auroc > 0.7]), [["North", true], ["South", true]]);
});
