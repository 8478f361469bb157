// The npm package as another program asks it: lines of JSON come in, an answer to each goes out. `core/python/tests/crossing.py` crosses types of columns with it.
//
// {"train": FILE, "out": FILE, "options": …, "choice": …} trains on a CSV file, read by these options, by the choice of `prepare` (without one by a label of 0 and 1, without a positive one by classes)
// and writes the model; {"model": FILE, "rows": FILE} answers with the scores of its rows.

import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { entry } from "./packed.mjs";

const { DataFile, Model, initFiles } = await entry("undercurve/files");
const { Session, initFull } = await entry("undercurve");
await Promise.all([initFull(), initFiles()]);

async function answer({ train, out, choice = { label: "label", positive: "1", impute: true, share: 0.8 }, options, model, rows }) {
  if (!train) return { scores: Array.from((await Model.load(await readFile(model))).predict(await readFile(rows), { name: rows }).scores) };
  const file = new DataFile(await readFile(train), train, options);
  const found = choice.positive === undefined ? file.prepareClasses(choice) : file.prepare(choice);
  const session = new Session({ ...found, method: "ce", steps: 20 });
  session.run();
  await writeFile(out, (await Model.of(found.preparation, session)).save());
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const told = await answer(JSON.parse(line)).catch((error) => ({ error: error.message }));
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
