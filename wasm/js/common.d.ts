/// <reference lib="esnext.disposable" />

/** Labels of two classes: 0 and 1, −1 and 1, or booleans; of several their numbers, from 0. What is no `Uint8Array` is copied. */
export type Labels = ArrayLike<number> | readonly boolean[];

/** Numbers; what is no typed array of the right type is copied. */
export type Numbers = ArrayLike<number>;

/** A WebAssembly module: its address, a `Request` or a `Response` for it, its bytes, or compiled. */
export type Source = string | { readonly href: string } | { readonly url: string } | ArrayBuffer | ArrayBufferView | object;

/** An `AbortSignal`: what it stops throws its reason. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What watches a run. */
export interface Watch {
  signal?: Signal;
  /** Called every 50 ms, and at the end. */
  onProgress?: (at: { step: number; done: boolean }) => void;
}

/** Memory that `dispose` frees, also at the end of a block by `using`. */
export interface Held {
  /** Frees the memory. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** The same, also by `await using`. */
export interface HeldApart extends Held {
  [Symbol.asyncDispose](): Promise<void>;
}
