// The package with its modules and its worker inside the script: for bundlers that copy no files, and for pages of one file.

import { init, initFull } from "./modules.js";
import { initObjective } from "./objective-module.js";
// (Before what uses it: rollup puts what is imported later behind a script that awaits.)
import "./pkg/undercurve_full.js";
import "./pkg/undercurve_objective.js";
import { full, host, objective, train } from "./pkg/inline.js";
import { defaults, startWorker } from "./start-worker.js";

export * from "./index.js";
export { Engine, WorkerExact, WorkerLanes, WorkerTrainer, createExact, createTrainer } from "./worker.js";

const bytes = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** What `make` makes, at the first call. */
function lazy(make) {
  let made;
  return () => (made ??= make());
}

init.from = () => bytes(train);
initFull.from = () => bytes(full);
initObjective.from = () => bytes(objective);
const url = lazy(() => URL.createObjectURL(new Blob([host], { type: "text/javascript" })));
const compiled = lazy(() => Object.fromEntries(Object.entries({ train, full, objective }).map(([name, text]) => [name, WebAssembly.compile(bytes(text))])));
defaults.wasm = compiled;
defaults.worker = () => startWorker(globalThis.Worker ? url() : "", { type: "classic", text: host });
