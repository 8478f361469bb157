/** Loads the module with the kernels, once; `Lanes` and `Exact` on a GPU load it themselves. */
export declare function initWebGpu(module?: BufferSource | WebAssembly.Module): Promise<void>;
