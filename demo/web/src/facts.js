// What scenes say of what is shown, each fact as it is written.

import { range } from "./rates.js";
import { count, three } from "./dom.js";
import { LENS } from "./draw/columns.js";
import { leads } from "./draws.js";
import { prevalence } from "./kinds.js";

const LANES = /** @type {const} */ (["a", "b"]);

/** Who is ahead, or that nobody is. */
function order(a, b, called, titles) {
  if (leads(a, b)) return `${titles.a} (A) ${called}`;
  return leads(b, a) ? `${titles.b} (B) ${called}` : "They hardly differ";
}

/**
 * @param {{ shots: { a: object, b: object }, rows: object, ranked: { a: import("./ranking.js").Ranking, b: import("./ranking.js").Ranking }, cut: object, titles: Record<"a" | "b", string>, state: import("./state.js").State, nouns: import("./nouns.js").Nouns, summary: object | null }} shown
 *   `summary` of many draws
 * @returns {Record<string, string>}
 */
export function factsOf({ shots, rows, ranked, cut, titles, state, nouns, summary }) {
  const lens = Math.max(1, Math.round(ranked.a.rows * LENS));
  const facts = {
    "noun.rows": nouns.rows,
    "noun.positives": nouns.positive[1],
    "noun.negatives": nouns.negative[1],
    ...(rows.test.groups && { north: count(rows.test.groups.reduce((sum, group) => sum + (group === 0), 0)) }),
    ...(summary && { draws: count(summary.draws), "mean.a": three(summary.a.mean), "mean.b": three(summary.b.mean), "ahead.a": count(summary.ahead.a), "ahead.b": count(summary.ahead.b) }),
    A: titles.a,
    B: titles.b,
    rows: count(ranked.a.rows),
    positives: count(cut.positives),
    share: three(prevalence(rows)),
    lens: count(lens),
    wanted: count(cut.wanted),
    band: range(state.fpr),
    bound: state.bound === null ? "any amount" : `at most ${state.bound.toFixed(2)}`,
    "more.ap": order(shots.a.test.ap, shots.b.test.ap, "has more", titles),
    "more.auroc": order(shots.a.test.auroc, shots.b.test.auroc, "has more", titles),
    "more.pauc": order(shots.a.test.pauc, shots.b.test.pauc, "has more", titles),
    "fewer.wrong": cut.a.wrong === cut.b.wrong ? "Both show as many" : cut.a.wrong < cut.b.wrong ? `${titles.a} (A) shows fewer` : `${titles.b} (B) shows fewer`,
  };
  for (const lane of LANES) {
    const { test } = shots[lane];
    Object.assign(facts, {
      [`lens.${lane}`]: count(ranked[lane].before(lens)),
      [`hundred.${lane}`]: count(ranked[lane].before(Math.min(100, ranked[lane].rows))),
      [`${lane}.wrong`]: count(cut[lane].wrong),
      [`${lane}.ap`]: three(test.ap),
      [`${lane}.auroc`]: three(test.auroc),
      [`${lane}.pauc`]: three(test.pauc),
      [`${lane}.worst`]: three(test.worst),
      [`${lane}.gap`]: three(test.fprGap),
    });
  }
  return facts;
}

/** A text in parts: as it is, with its nouns, and facts. @returns {(string | { key: string, text: string })[]} */
export function fill(text, facts) {
  return text.replace(/\{(noun\.\w+)\}/g, (_, noun) => facts[noun] ?? "…").split(/\{([\w.]+)\}/).map((part, k) => (k % 2 ? { key: part, text: facts[part] ?? "…" } : part));
}
