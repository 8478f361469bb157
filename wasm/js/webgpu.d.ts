/** Loads the module with the GPU kernels, once. `Lanes` and `Exact` load it themselves when they use a GPU. */
export declare function initWebGpu(module?: BufferSource | WebAssembly.Module): Promise<void>;
