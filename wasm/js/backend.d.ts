/**
 * What trains. `auto` times a hardware GPU and the CPU for .1 s and takes the faster one for many runs. `gpu` and
 * `gpu-software` throw `NoGpu` if there is none. A single run trains on the CPU.
 */
export type Backend = "auto" | "cpu" | "gpu" | "gpu-software";

export { NoGpu } from "./error.js";
