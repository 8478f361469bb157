// What the rows of each kind of data are called, so that every sentence speaks of them.

/** @typedef {{ rows: string, positive: [string, string], negative: [string, string] }} Nouns each class: one, many */

/** @type {Nouns} */
export const PLAIN = { rows: "rows", positive: ["positive", "positives"], negative: ["false positive", "false positives"] };
/** @type {Nouns} */
export const PEOPLE = { rows: "people", positive: ["ill person", "ill people"], negative: ["healthy person", "healthy people"] };
const SAMPLES = {
  "page-blocks": { rows: "blocks", positive: ["block of another kind", "blocks of another kind"], negative: ["block of text", "blocks of text"] },
  digits: { rows: "digits", positive: ["eight", "eights"], negative: ["other digit", "other digits"] },
  "breast-cancer": { rows: "tumours", positive: ["malignant tumour", "malignant tumours"], negative: ["benign tumour", "benign tumours"] },
};

/** @param {string} data name of the data @param {boolean} plain whether it is drawn with two classes @param {{ label: string, positive?: string } | null} [own] file @returns {Nouns} */
export function nounsOf(data, plain, own) {
  if (data === "file" && own?.positive !== undefined) return { rows: "rows", positive: ["row", "rows"].map((one) => `${one} with ${own.label} ${own.positive}`), negative: ["other row", "other rows"] };
  return SAMPLES[data] ?? (plain ? PEOPLE : PLAIN);
}

/** As many as there are. */
export const many = (n, [one, more]) => (n === 1 ? one : more);
