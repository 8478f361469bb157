// The packed package in an empty folder: in Node, through bundlers, and their output in a browser. Needs `cargo demo --build-only`.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { cp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { install } from "./packed.mjs";

const require = createRequire(new URL("../../demo/web/package.json", import.meta.url));
const tool = async (name) => import(pathToFileURL(require.resolve(name)));
const { folder, installed, packed } = await install();
after(() => rm(folder, { recursive: true }));

/** A session, methods of the other modules, exact sums, objectives, and the former in workers: the same numbers. */
const main = (entry, worker, given = "{}") => `
import { Exact, Session, createObjective, synthetic, init } from "${entry}";
import { createExact, createTrainer } from "${worker}";
const given = ${given};
const same = (a, b) => a.length > 0 && a.length === b.length && a.every((x, at) => x === b[at]);
async function work() {
  await init(given.wasm?.train);
  const data = synthetic("split", { rows: 400, testRows: 400, positives: 0.1 });
  const options = { ...data, method: { name: "soap" }, seed: 3, steps: 40 };
  const session = await Session.create(options);
  session.advance({ steps: 40 });
  for (const change of [{ method: "ap-exact" }, { method: "svrg" }, { groups: Uint32Array.from(data.y, (_, row) => row % 2), test: undefined }]) {
    const other = await Session.create({ ...options, ...change });
    other.advance({ steps: 4 });
    other.dispose();
  }
  const scores = Float32Array.from(data.y, (y, row) => y + Math.sin(row));
  const exact = await Exact.create({ y: data.y, backend: "cpu" });
  const here = await exact.ap(scores);
  const trainer = await createTrainer({ ...options, ...given });
  await trainer.advance({ steps: 40 });
  const far = await createExact({ y: data.y, backend: "cpu", ...given });
  const there = await far.ap(scores);
  const objective = await createObjective({ name: "ap-exact", y: data.y, settings: { link: "identity", surrogate: "squared-hinge" } });
  const alone = objective.gradient(scores);
  const right = same(session.params(), await trainer.params()) && here.value === there.value && same(here.gradient, there.gradient) && same(exact.sync.ap(scores).gradient, here.gradient) && Math.abs(alone.value - here.value) < 1e-12;
  const soap = await createObjective({ name: "soap", y: data.y });
  soap.gradient(scores);
  for (const one of [session, exact, trainer, far, objective, soap]) one.dispose();
  return right ? "the same" : "differs";
}
const told = await work().catch((error) => String(error?.stack ?? error));
if (globalThis.document) document.title = told;
else console.log(told);
`;
await writeFile(join(folder, "inline.js"), main("undercurve/inline", "undercurve/inline"));
await writeFile(join(folder, "plain.js"), main("undercurve", "undercurve/worker"));
const OTHERS = ["whole", "sums", "groups", "pairs", "exact", "objective"];
const urls = `{ wasm: { train: fetch("./undercurve_bg.wasm"), ${OTHERS.slice(0, 5).map((name) => `${name}: fetch("./undercurve_${name}_bg.wasm")`).join(", ")} }, worker: () => new Worker("./host.js", { type: "module" }) }`;
// (Each fetch is read once.)
const twice = `((make) => ({ get wasm() { return make().wasm; }, worker: make().worker }))(() => (${urls}))`;
await writeFile(join(folder, "urls.js"), main("undercurve", "undercurve/worker", twice).replace("await init", `const loads = await import("undercurve"); ${OTHERS.map((name) => `await loads.init${name[0].toUpperCase()}${name.slice(1)}(fetch("./undercurve_${name}_bg.wasm")); `).join("")} await init`));

const node = (script) => execFileSync(process.execPath, [join(folder, script)], { cwd: folder, encoding: "utf8", timeout: 60_000 }).trim();
const out = (name) => join(folder, "out", name);
const BUNDLERS = {
  async esbuild(from, to) {
    const { build } = await tool("esbuild");
    await build({ entryPoints: [join(folder, from)], bundle: true, format: "esm", outfile: to, logLevel: "silent" });
  },
  async rolldown(from, to) {
    const { rolldown } = await tool("rolldown");
    const bundle = await rolldown({ input: join(folder, from), platform: "browser", logLevel: "silent" });
    await bundle.write({ file: to, format: "esm", codeSplitting: false });
  },
  async vite(from, to) {
    const { build } = await tool("vite");
    const [dir, name] = [join(to, ".."), to.split("/").pop()];
    const rolldownOptions = { input: join(folder, from), output: { entryFileNames: name } };
    await build({ root: folder, base: "./", logLevel: "silent", configFile: false, build: { outDir: dir, emptyOutDir: false, target: "esnext", modulePreload: false, rolldownOptions } });
  },
};

/** What `npm ci` in this folder installs. */
const mine = createRequire(import.meta.url);
const installedHere = (name) => existsSync(new URL(`node_modules/${name}`, import.meta.url));
if (installedHere("rollup"))
  BUNDLERS.rollup = async (from, to) => {
    const { rollup } = await import(pathToFileURL(mine.resolve("rollup")));
    const resolveId = (id) => (id.startsWith("undercurve/") ? join(installed, `${id.split("/")[1]}.js`) : null);
    const bundle = await rollup({ input: join(folder, from), plugins: [{ name: "here", resolveId }], onwarn: () => {} });
    await bundle.write({ file: to, format: "es", inlineDynamicImports: true });
  };
if (installedHere("webpack"))
  BUNDLERS.webpack = async (from, to) => {
    const { default: webpack } = await import(pathToFileURL(mine.resolve("webpack")));
    const output = { path: join(to, ".."), filename: to.split("/").pop(), module: true, chunkFormat: "module" };
    const options = { mode: "production", context: folder, entry: join(folder, from), target: "es2022", experiments: { outputModule: true, topLevelAwait: true }, output, optimization: { minimize: false }, performance: false };
    const stats = await new Promise((done, fail) => webpack(options, (error, stats) => (error ? fail(error) : done(stats))));
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  };

const page = await readFile(join(installed, "README.md"), "utf8");
const snippets = (language) => [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g"))].map(([, code]) => code);

test("the tarball says what it is, and holds nothing else", () => {
  const files = packed.files.map(({ path }) => path);
  for (const name of ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "package.json", "inline.js", "worker-host.js"]) assert.ok(files.includes(name), name);
  assert.ok(files.every((name) => /\.(js|d\.ts|wasm|json|md)$|^LICENSE/.test(name)), files.join(" "));
  const about = JSON.parse(execFileSync("cat", [join(installed, "package.json")], { encoding: "utf8" }));
  assert.ok(about.engines.node && about.keywords.length > 3 && about.license === "MIT OR Apache-2.0");
});

test("in Node sessions, exact sums and workers give the same numbers", () => {
  for (const script of ["plain.js", "inline.js"]) assert.equal(node(script), "the same", script);
});

test("a CSV file becomes a model, and another process scores a raw row, as the command line does", async (t) => {
  const cell = (row) => [18 + ((row * 29) % 60), ["Bonn", "Ulm", "Trier"][row % 3], (row * 29) % 60 > 40 === (row % 9 > 0) ? "yes" : "no"];
  await writeFile(join(folder, "own.csv"), `age,city,bought\n${Array.from({ length: 400 }, (_, row) => cell(row).join(",")).join("\n")}\n`);
  const [train, score] = snippets("js").filter((code) => code.includes("own.uc"));
  assert.ok(train.trim().split("\n").length + score.trim().split("\n").length <= 20);
  await writeFile(join(folder, "train.js"), train);
  await writeFile(join(folder, "score.js"), score);
  const [ap, told] = [Number(node("train.js")), Number(node("score.js"))];
  assert.ok(ap > 0.5 && ap <= 1, `AP ${ap}`);
  const command = process.env.UNDERCURVE_COMMAND ?? new URL("../../target/debug/undercurve", import.meta.url).pathname;
  if (!existsSync(command)) return t.diagnostic(`the command line is not built (${command}): its bits were not compared`);
  await writeFile(join(folder, "row.csv"), "age,city\n31,Bonn\n");
  const predicted = execFileSync(command, ["predict", "own.uc", "row.csv"], { cwd: folder, encoding: "utf8" }).split("\n")[1].split(",")[0];
  assert.equal(told, Math.fround(Number(predicted)));
  t.diagnostic(`score ${told}, in both`);
});

test("the page's first snippets run, each in a program of its own", async () => {
  const first = snippets("js").filter((code) => !code.includes("node:fs"));
  assert.equal(first.length, 4);
  for (const [k, code] of first.entries()) {
    await writeFile(join(folder, `snippet${k}.js`), code);
    assert.match(node(`snippet${k}.js`), /\d/);
  }
});

const tsc = new URL("node_modules/typescript/bin/tsc", import.meta.url).pathname;
test("its types compile with and without those of a page, and mistakes do not", { skip: !existsSync(tsc) && "TypeScript is not installed: npm ci in wasm/test" }, async (t) => {
  const types = new URL("types/", import.meta.url).pathname;
  for (const name of ["uses.ts", "mistakes.ts"]) await cp(join(types, name), join(folder, name));
  for (const lib of [["es2022"], ["es2022", "dom"]]) {
    for (const how of [["node16", "node16"], ["esnext", "bundler"]]) {
      const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, noUncheckedIndexedAccess: true, target: "es2022", types: [], lib, module: how[0], moduleResolution: how[1] };
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["uses.ts", "mistakes.ts"] }));
      const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { cwd: folder, encoding: "utf8" });
      assert.equal(status, 0, `${lib}, ${how[1]}:\n${stdout}`);
    }
  }
  // (A mistake that compiles is an error, as its line says that it is expected to be one.)
  const mistakes = (await readFile(join(types, "mistakes.ts"), "utf8")).match(/@ts-expect-error/g).length;
  t.diagnostic(`${mistakes} deliberate mistakes`);
  assert.ok(mistakes >= 20);
});

test("what bundlers make of it works in Node", async () => {
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    await bundle("inline.js", out(`inline-${name}.js`));
    assert.equal(node(`out/inline-${name}.js`), "the same", name);
  }
});

test("what bundlers make of it works in a browser", { skip: !process.env.CHROMIUM && "CHROMIUM is not set" }, async (t) => {
  await BUNDLERS.vite("plain.js", out("plain-vite.js"));
  await BUNDLERS.esbuild("urls.js", out("urls-esbuild.js"));
  for (const name of ["host.js", "worker.js"]) await BUNDLERS.esbuild("node_modules/undercurve/worker-host.js", out(name));
  // The two snippets for bundlers that copy no files, as they are printed.
  const [init, trainer] = snippets("ts").filter((code) => code.includes('from "undercurve'));
  const body = 'init().then(() => trainer.advance({ steps: 9 })).then(({ step }) => (document.title = step === 9 ? "the same" : `step ${step}`), (error) => (document.title = String(error)));';
  await writeFile(join(folder, "snippets.ts"), `${init}\nimport { synthetic } from "undercurve";\nconst { X, y, dims } = synthetic("split");\n${trainer}\n${body}`);
  await BUNDLERS.esbuild("snippets.ts", out("snippets-esbuild.js"));
  for (const name of ["undercurve_bg.wasm", ...OTHERS.map((name) => `undercurve_${name}_bg.wasm`)]) await cp(join(installed, "pkg", name), out(name));
  const types = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:";
  const server = createServer(async ({ url }, response) => {
    const page = url.match(/^\/([\w-]+)\.html$/);
    const type = types[url.split(".").pop()];
    const body = page ? `<!doctype html><title>-</title><script type="module" src="./${page[1]}.js"></script>` : await readFile(join(folder, "out", url)).catch(() => null);
    response.writeHead(body ? 200 : 404, { "content-type": type ?? "text/plain", "content-security-policy": policy }).end(body ?? "");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { chromium } = (await tool("playwright-core")).default;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  try {
    for (const name of (await readdir(out(""))).filter((name) => /^(inline|plain|urls|snippets)-\w+\.js$/.test(name))) {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/${name.replace(".js", ".html")}`);
      await page.waitForFunction(() => document.title !== "-", undefined, { timeout: 60_000 });
      t.diagnostic(`${name}: ${await page.title()}`);
      assert.equal(await page.title(), "the same", name);
      await page.close();
    }
  } finally {
    await browser.close();
    server.close();
  }
});
