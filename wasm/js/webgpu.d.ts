/** Loads the module with the kernels, once; lanes on a GPU load it themselves. */
export declare function initWebGpu(module?: BufferSource | WebAssembly.Module): Promise<void>;
