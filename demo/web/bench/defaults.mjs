// Networks on the page's data at the page's defaults, beside the best of seven learning rates: average precision on held-out rows.
//
//     node demo/web/bench/defaults.mjs [--draws 20] [--steps 300,1000,3000,20000] [--data ring,…] [--model 16,…] [--method ce,…|all]
//                                      [--rates 7] [--jobs N] [--out FILE]
//
// A row is a kind of data, a model, a method and a length: the mean over the draws at defaults, the best mean of the rates, and how many
// draws end below 1.5 times the share of positives, in all and without a warning. A row passes where the mean is at least .9 of the best
// rate's and no draw ends so low without a warning. Exit 1 where a row does not pass. `--out` keeps every run, and goes on from there.
//
//     node demo/web/bench/defaults.mjs --page [--draws 20] [--minutes 5] …
//
// Every method on all of the page's data with two classes, by a line and by both networks, at defaults alone: a row for each kind of data and
// model. Draws are done one after the
// other, until the minutes are over; the table is of those that are whole. Exit 1 where a run ends below 1.5 times the share
// of positives without a warning.
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
const FILES = { digits: { label: "digit", positive: "8" }, "page-blocks": { label: "kind", positive: "other" }, "breast-cancer": { label: "diagnosis", positive: "malignant" } };
/** Methods that the page gives a tanh network. */
const SMOOTH = /sarah|^svrg$|-sum$/;
const MODELS = { linear: [], 16: [16], "16x16": [16, 16] };

/** @param {{ data: string, model: string, method: string, steps: number, rate: number | null, seed: number }} job */
async function run({ data, model, method, steps, rate, seed }) {
  const rows = data in FILES ? await prepared(data, seed) : synthetic(data, { ...DRAWN, seed });
  const session = await create({
    ...rows,
    model: model === "linear" ? { kind: "linear" } : { kind: SMOOTH.test(method) ? "mlp-tanh" : "mlp", hidden: MODELS[model] },
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

const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** A row of the page's table: all methods on one kind of data by one model. */
function pageRow({ data, model, steps }, methods, draws, found) {
  const each = methods.map((method) => ({ method, runs: draws.map((seed) => found.get(key({ data, model, method, steps, rate: null, seed }))) }));
  const taken = each.filter(({ runs }) => !runs.every(({ refused }) => refused));
  const means = taken.map(({ method, runs }) => ({ method, ap: mean(runs.map(({ ap }) => ap || 0)) })).sort((a, b) => a.ap - b.ap);
  const of = (name) => means.find(({ method }) => method === name)?.ap.toFixed(3) ?? "";
  const all = taken.flatMap(({ method, runs }) => runs.map((run) => ({ method, ...run })));
  const low = all.filter(({ ap, base }) => !(ap >= 1.5 * base));
  const cells = [data, model, taken.length, mean(all.map(({ base }) => base)).toFixed(3), of("ce"), of("soap"), percentile(means, 0.5).ap.toFixed(3), `${means[0].ap.toFixed(3)} ${means[0].method}`, `${means.at(-1).ap.toFixed(3)} ${means.at(-1).method}`, low.length, low.filter(({ warning }) => warning).length, all.filter(({ error }) => error).length];
  return { text: `| ${cells.join(" | ")} |`, low };
}

/** Jobs one after the other for each worker, until there are none or time is over. */
async function train(jobs, workers, done, until = Infinity) {
  let next = 0;
  const work = () =>
    new Promise((over, broken) => {
      const worker = new Worker(new URL(import.meta.url));
      const give = () => worker.postMessage(next < jobs.length && performance.now() < until ? jobs[next++] : null);
      worker.on("message", ({ job, result }) => {
        done(job, result);
        give();
      });
      worker.on("error", broken);
      worker.on("exit", over);
      give();
    });
  await Promise.all(Array.from({ length: Math.max(1, workers) }, work));
}

async function page({ draws, data, steps, methods, models, jobs, minutes, out, found }) {
  const kinds = data.flatMap((data) => models.map((model) => ({ data, model, steps: steps[0] })));
  const ofDraw = (seed) => kinds.flatMap((of) => methods.map((method) => ({ ...of, method, rate: null, seed })));
  const keep = (job, result) => {
    found.set(key(job), result);
    if (out) appendFileSync(out, `${JSON.stringify({ of: key(job), ...result })}\n`);
  };
  await train(draws.flatMap(ofDraw).filter((job) => !found.has(key(job))), jobs, keep, performance.now() + 60_000 * minutes);
  const whole = draws.filter((seed) => ofDraw(seed).every((job) => found.has(key(job))));
  console.log("| data | model | methods | base | CE | SOAP | median method | lowest | highest | below 1.5 × base | with a warning | broke off |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
  const low = kinds.flatMap((of) => {
    const { text, low } = pageRow(of, methods, whole, found);
    console.log(text);
    return low.map((run) => ({ ...of, ...run }));
  });
  console.log(`\n${methods.length} methods, ${whole.length} of ${draws.length} draws, ${steps[0]} steps`);
  process.exitCode = low.some(({ warning }) => !warning) ? 1 : 0;
  for (const { data, model } of kinds) {
    const runs = low.filter((run) => run.data === data && run.model === model);
    const named = [...new Set(runs.map(({ method }) => method))].map((name) => `${name} ${runs.filter(({ method }) => method === name).length}`);
    if (named.length) console.log(`${data}, ${model}: ${named.join(", ")}`);
  }
}

async function bench() {
  const list = (text) => text.split(",");
  const { values } = parseArgs({
    options: {
      draws: { type: "string", default: "20" },
      rates: { type: "string", default: String(RATES.length) },
      steps: { type: "string", default: "300,1000,3000,20000" },
      data: { type: "string", default: "ring,checker,split,digits,page-blocks" },
      model: { type: "string", default: "16,16x16" },
      page: { type: "boolean", default: false },
      minutes: { type: "string", default: "1e9" },
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
  if (values.page) {
    const asked = (name, usual) => (process.argv.some((word) => word.startsWith(`--${name}`)) ? list(values[name]) : usual);
    const data = asked("data", ["split", "overlap", "decoy", "ring", "checker", "moons", ...Object.keys(FILES)]);
    const usual = METHODS.filter(({ groups }) => !groups).map(({ name }) => name);
    return page({ draws, data, steps: asked("steps", ["300"]).map(Number), methods: values.method === "all" ? usual : asked("method", usual), models: asked("model", Object.keys(MODELS)), jobs: Number(values.jobs), minutes: Number(values.minutes), out: values.out, found });
  }
  const jobs = rows.flatMap((of) => [null, ...rates].flatMap((rate) => draws.map((seed) => ({ ...of, rate, seed })))).filter((job) => !found.has(key(job)));
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
  await train(jobs, Number(values.jobs), (job, result) => {
    found.set(key(job), result);
    if (values.out) appendFileSync(values.out, `${JSON.stringify({ of: key(job), ...result })}\n`);
    show();
  });
  console.log(`\n${rows.length - failed} of ${rows.length} rows pass, ${draws.length} draws each`);
  return (process.exitCode = failed ? 1 : 0);
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
