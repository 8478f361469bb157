/**
 * What trains. `auto` takes a GPU for many runs where a trial of .1 s finds it faster, never one in software; `gpu` and
 * `gpu-software` are refused with `NoGpu` where there is none. One run trains on the CPU.
 */
export type Backend = "auto" | "cpu" | "gpu" | "gpu-software";

/** Thrown where a GPU is asked for and none can be used. */
export declare class NoGpu extends Error {}
