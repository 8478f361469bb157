// `using` and `await using`, where the language has them.

/** Classes with `dispose`. */
export function disposable(...classes) {
  for (const { prototype } of classes) {
    if (Symbol.dispose) prototype[Symbol.dispose] = prototype.dispose;
    if (Symbol.asyncDispose) prototype[Symbol.asyncDispose] = async function () {
      this.dispose();
    };
  }
}
