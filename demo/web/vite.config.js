import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import subset from "subset-font";
import { defineConfig } from "vite";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import zlib from "node:zlib";

const [brotli, gzip] = [promisify(zlib.brotliCompress), promisify(zlib.gzip)];

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What a page with these scripts in it may load: itself. index.html says so, so that every host does. */
const policy = (scripts) => `default-src 'self'; script-src 'self' 'wasm-unsafe-eval' ${scripts.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).join(" ")}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'`;

/** Takes the indentation off the page, and puts in its policy and where its picture is, which other sites want to be told in full. */
const head = {
  name: "undercurve-head",
  apply: "build",
  generateBundle: {
    order: "post",
    handler: (_, bundle) => {
      const page = bundle["index.html"];
      page.source = page.source.replace(/^ +/gm, "");
      const scripts = [...page.source.matchAll(/<script nomodule>([^]*?)<\/script>/g)].map(([, text]) => text);
      page.source = page.source.replace('<meta charset="utf-8" />', `$&\n<meta http-equiv="Content-Security-Policy" content="${policy(scripts)}" />`);
      if (process.env.PAGE_URL) page.source = page.source.replace(/(property="og:image" content=")\.\//, `$1${process.env.PAGE_URL.replace(/\/?$/, "/")}`);
    },
  },
};

/** The files that the first picture needs, those of the page behind it, and those for later, from what was built. */
async function filesOf(dir, bundle) {
  const chunks = Object.values(bundle).filter(({ type }) => type === "chunk");
  const of = (module) => chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${module}.js`)).fileName;
  const all = (await readdir(`${dir}/assets`)).filter((name) => !/\.(br|gz)$/.test(name)).map((name) => `assets/${name}`);
  // Beside scripts and style sheets what they name: workers, the module that trains, the font. (Samples, and letters that the page
  // itself does not use, are for who brings them.)
  const needed = async (...begin) => {
    const out = new Set();
    const take = (name) => {
      if (out.has(name)) return;
      out.add(name);
      const { imports = [], viteMetadata } = bundle[name];
      for (const one of [...imports, ...(viteMetadata?.importedCss ?? [])]) take(one);
    };
    begin.forEach(take);
    const texts = (await Promise.all([...out].map((name) => readFile(`${dir}/${name}`, "utf8")))).join("");
    const named = all.filter((name) => !bundle[name]?.code && !/\.(css|csv)$|inter-latin/.test(name) && texts.includes(name.slice("assets/".length)));
    // (Workers are built on their own, with what they import.)
    const given = (text) => [...text.matchAll(/(?:from|import) ?"\.\/([^"]+)"/g)].map(([, name]) => `assets/${name}`);
    for (const name of named) {
      out.add(name);
      if (name.endsWith(".js")) named.push(...given(await readFile(`${dir}/${name}`, "utf8")).filter((one) => !out.has(one)));
    }
    return out;
  };
  const first = await needed(chunks.find(({ isEntry }) => isEntry).fileName);
  // (The second is loaded when the first result is there, unasked.)
  const page = await needed(of("main"), of("later"));
  // (The kernels for a GPU are for those who have one; without a network the CPU trains. The picture is for those who link to the page.)
  const kept = all.filter((name) => !/webgpu|\.png$/.test(name)).sort();
  return { first: kept.filter((name) => first.has(name)), page: kept.filter((name) => page.has(name) && !first.has(name)), later: kept.filter((name) => !first.has(name) && !page.has(name)) };
}

/** Puts the service worker beside the page, with the names of all its files as they were written. */
const offline = {
  name: "undercurve-offline",
  apply: "build",
  // (The worker's script as a file for Node is none of a page.)
  generateBundle(_, bundle) {
    for (const [name, { originalFileNames }] of Object.entries(bundle)) if (originalFileNames?.some((from) => from.endsWith("worker-host.js"))) delete bundle[name];
  },
  async writeBundle({ dir }, bundle) {
    const { first, page, later } = await filesOf(dir, bundle);
    // (Names hold hashes of what is in the files; only the page's own does not.)
    const version = createHash("sha256").update([...first, ...page, ...later].join()).update(await readFile(`${dir}/index.html`)).digest("hex").slice(0, 12);
    const lists = `const FIRST = ${JSON.stringify(["./", ...first])};\nconst PAGE = ${JSON.stringify(page)};\nconst LATER = ${JSON.stringify(later)};\nconst VERSION = "${version}";\n`;
    await writeFile(`${dir}/offline.js`, (await readFile(at("src/offline.js"), "utf8")).replace(/^\/\* global.*\n/m, lists));
  },
};

/** For a host of files: each also compressed, where that is less. */
const packed = {
  name: "undercurve-packed",
  apply: (_, { command, mode }) => command === "build" && mode === "packed",
  async closeBundle() {
    const { outDir } = this.environment.config.build;
    const names = (await readdir(outDir, { recursive: true })).filter((name) => /\.(html|js|css|wasm|csv|md)$/.test(name));
    await Promise.all(names.map(async (name) => {
      const bytes = await readFile(`${outDir}/${name}`);
      for (const [ending, made] of [["br", await brotli(bytes)], ["gz", await gzip(bytes, { level: 9 })]]) {
        if (made.length < bytes.length) await writeFile(`${outDir}/${name}.${ending}`, made);
      }
    }));
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

const REGISTRY = at("../../wasm/js/pkg/methods.js");
const TEXTS = "undercurve/methods-texts";
/** Methods without their texts: those are a module of their own, which the first result does not need. */
const methods = {
  name: "undercurve-methods",
  resolveId: (id) => (id === TEXTS ? `\0${TEXTS}` : undefined),
  async load(id) {
    if (id !== REGISTRY && id !== `\0${TEXTS}`) return undefined;
    const all = Object.entries(await import(`${pathToFileURL(REGISTRY)}?${Date.now()}`));
    const texts = ({ about, paper, params }) => ({ about, paper, params: params.map(({ about, auto, domain }) => ({ about, auto, domain })) });
    const plain = ({ name, title, metric, groups, params }) => ({ name, title, metric, groups, params: params.map(({ name, default: value }) => ({ name, default: value })) });
    return all.map(([name, of]) => `export const ${name} = ${JSON.stringify(of.map(id === REGISTRY ? plain : texts))};`).join("\n");
  },
};

export default defineConfig({
  base: "./",
  plugins: [font, methods, head, offline, packed],
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
