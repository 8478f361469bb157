// What the page says of a result, from the numbers alone. Sentences are lists of parts: text, or what stands out of it.

import { count, three } from "./dom.js";
import { DRAWS, LEAST, leads } from "./draws.js";
import { PLAIN, many } from "./nouns.js";

const LANES = /** @type {const} */ (["a", "b"]);
/** The sign test's level under which a difference is called clear. */
const CLEAR = 0.05;

/** @typedef {string | { lane: "a" | "b", text: string, number?: boolean }} Part */

const plural = (n, one, many = `${one}s`) => (n === 1 ? one : many);

/** What makes a title the owner of what follows. */
const owner = (title) => (title.endsWith("s") ? "’" : "’s");

/** Both lanes by the titles of their methods, which may be the same. */
function namesOf(titles) {
  const alike = titles.a === titles.b;
  return Object.fromEntries(LANES.map((lane) => [lane, { lane, text: alike ? `${titles[lane]} ${lane.toUpperCase()}` : titles[lane] }]));
}

/** What is said of two values besides the values: that neither is above chance, or that they hardly differ; nothing otherwise. */
function alike(values, chance) {
  if (!values.some((value) => leads(value, chance))) return `neither is above chance, ${three(chance)}`;
  return Math.abs(values[0] - values[1]) < LEAST - 1e-12 ? `they differ by less than ${LEAST}` : "";
}

/**
 * One run. A lane that collapsed has no result, and is not set beside the other's.
 * @param {{ titles: Record<"a" | "b", string>, shots: Record<"a" | "b", object>, metric: string, title: string, step: number, steps: number, chance?: number, moved?: boolean }} run
 *   `moved`: trained on from there, while something is dragged
 *   `title` of the metric within a sentence
 * @returns {Part[]}
 */
export function ofRun({ titles, shots, metric, title, step, steps, chance = -Infinity, moved = false }) {
  const name = namesOf(titles);
  if (step === 0) return ["From one seed, ", name.a, " trains in lane A, ", name.b, " in lane B."];
  const value = (lane) => shots[lane].test[metric];
  const number = (lane) => ({ lane, text: three(value(lane)), number: true });
  const after = moved ? "Trained on from there for the moment" : `After ${count(step)} ${step < steps ? `of ${count(steps)} steps` : plural(step, "step")}`;
  const lost = LANES.filter((lane) => shots[lane].collapsed);
  if (lost.length === 2) return [`${after}, both `, name.a, " and ", name.b, " have collapsed in this run: there is no result to show."];
  if (lost.length === 1) {
    const [gone] = lost;
    const left = gone === "a" ? "b" : "a";
    return [name[gone], ` collapsed in this run and has no result. ${after}, `, name[left], ` reaches ${title} `, number(left), ` on held-out rows.`];
  }
  const [first, second] = value("b") >= value("a") ? ["b", "a"] : ["a", "b"];
  const said = alike([value(first), value(second)], chance);
  const end = said ? `; ${said}.` : ".";
  const same = number(first).text === number(second).text;
  if (same) return [`${after}${moved ? "" : " of one run"}, `, name[first], " and ", name[second], ` both reach ${title} `, number(first), ` on held-out rows${leads(value(first), chance) ? "." : end}`];
  return [`${after}${moved ? "" : " of one run"}, `, name[first], ` reaches ${title} `, number(first), ` on held-out rows, `, name[second], " ", number(second), end];
}

/**
 * Many runs.
 * @param {{ titles: Record<"a" | "b", string>, summary: ReturnType<typeof import("./draws.js").summarise>, title: string, drawn: boolean, chance?: number }} all
 *   `drawn` from a generator, otherwise split anew; `chance`: what a constant score has
 * @returns {Part[]}
 */
export function ofDraws({ titles, summary, title, drawn, chance: least = -Infinity }) {
  const name = namesOf(titles);
  const n = summary.draws;
  const number = (lane) => {
    const { mean, deviation, runs } = summary[lane];
    return { lane, text: runs > 1 ? `${three(mean)} ± ${three(deviation)}` : three(mean), number: true };
  };
  const over = `Over ${n} ${plural(n, drawn ? "draw" : "split")} of this data`;
  const lost = lostRuns(name, summary);
  const left = LANES.filter((lane) => summary[lane].runs > 0);
  if (!left.length) return [`${over} no run has a result. `, ...lost];
  if (left.length === 1) return [...lost, ` ${over} `, name[left[0]], `${owner(name[left[0]].text)} held-out ${title} is `, number(left[0]), "."];
  const [first, second] = summary.b.mean >= summary.a.mean ? ["b", "a"] : ["a", "b"];
  const parts = [`${over} `, name[first], `${owner(name[first].text)} held-out ${title} is `, number(first), ", ", name[second], `${owner(name[second].text)} `, number(second), "; "];
  const { ahead, level, chance } = summary;
  const equal = level ? `, ${level} ${plural(level, "is", "are")} level` : "";
  const said = alike([summary.a.mean, summary.b.mean], least);
  if (level === n && !said.startsWith("neither")) parts.push(`all ${n} are level.`);
  else if (said) parts.push(`${said}.`);
  else if (ahead.a === ahead.b) parts.push(`each is ahead in ${ahead.a} of ${n}${equal}.`);
  else {
    const most = ahead[first] > ahead[second] ? first : second;
    const yet = most === first ? "" : "yet ";
    parts.push(yet, name[most], " is ahead in ", { lane: most, text: `${ahead[most]} of ${n}`, number: true }, `${equal}${chance > CLEAR ? ": no clear difference" : ""}.`);
  }
  return lost.length ? [...parts, " ", ...lost] : parts;
}

/** Runs without a result, by number. */
function lostRuns(name, summary) {
  const n = summary.draws;
  return LANES.flatMap((lane) => {
    const { collapsed, broken, runs } = summary[lane];
    const what = [[collapsed, "collapsed"], [broken, "broke off"]].filter(([times]) => times).map(([times, did]) => `${did} in ${times === n ? `all ${n}` : `${times} of ${n}`}`);
    if (!what.length) return [];
    return [name[lane], ` ${what.join(" and ")} runs${runs ? "; its mean is of the others" : ", and has no result"}.`, " "];
  }).slice(0, -1);
}

/** A sentence on the second metric where it orders the lanes the other way round; nothing otherwise. */
export function reversed({ titles, of, by, called, chance = -Infinity }) {
  const sign = ([a, b]) => (leads(a, b) ? 1 : leads(b, a) ? -1 : 0);
  if (!(sign(of) * sign(by) < 0) || !by.some((value) => leads(value, chance))) return "";
  const most = by[0] > by[1] ? "a" : "b";
  const [more, less] = most === "a" ? by : [by[1], by[0]];
  const name = namesOf(titles);
  return `${name[most === "a" ? "b" : "a"].text} pays for it in ${called}: ${three(less)}, ${name[most].text} ${three(more)}.`;
}

/** What the many runs show besides their headline: also what the lane that is behind would have at its best moment, were the held-out labels to choose it. */
export function besideDraws({ titles, summary, seed, steps, called, title, chance }) {
  const { draws, a, b } = summary;
  const spread = a.runs > 1 || b.runs > 1 ? "; ±: standard deviation" : "";
  const order = reversed({ titles, of: [a.mean, b.mean], by: [a.other, b.other], called: `mean ${called}`, chance });
  const each = Math.min(a.fewest, b.fewest) < steps ? `at most ${count(steps)}` : count(steps);
  return `Means over seeds ${seed} to ${seed + draws - 1}; pictures: seed ${seed}; ${each} steps each${spread}.${order ? ` ${order}` : ""}${peaked({ titles, summary, title })}`;
}

/** The lane that is behind, each of its runs at the best of its moments, chosen by the held-out labels. */
function peaked({ titles, summary: { a, b }, title }) {
  if (!(a.runs && b.runs) || !(leads(a.mean, b.mean) || leads(b.mean, a.mean))) return "";
  const less = a.mean < b.mean ? "a" : "b";
  const { peak, mean } = { a, b }[less];
  if (!leads(peak, mean)) return "";
  return ` Were each run of ${namesOf(titles)[less].text} stopped where the held-out labels say, its mean ${title} would be ${three(peak)}.`;
}

/** Which lanes had nothing more to do before the others' last step. */
export function ended({ titles, shots, step }) {
  const name = namesOf(titles);
  const said = LANES.filter((lane) => shots[lane].step < step).map((lane) => `${name[lane].text} had nothing more to do after ${count(shots[lane].step)} ${plural(shots[lane].step, "step")}.`);
  return said.join(" ");
}

/**
 * The best direction of those tried on held-out rows, the lanes' own among them.
 * @param {{ ap: number, tried: number }} found on the data shown @param {number[]} values of the lanes
 * @param {{ mean: number, deviation: number } | null} [draws] of many draws
 */
export function ofDirections({ ap, tried }, values, draws) {
  const best = `The best of ${count(tried + values.length)} lines, chosen by the held-out labels, has AP`;
  const shown = three(Math.max(ap, ...values));
  return draws ? `${best} ${three(draws.mean)}\u00a0±\u00a0${three(draws.deviation)} (shown: ${shown}).` : `${best} ${shown}.`;
}

/** What is under way, or could be. */
export function ofWaiting({ under, seconds, drawn }) {
  const what = `${DRAWS} ${drawn ? "draws" : "splits"}`;
  if (under) return `${what} are being trained.`;
  return `“Repeat” trains ${what}${!(seconds >= 0) ? "" : `, for about ${count(Math.ceil(seconds))} s`}.`;
}

/**
 * Many runs of each lane on the same rows.
 * @param {{ titles: Record<"a" | "b", string>, crowd: Record<"a" | "b", import("undercurve/worker").LanesSnapshot>, metric: string, called: string, seed: number }} all
 * @returns {string}
 */
export function ofRuns({ titles, crowd, metric, called, seed }) {
  const { runs } = crowd.a.summary;
  const lane = (name) => {
    const { summary } = crowd[name];
    const { median, low, high, runs: kept } = summary.metrics[metric] ?? { runs: 0 };
    const lost = [...(summary.failed ? [`${count(summary.failed)} broke off`] : []), ...(summary.collapsed ? [`${count(summary.collapsed)} collapsed`] : [])];
    const side = titles.a === titles.b ? `${titles[name]} ${name.toUpperCase()}` : titles[name];
    return `${side} ${kept ? `${three(median)} (${three(low)} to ${three(high)})` : "none with a result"}${lost.length ? `, ${lost.join(", ")}` : ""}`;
  };
  return `Of ${count(runs)} runs of each lane on these rows, seeds ${seed} to ${seed + runs - 1}, the median ${called}, and where the middle 80\u00a0% lie: ${lane("a")}; ${lane("b")}. Maps, histograms and table are of seed ${seed}.`;
}

const AIMS = ["Average precision", "Partial AUC", "AUROC"];

/** What a lane trains for: its method, of a family of methods. */
function aim({ name, title, family, model }) {
  if (/^ce(-exact)?$/.test(name)) return `${title}, as in ${model === "linear" ? "logistic regression" : "most networks"}`;
  return AIMS.includes(family) ? `${title}, for ${family.replace("Average", "average").replace("Partial", "partial")}` : title;
}

/** The question of the page. @param {Record<"a" | "b", { name: string, title: string, family: string, model: string }>} methods */
export function question({ a, b }, rare = "rare ones") {
  return `A: ${aim(a)}. B: ${aim(b)}. Which finds the ${rare} first?`;
}

/** What is true of a cut, in words. @param {{ a: string, b: string }} titles @param {import("./nouns.js").Nouns} [nouns] */
export function ofCut({ wanted, positives, a, b }, titles, nouns = PLAIN) {
  const { a: { text: first }, b: { text: second } } = namesOf(titles);
  const names = { a: first, b: second };
  const tied = Object.entries({ a, b }).filter(([, { found }]) => found > wanted);
  const ties = tied.length === 2 && a.found === b.found
    ? [`Scores tie: both then find ${count(a.found)}`]
    : tied.map(([name, { found }]) => `${names[name]} then finds ${count(found)}, since scores tie`);
  return `To find ${count(wanted)} of ${count(positives)} ${many(positives, nouns.positive)}, ${names.a} shows ${count(a.wrong)} ${many(a.wrong, nouns.negative)}, ${names.b} ${count(b.wrong)}.${ties.length ? ` ${ties.join("; ")}.` : ""}`;
}

/** Where the other lane shows fewer false positives than the one that does at a cut, by most; nothing where none does. */
export function ofTurn(turned, titles) {
  if (!turned) return "";
  const { a: { text: first }, b: { text: second } } = namesOf(titles);
  return `To find ${count(turned.wanted)} it is the other way round: ${first} ${count(turned.a.wrong)}, ${second} ${count(turned.b.wrong)}.`;
}
