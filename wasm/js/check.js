// What is refused before the modules see it: they would round it, wrap it, or stop.

export const whole = (value, low, high) => Number.isInteger(value) && value >= low && value <= high;

/** @param {boolean} holds @param {string} what @param {unknown} value @param {string} expected */
export function need(holds, what, value, expected) {
  if (!holds) throw new TypeError(`${what} ${String(value)}: expected ${expected}`);
}
