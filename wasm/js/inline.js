// The package with its modules and its worker inside the script: for bundlers that copy no files, and for pages of one file.

import { LOADS } from "./modules.js";
import { initDecide, initJudge } from "./judge.js";
import { initExact, initObjective, initPairs } from "./objective-module.js";
// (Before what uses it: rollup puts what is imported later behind a script that awaits.)
import "./pkg/undercurve_whole.js";
import "./pkg/undercurve_sums.js";
import "./pkg/undercurve_groups.js";
import "./pkg/undercurve_exact.js";
import "./pkg/undercurve_objective.js";
import "./pkg/undercurve_pairs.js";
import "./pkg/undercurve_judge.js";
import "./pkg/undercurve_decide.js";
import { decide, exact, groups, host, judge, objective, pairs, sums, train, whole } from "./pkg/inline.js";
import { defaults, startWorker } from "./start-worker.js";

export * from "./index.js";
export { Engine, WorkerExact, WorkerLanes, WorkerTrainer, createExact, createTrainer } from "./worker.js";

const bytes = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** What `make` makes, at the first call. */
function lazy(make) {
  let made;
  return () => (made ??= make());
}

const trained = { train, whole, sums, groups };
for (const [name, text] of Object.entries(trained)) LOADS[name].from = () => bytes(text);
initObjective.from = () => bytes(objective);
initExact.from = () => bytes(exact);
initPairs.from = () => bytes(pairs);
initJudge.from = () => bytes(judge);
initDecide.from = () => bytes(decide);
const url = lazy(() => URL.createObjectURL(new Blob([host], { type: "text/javascript" })));
const compiled = lazy(() => Object.fromEntries(Object.entries({ ...trained, pairs, exact }).map(([name, text]) => [name, WebAssembly.compile(bytes(text))])));
defaults.wasm = compiled;
defaults.worker = () => startWorker(globalThis.Worker ? url() : "", { type: "classic", text: host });
