// The sums of `cargo experiment speed` by the npm package in Node: asked for a work a line, answers with the seconds of one call.
//
//     cargo demo --build-only && cargo experiment speed --node node

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Exact, init } from "../../wasm/js/index.js";

const SUMS = {
  "exact AP, sigmoid (npm)": ["ap", "sigmoid"],
  "exact AUC, squared hinge (npm)": ["auc", "squared-hinge"],
  "exact AP, squared hinge (npm)": ["ap", "squared-hinge"],
};

await init();
let held = { key: "" };
async function rowsOf({ folder, rows }) {
  if (held.key !== `${folder}/${rows}`) {
    const scores = new Float32Array(new Uint8Array(readFileSync(`${folder}/${rows}.f32`)).buffer);
    const exact = await Exact.create({ y: new Uint8Array(readFileSync(`${folder}/${rows}.u8`)), backend: "cpu" });
    held = { key: `${folder}/${rows}`, scores, exact };
  }
  return held;
}

console.log(JSON.stringify({ sums: Object.keys(SUMS) }));
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const [sum, loss] = SUMS[asked.work];
  const { scores, exact } = await rowsOf(asked);
  exact.sync[sum](scores, { loss }); // compiled, and with its memory
  for (let calls = 1; ; calls *= 4) {
    const begun = performance.now();
    for (let call = 0; call < calls; call += 1) exact.sync[sum](scores, { loss });
    const seconds = (performance.now() - begun) / 1e3;
    if (seconds >= 2e-3) {
      console.log(seconds / calls);
      break;
    }
  }
}
