// Loading a WebAssembly module once, and giving back the memory of what it makes.

/** The bytes of a file beside this one, where files can be read (Node); nothing elsewhere. */
function fromFile(name) {
  const here = import.meta.url;
  const files = here.startsWith("file:") && globalThis.process?.getBuiltinModule?.("node:fs/promises");
  return files ? files.readFile(new URL(`pkg/${name}`, here)) : undefined;
}

/**
 * @param {string} name of the file, in `pkg`
 * @param {() => Promise<Glue> | Glue} glue the module's JavaScript half
 * @param {(glue: Glue) => void} [loaded]
 * @returns {(module?: BufferSource | WebAssembly.Module) => Promise<void>}
 * @template {{ default: () => Promise<unknown>, initSync: (from: { module: BufferSource | WebAssembly.Module }) => unknown }} Glue
 */
export function once(name, glue, loaded) {
  const load = async (given) => {
    const half = await glue();
    const module = given ?? (await fromFile(name));
    if (module === undefined) await half.default();
    else half.initSync({ module });
    loaded?.(half);
  };
  let loading;
  return (module) => {
    loading ??= load(module).catch((error) => {
      // The network may be back when it is asked for again.
      loading = undefined;
      throw error;
    });
    return loading;
  };
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
