// What is done to drawn data by hand. The address holds each deed, so that links, Back and new draws repeat it.

/** How it is written: deeds apart by "*"; a deed is its kind, its size and its points, in hundredths of a unit. */
export const KINDS = /** @type {const} */ ({ p: "add positives", n: "add negatives", m: "move", c: "move a cluster", f: "flip", e: "erase" });
/** Characters of an address for them. */
export const ROOM = 4000;
/** Rows that a point of a stroke adds; at the least size each adds one. */
const SPRAY = 5;
/** Rows of each class that are kept. */
const KEPT = 2;
/** The smallest circle, in units. */
export const SIZES = { least: 0.1, most: 1.5, usual: 0.3 };

/**
 * @typedef {{ kind: keyof typeof KINDS, training: boolean, size: number, at: [number, number][] }} Deed
 *   `training` where held-out rows stay as they are; of what moves, `at` is from where and to where
 */

const whole = (x) => Math.round(100 * x);

/** @param {Deed} deed */
export const write = ({ kind, training, size, at }) => `${kind}${training ? "t" : ""}${[size, ...at.flat()].map(whole).join(".")}`;

/** The deeds of an address; what is none is left out. @returns {Deed[]} */
export function read(text) {
  return text.split("*").flatMap((one) => {
    const [, kind, only, numbers] = one.match(/^([pnmcfe])(t?)(\d+(?:\.-?\d+)+)$/) ?? [];
    const [size, ...at] = (numbers ?? "").split(".").map((number) => Number(number) / 100);
    if (!kind || at.length % 2 || at.some((x) => Math.abs(x) > 100) || size > SIZES.most || (/[mc]/.test(kind) && at.length !== 4)) return [];
    return [{ kind, training: only === "t", size, at: Array.from({ length: at.length / 2 }, (_, k) => [at[2 * k], at[2 * k + 1]]) }];
  });
}

/** Numbers from 0 to 1 that the seed decides. */
function random(seed) {
  let at = seed | 0;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let x = Math.imul(at ^ (at >>> 15), 1 | at);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The centres of one class, one or two: two where they explain more than half of its variance. @returns {[number, number][]} */
export function centres(X, y, label) {
  const points = [];
  for (let row = 0; row < y.length; row += 1) if (y[row] === label) points.push([X[2 * row], X[2 * row + 1]]);
  const mean = (some) => [0, 1].map((axis) => some.reduce((sum, point) => sum + point[axis], 0) / some.length);
  const far = ([x, y], [u, v]) => (x - u) ** 2 + (y - v) ** 2;
  const whole = mean(points);
  const spread = (of, ends) => of.reduce((sum, point) => sum + Math.min(...ends.map((end) => far(point, end))), 0);
  const farthest = (from) => points.reduce((best, point) => (far(point, from) > far(best, from) ? point : best), points[0]);
  let two = [farthest(whole)];
  two.push(farthest(two[0]));
  for (let round = 0; round < 12; round += 1) {
    const parts = [[], []];
    for (const point of points) parts[far(point, two[0]) <= far(point, two[1]) ? 0 : 1].push(point);
    if (parts.some((part) => part.length < KEPT)) return [whole];
    two = parts.map(mean);
  }
  return spread(points, two) < 0.5 * spread(points, [whole]) ? two : [whole];
}

const near = (ends, x, y) => ends.reduce((best, [u, v], k) => ((u - x) ** 2 + (v - y) ** 2 < (ends[best][0] - x) ** 2 + (ends[best][1] - y) ** 2 ? k : best), 0);

/** Rows in the circles, as a function of a row. */
const within = (X, size, at) => (row) => at.some(([x, y]) => (X[2 * row] - x) ** 2 + (X[2 * row + 1] - y) ** 2 <= size * size);

/** Whether both classes keep rows. */
function stands(y) {
  let positives = 0;
  for (const label of y) positives += label;
  return positives >= KEPT && y.length - positives >= KEPT;
}

/**
 * One deed on one part of the rows. @param {{ X: Float32Array, y: Uint8Array }} part @param {Deed} deed
 * @param {{ times: number, first: boolean, next: () => number, clusters: { label: number, ends: [number, number][] } | null }} how
 * @returns {{ X: Float32Array, y: Uint8Array, rows: number }} with how many rows it concerned; the same part where there are none, or too few left
 */
function one({ X, y }, { kind, size, at }, { times, first, next, clusters }) {
  if (kind === "p" || kind === "n") {
    const each = (size > SIZES.least ? SPRAY : 1) * times;
    const [rows, label] = [each * at.length, Number(kind === "p")];
    const points = new Float32Array(2 * rows);
    at.forEach(([x, y], stroke) => {
      for (let k = 0; k < each; k += 1) {
        // (At the least size, where the pointer is.)
        const [angle, far] = [2 * Math.PI * next(), size > SIZES.least ? size * Math.sqrt(next()) : times > 1 ? size * next() : 0];
        points.set([x + far * Math.cos(angle), y + far * Math.sin(angle)], 2 * (stroke * each + k));
      }
    });
    const labels = new Uint8Array(rows).fill(label);
    const join = (Type, ...parts) => {
      const out = new Type(parts[0].length + parts[1].length);
      out.set(parts[0]);
      out.set(parts[1], parts[0].length);
      return out;
    };
    // (Training rows keep their numbers; of held-out rows the first are drawn.)
    return first ? { X: join(Float32Array, points, X), y: join(Uint8Array, labels, y), rows } : { X: join(Float32Array, X, points), y: join(Uint8Array, y, labels), rows };
  }
  let is = within(X, size, kind === "m" ? at.slice(0, 1) : at);
  if (kind === "c") {
    const { label, ends } = clusters;
    const own = near(ends, ...at[0]);
    is = (row) => y[row] === label && near(ends, X[2 * row], X[2 * row + 1]) === own;
  }
  const rows = [...y.keys()].filter(is);
  if (!rows.length) return { X, y, rows: 0 };
  if (kind === "m" || kind === "c") {
    const moved = X.slice();
    const by = [at[1][0] - at[0][0], at[1][1] - at[0][1]];
    for (const row of rows) for (const axis of [0, 1]) moved[2 * row + axis] += by[axis];
    return { X: moved, y, rows: rows.length };
  }
  if (kind === "f") {
    const flipped = y.slice();
    for (const row of rows) flipped[row] = 1 - flipped[row];
    return stands(flipped) ? { X, y: flipped, rows: rows.length } : { X, y, rows: 0, refused: true };
  }
  const gone = new Uint8Array(y.length);
  for (const row of rows) gone[row] = 1;
  const left = y.filter((_, row) => !gone[row]);
  return stands(left) ? { X: X.filter((_, at) => !gone[at >> 1]), y: left, rows: rows.length } : { X, y, rows: 0, refused: true };
}

/** The class and the centres of what a moved cluster is of: the nearest centre of all. */
export function clusterAt({ X, y }, [x, v]) {
  const all = [0, 1].map((label) => ({ label, ends: centres(X, y, label) }));
  const far = ({ ends }) => Math.min(...ends.map(([u, w]) => (u - x) ** 2 + (w - v) ** 2));
  return far(all[1]) <= far(all[0]) ? all[1] : all[0];
}

/**
 * Rows with all that was done to them. @param {string} text @param {object} base drawn rows of two features and two classes
 * @param {number} seed of new rows @returns {object} rows, with `base`, and `hands`: training rows that the last deed concerned, and whether it was refused
 */
export function apply(text, base, seed) {
  const deeds = read(text);
  let [train, test] = [{ X: base.X, y: base.y }, base.test];
  let last = { rows: 0, refused: false };
  const times = Math.max(1, Math.round(base.test.y.length / base.y.length));
  for (const [k, deed] of deeds.entries()) {
    const clusters = deed.kind === "c" ? clusterAt(train, deed.at[0]) : null;
    const { rows, refused = false, ...done } = one(train, deed, { times: 1, first: false, next: random(seed + 7919 * k), clusters });
    const held = deed.training ? { ...test } : one(test, deed, { times, first: true, next: random(seed + 7919 * k + 1), clusters });
    last = { rows, refused: refused || Boolean(held.refused) };
    // (Both parts, or none.)
    if (!last.refused) [train, test] = [done, { X: held.X, y: held.y }];
  }
  return { ...base, ...train, test, plane: test.X.slice(0, 4000), framed: base.plane, base, hands: { ...last, deeds: deeds.length } };
}
