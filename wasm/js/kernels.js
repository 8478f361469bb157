// The module with the kernels for a graphics adapter: loaded when it is asked for.

import { once } from "./load.js";

/** What is in it, once it is loaded. @type {typeof import("./pkg/undercurve_webgpu.js")} */
export let kernels;

/**
 * Loads the module, once.
 * @type {ReturnType<typeof once>}
 */
export const initWebGpu = /* @__PURE__ */ once(
  "undercurve_webgpu_bg.wasm",
  () => import("./pkg/undercurve_webgpu.js"),
  (glue) => (kernels = glue),
);

/** A device. @param {boolean} software whether one in software will do */
export async function openGpu(software) {
  await initWebGpu();
  return kernels.Gpu.open(software);
}
