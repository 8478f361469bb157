// Groups of rows: what is taken, and what is said of them and of the constraints on them.

import { need } from "./check.js";
import { Ordered } from "./view.js";

/** As many as the metrics take. */
const MOST_GROUPS = 1000;

const isNumbers = (groups) => groups instanceof Uint32Array;
const isNames = (groups) => Array.isArray(groups) && groups.every((name) => typeof name === "string");

/**
 * The groups of training and held-out rows by number, and their names: those that training has come first. Nothing without.
 * @param {import("./session.js").TrainerOptions} options
 * @returns {{ names: string[], known: number, train: Uint32Array, test?: Uint32Array } | undefined}
 */
export function grouped({ groups, groupNames, y, classes, test }) {
  if (groups === undefined) {
    need(groupNames === undefined, "groupNames", groupNames, "none without groups");
    need(test?.groups === undefined, "test.groups", "", "none, as the training rows have no groups");
    return undefined;
  }
  need(classes === undefined, "groups", `of ${classes} classes`, "two classes");
  const parts = test ? { groups: [groups, y], "test.groups": [test.groups, test.y] } : { groups: [groups, y] };
  for (const [what, [of, labels]] of Object.entries(parts)) {
    need(isNumbers(of) || isNames(of), what, isNumbers(of) || !of ? of : `of ${typeof of}`, "a Uint32Array of numbers or an array of names");
    need(isNumbers(of) === isNumbers(groups), what, "", "numbers or names, as the training rows have");
    need(of.length === labels.length, what, `of length ${of.length}`, `${labels.length}, one for each row`);
  }
  const named = isNames(groups) ? ofNames(groups, test?.groups, groupNames) : ofNumbers(groups, test?.groups, groupNames);
  const { names, known } = named;
  need(new Set(groups).size >= 2, "groups", names[named.train[0]], "two groups or more");
  need(names.length <= MOST_GROUPS, "groups", `of ${names.length}`, `at most ${MOST_GROUPS}`);
  return { ...named, names, known };
}

function ofNames(train, test = [], groupNames) {
  need(groupNames === undefined, "groupNames", groupNames, "none where groups are names");
  const known = [...new Set(train)].sort();
  const names = [...known, ...[...new Set(test)].filter((name) => !known.includes(name)).sort()];
  const numbers = new Map(names.map((name, number) => [name, number]));
  const of = (groups) => Uint32Array.from(groups, (name) => numbers.get(name));
  return { names, known: known.length, train: of(train), test: of(test) };
}

function ofNumbers(train, test = new Uint32Array(), groupNames) {
  const most = (groups) => groups.reduce((most, group) => Math.max(most, group + 1), 0);
  const known = most(train);
  const count = Math.max(known, most(test));
  need(count <= MOST_GROUPS, "groups", count - 1, `numbers from 0 to ${MOST_GROUPS - 1}`);
  need(groupNames === undefined || (isNames(groupNames) && groupNames.length >= count), "groupNames", groupNames, `${count} names, one for each number`);
  return { names: groupNames ?? Array.from({ length: count }, (_, group) => String(group)), known, train, test };
}

/** What is asked for beside the rows. */
export function checkAsked({ constraints, objective }) {
  need(constraints === undefined || isNames(constraints), "constraints", constraints, "an array of texts");
  need(objective === undefined || typeof objective === "string", "objective", objective, "auc, ce or cvar:SHARE");
}

const VERDICTS = ["met", "not met", "cannot tell"];
/** Not a number stands for nothing. */
const known = (value) => (Number.isNaN(value) ? undefined : value);

/** The module's numbers of constraints on some rows. */
function judged(numbers, names) {
  return Array.from({ length: numbers.length / 8 }, (_, k) => {
    const [verdict, value, bound, noise, a, b, m, n] = numbers.subarray(8 * k, 8 * k + 8);
    if (verdict === VERDICTS.length) return undefined;
    const of = a < 0 ? { rows: m } : { groups: [names[a], names[b]], rows: [m, n] };
    return { value: known(value), bound, noise: Number.isFinite(noise) ? noise : undefined, verdict: VERDICTS[verdict], ...of };
  });
}

/** Constraints on the training rows and on those that are held out, where there are any; the verdict is of the latter. Rows of files train. */
export function judge(trainer, texts, names, held) {
  const [train, test] = [false, true].map((part) => (part && !held ? [] : judged(trainer.judge(texts, part), names)));
  return texts.map((target, k) => ({ target, verdict: (test[k] ?? train[k]).verdict, train: train[k], ...(test[k] && { test: test[k] }) }));
}

/** What is said of the constraints that a run trains under. */
export function constraintsOf(trainer, names, held) {
  const tracked = trainer.tracked();
  return judge(trainer, trainer.constraints(), names, held).map((told, k) => {
    const [surrogate, dual, dualBound, atBound, conflict] = tracked.subarray(5 * k, 5 * k + 5);
    const finite = (value) => (Number.isFinite(value) ? value : undefined);
    return { ...told, conflict: conflict === 1, surrogate: known(surrogate), dual: known(dual), dualBound: finite(dualBound), atBound: known(atBound) };
  });
}

/** The module's numbers of rows by group. */
export function byGroup(trainer, { names: all, known: trained }, held) {
  const names = held ? all : all.slice(0, trained);
  const numbers = trainer.groups(held);
  const gap = (at) => {
    const [value, noise, a, b, m, n, threshold] = numbers.subarray(at, at + 7);
    return Number.isNaN(value) ? undefined : { value, noise, groups: [names[a], names[b]], rows: [m, n], threshold };
  };
  const groups = names.map((group, k) => {
    const [rows, positives, ...rest] = numbers.subarray(14 + 7 * k, 21 + 7 * k);
    const [auroc, loss, accuracy, tpr, fpr] = rest.map(known);
    return { group, rows, positives, auroc, loss, accuracy, tpr, fpr, inTraining: k < trained };
  });
  return { gaps: { fpr: gap(0), tpr: gap(7) }, groups };
}

/** The ROC curve of each group; nothing of one that lacks a label. */
export function rocs(points, scores, labels, of, count) {
  const rows = Array.from({ length: count }, () => []);
  of.forEach((group, row) => rows[group].push(row));
  return rows.map((own) => {
    const y = Uint8Array.from(own, (row) => labels[row]);
    return y.includes(0) && y.includes(1) ? new Ordered(Float32Array.from(own, (row) => scores[row]), y).curves(points).roc : undefined;
  });
}
