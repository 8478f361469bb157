// The four charts: ROC and precision–recall, metric and objective by step; of groups, each lane's by group.

import { $, brief, count, put as fill, three } from "../dom.js";
import { BANDS, LANES as LINES, chart } from "../draw/charts.js";
import { linesOf } from "../groups.js";
import { LANES, TWO, isBound, prevalence } from "../kinds.js";
import { unstretch } from "../rates.js";
import { POINTS, manyRuns } from "../runs.js";
import { colours, computed, effect, kind, playing, pushAddress, run, scripted, seeing, seen, set, shots, state, untracked, waits } from "../store.js";
import { cut, ranked, want } from "./cut.js";

const grid = Array.from({ length: POINTS }, (_, k) => k / (POINTS - 1));
/** Rates that are evenly apart where the axis is stretched near 0. */
const stretched = grid.map(unstretch);

/** Whether the ROC curve is stretched near 0: of two classes, and one run of each lane. */
const isNear = computed(() => Boolean(run.value) && state.value.near && kind.value === TWO && !manyRuns());

/**
 * @param {{ band: import("../band.js").Band, groups: import("../groups.js").Groups, titleOf: (name: "a" | "b") => string }} beside
 */
export function curves({ band, groups, titleOf }) {
  const charts = {
    roc: chart($("roc"), { x: [0, 1], y: [0, 1.02], placed: (area) => band.place(area) }),
    pr: chart($("pr"), { x: [0, 1], y: [0, 1.02] }),
    ap: chart($("ap"), { x: null, y: null }),
    objective: chart($("objective"), { x: null, y: null }),
  };
  const called = (name) => titleOf(name).slice(3);
  const visible = Object.fromEntries(Object.keys(charts).map((name) => [name, seeing($(name))]));
  // (While a run plays, those that nobody sees wait.)
  const alone = () => Boolean(state.peek().scene && scripted.one?.(state.peek().scene));
  const put = (name, xs, lines, ...more) => waits(1) || (playing.peek() && !visible[name].peek()) || charts[name].draw(xs, alone() ? [lines[0], lines[1], null] : lines, ...more);

  /** What the four charts are of, and their lines. */
  const name = ({ rows, kind }) => {
    const of = rows.groupNames;
    const titles = of
      ? LANES.flatMap((lane) => [["ROC by group", `lane ${lane.toUpperCase()}`], ["AUROC by step", `lane ${lane.toUpperCase()}, by group`]])
      : [["ROC", "true against false positives"], [kind.title, "by step"], ["Precision–recall", "dotted: chance"], ["Objective", "relative to the first"]];
    // (The two of lane A stand first, and on the left.)
    ["roc", "ap", "pr", "objective"].forEach((chart, k) => {
      $(`${chart}-title`).textContent = titles[k][0];
      $(`${chart}-of`).textContent = titles[k][1];
    });
    const many = manyRuns();
    const lines = of ? linesOf(of) : LINES;
    for (const [chart, one] of Object.entries(charts)) one.show(many && chart !== "objective" ? BANDS : lines);
    if (many) for (const chart of ["roc", "pr", "ap"]) $(`${chart}-of`).textContent = `median of ${count(many.a.runs.length)} runs, 10–90\u00a0%`;
  };

  const drawObjective = ({ step, objective }) => {
    const scaled = (values) => {
      const first = values.find((value) => value !== null && value !== 0);
      return values.map((value) => (value === null || !first ? null : (value - first) / Math.abs(first)));
    };
    put("objective", step, [null, scaled(objective.a), scaled(objective.b)], "Objective of each lane as its method reports it, as the change since the first step", state.peek().steps);
  };

  /** The groups of each lane over each other: their ROC curves now, and their AUROC along the run. */
  const drawGroups = (shots, course) => {
    const { bound, steps, lanes } = state.peek();
    const titles = { a: called("a"), b: called("b") };
    const step = course.step.at(-1);
    for (const [lane, roc, byStep] of [["a", charts.roc, charts.ap], ["b", charts.pr, charts.objective]]) {
      const { test, byGroup, roc: all } = shots[lane];
      const each = byGroup.test.groups;
      const said = `${three(test.auroc)} of all rows${each.map(({ group, auroc }) => `, ${three(auroc)} in group ${group}`).join("")}`;
      roc.draw(grid, [grid, [...all], ...each.map((one) => one.roc && [...one.roc])], `ROC curves by group, lane ${lane.toUpperCase()}, ${titles[lane]}: AUROC ${said}`);
      const along = course.groups[lane];
      byStep.draw(course.step, [null, ...along[0].map((_, k) => along.map((values) => values[k]))], `AUROC over ${step} steps, lane ${lane.toUpperCase()}: now ${said}`, steps);
    }
    const under = Object.fromEntries(LANES.map((lane) => [lane, isBound(lanes[lane])]));
    groups.measure(shots, { bound, titles, under, begun: step > 0, rests: !playing.peek() || step >= steps });
  };

  /** Medians of many runs, with bands from 10 to 90 % around them. */
  const drawBands = ({ crowd, kind, step, bands }, share) => {
    const { metric, title, floor } = kind;
    const { a, b } = crowd;
    const runs = count(a.summary.runs);
    const said = (key) => ["a", "b"].map((lane) => {
      const { median, low, high } = crowd[lane].summary.metrics[key] ?? {};
      return `lane ${lane.toUpperCase()} ${three(median)}, 10–90 % ${three(low)} to ${three(high)}`;
    }).join("; ");
    // (None where every run broke off or collapsed.)
    const plain = (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
    const lines = (of) => [plain(of(a).median), plain(of(b).median), ...[a, b].flatMap((one) => [plain(of(one).high), plain(of(one).low)])];
    put("roc", grid, [grid, ...lines(({ summary }) => summary.roc)], `ROC curves of ${runs} runs, median and band: AUROC of ${said("auroc")}`);
    put("pr", grid, [grid.map(() => share), ...lines(({ summary }) => summary.pr)], `Precision–recall curves of ${runs} runs, median and band: average precision of ${said("ap")}; ${three(share)} by chance`);
    const along = (lane, key) => plain(bands[lane].map((band) => band?.[key] ?? NaN));
    const ends = LANES.flatMap((lane) => [along(lane, "high"), along(lane, "low")]);
    put("ap", step, [null, along("a", "median"), along("b", "median"), ...ends], `${title} of ${runs} runs over ${step.at(-1)} steps: ${said(metric)}`, state.peek().steps, floor);
  };

  const draw = ({ a, b }, course) => {
    if (course.rows.groupNames) return drawGroups({ a, b }, course);
    const { metric, title, floor } = course.kind;
    const one = course.rows.names?.[a.shown];
    const [ours, theirs] = [a, b].map((shot) => (one === undefined ? shot.test : shot.test.classes[shot.shown]));
    const of = one === undefined ? "" : ` of class ${one} against all others`;
    const share = prevalence(course.rows, one === undefined ? 1 : a.shown);
    if (course.crowd) {
      drawBands(course, share);
      return drawObjective(course);
    }
    // (Near 0 the curves are made of the rows, which lie closer than the points.)
    const both = ranked.peek();
    const exact = isNear.peek() && both?.a.scores === a.scores && both;
    const xs = exact ? stretched : grid;
    const roc = exact ? LANES.map((name) => exact[name].roc(xs)) : [[...a.roc], [...b.roc]];
    put("roc", xs, [xs, ...roc], `ROC curves${of}: AUROC ${three(ours.auroc)} for lane A, ${three(theirs.auroc)} for lane B`);
    put("pr", grid, [grid.map(() => share), [...a.pr], [...b.pr]], `Precision–recall curves${of}: average precision ${three(ours.ap)} for lane A, ${three(theirs.ap)} for lane B, ${three(share)} by chance`);
    put("ap", course.step, [null, course.metric.a, course.metric.b], `${title} over ${course.step.at(-1)} steps: now ${three(a.test[metric])} for lane A, ${three(b.test[metric])} for lane B`, state.peek().steps, floor);
    if (one !== undefined) {
      fill($("roc-of"), `class ${brief(one)} against all others`);
      fill($("pr-of"), `class ${brief(one)}; dotted: chance`);
    }
    return drawObjective(course);
  };

  effect(() => {
    if (colours.value) for (const one of Object.values(charts)) one.restyle(colours.value);
  });
  effect(() => {
    const now = run.value;
    if (now) untracked(() => name(now));
  });
  effect(() => {
    const near = isNear.value;
    charts.roc.stretch(near);
    band.stretch(near);
    $("roc-near").setAttribute("aria-pressed", String(near));
  });
  effect(() => ($("roc-near").hidden = !run.value || kind.value !== TWO || Boolean(manyRuns())));
  $("roc-near").onclick = () => {
    set({ near: !state.peek().near });
    pushAddress(true);
  };
  effect(() => {
    const [now, palette] = [seen.value, colours.value];
    void [playing.value, ...Object.values(visible).map(({ value }) => value)];
    if (isNear.value !== undefined && now && palette && run.peek()) untracked(() => draw(now, run.peek()));
  });
  // The cut: where both lanes find so many positives.
  effect(() => {
    const [at, palette] = [cut.value, colours.value];
    const plain = at && !run.peek()?.rows.groupNames;
    if (!palette || (playing.value && untracked(() => waits(1)))) return;
    const share = at?.wanted / at?.positives;
    const of = untracked(alone) ? ["a"] : LANES;
    const rate = ({ wrong, left }) => wrong / (wrong + left);
    charts.roc.mark(plain ? { y: share, dots: of.map((name) => [rate(at[name]), at[name].recall, palette[name]]) } : null);
    charts.pr.mark(plain ? { x: share, dots: of.map((name) => [at[name].recall, at[name].precision, palette[name]]) } : null);
  });
  const plainly = (told) => (x, y) => ranked.peek() && !run.peek().rows.groupNames && told(x, y);
  charts.roc.pressed(plainly((_, y) => want(y * ranked.peek().a.positives)));
  charts.pr.pressed(plainly((x) => want(x * ranked.peek().a.positives)));
  // A run that is paused between two pictures rests, too.
  effect(() => {
    const rests = !playing.value;
    if (rests && run.peek()?.rows.groupNames && shots.peek()) untracked(() => drawGroups(shots.peek(), run.peek()));
  });
}
