// The same bits as the native core, for every method in every module that has it. Needs `cargo demo --build-only`
// first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { constraintsOf } from "../js/groups.js";
import { CLASS_METHODS, METHODS } from "../js/pkg/methods.js";
import * as first from "../js/pkg/undercurve.js";
import { HOMES } from "../js/pkg/homes.js";
import * as groups from "../js/pkg/undercurve_groups.js";
import * as sums from "../js/pkg/undercurve_sums.js";
import * as whole from "../js/pkg/undercurve_whole.js";
import { native } from "./native.mjs";

const MODULES = { undercurve: first, undercurve_whole: whole, undercurve_sums: sums, undercurve_groups: groups };
for (const [name, module] of Object.entries(MODULES)) module.initSync({ module: await readFile(new URL(`../js/pkg/${name}_bg.wasm`, import.meta.url)) });

const ROWS = 600;
const COLUMNS = 4;

/** The rows of tests/examples/bits.rs. */
function rows() {
  let state = 1;
  const y = Uint8Array.from({ length: ROWS }, (_, row) => Number(row % 5 === 0));
  const X = Float32Array.from({ length: ROWS * COLUMNS }, (_, at) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const shift = at % COLUMNS === 0 && Math.floor(at / COLUMNS) % 5 === 0 ? 0.25 : 0;
    return (state >>> 8) / 16777216 - 0.5 + shift;
  });
  const classes = (count) => Uint8Array.from({ length: ROWS }, (_, row) => Math.min(row % 5, count - 1));
  return { X, y, dims: COLUMNS, classes };
}

/** FNV-1a over the bits of the parameters, in order. */
function hash(params) {
  const bits = new Uint32Array(params.buffer, params.byteOffset, params.length);
  return bits.reduce((sum, word) => Math.imul(sum ^ word, 0x01000193) >>> 0, 0x811c9dc5);
}

const GROUPS = ["a", "b", "c"];
const group = Uint32Array.from({ length: ROWS }, (_, row) => ((row * 7) % 11) % GROUPS.length);

/** What comes of a run in one of the modules; nothing where it does not have the method, several classes or groups. */
function train({ Data, Options, Trainer }, data, { method, settings, hidden, steps, classes, fpr, constraints }) {
  if ((classes || constraints.length) && !Data.prototype.ofClasses) return undefined;
  const options = new Options(method, 7);
  if (options.elsewhere) return undefined;
  options.steps(steps);
  options.fpr(...fpr);
  if (hidden.length) options.hidden(Uint32Array.from(hidden), true);
  for (const [name, value] of Object.entries(settings)) options.set(name, value);
  const dense = Data.dense(data.X, classes ? new Uint8Array() : data.y, data.dims);
  for (const constraint of constraints) options.constraint(constraint);
  const rows = classes ? dense.ofClasses(data.classes(classes), classes) : constraints.length ? dense.ofGroups(group, GROUPS) : dense;
  let trainer;
  try {
    trainer = new Trainer(options, rows);
    // (A call may be a piece of a walk over all rows, which is no step.)
    while (trainer.stepsDone < steps && trainer.step());
    // (JSON has no NaN.)
    const objective = Number.isFinite(trainer.objective) ? trainer.objective : null;
    const outcome = { steps: trainer.stepsDone, hash: hash(trainer.params()), objective };
    if (constraints.length) {
      const told = constraintsOf(trainer, GROUPS, false);
      const of = ({ target, surrogate, dual, atBound, conflict, verdict, train: { value, noise } }) => ({ target, surrogate, dual, atBound, conflict, value, noise, verdict });
      return { ...outcome, constraints: told.map(of) };
    }
    return classes ? { ...outcome, metrics: [...trainer.metrics()] } : outcome;
  } catch (error) {
    return { error: error.message };
  } finally {
    trainer?.free();
    rows.free();
    options.free();
  }
}

test("every method gives the parameters and the objective of the native core, to the bit", (t) => {
  const runs = native("bits");
  const data = rows();
  const missing = new Set();
  const [two, several] = [runs.filter((run) => !run.classes), runs.filter((run) => run.classes)];
  const tried = Object.fromEntries(Object.keys(MODULES).map((name) => [name, 0]));
  for (const run of runs) {
    const what = `${run.method} ${JSON.stringify(run.settings)} ${run.hidden.length ? "mlp" : "linear"}${run.classes ? `, ${run.classes} classes` : ""}${run.constraints.length ? ", constraints" : ""}`;
    const home = run.classes || run.constraints.length ? "groups" : HOMES[run.method];
    for (const [name, module] of Object.entries(MODULES)) {
      const ours = train(module, data, run);
      // Methods of the first module are in all, the others in theirs alone.
      assert.equal(ours === undefined, home !== undefined && name !== `undercurve_${home}`, `${what}, ${name}`);
      if (ours === undefined) {
        if (name === "undercurve" && !run.classes && !run.constraints.length) missing.add(run.method);
        continue;
      }
      tried[name] += 1;
      assert.deepEqual(ours, run.outcome, `${what}, ${name}`);
    }
  }
  t.diagnostic(`${runs.length} runs, ${several.length} of several classes; of these ${Object.entries(tried).map(([name, count]) => `${count} in ${name}`).join(", ")}`);
  for (const [list, methods] of [[two, METHODS], [several, CLASS_METHODS]]) {
    assert.deepEqual([...new Set(list.map((run) => run.method))], methods.map((method) => method.name));
  }
  const constrained = runs.filter((run) => run.outcome.constraints);
  assert.ok(constrained.length >= 10 && constrained.every((run) => run.outcome.constraints.length === 3), "methods of groups say the same of their constraints");
  assert.ok(several.filter((run) => run.outcome.metrics).length >= 40, "most of them train");
  const RANGES = [
    "pauc-threshold", "pauc-minibatch", "sopa", "sopa-s", "sota-s", "agd-sbcd", "dca", "proximal-dca", "svm-pauc-tight", "sorr",
  ];
  // (SOPA-s and SOTA-s have a lambda, too.)
  const sums = METHODS.filter((method) => method.params.some(({ name }) => name === "lambda") && !RANGES.includes(method.name));
  const exact = METHODS.filter((method) => method.name.endsWith("-exact"));
  const listed = [...[...sums, ...exact].map((method) => method.name), ...RANGES];
  listed.push("sonex", "alexr2", "sox", "msvr", "sonx", "lagrange", "icppac", "ooa");
  assert.deepEqual([...missing].sort(), listed.sort());
});
