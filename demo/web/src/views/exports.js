// What is shown as files.

import { $, download } from "../dom.js";
import { LANES } from "../kinds.js";
import { subject } from "../repeats.js";
import { manyRuns, trainerOf } from "../runs.js";
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
    $(`export-${name}`).onclick = async () => {
      const { model, lanes } = state.peek();
      const { dims, names } = run.peek().rows;
      download(`undercurve-${name}.json`, JSON.stringify({ model, dims, classes: names, method: lanes[name], columns: await trainerOf(name).columns(), params: [...(await trainerOf(name).params())] }), "application/json");
    };
  }
}
