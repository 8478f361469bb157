// What a run is trained on, and why.

import { among } from "./check.js";
import { NoGpu } from "./error.js";

export { NoGpu } from "./error.js";

/** What may be asked for. */
const BACKENDS = ["auto", "cpu", "gpu", "gpu-software"];

const CPU = "WebAssembly with 128-bit SIMD";

/**
 * The CPU for one run or for `lanes` of them, with the reason.
 * @param {string} why
 * @param {number} [lanes]
 */
export function onCpu(why, lanes) {
  const what = lanes === undefined ? "" : `, ${lanes} runs in turn`;
  return { backend: "cpu-simd", reason: `CPU, ${CPU}${what}: ${why}` };
}

/**
 * The backend of one run.
 * @param {"auto" | "cpu" | "gpu" | "gpu-software"} [asked]
 */
export function chosen(asked = "auto") {
  check(asked);
  const why = "one run is faster here than on a GPU, which takes longer to begin a step than this takes for all of it";
  if (asked.startsWith("gpu")) throw new NoGpu(`backend ${asked}: is for many runs (lanes); ${why}`);
  return onCpu(asked === "cpu" ? "as asked for" : why);
}

/** Refuses what is no backend. */
export function check(asked) {
  among(asked, BACKENDS, "backend");
}

/**
 * Why this browser has no adapter for a backend, or nothing where it has one. Nothing is downloaded for it.
 * @param {"auto" | "gpu" | "gpu-software"} asked
 */
export async function noAdapter(asked) {
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) return "there is no WebGPU here";
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" }).catch(() => null);
  if (!adapter) return "WebGPU has no adapter here";
  const software = adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false;
  if (software && asked !== "gpu-software") return "the only adapter is one in software, slower than this";
}
