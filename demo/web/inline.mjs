// Writes wasm/js/pkg/inline.js: the modules that train, judge and have objectives, as text, and the worker as one script.

import { readFile, writeFile } from "node:fs/promises";
import { rolldown } from "rolldown";

const js = new URL("../../wasm/js/", import.meta.url);
const bundle = await rolldown({ input: new URL("worker-host.js", js).pathname, platform: "browser", logLevel: "silent" });
const { output } = await bundle.generate({ format: "iife", minify: true, codeSplitting: false });
if (output.length !== 1) throw new Error(`the worker is ${output.length} scripts`);
const base64 = async (name) => (await readFile(new URL(`pkg/${name}_bg.wasm`, js))).toString("base64");
const parts = { train: await base64("undercurve"), host: output[0].code };
for (const name of ["whole", "sums", "groups", "objective", "pairs", "exact", "judge", "decide"]) parts[name] = await base64(`undercurve_${name}`);
const lines = Object.entries(parts).map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`);
await writeFile(new URL("pkg/inline.js", js), lines.join(""));
