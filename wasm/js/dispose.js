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

/** What Node prints of a handle, and what it is as a text: classes say in `told` what they are. */
export function spoken(...classes) {
  for (const { name, prototype } of classes) {
    prototype[Symbol.for("nodejs.util.inspect.custom")] = prototype.toString = function () {
      return `${name} ${this.told ?? this.backend}`;
    };
  }
}
