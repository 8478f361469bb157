// Real data that comes with the page. Licences and sources: samples/README.md.

import blocks from "../samples/page-blocks.csv?url";
import cancer from "../samples/breast-cancer.csv?url";
import digits from "../samples/digits.csv?url";

/** @type {{ name: string, title: string, about: string, url: string, label: string, positive?: string }[]} */
export const SAMPLES = [
  { name: "page-blocks", title: "Page blocks", about: "5,472 × 10 · 10 %", url: blocks, label: "kind", positive: "other" },
  { name: "digits", title: "Digits: 8 or not", about: "1,797 × 64 · 10 %", url: digits, label: "digit", positive: "8" },
  // Without a positive class: all of them at once.
  { name: "digits-all", title: "Ten digits", about: "1,797 × 64 · 10 classes", url: digits, label: "digit" },
  { name: "breast-cancer", title: "Breast cancer", about: "569 × 30 · 37 %", url: cancer, label: "diagnosis", positive: "malignant" },
];

const files = new Map();

/** The file of a sample, fetched once. @returns {Promise<Uint8Array>} */
export function fetchSample(name) {
  const sample = SAMPLES.find((one) => one.name === name);
  if (!files.has(sample.url)) {
    files.set(sample.url, fetch(sample.url).then(async (answer) => {
      if (!answer.ok) throw new Error(`${sample.title} could not be loaded (${answer.status})`);
      return new Uint8Array(await answer.arrayBuffer());
    }));
  }
  return files.get(sample.url);
}
