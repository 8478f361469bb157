// Loading a WebAssembly module once.

/**
 * @param {() => Promise<unknown>} load from where the module lies
 * @param {(from: { module: BufferSource | WebAssembly.Module }) => unknown} initSync from bytes
 * @returns {(module?: BufferSource | WebAssembly.Module) => Promise<void>}
 */
export function once(load, initSync) {
  let loading;
  return (module) => {
    loading ??= module === undefined ? load() : Promise.resolve({ module }).then(initSync);
    return loading.then(() => undefined);
  };
}
