// `using` and `await using`, where the language has them, and what Node prints of a handle.

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Classes with `dispose`. */
export function disposable(...classes) {
  for (const { name, prototype } of classes) {
    if (!Object.hasOwn(prototype, "toString")) prototype.toString = function () {
      return [name, this.runs && `of ${this.runs.length} runs`, this.backend && `on ${this.backend}`].filter(Boolean).join(" ");
    };
    prototype[INSPECT] = prototype.toString;
    if (Symbol.dispose) prototype[Symbol.dispose] = prototype.dispose;
    if (Symbol.asyncDispose) prototype[Symbol.asyncDispose] = async function () {
      this.dispose();
    };
  }
}
