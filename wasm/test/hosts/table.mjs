// Every part of the packed package on every host, as a table. Needs `cargo demo --build-only`, `npm ci` in demo/web, here and in the
// folder above, and a Chromium (CHROMIUM). Prints Markdown; ends with 1 if a cell is lost that was not said to be.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { install } from "../packed.mjs";

const COLUMNS = ["session", "others", "worker", "objective", "Exact", "worker Exact", "files"];
const here = new URL(".", import.meta.url).pathname;
const only = process.argv.slice(2);
const { folder, installed } = await install();
const out = (...names) => join(folder, "out", ...names);
const requires = ["../../../demo/web/package.json", "../package.json", "package.json"].map((name) => createRequire(new URL(name, import.meta.url)));

/** Where a tool is, in one of the three folders. */
function place(name) {
  for (const require of requires) {
    try {
      return require.resolve(name);
    } catch {}
  }
  throw new Error(`${name} is not installed`);
}
const tool = async (name) => import(pathToFileURL(place(name)));
const version = async (name) => {
  const at = place(`${name}/package.json`);
  return JSON.parse(await readFile(at, "utf8")).version;
};
const run = promisify(execFile);
/** The program that a package has for this machine, in a package beside it. */
async function binary(scope, name) {
  const folder = join(here, "node_modules", scope);
  const found = (await readdir(folder, { recursive: true }).catch(() => [])).find((path) => path.split("/").pop() === name);
  if (!found) throw new Error(`${name} is not installed`);
  return join(folder, found);
}

/** A program: its entries, and what the host is told. */
const program = ({ index = "undercurve", worker = "undercurve/worker", objective = "undercurve/objective", files = "undercurve/files", given = "{}", cells = "./cells.js" }) => `
import * as index from "${index}";
import * as worker from "${worker}";
import * as objective from "${objective}";
import * as files from "${files}";
import { cells, tell } from "${cells}";
tell(() => cells({ index, worker, objective, files }, ${given}));
`;
const inline = "undercurve/inline";
const beside = `{ filesAt: new URL("./undercurve_files_bg.wasm", location.href) }`;
const addresses = `{
  async init() {
    await index.init(new URL("./undercurve_bg.wasm", location.href));
    for (const name of ["Whole", "Sums", "Groups", "Objective", "Pairs", "Exact"]) await index[\`init\${name}\`](new URL(\`./undercurve_\${name.toLowerCase()}_bg.wasm\`, location.href));
  },
  apart: () => ({
    worker: () => new Worker("./host.js", { type: "module" }),
    wasm: { train: fetch("./undercurve_bg.wasm"), pairs: fetch("./undercurve_pairs_bg.wasm") },
  }),
  filesAt: new URL("./undercurve_files_bg.wasm", location.href),
}`;
await cp(join(here, "cells.js"), join(folder, "cells.js"));
await writeFile(join(folder, "plain.js"), program({}));
await writeFile(join(folder, "inline.js"), program({ index: inline, worker: inline, objective: inline, given: beside }));
await writeFile(join(folder, "addresses.js"), program({ given: addresses }));
const page = (script) => `<!doctype html><title>-</title><script type="module" src="./${script}"></script>`;
await mkdir(out("files"), { recursive: true });

/** The page of a bundle, with the modules beside it. */
async function bundled(name, bundle, from) {
  await mkdir(out(name), { recursive: true });
  await bundle(from, out(name, "main.js"));
  if (from === "addresses.js") await bundle("node_modules/undercurve/worker-host.js", out(name, "host.js"));
  for (const module of ["undercurve", "undercurve_whole", "undercurve_sums", "undercurve_groups", "undercurve_objective", "undercurve_pairs", "undercurve_exact", "undercurve_files"]) {
    if (from !== "plain.js") await cp(join(installed, "pkg", `${module}_bg.wasm`), out(name, `${module}_bg.wasm`));
  }
  if (bundle !== vite) await writeFile(out(name, "index.html"), page("main.js"));
  return `/${name}/index.html`;
}

async function esbuild(from, to) {
  const { build } = await tool("esbuild");
  await build({ entryPoints: [join(folder, from)], bundle: true, format: "esm", outfile: to, logLevel: "silent" });
}
async function rollup(from, to) {
  const { rollup } = await tool("rollup");
  // (What the plugin node-resolve does.)
  const resolveId = (id) => (id === "undercurve" ? join(installed, "index.js") : id.startsWith("undercurve/") ? join(installed, `${id.split("/")[1]}.js`) : null);
  const bundle = await rollup({ input: join(folder, from), plugins: [{ name: "here", resolveId }], onwarn: () => {} });
  await bundle.write({ file: to, format: "es", inlineDynamicImports: true });
}
async function webpack(from, to) {
  const { default: webpack } = await tool("webpack");
  const options = { mode: "production", context: folder, entry: join(folder, from), output: { path: dirname(to), filename: "main.js" }, performance: false };
  const stats = await new Promise((done, fail) => webpack(options, (error, stats) => (error ? fail(error) : done(stats))));
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
}
async function vite(from, to) {
  const { build } = await tool("vite");
  await writeFile(join(folder, "vite.html"), page(from));
  await build({ root: folder, base: "./", logLevel: "silent", configFile: false, build: { outDir: dirname(to), emptyOutDir: false, rolldownOptions: { input: join(folder, "vite.html") } } });
  await cp(out(dirname(to).split("/").pop(), "vite.html"), join(dirname(to), "index.html"));
}

/** Files under the folder, with a policy that allows no `eval`; an import map, and what parcel writes, are scripts inside the page. */
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self' blob:";
const server = createServer(async ({ url }, response) => {
  const name = new URL(url, "http://127.0.0.1").pathname;
  const body = await readFile(join(folder, name.startsWith("/node_modules/") || name === "/cells.js" ? name : `out${name}`)).catch(() => null);
  const policy = /^\/(map|parcel)\//.test(name) ? {} : { "content-security-policy": POLICY };
  response.writeHead(body ? 200 : 404, { "content-type": TYPES[extname(name)] ?? "text/plain", ...policy }).end(body ?? "");
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const own = `http://127.0.0.1:${server.address().port}`;

let browser;
async function shown(address) {
  const { chromium } = (await tool("playwright-core")).default;
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  const tab = await browser.newPage();
  const wrong = [];
  tab.on("pageerror", (error) => wrong.push(error.message));
  tab.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  try {
    await tab.goto(address);
    await tab.waitForFunction(() => document.title !== "-", undefined, { timeout: 60_000 });
    return JSON.parse(await tab.title());
  } catch (error) {
    throw new Error([error.message, ...wrong].join("; "));
  } finally {
    await tab.close();
  }
}
const told = async (file, args, env = {}) => JSON.parse((await run(file, args, { cwd: folder, encoding: "utf8", timeout: 120_000, env: { ...process.env, ...env } })).stdout);

const HOSTS = {
  Node: { version: () => process.versions.node, run: () => told(process.execPath, ["plain.js"]) },
  "Node, /inline": {
    version: () => process.versions.node,
    async run() {
      const at = JSON.stringify(pathToFileURL(join(installed, "pkg/undercurve_files_bg.wasm")));
      await writeFile(join(folder, "inline-node.js"), program({ index: inline, worker: inline, objective: inline, given: `{ filesAt: new URL(${at}) }` }));
      return told(process.execPath, ["inline-node.js"]);
    },
  },
  // (Others than that which runs this, where they are installed.)
  ...Object.fromEntries(["node-22", "node-24"].map((name) => [name, join(here, "node_modules", name, "bin/node")]).filter(([, path]) => existsSync(path)).map(([name, path]) => [
    name.replace("node-", "Node "), { version: async () => (await run(path, ["--version"])).stdout.trim().slice(1), run: () => told(path, ["plain.js"]) },
  ])),
  Deno: {
    version: () => version("deno"),
    run: async () => told(await binary("@deno", "deno"), ["run", "--quiet", "--cached-only", "--node-modules-dir=manual", "--allow-read", "plain.js"], { DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1" }),
  },
  Bun: { version: () => version("bun"), run: async () => told(await binary("@oven", "bun").catch(() => binary("bun", "bun.exe")), ["run", "plain.js"], { DO_NOT_TRACK: "1" }) },
  "Vite dev": {
    version: () => version("vite"),
    async run() {
      const { createServer } = await tool("vite");
      await writeFile(join(folder, "dev.html"), page("plain.js"));
      const served = await createServer({ root: folder, logLevel: "silent", configFile: false, cacheDir: join(folder, "cache"), server: { host: "127.0.0.1", port: 0 } });
      try {
        await served.listen();
        return await shown(`http://127.0.0.1:${served.httpServer.address().port}/dev.html`);
      } finally {
        await served.close();
      }
    },
  },
  "Vite build": { version: () => version("vite"), run: async () => shown(own + (await bundled("vite", vite, "plain.js"))) },
  webpack: { version: () => version("webpack"), run: async () => shown(own + (await bundled("webpack", webpack, "plain.js"))) },
  "esbuild, /inline": { version: () => version("esbuild"), run: async () => shown(own + (await bundled("esbuild-inline", esbuild, "inline.js"))) },
  "esbuild, addresses": { version: () => version("esbuild"), run: async () => shown(own + (await bundled("esbuild-addresses", esbuild, "addresses.js"))) },
  "rollup, /inline": { version: () => version("rollup"), run: async () => shown(own + (await bundled("rollup-inline", rollup, "inline.js"))) },
  "rollup, addresses": { version: () => version("rollup"), run: async () => shown(own + (await bundled("rollup-addresses", rollup, "addresses.js"))) },
  parcel: {
    version: () => version("parcel"),
    async run() {
      const root = join(folder, "parcel");
      await mkdir(root, { recursive: true });
      await cp(join(folder, "node_modules"), join(root, "node_modules"), { recursive: true });
      await writeFile(join(root, "package.json"), '{ "type": "module", "dependencies": { "undercurve": "*" } }');
      for (const name of ["plain.js", "cells.js"]) await cp(join(folder, name), join(root, name));
      await writeFile(join(root, "index.html"), page("plain.js"));
      await run(process.execPath, [place("parcel/lib/bin.js"), "build", "index.html", "--dist-dir", out("parcel"), "--public-url", "./", "--no-cache", "--no-source-maps", "--log-level", "error"], { cwd: root, timeout: 240_000 });
      return shown(`${own}/parcel/index.html`);
    },
  },
  "import map": {
    version: async () => "",
    async run() {
      const imports = { undercurve: "/node_modules/undercurve/index.js", "undercurve/worker": "/node_modules/undercurve/worker.js", "undercurve/objective": "/node_modules/undercurve/objective.js", "undercurve/files": "/node_modules/undercurve/files.js" };
      await mkdir(out("map"), { recursive: true });
      for (const name of ["plain.js", "cells.js"]) await cp(join(folder, name), out("map", name));
      await writeFile(out("map", "index.html"), `<!doctype html><title>-</title><script type="importmap">${JSON.stringify({ imports })}</script><script type="module" src="./plain.js"></script>`);
      return shown(`${own}/map/index.html`);
    },
  },
  "strict CSP": {
    version: async () => "",
    async run() {
      const at = (name) => `/node_modules/undercurve/${name}.js`;
      await mkdir(out("strict"), { recursive: true });
      // (The policy holds: `eval` is refused, and so is a script inside the page.)
      const evil = `try { (0, eval)("1"); throw new Error("eval is allowed"); } catch (error) { if (!(error instanceof EvalError)) throw error; }`;
      await writeFile(out("strict", "main.js"), program({ index: at("index"), worker: at("worker"), objective: at("objective"), files: at("files"), cells: "/cells.js" }) + evil);
      await writeFile(out("strict", "index.html"), `${page("main.js")}<script>document.title = "a script inside the page ran"</script>`);
      return shown(`${own}/strict/index.html`);
    },
  },
};

const rows = [];
const why = [];
let want;
for (const [host, { version, run }] of Object.entries(HOSTS)) {
  if (only.length && host !== "Node" && !only.some((name) => host.toLowerCase().startsWith(name.toLowerCase()))) continue;
  const name = [host.replace(/ \d+$/, ""), await Promise.resolve().then(version).catch(() => "")].filter(Boolean).join(" ");
  const answers = await run().catch((error) => ({ all: `${error.stderr || error.message}` }));
  want ??= answers;
  // (A worker computes what this thread does.)
  for (const [far, near] of [["worker", "session"], ["worker Exact", "Exact"]]) if (answers[far] !== answers[near]) answers[far] = `${far} ${answers[far]}, ${near} ${answers[near]}`;
  const cells = COLUMNS.map((column) => {
    const answer = answers[column] ?? answers.all ?? "nothing came";
    if (/^\d+( \d+)*$/.test(answer) && answer === want[column]) return "yes";
    why.push(`${name}, ${column}: ${answer === answers.all && column !== "session" ? "as before" : answer.slice(0, 1500)}`);
    return "**no**";
  });
  rows.push(`| ${name} | ${cells.join(" | ")} |`);
}
console.log(`| | ${COLUMNS.join(" | ")} |\n|---|${"---|".repeat(COLUMNS.length)}\n${rows.join("\n")}`);
if (why.length) console.log(`\n${why.filter((line) => !line.endsWith("as before")).join("\n")}`);
await browser?.close();
server.close();
await rm(folder, { recursive: true });
process.exit(why.length ? 1 : 0);
