import type { Source } from "./common.js";

/** Loads the module with the GPU kernels, once. `Lanes` and `Exact` load it themselves when they use a GPU. */
export declare function initWebGpu(module?: Source | Promise<Source>): Promise<void>;
