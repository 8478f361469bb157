// What is shown, as code: a lane's run in JavaScript, on the command line and in Python, with the numbers of the page.

import { rates } from "./rates.js";

/**
 * @typedef {object} Shown
 * @property {import("./state.js").State} state
 * @property {"two" | "several" | "groups"} kind of data
 * @property {{ method: string, settings: Record<string, string> }} lane
 * @property {{ kind: string, hidden?: number[] }} model as the trainer takes it
 * @property {string[]} [constraints]
 * @property {{ name: string, encoding?: string, label: string, positive?: string, impute?: boolean, ignore?: string[], categorical?: string[], weight?: number }} [file] rows of a file instead of drawn ones
 * @property {{ rows: number, testRows: number, positives?: number, noise: number, seed: number }} [drawn]
 * @property {boolean} [byHand] rows were changed by hand: they come from two files
 */

export const FILES = { train: "rows.csv", test: "held-out.csv" };
const text = (value) => JSON.stringify(value);
/** An object literal, without quotes around plain names. */
function literal(value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (value === null || typeof value !== "object") return text(value);
  const parts = Object.entries(value).filter(([, one]) => one !== undefined).map(([name, one]) => `${/^[a-z_]\w*$/i.test(name) ? name : text(name)}: ${literal(one)}`);
  return `{ ${parts.join(", ")} }`;
}
const fpr = ({ state }) => rates(state.fpr);
const number = (setting) => (/^-?[\d.]+(?:e-?\d+)?$/i.test(setting) ? Number(setting) : setting);

/** @param {Shown} shown */
export function javascript(shown) {
  const { state, kind, lane, model, constraints, file, drawn, byHand } = shown;
  const of = { two: "synthetic", several: "syntheticClasses", groups: "syntheticGroups" }[kind];
  const settings = Object.fromEntries(Object.entries(lane.settings).map(([name, value]) => [name, number(value)]));
  const method = { name: lane.method, ...(kind !== "several" && { fpr: fpr(shown) }), ...(Object.keys(settings).length && { settings }) };
  const options = { model, method, seed: state.seed, steps: state.steps, constraints, scale: drawn && kind !== "groups" ? "standard" : undefined };
  const full = kind === "two" ? "init" : "initGroups";
  const lines = [];
  if (file) {
    const { label, positive, encoding, impute = false, ignore = [], categorical = [], weight = 1 } = file;
    const some = (names) => (names.length ? names : undefined);
    lines.push('import { readFile } from "node:fs/promises";', 'import { Session } from "undercurve";', 'import { DataFile, initFiles } from "undercurve/files";', "", "await initFiles();",
      `const file = new DataFile(await readFile(${text(file.name)}), ${text(file.name)}${encoding ? `, ${literal({ encoding })}` : ""});`,
      `const { dims, classes, X, y, test } = file.${kind === "several" ? "prepareClasses" : "prepare"}(${literal({ label, positive: kind === "two" ? positive : undefined, impute, ignore: some(ignore), categorical: some(categorical), weight: weight > 1 ? weight : undefined, share: 0.6, seed: state.seed })});`,
      "const rows = { X, y, dims, classes, test };");
  } else if (byHand) {
    lines.push('import { readFile } from "node:fs/promises";', 'import { Session } from "undercurve";', "", "/** Columns of numbers, the label last. */",
      'const read = async (name) => (await readFile(name, "utf8")).trim().split("\\n").slice(1).map((line) => line.split(",").map(Number));',
      "const part = (lines) => ({ X: Float32Array.from(lines.flatMap((line) => line.slice(0, -1))), y: Uint8Array.from(lines, (line) => line.at(-1)) });",
      `const rows = { ...part(await read(${text(FILES.train)})), dims: 2, test: part(await read(${text(FILES.test)})) };`);
  } else {
    const flips = state.flips && kind !== "several";
    lines.push(`import { Session, ${flips ? "flipLabels, " : ""}${full}, ${of} } from "undercurve";`, "", `await ${full}();`, `const rows = ${of}(${text(state.data)}, ${literal(drawn)});`);
    if (flips) lines.push(`rows.y = flipLabels(rows.y, ${state.flips / 100}, ${state.seed});`);
  }
  lines.push(`const session = await Session.create({ ...rows, ${literal(options).slice(2)});`, "console.log(session.run().test);");
  return `${lines.join("\n")}\n`;
}

const modelOf = ({ kind, hidden }) => (kind === "linear" ? kind : `${kind}:${hidden.join(",")}`);
/** A word of a shell. */
const word = (value) => (/^[\w./:=,+@%-]+$/.test(value) ? value : `'${String(value).replaceAll("'", "'\\''")}'`);

/** Two classes alone: others read their rows otherwise. @param {Shown} shown */
export function commandLine(shown) {
  const { state, lane, model, file } = shown;
  const data = file
    ? [file.name, "--label", file.label, "--positive", file.positive, ...(file.encoding ? ["--encoding", file.encoding] : []), ...["ignore", "categorical"].flatMap((name) => (file[name]?.length ? [`--${name}`, file[name].join(",")] : [])), ...(file.weight > 1 ? ["--class-weight", `${file.weight}:1`] : []), "--split", "0.6"]
    : [FILES.train, "--test", FILES.test, "--label", "label", "--positive", "1", "--scale", "standard"];
  const parts = [["undercurve", "train", ...data], ["--method", lane.method, "--model", modelOf(model)], ["--steps", state.steps, "--seed", state.seed, "--fpr", fpr(shown).join(":")],
    ...Object.entries(lane.settings).map(([name, value]) => ["--set", `${name}=${value}`]), ["--out", "model.uc"]];
  return `${parts.map((words) => words.map(word).join(" ")).join(" \\\n  ")}\n`;
}

/** @param {Shown} shown */
export function python(shown) {
  const { state, lane, model, file } = shown;
  const value = (setting) => text(number(setting));
  const options = [`method=${text(lane.method)}`, `model=${text(modelOf(model))}`, `steps=${state.steps}`, `seed=${state.seed}`, `fpr=(${fpr(shown).join(", ")})`,
    ...Object.entries(lane.settings).map(([name, setting]) => `${name.replaceAll("-", "_")}=${value(setting)}`)];
  const data = file ? [`${text(file.name)}, label=${text(file.label)}, positive=${text(file.positive)}${file.encoding ? `, encoding=${text(file.encoding)}` : ""}${["ignore", "categorical"].map((name) => (file[name]?.length ? `, ${name}=${text(file[name])}` : "")).join("")}${file.weight > 1 ? `, class_weight=[1, ${file.weight}]` : ""}`] : [`pandas.read_csv(${text(FILES.train)}), label="label", positive="1", scale="standard"`, `test=pandas.read_csv(${text(FILES.test)})`];
  return `${file ? "# Trains on all rows of the file; valid=0.4 holds some out.\n" : "import pandas\n"}import undercurve\n\nmodel = undercurve.train(\n${[...data, options.join(", ")].map((line) => `    ${line},`).join("\n")}\n)\nprint(model.figures)\n`;
}

/** What a lane's model is called that is taken home. @param {string} lane */
export const modelFile = (lane) => `undercurve-${lane}.uc`;

/** Such a model in use, in five lines: scores of the rows of a file, or of one row. @type {Record<string, (model: string, file: string) => string>} */
export const USES = {
  js: (model, file) => `import { readFile } from "node:fs/promises";\nimport { Model } from "undercurve/files";\n\nconst model = await Model.load(await readFile(${text(model)}));\nconsole.log(model.predict(await readFile(${text(file)})).scores);\n`,
  cli: (model, file) => `undercurve predict ${[model, file].map(word).join(" ")}\n`,
  py: (model, file) => `import undercurve\n\nmodel = undercurve.load(${text(model)})\nprint(model.scores(${text(file)}))\n`,
  // (A row of the columns that model.c lists, by echo 1 2 3 | ./use.)
  c: (model) => `/* undercurve export ${model} model.c && cc use.c -o use -lm, then numbers of one row to its input */\n#include <stdio.h>\n#include "model.c"\n\nstatic double row[1024];\nint main(void) {\n  for (int cell = 0; cell < 1024 && scanf("%lf", row + cell) == 1; cell++) {}\n  return printf("%.9g\\n", (double)score(row)) < 0;\n}\n`,
};

/** What a model is, on one page: Markdown. @param {Shown} shown @param {{ columns: { name: string, categorical: boolean }[], positive: string | null, classes: string[] }} about @param {Record<string, number>} test metrics of held-out rows @param {{ train: number, test: number }} rows */
export function card({ state, lane, model, file }, about, test, rows) {
  const figures = [["average precision", "ap"], ["AUROC", "auroc"], ["Hand–Till AUC", "handTill"], ["accuracy", "accuracy"]].filter(([, key]) => Number.isFinite(test[key])).map(([name, key]) => `| ${name} | ${test[key].toFixed(4)} |`);
  const settings = Object.entries(lane.settings).map(([name, value]) => `, ${name} ${value}`).join("");
  return [`# A model of ${file.name}`, "", about.classes.length ? `It ranks rows by ${file.label}: ${about.classes.join(", ")}.` : `It ranks rows by how likely ${file.label} is ${about.positive}.`, "",
    `- Model: ${modelOf(model)}, by ${lane.method}${settings}; ${state.steps} steps, seed ${state.seed}`, `- Trained on ${rows.train} rows; ${rows.test} others, drawn at random, were held out`,
    `- Reads: ${about.columns.map(({ name, categorical }) => `${name}${categorical ? " (a category)" : ""}`).join(", ")}`, ...(file.ignore?.length ? [`- Left out: ${file.ignore.join(", ")}`] : []), "",
    "| held-out rows | |", "|---|---|", ...figures, "", "Rows of another time or place may be ranked less well. The held-out rows were seen by who chose this model among others.", ""].join("\n");
}

/** Rows as CSV. @param {{ X: Float32Array, y: Uint8Array }} part of two features */
export const csv = ({ X, y }) => `x1,x2,label\n${Array.from(y, (label, row) => `${X[2 * row]},${X[2 * row + 1]},${label}`).join("\n")}\n`;
