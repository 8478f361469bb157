// The kernels for a graphics adapter. `Lanes` and `Exact` load them by themselves; who knows that they are needed may do it before.

export { initWebGpu } from "./kernels.js";
