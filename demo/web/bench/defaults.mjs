// Networks on the page's data at the page's defaults, beside the best of seven learning rates: average precision on held-out rows.
//
//     node demo/web/bench/defaults.mjs [--draws 20] [--steps 300,1000,3000,20000] [--data ring,…] [--model 16,…] [--method ce,…|all]
//                                      [--rates 7] [--jobs N] [--out FILE]
//
// A row is a kind of data, a model, a method and a length: the mean over the draws at defaults, the best mean of the rates, and how many
// draws end below 1.5 times the share of positives, in all and without a warning. A row passes where the mean is at least .9 of the best
// rate's and no draw ends so low without a warning. Exit 1 where a row does not pass. `--out` keeps every run, and goes on from there.
// Needs the wasm package (`cargo demo` builds it).

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { DataFile, initFiles } from "../../../wasm/js/files.js";
import { METHODS, Session, init, synthetic } from "../../../wasm/js/index.js";

const RATES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1];
/** Rows, held-out rows and share of positives that the page draws; the share of a file's rows that train. */
const DRAWN = { rows: 2000, testRows: 6000, positives: 0.03 };
const SHARE = 0.6;
const FILES = { digits: { label: "digit", positive: "8" }, "page-blocks": { label: "kind", positive: "other" } };
/** Methods that the page gives a tanh network. */
const SMOOTH = /sarah|^svrg$|-sum$/;
const MODELS = { 16: [16], "16x16": [16, 16] };

/** @param {{ data: string, model: string, method: string, steps: number, rate: number | null, seed: number }} job */
async function run({ data, model, method, steps, rate, seed }) {
  const rows = data in FILES ? await prepared(data, seed) : synthetic(data, { ...DRAWN, seed });
  const session = await create({
    ...rows,
    model: { kind: SMOOTH.test(method) ? "mlp-tanh" : "mlp", hidden: MODELS[model] },
    method: { name: method, settings: rate === null ? {} : { lr: String(rate) }, fpr: [0, 0.05] },
    seed,
    steps,
    scale: data in FILES ? "none" : "standard",
  });
  try {
    session.advance({ steps });
    const { test, warning } = session.snapshot();
    return { ap: test.ap, warning, base: rows.test.y.reduce((sum, y) => sum + y, 0) / rows.test.y.length };
  } finally {
    session.dispose();
  }
}

/** A method that refuses the model or the rows is not what is measured here. */
async function create(options) {
  try {
    return await Session.create(options);
  } catch (error) {
    throw Object.assign(new Error(error.message), { refused: true });
  }
}

const files = new Map();

async function prepared(name, seed) {
  await initFiles();
  if (!files.has(name)) files.set(name, new DataFile(readFileSync(new URL(`../samples/${name}.csv`, import.meta.url)), `${name}.csv`));
  return files.get(name).prepare({ ...FILES[name], share: SHARE, seed });
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const key = ({ data, model, method, steps, rate, seed }) => [data, model, method, steps, rate ?? "auto", seed].join(" ");

/** @returns {{ text: string, passes: boolean }} the row of the table */
function row(of, draws, rates, found) {
  const runs = (rate) => draws.map((seed) => found.get(key({ ...of, rate, seed })));
  const usual = runs(null);
  if (usual.every(({ refused }) => refused)) return { text: `| ${of.data} | ${of.model} | ${of.method} | ${of.steps} | | | | | | | refused: ${usual[0].error} |`, passes: true };
  const low = usual.filter(({ ap, base }) => !(ap >= 1.5 * base));
  const silent = low.filter(({ warning }) => !warning).length;
  const [at, best] = rates.map((rate) => [rate, mean(runs(rate).map(({ ap }) => ap || 0))]).reduce((a, b) => (b[1] > a[1] ? b : a), [NaN, 0]);
  const ap = mean(usual.map(({ ap }) => ap || 0));
  // (A run that breaks off has no average precision. With a rate that is none of ours it may.)
  const broken = usual.find(({ error }) => error)?.error;
  const passes = broken === undefined && ap >= 0.9 * best && silent === 0;
  const beside = rates.length ? [best.toFixed(3), at, (ap / best).toFixed(3)] : ["", "", ""];
  const cells = [of.data, of.model, of.method, of.steps, ap.toFixed(3), ...beside, low.length, silent, passes ? "" : `FAILS ${broken ?? ""}`];
  return { text: `| ${cells.join(" | ")} |`, passes };
}

async function bench() {
  const list = (text) => text.split(",");
  const { values } = parseArgs({
    options: {
      draws: { type: "string", default: "20" },
      rates: { type: "string", default: String(RATES.length) },
      steps: { type: "string", default: "300,1000,3000,20000" },
      data: { type: "string", default: "ring,checker,split,digits,page-blocks" },
      model: { type: "string", default: Object.keys(MODELS).join() },
      method: { type: "string", default: "ce,soap,ppd-sg,pauc-exact" },
      jobs: { type: "string", default: String(availableParallelism()) },
      out: { type: "string" },
    },
  });
  const draws = Array.from({ length: Number(values.draws) }, (_, k) => k + 1);
  // Fewer rates are those nearest to the middle of the seven.
  const skip = Math.floor((RATES.length - Number(values.rates)) / 2);
  const rates = RATES.slice(skip, skip + Number(values.rates));
  const methods = values.method === "all" ? METHODS.map(({ name }) => name) : list(values.method);
  for (const method of methods) if (!METHODS.some(({ name }) => name === method)) throw new TypeError(`${method}: no such method`);
  for (const model of list(values.model)) if (!(model in MODELS)) throw new TypeError(`${model}: expected one of ${Object.keys(MODELS)}`);
  const rows = list(values.steps).map(Number).flatMap((steps) => list(values.data).flatMap((data) => list(values.model).flatMap((model) => methods.map((method) => ({ data, model, method, steps })))));
  const found = new Map();
  if (values.out && existsSync(values.out)) {
    for (const line of readFileSync(values.out, "utf8").split("\n").filter(Boolean)) {
      const { of, ...result } = JSON.parse(line);
      found.set(of, result);
    }
  }
  const jobs = rows.flatMap((of) => [null, ...rates].flatMap((rate) => draws.map((seed) => ({ ...of, rate, seed })))).filter((job) => !found.has(key(job)));
  let next = 0;
  let shown = 0;
  let failed = 0;
  const whole = (of) => [null, ...rates].every((rate) => draws.every((seed) => found.has(key({ ...of, rate, seed }))));
  const show = () => {
    while (shown < rows.length && whole(rows[shown])) {
      const { text, passes } = row(rows[shown++], draws, rates, found);
      console.log(text);
      failed += !passes;
    }
  };
  console.log("| data | mlp | method | steps | AP | best rate's | rate | share of it | below 1.5 × base | unwarned | |\n|---|---|---|---|---|---|---|---|---|---|---|");
  show();
  const work = () =>
    new Promise((done, broken) => {
      const worker = new Worker(new URL(import.meta.url));
      const give = () => (next < jobs.length ? worker.postMessage(jobs[next++]) : worker.postMessage(null));
      worker.on("message", ({ job, result }) => {
        found.set(key(job), result);
        if (values.out) appendFileSync(values.out, `${JSON.stringify({ of: key(job), ...result })}\n`);
        show();
        give();
      });
      worker.on("error", broken);
      worker.on("exit", done);
      give();
    });
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, work));
  console.log(`\n${rows.length - failed} of ${rows.length} rows pass, ${draws.length} draws each`);
  process.exitCode = failed ? 1 : 0;
}

if (isMainThread) {
  await bench();
} else {
  await init();
  parentPort.on("message", async (job) => {
    if (job === null) return parentPort.close();
    const result = await run(job).catch(({ message, refused }) => ({ ap: 0, base: 1, refused, error: String(message) }));
    return parentPort.postMessage({ job, result });
  });
}
