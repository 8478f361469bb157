import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import subset from "subset-font";
import { defineConfig } from "vite";
import { fileURLToPath, pathToFileURL } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Puts the service worker beside the page, with the names of all its files as they were written. */
const offline = {
  name: "undercurve-offline",
  apply: "build",
  async writeBundle({ dir }) {
    // Names hold hashes of what is in the files; only the page's own does not.
    // (The kernels for a GPU are for those who have one; without a network the CPU trains. The picture is for those who link to the page.)
    const files = ["./", ...(await readdir(`${dir}/assets`)).filter((name) => !/webgpu|\.png$/.test(name)).sort().map((name) => `./assets/${name}`)];
    const version = createHash("sha256").update(files.join()).update(await readFile(`${dir}/index.html`)).digest("hex").slice(0, 12);
    const source = (await readFile(at("src/offline.js"), "utf8")).replace(/^\/\* global.*\n/m, `const FILES = ${JSON.stringify(files)};\nconst VERSION = "${version}";\n`);
    await writeFile(`${dir}/offline.js`, source);
  },
};

/** The weights and features of the font that the style sheets use, and those of every text. */
const FEATURES = ["kern", "mark", "ccmp", "tnum", "cv11"];
const WEIGHTS = { min: 400, max: 700 };
/** Writes the font with the characters of the page alone; others, as in names of an own file, are in the whole one, which is loaded when they occur. */
const font = {
  name: "undercurve-font",
  async buildStart() {
    const sources = (await readdir(at("src"), { recursive: true })).filter((name) => /\.(js|html)$/.test(name)).map((name) => at(`src/${name}`));
    const texts = await Promise.all([...sources, at("index.html"), REGISTRY].map((path) => readFile(path, "utf8")));
    const ascii = Array.from({ length: 95 }, (_, k) => String.fromCharCode(32 + k));
    const used = [...new Set([...ascii, ...texts.join("")])].sort().join("");
    const whole = await readFile(at("node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"));
    await writeFile(at("src/inter.woff2"), await subset(whole, used, { targetFormat: "woff2", variationAxes: { wght: WEIGHTS }, keepFeatures: FEATURES }));
  },
};

/** Takes the indentation off the page. */
const flat = { name: "undercurve-flat", transformIndexHtml: (html) => html.replace(/^ +/gm, "") };

const REGISTRY = at("../../wasm/js/pkg/methods.js");
const TEXTS = "undercurve/methods-texts";
/** Methods without their texts: those are a module of their own, which the first result does not need. */
const methods = {
  name: "undercurve-methods",
  resolveId: (id) => (id === TEXTS ? `\0${TEXTS}` : undefined),
  async load(id) {
    if (id !== REGISTRY && id !== `\0${TEXTS}`) return undefined;
    const all = Object.entries(await import(`${pathToFileURL(REGISTRY)}?${Date.now()}`));
    const texts = ({ about, paper, params }) => ({ about, paper, params: params.map(({ about, auto }) => ({ about, auto })) });
    const plain = ({ name, title, metric, groups, params }) => ({ name, title, metric, groups, params: params.map(({ name, default: value, domain }) => ({ name, default: value, domain })) });
    return all.map(([name, of]) => `export const ${name} = ${JSON.stringify(of.map(id === REGISTRY ? plain : texts))};`).join("\n");
  },
};

export default defineConfig({
  base: "./",
  plugins: [font, offline, methods, flat],
  resolve: {
    alias: [
      { find: /^undercurve$/, replacement: at("../../wasm/js/index.js") },
      { find: /^undercurve\/worker$/, replacement: at("../../wasm/js/worker.js") },
      { find: /^undercurve\/files$/, replacement: at("../../wasm/js/files.js") },
      { find: /^undercurve\/undercurve_bg\.wasm/, replacement: at("../../wasm/js/pkg/undercurve_bg.wasm") },
      { find: /^undercurve\/objective$/, replacement: at("../../wasm/js/objective.js") },
      { find: /^undercurve\/methods$/, replacement: at("../../wasm/js/pkg/methods.js") },
      { find: /^undercurve\/synthetics$/, replacement: at("../../wasm/js/synthetics.js") },
    ],
  },
  worker: { format: "es" },
  server: { fs: { allow: [at("../..")] } },
  // (Browsers that run WebAssembly preload modules by themselves.)
  build: { target: "es2022", modulePreload: { polyfill: false }, license: { fileName: "licenses.md" } },
});
