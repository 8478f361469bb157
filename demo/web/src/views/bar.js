// The bar: play, step, reset, how far the run is, seed, repetition, link, backend.

import { $, count, h, put, segments } from "../dom.js";
import { DRAWS } from "../draws.js";
import { LANES, TWO } from "../kinds.js";
import { isUnder, stop, subject, train } from "../repeats.js";
import { change, manyRuns, pause, restart, start, step, trainerOf } from "../runs.js";
import { RUNS } from "../state.js";
import { cut, ranked } from "./cut.js";
import { computed, effect, kind, playing, problem, pushAddress, ready, repeats, run, say, set, shots, state, together, untracked, waiting, waits } from "../store.js";

/** What trains, and why: a GPU that fails leaves the rest to the CPU. */
function showBackend() {
  const both = LANES.map((name) => manyRuns()?.[name] ?? trainerOf(name));
  const [names, reasons] = [both.map(({ backend }) => backend.replaceAll("cpu-simd", "CPU · SIMD").replace("gpu", "GPU")), both.map(({ backendReason }) => backendReason)];
  $("backend").textContent = names[0] === names[1] ? names[0] : `A ${names[0]}, B ${names[1]}`;
  $("reason").textContent = reasons[0] === reasons[1] ? `${reasons[0]}.` : LANES.map((name, k) => `Lane ${name.toUpperCase()}: ${reasons[k]}.`).join(" ");
}

export function bar() {
  $("runs").replaceChildren(...RUNS.map((runs) => h("option", { value: String(runs), textContent: runs === 1 ? `${DRAWS} new draws` : `${count(runs)} on the same rows` })));
  $("runs").onchange = () => change({ runs: Number($("runs").value) });
  $("play").onclick = () => {
    say(null);
    if (playing.peek()) pause();
    else start();
  };
  $("step").onclick = step;
  $("reset").onclick = () => restart({ fresh: false });
  $("seed").onchange = () => change({ seed: Math.min(999999, Math.max(0, Math.trunc(Number($("seed").value) || 0))) });
  $("dice").onclick = () => change({ seed: Math.floor(Math.random() * 1000) });
  $("seeds").onclick = () => {
    say(null);
    if (!together()) return;
    if (isUnder(repeats.peek())) stop();
    else if (repeats.peek()?.of !== subject() || !repeats.peek().summary) train();
  };
  $("share").onclick = () => Promise.all([import("../send.js"), import("../draw/sent.js")]).then(([{ send }, { columns }]) => {
    const [both, at, { scene, lanes }] = [ranked.peek(), cut.peek(), state.peek()];
    const titles = Object.fromEntries(LANES.map((name) => [name, kind.peek().methods.find((one) => one.name === lanes[name].method).title]));
    pushAddress();
    send({
      sentence: both ? $("cut-sentence").textContent : $("sentence").textContent,
      picture: (palette) => (both ? columns(both, { a: at.a.shown, b: at.b.shown }, titles, palette) : () => ""),
      hash: location.hash,
      embed: `?embed${location.hash}`,
      lecture: scene ? `?lecture#scene=${scene}` : "?lecture",
    });
  }).catch(say);
  const [step_, of] = [h("b"), h("span")];
  $("progress").replaceChildren("Step ", step_, of);
  const done = computed(() => shots.value?.step ?? 0);
  effect(() => {
    const { steps } = state.value;
    put($("play"), playing.value ? "Pause" : "Play");
    const now = done.value;
    if (untracked(() => waits(0))) return;
    put(step_, count(now));
    put(of, ` / ${count(steps)}`);
    // (A transform lays nothing out.)
    $("track").style.transform = `scaleX(${Math.min(1, now / steps)})`;
  });
  effect(() => ($("play").disabled = $("step").disabled = $("seeds").disabled = !ready.value));
  effect(() => ($("wait").textContent = waiting.value));
  effect(() => {
    $("problem").textContent = problem.value;
    $("problem").hidden = !problem.value;
    if (problem.value) $("problem").scrollIntoView({ block: "nearest" });
  });
  effect(() => {
    const { seed, runs, speed } = state.value;
    $("seed").value = seed;
    $("runs").hidden = kind.value !== TWO;
    $("runs").value = String(runs);
    segments($("speed"), [["1", "1×"], ["10", "10×"], ["max", "Max"]], speed, (next) => {
      set({ speed: next });
      pushAddress(true);
    });
  });
  effect(() => {
    const under = isUnder(repeats.value);
    $("seeds").hidden = state.value.runs > 1 && kind.value === TWO;
    $("seeds").textContent = under ? `Stop ${repeats.value.draws.length}/${DRAWS}` : "Repeat";
    $("seeds").title = under ? "Stop training new draws" : "Train both lanes on new draws of the data";
    document.documentElement.dataset.draws = under ? "busy" : repeats.value?.summary ? "done" : repeats.value ? "stopped" : "";
  });
  effect(() => {
    if (run.value && shots.value) showBackend();
  });
}
