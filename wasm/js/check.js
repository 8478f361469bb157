// What is refused before the modules see it: they would round it, wrap it, or stop.

export const whole = (value, low, high) => Number.isInteger(value) && value >= low && value <= high;

/** @param {boolean} holds @param {string} what @param {unknown} value @param {string} expected */
export function need(holds, what, value, expected) {
  if (!holds) throw new TypeError(`${what} ${String(value)}: expected ${expected}`);
}

/** Letters to change, to add or to leave out, between two words. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let k = 1; k <= a.length; k += 1) {
    const next = [k];
    for (let at = 1; at <= b.length; at += 1) next[at] = Math.min(row[at] + 1, next[at - 1] + 1, row[at - 1] + (a[k - 1] !== b[at - 1]));
    row = next;
  }
  return row[b.length];
}

/** What was meant, if a known name is no more than two letters away. */
function meant(name, known) {
  const far = known.map((other) => distance(name.toLowerCase(), other.toLowerCase()));
  const least = Math.min(...far);
  return least <= 2 ? `did you mean ${known[far.indexOf(least)]}?` : undefined;
}

/** Refuses an option that nothing reads. */
export function only(options, known, of) {
  const name = Object.keys(options ?? {}).find((name) => !known.includes(name));
  if (name !== undefined) throw new TypeError(`${of}${name}: no such option; ${meant(name, known) ?? `there are ${known.join(", ")}`}`);
}

/** An error of the module that lists every name says which was meant instead, or where they are. */
export function nearest(error) {
  const [, head, name, list] = /^(no method|method \S+ has no parameter) "(.*)"; (?:there are|it has) (.*)$/.exec(error?.message) ?? [];
  if (!head) return error;
  const where = head === "no method" ? "METHODS of undercurve/methods lists them" : `it has ${list}`;
  return new TypeError(`${head} "${name}"; ${meant(name, list.split(", ")) ?? where}`);
}
