// The address of the first picture: the visitor's line, the draw of the people, and whether models were trained beside it.

/** @typedef {{ you: number, seed: number, models: boolean }} Face `you`: the line's direction in whole degrees */

/** Whether an address is that of the first picture: it can stand in a frame of another page, too. */
export const isFace = (hash = location.hash, search = location.search) => (!hash || hash === "#" || /^#you=/.test(hash)) && !/[?&](embed(?!=face\b)|lecture)\b/.test(search);

const within = (text, low, high, otherwise) => (text !== null && text !== "" && Number(text) >= low && Number(text) <= high ? Math.round(Number(text)) : otherwise);

/** @param {string} hash @returns {Face} */
export function read(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  return { you: within(query.get("you"), -180, 180, 0), seed: within(query.get("seed"), 0, 999999, 1), models: query.get("models") === "1" };
}

/** @param {Face} face */
export const write = ({ you, seed, models }) => `#you=${you}${seed === 1 ? "" : `&seed=${seed}`}${models ? "&models=1" : ""}`;
