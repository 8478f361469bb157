/** What trains: the CPU; `auto` chooses, and `gpu` is refused with `NeedsWebGpu` in this version. */
export type Backend = "auto" | "cpu" | "gpu";

/** Thrown where a GPU is asked for: that needs the package's module /webgpu, which this version does not have. */
export declare class NeedsWebGpu extends Error {}
