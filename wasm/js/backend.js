// What a run is trained on, and why.

import { need } from "./check.js";

/** What may be asked for. */
const BACKENDS = ["auto", "cpu", "gpu"];

/** Thrown where a GPU is asked for and the part of the package that knows it is not there. */
export class NeedsWebGpu extends Error {
  name = "NeedsWebGpu";
}

/**
 * The backend of one run or of `lanes` of them, with the reason.
 * @param {"auto" | "cpu" | "gpu"} [asked]
 * @param {number} [lanes]
 * @returns {{ backend: string, reason: string }}
 */
export function chosen(asked = "auto", lanes) {
  need(BACKENDS.includes(asked), "backend", asked, BACKENDS.join(", "));
  if (asked === "gpu") throw new NeedsWebGpu("backend gpu: needs the package's module /webgpu, which this version does not have; auto and cpu train on the CPU");
  const how = "WebAssembly with 128-bit SIMD";
  const why = asked === "cpu" ? "as asked for" : lanes === undefined ? "one run is faster here than on a GPU, which takes longer to begin a step than this takes for all of it" : "this version has no GPU part";
  const what = lanes === undefined ? "" : `, ${lanes} runs in turn`;
  return { backend: "cpu-simd", reason: `CPU, ${how}${what}: ${why}` };
}
