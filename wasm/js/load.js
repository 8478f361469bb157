// Loading a WebAssembly module once, and giving back the memory of what it makes.

import { need } from "./check.js";
import { UndercurveError, asOurs } from "./error.js";

/** @typedef {BufferSource | WebAssembly.Module | URL | string | Request | Response} Source */

/** The bytes of a file beside this one, where files can be read (Node); nothing elsewhere. */
function fromFile(name) {
  const here = import.meta.url;
  return here?.startsWith("file:") ? fileAt(new URL(`pkg/${name}`, here)) : undefined;
}

function fileAt(url) {
  return globalThis.process?.getBuiltinModule?.("node:fs/promises")?.readFile(url);
}

/**
 * Bytes or a compiled module of what a caller gives: these, an address, or what was fetched there.
 * @param {Source | Promise<Source>} given
 * @returns {Promise<BufferSource | WebAssembly.Module>}
 */
export async function bytesOf(given) {
  let source = await given;
  if (source instanceof WebAssembly.Module || source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const address = typeof source === "string" || source instanceof URL || source instanceof Request || source instanceof Response;
  need(address, "wasm", source, "a WebAssembly module: its address, a Request, a Response, its bytes, or compiled");
  const url = String(source.url ?? source);
  if (url.startsWith("file:")) {
    const bytes = await fileAt(new URL(url));
    if (bytes) return bytes;
  }
  if (!(source instanceof Response)) {
    source = await fetch(source).catch((error) => {
      throw new UndercurveError(`${url}: ${error.message}`, { code: 206, argument: "wasm", cause: error });
    });
  }
  if (!source.ok) throw new UndercurveError(`${url}: ${source.status} ${source.statusText}`, { code: 206, argument: "wasm" });
  return source.arrayBuffer();
}

/**
 * A function that loads a module once: from what it is given, from what `load.from` has been set to, or from beside the scripts.
 * @param {string} name of the file, in `pkg`
 * @param {() => Promise<Glue> | Glue} glue the module's JavaScript half
 * @param {(glue: Glue) => void} [loaded]
 * @returns {((module?: Source | Promise<Source>) => Promise<void>) & { from?: () => Source | Promise<Source> }}
 * @template {{ default: () => Promise<unknown>, initSync: (from: { module: BufferSource | WebAssembly.Module }) => unknown }} Glue
 */
export function once(name, glue, loaded) {
  const read = async (given) => {
    const half = await glue();
    const source = given ?? load.from?.() ?? fromFile(name);
    if (source === undefined) await half.default();
    else half.initSync({ module: await bytesOf(source) });
    loaded?.(half);
  };
  let loading;
  const load = (module) => {
    loading ??= read(module).catch((error) => {
      // The network may be back when it is asked for again.
      loading = undefined;
      throw asOurs(error);
    });
    return loading;
  };
  return load;
}

/**
 * What `of` makes of an object in a module's memory, which is then given back.
 * @template H, T
 * @param {H & { free(): void }} held
 * @param {(held: H) => T} of
 * @returns {T}
 */
export function taken(held, of) {
  try {
    return of(held);
  } finally {
    held.free();
  }
}
