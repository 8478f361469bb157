// The first picture: people, some of them ill, a line that says whom to call, and two models that turn the same line. The page itself is
// loaded when it is asked for.

import "./base.css";
import "./face.css";
import { createTrainer } from "undercurve/worker";
import { $, colours, count, h, pressed } from "./dom.js";
import { frame, onResize, sizeOf } from "./draw/canvas.js";
import { angleOf, calls, people } from "./draw/face.js";
import { DRAWN, first, lack } from "./engine.js";
import * as address from "./face-address.js";
import { Ranking } from "./ranking.js";
import { rates } from "./rates.js";
import { defaults, lanes } from "./state.js";

/** So many can be called. */
const CALLS = 100;
/** Pictures of a training. */
const SLICES = 15;
const LANES = /** @type {const} */ (["a", "b"]);
const root = document.documentElement;

/** @type {import("./face-address.js").Face} */
let at = address.read("");
let rows = null;
/** Who ranks the people, and where their lines are: `you`, `a`, `b`. @type {Record<string, { ranking: Ranking, angle: number, found: number }>} */
let all = {};
/** The draw that `rows` are, and which training counts. */
let drawn = NaN;
let turns = 0;
let training = false;

const radians = (degree) => (degree * Math.PI) / 180;
const one = (ranking, angle) => ({ ranking, angle, found: ranking.before(CALLS) });

/** A window with the outermost, too. */
const wider = (window) => Object.fromEntries(Object.entries(window).map(([axis, [low, high]]) => [axis, [low - 0.07 * (high - low), high + 0.07 * (high - low)]]));

/** The people in the order of a direction. */
function along(angle) {
  const { X, y } = rows.test;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return one(new Ranking(Float32Array.from(y, (_, k) => c * X[2 * k] + s * X[2 * k + 1]), y), angle);
}

function draw() {
  const palette = colours();
  const map = $("face-map");
  const { width, height } = sizeOf(map);
  if (!rows || !width) return;
  people(map, { ...rows.test, window: wider(frame(rows.test.X, width / height)) }, all, CALLS, palette);
  calls($("face-calls"), all, CALLS, palette);
  const found = Object.entries(all).map(([who, { found }]) => `${who === "you" ? "you" : who.toUpperCase()} ${found}`).join(", ");
  map.setAttribute("aria-label", `${count(rows.test.y.length)} people, the ill ones stand out, and the line beyond which ${CALLS} are called; drag to turn it`);
  $("face-calls").setAttribute("aria-label", `Of ${CALLS} calls, so many reach somebody ill: ${found}`);
}

/** Parts of a text, numbers of somebody in their colour. */
const told = (...parts) => parts.map((part) => (typeof part === "string" ? part : h("b", { className: part[0], textContent: part[1] })));

function say() {
  const { you, a, b } = all;
  const ill = you.ranking.positives;
  $("face-question").replaceChildren(`${count(you.ranking.rows)} people. `, h("span", { className: "ill", textContent: `${count(ill)} are ill` }), `. You can call ${CALLS}.`);
  $("face-said").replaceChildren(...(a ? told("You find ", ["you", you.found], ", A ", ["a", a.found], ", B ", ["b", b.found], ".") : told("Turn the line to choose whom: you find ", ["you", you.found], ".")));
  $("face-line").value = at.you;
  $("face-line").setAttribute("aria-valuetext", $("face-said").textContent);
  // (Who turns by keys hears the slider say it; who watches the models hears their end.)
  $("face-said").setAttribute("aria-live", training || document.activeElement === $("face-line") ? "off" : "polite");
  root.classList.toggle("tried", Boolean(a));
  $("face-train").textContent = a ? "Watch them again" : "Let two models try";
  if (!a) return;
  const beaten = LANES.filter((lane) => you.found > all[lane].found).map((lane) => lane.toUpperCase());
  const verdict = training ? "They are training." : beaten.length === 2 ? "You beat both, with the ill in sight." : beaten.length ? `You beat ${beaten[0]}. Keep turning to beat both.` : "Keep turning to beat them.";
  $("face-what").textContent = `${verdict} A and B learned where to turn theirs from ${count(rows.y.length)} other people. A learned how likely each person is ill, and everybody counts alike; most models do so. B learned whom to put first. All people here are invented.`;
  $("face-told").textContent = `Each point is a person, placed by two measurements. A minimises cross-entropy. B is SOAP, which trains for average precision. Both are linear models from one start, on the same ${count(defaults().steps)} batches; neither saw the people that are shown. This kind of data was found by searching for a large gap between the two. The page has other kinds, some without any gap, and trains each on 20 draws.`;
}

function show() {
  if (!rows) return;
  all = { you: along(radians(at.you)), ...(at.models && all.a && { a: all.a, b: all.b }) };
  say();
  draw();
}

/** Puts what is shown into the address. @param {boolean} [step] that Back returns from */
function push(step = false) {
  const next = address.write(at);
  if (next !== location.hash && address.isFace()) history[step ? "pushState" : "replaceState"](null, "", next);
}

function turn(degree, step = false) {
  at = { ...at, you: degree };
  show();
  if (step) push(true);
}

/** Both models, as the page trains them with its defaults, a few steps for each picture. */
async function train() {
  const mine = ++turns;
  training = true;
  const { model, steps, fpr } = defaults();
  const made = {};
  const focused = document.activeElement === $("face-train");
  $("face-train").disabled = true;
  try {
    for (const lane of LANES) {
      const { method, settings } = lanes("two")[lane];
      made[lane] = await createTrainer({ ...rows, model: { kind: model }, method: { name: method, settings, fpr: rates(fpr) }, seed: at.seed, steps, scale: "standard", engine: first() });
    }
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (let done = 0; done < steps; ) {
      const few = still ? steps : Math.ceil(steps / SLICES);
      done += few;
      const now = await Promise.all(LANES.map(async (lane) => {
        const { scores } = await made[lane].advance({ steps: few }, { scores: rows.test.y.length });
        const [params, columns] = await Promise.all([made[lane].params(), made[lane].columns()]);
        return [lane, one(new Ranking(scores, rows.test.y), angleOf(params, columns))];
      }));
      if (mine !== turns) return;
      Object.assign(all, Object.fromEntries(now));
      at.models = true;
      training = done < steps;
      show();
      if (!still) await new Promise(requestAnimationFrame);
    }
    push(true);
  } finally {
    Object.values(made).forEach((trainer) => trainer.dispose());
    if (mine === turns) $("face-train").disabled = training = false;
    // (What is disabled loses the focus.)
    if (focused && document.activeElement === document.body) $("face-train").focus();
  }
}

/** The people of a draw, and what the address says of them. */
async function open() {
  at = address.read(location.hash);
  if (drawn !== at.seed) {
    const mine = ++turns;
    // (No training of these people by the other draw, and none that was is waited for.)
    training = false;
    $("face-train").disabled = true;
    const { seed } = at;
    const { data, positives, noise } = defaults();
    const next = await first().call("synthetic", data, { ...DRAWN, noise, positives: positives / 100, seed });
    if (mine !== turns) return;
    [rows, drawn, all] = [next, seed, {}];
    $("face-train").disabled = false;
  }
  show();
  Object.assign(root.dataset, { face: "there", seed: at.seed });
  if (at.models && !all.a) await train();
}

const failed = (error) => ($("face-said").textContent = String(error.message ?? error));
let built = false;
function build() {
  built = true;
  onResize($("face-map"), draw);
  onResize($("face-calls"), draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let last = 0;
  pressed($("face-map"), (x, y) => {
    const { width, height } = sizeOf($("face-map"));
    last = Math.round((Math.atan2(height / 2 - y, x - width / 2) * 180) / Math.PI);
    if (rows) turn(last);
  });
  $("face-map").addEventListener("pointerup", () => rows && push(true));
  $("face-line").oninput = () => rows && turn(Number($("face-line").value));
  // (Keys that are held are one step back: browsers refuse a hundred in half a minute.)
  let soon = 0;
  $("face-line").onchange = () => {
    clearTimeout(soon);
    soon = setTimeout(() => rows && push(true), 200);
  };
  $("face-train").onclick = () => rows && train().catch(failed);
  $("face-new").onclick = () => {
    history.pushState(null, "", address.write({ ...at, seed: Math.floor(Math.random() * 1000) }));
    open().catch(failed);
  };
  $("face-send").onclick = () => Promise.all([import("./send.js"), import("./draw/sent.js")]).then(([{ send }, { lists }]) => send({
    sentence: `${$("face-question").textContent} ${$("face-said").textContent}`,
    picture: (palette) => lists(all, CALLS, palette),
    hash: address.write(at),
    embed: `?embed=face${address.write(at)}`,
    lecture: "?lecture",
  })).catch(failed);
}

/** Tells what keeps the files that more of them are wanted. */
const tell = (what) => void navigator.serviceWorker?.ready.then(({ active }) => active.postMessage(what));

/** The first picture, or the page: as the address says. */
async function choose() {
  if (address.isFace()) {
    root.classList.remove("whole");
    document.title = "undercurve";
    if (lack) {
      $("face-train").disabled = $("face-line").disabled = true;
      return failed(`This page trains models with ${lack}, which this browser does not have or has turned off.`);
    }
    if (!built) build();
    return open();
  }
  const { opened } = await import("./main.js");
  root.classList.add("whole");
  tell("page");
  return opened;
}
addEventListener("hashchange", () => choose().catch(failed));

choose().catch(failed).then(() => {
  // After one visit the page opens without a network too. (Not while developing: a module's address changes with each edit.)
  if (!import.meta.env.PROD || !navigator.serviceWorker) return undefined;
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => tell("later"), { once: true, passive: true });
  return navigator.serviceWorker.register("./offline.js");
}).catch(() => {});
