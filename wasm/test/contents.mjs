// What a module is made of: bytes of code by source folder, from the names of its functions, and of second and later copies of generic
// functions. The modules of the package have lost their names, so it takes what cargo builds, before wasm-bindgen:
//   node wasm/test/contents.mjs train full objective files webgpu      builds these (features of undercurve-wasm), one after the other
//   node wasm/test/contents.mjs FILE.wasm                              reads a file with names
// Prints Markdown.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const root = new URL("../..", import.meta.url).pathname;
const ESCAPES = { LT: "<", GT: ">", RF: "&", BP: "*", LP: "(", RP: ")", C: ",", u20: " ", u27: "'", u5b: "[", u5d: "]", u7b: "{", u7d: "}", u3b: ";", u2b: "+", u22: '"' };

/** A name of Rust's older mangling as it was written, without its hash. */
function written(name) {
  if (!name.startsWith("_ZN")) return name;
  const parts = [];
  for (let at = 3; name[at] !== "E" && at < name.length; ) {
    const length = /^\d+/.exec(name.slice(at))?.[0];
    if (!length) break;
    at += length.length;
    parts.push(name.slice(at, at + Number(length)));
    at += Number(length);
  }
  if (/^h[0-9a-f]{16}$/.test(parts.at(-1))) parts.pop();
  return parts.map((part) => part.replace(/^_(?=\$)/, "").replace(/\$(\w+?)\$/g, (whole, key) => ESCAPES[key] ?? whole).replaceAll("..", "::")).join("::");
}

const FOLDERS = { undercurve: "core/src", undercurve_wasm: "wasm/src", undercurve_gpu: "gpu/src" };

/** The folder, or the package, that a function is from: that of the type or trait of this project that it names first. */
function source(name) {
  const ours = /\b(undercurve(?:_wasm|_gpu)?)::(\w+)/.exec(name);
  if (ours) return ours[1] === "undercurve" ? `core/src/${ours[2]}` : FOLDERS[ours[1]];
  const crate = /^[<&(*[\] ]*(?:mut |const )?(\w+)::/.exec(name)?.[1] ?? /\b([a-z]\w+)::/.exec(name)?.[1];
  if (/^(core|alloc|std|compiler_builtins|hashbrown|rustc_\w+|__rustc)$/.test(crate ?? "core")) return "Rust's own library";
  return crate;
}

/** @param {Uint8Array} bytes a module @returns {{ code: number, data: number, functions: { name: string, bytes: number }[] }} */
export function contents(bytes) {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const text = () => {
    const length = number();
    at += length;
    return new TextDecoder().decode(bytes.subarray(at - length, at));
  };
  const limits = () => {
    const flags = number();
    number();
    if (flags & 1) number();
  };
  let imported = 0;
  let data = 0;
  const sizes = [];
  const names = new Map();
  while (at < bytes.length) {
    const id = bytes[at++];
    const length = number();
    const end = at + length;
    if (id === 2) {
      for (let count = number(); count > 0; count -= 1) {
        text();
        text();
        const kind = bytes[at++];
        if (kind === 0) imported += 1;
        if (kind === 0) number();
        else if (kind === 1) at += 1;
        if (kind === 1 || kind === 2) limits();
        else if (kind === 3) at += 2;
      }
    } else if (id === 10) {
      for (let count = number(); count > 0; count -= 1) {
        const size = number();
        sizes.push(size);
        at += size;
      }
    } else if (id === 11) data = length;
    else if (id === 0 && text() === "name") {
      while (at < end) {
        const kind = bytes[at++];
        const part = number();
        const next = at + part;
        if (kind === 1) for (let count = number(); count > 0; count -= 1) names.set(number(), text());
        at = next;
      }
    }
    at = end;
  }
  if (names.size === 0) throw new Error("the module has no names: give what cargo builds, before wasm-bindgen");
  const functions = sizes.map((bytes, k) => ({ name: written(names.get(imported + k) ?? "?"), bytes }));
  return { code: sizes.reduce((sum, size) => sum + size, 0), data, functions };
}

/** Bytes of code by folder, the most first. @param {{ name: string, bytes: number }[]} functions */
export function byFolder(functions) {
  const sums = new Map();
  for (const { name, bytes } of functions) sums.set(source(name), (sums.get(source(name)) ?? 0) + bytes);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** Bytes of functions whose name was there before. */
export function copies(functions) {
  const seen = new Set();
  return functions.reduce((sum, { name, bytes }) => {
    const again = seen.has(name);
    seen.add(name);
    return again ? sum + bytes : sum;
  }, 0);
}

function built(feature) {
  const target = "wasm32-unknown-unknown";
  const args = ["build", "--quiet", "--profile", "wasm", "--target", target, "-p", "undercurve-wasm", "--lib", "--no-default-features", "--features", `small,${feature}`];
  execFileSync("cargo", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, RUSTFLAGS: "-Ctarget-feature=+simd128" } });
  return `${process.env.CARGO_TARGET_DIR ?? `${root}target`}/${target}/wasm/undercurve_wasm.wasm`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const what of process.argv.slice(2)) {
    const { code, data, functions } = contents(readFileSync(what.endsWith(".wasm") ? what : built(what)));
    const share = (bytes) => `${((100 * bytes) / code).toFixed(1)} %`;
    console.log(`\n### ${basename(what)}: ${code} bytes of code in ${functions.length} functions, ${data} of data; ${copies(functions)} (${share(copies(functions))}) are copies\n\n| from | bytes | of the code |\n|---|---|---|`);
    const all = byFolder(functions);
    const [large, small] = [all.filter(([, bytes]) => bytes >= code / 100), all.filter(([, bytes]) => bytes < code / 100)];
    for (const [folder, bytes] of large) console.log(`| ${folder} | ${bytes} | ${share(bytes)} |`);
    const rest = small.reduce((sum, [, bytes]) => sum + bytes, 0);
    console.log(`| ${small.length} others | ${rest} | ${share(rest)} |`);
  }
}
