// Copy as code: a lane's run in JavaScript, on the command line and in Python.

import { html, nothing, render } from "lit-html";
import { FILES, USES, card, commandLine, csv, javascript, modelFile, python } from "../code.js";
import { $, download, h } from "../dom.js";
import { LANES, SEVERAL, TWO, drawnOf, sampleOf } from "../kinds.js";
import { drawnAs, options, trainerOf } from "../runs.js";
import { effect, kind, own, rows, run, say, shots, signal, state, untracked } from "../store.js";
import "../code.css";

const LANGUAGES = [["js", "JavaScript", javascript], ["cli", "Command line", commandLine], ["py", "Python", python], ["c", "C", null]];
/** Whether the code trains the model, or uses the one that is taken home. */
const use = signal("train");

let dialog = null;
let timer = 0;
const lane = signal("b");
const language = signal("js");
const copied = signal(false);

/** What a lane shows. @returns {import("../code.js").Shown} */
function shown(name) {
  const sample = sampleOf(state.peek());
  const file = sample ? { ...sample, name: `${sample.url.match(/([\w-]+?)(-[\w-]{8})?\.csv/)[1]}.csv` } : state.peek().data === "file" ? { ...own.peek(), name: own.peek().name?.replace(/\.parquet$/, ".csv") ?? "FILE.csv" } : undefined;
  const { model, constraints } = options(name);
  return { state: state.peek(), kind: kind.peek().name, lane: state.peek().lanes[name], model, constraints, file, drawn: drawnOf(state.peek()) && drawnAs(), byHand: Boolean(rows.peek().hands) };
}

/** A lane's model as a file, or its card. @param {string} name @param {import("../code.js").Shown} [of] */
async function take(name, of) {
  const { Model } = await import("undercurve/files");
  const { preparation, y, test } = run.peek().rows;
  const model = await Model.of(preparation, await trainerOf(name).save());
  if (of) download(`undercurve-${name}.md`, card(of, model.about, shots.peek()[name].test, { train: y.length, test: test.y.length }), "text/markdown");
  else download(modelFile(name), model.save(), "application/octet-stream");
  model.dispose();
}

function build() {
  dialog = h("dialog", { id: "code", "aria-label": "Copy as code" });
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const radios = (name, label, all, chosen) => html`<div class="segments" role="radiogroup" aria-label=${label}>${all.map(([value, title]) => html`<label><input type="radio" name=${name} value=${value} .checked=${value === chosen.value} @change=${() => (chosen.value = value)} /><span>${title}</span></label>`)}</div>`;
  effect(() => {
    const [name, now, done, what] = [lane.value, language.value, copied.value, use.value];
    if (!rows.value || !state.value.lanes.a) return;
    untracked(() => {
      const two = kind.peek() === TWO;
      const of = shown(name);
      // (A model of a file reads its columns.)
      const home = Boolean(run.peek()?.rows.preparation);
      const using = home && what === "use";
      const offered = LANGUAGES.filter(([key, , write]) => (key === "js" || two) && (using || write));
      const [language_, , write] = offered.find(([key]) => key === now) ?? offered[0];
      const code = using ? USES[language_](modelFile(name), of.file.name) : write(of);
      const files = !using && !of.file && (of.byHand || (two && now !== "js"));
      const copy = async () => {
        copied.value = await Promise.resolve(navigator.clipboard?.writeText(code) ?? Promise.reject()).then(() => true, () => false);
        // (Without a clipboard it is there to be copied.)
        if (!copied.peek()) getSelection().selectAllChildren(dialog.querySelector("pre"));
        clearTimeout(timer);
        timer = setTimeout(() => (copied.value = false), 1500);
      };
      render(html`
        <div class="code-head">${radios("code-lane", "Lane", LANES.map((one) => [one, `Lane ${one.toUpperCase()}`]), lane)}${radios("code-language", "Language", offered, language)}${home ? radios("code-use", "What the code does", [["train", "Train it"], ["use", "Use it"]], use) : nothing}<span class="spring"></span><button type="button" @click=${() => dialog.close()}>Close</button></div>
        <pre tabindex="0" aria-label="Code">${code}</pre>
        <div class="code-head"><button type="button" class="primary" id="code-copy" @click=${copy}>${done ? "Copied" : "Copy"}</button>
          ${home ? html`<button type="button" id="code-model" @click=${() => take(name).catch(say)}>Model</button><button type="button" id="code-card" @click=${() => take(name, of).catch(say)}>Card</button>` : nothing}
          ${files ? html`<button type="button" @click=${() => download(FILES.train, csv(rows.peek()), "text/csv")}>${FILES.train}</button><button type="button" @click=${() => download(FILES.test, csv(rows.peek().test), "text/csv")}>${FILES.test}</button>` : nothing}
          <p class="hint">${files ? "It reads the rows that are shown from two files: save them beside it. " : of.file ? `It reads ${of.file.name}${own.peek()?.name?.endsWith(".parquet") ? ", which has the rows of the Parquet file" : ""}. ` : ""}${using ? "The model scores as this page does. " : now === "py" && of.file ? "" : "It ends with the numbers of this page."}${kind.peek() === SEVERAL || !two ? " Two classes have the command line and Python, too." : ""}</p></div>`, dialog);
    });
  });
}

export function show() {
  if (!dialog) build();
  dialog.showModal();
}
