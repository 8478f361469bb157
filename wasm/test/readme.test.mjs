// The JavaScript of the README runs as it is printed. Needs `undercurve serve --build-only` first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import * as undercurve from "../js/index.js";

test("the example of the README runs", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const [, code] = readme.match(/```js\n([^]*?)```/);
  assert.ok(code.split("\n").length <= 16);
  const [head, ...body] = code.split("\n");
  assert.equal(head, 'import { Session, init } from "undercurve";');
  const lines = [];
  const run = new Function("Session", "init", "console", `return (async () => {${body.join("\n")}})()`);
  await run(undercurve.Session, undercurve.init, { log: (...words) => lines.push(words) });
  const [[ap, params]] = lines;
  assert.ok(ap > 0.2 && ap <= 1, `average precision ${ap}`);
  assert.equal(params.length, 3);
});
