// What is shown as files.

import { $, download } from "../dom.js";
import { LANES } from "../kinds.js";
import { subject } from "../repeats.js";
import { manyRuns, options, trainerOf } from "../runs.js";
import { repeats, run, say, shots, state } from "../store.js";

/** Every run's metrics, for the export. */
const runsTold = (crowd) => Object.fromEntries(LANES.map((name) => [name, manyRuns()[name].runs.map(({ seed }, at) => {
  const { metrics, errors } = crowd[name].reports;
  return { seed, error: errors[at], ...Object.fromEntries(Object.entries(metrics).map(([key, values]) => [key, values[at]])) };
})]));

export function exports() {
  $("export-code").onclick = () => import("./code.js").then(({ show }) => run.peek() && show()).catch(say);
  $("export-json").onclick = () => {
    const [{ a, b }, { crowd, rows: of, kind, step, metric, objective }, all] = [shots.peek(), run.peek(), repeats.peek()];
    const told = { state: state.peek(), metrics: { a: a.test, b: b.test }, byGroup: { a: a.byGroup, b: b.byGroup }, constraints: { a: a.judged, b: b.constraints ?? b.judged }, draws: all?.of === subject() ? all.draws : [], runs: crowd && runsTold(crowd), classes: of.names, history: { step, [kind.metric]: metric, objective } };
    download("undercurve.json", JSON.stringify(told, null, 2), "application/json");
  };
  for (const name of LANES) {
    const lane = () => state.peek().lanes[name];
    const weights = async () => {
      const { dims, names } = run.peek().rows;
      const { model } = options(name);
      const [params, columns] = await Promise.all([trainerOf(name).params(), trainerOf(name).columns()]);
      const { layers, safetensors } = await import("../safetensors.js");
      // (Of drawn rows: what the columns are shifted by, and then multiplied with.)
      const told = { method: lane().method, settings: lane().settings, activation: { "mlp-tanh": "tanh", mlp: "relu" }[model.kind] ?? "none", columns, classes: names };
      const metadata = Object.fromEntries(Object.entries(told).filter(([, value]) => value).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]));
      download(`undercurve-${name}.safetensors`, safetensors(layers(params, [dims, ...(model.hidden ?? []), names?.length ?? 1]), metadata), "application/octet-stream");
    };
    $(`export-${name}`).onclick = () => weights().catch(say);
  }
}
