// A file before it is trained on.

import { brief, count, h, segments } from "./dom.js";

/** A share of rows in per cent. */
const percent = (part, all) => `${((100 * part) / all).toPrecision(3)}\u00a0%`;

/** Columns of a file that are listed, at most. */
const LISTED = 400;
/** So many rows may a positive one count as. */
const WEIGHTS = [1, 2, 5, 10, 20, 50];
/** An AUROC from which on a column alone gives the label away. */
const AWAY = 0.99;
/** Rows of a class that are few. */
const FEW = 50;

const short = (x) => String(Number(x.toPrecision(4))).replace("-", "−");

/** What a column is taken for, and why. @returns {{ kind: string, why: string, out?: boolean }} */
export function taken({ kind, missing, values, identifier, range, stray, doubt }, rows) {
  const gaps = missing ? `, ${count(missing)} missing` : "";
  if (missing === rows) return { kind: "left out", why: "no values", out: true };
  if (identifier) return { kind: "left out", why: `tells rows apart: ${values ? count(values.length) : "mostly"} different values`, out: true };
  // (Where it is, in the file, is said of what is refused.)
  if (doubt) return { kind: "in doubt", why: `${doubt.replace(/^.*?:\d+:\d+: /, "")}. Used, every value is a category` };
  if (values?.length === 1) return { kind: kind === "text" ? "category" : "number", why: `always ${brief(values[0][0])}, so it tells nothing${gaps}` };
  if (kind === "number") return { kind, why: `${values?.length === 2 ? `${short(range[0])} or ${short(range[1])}` : `from ${short(range[0])} to ${short(range[1])}`}${gaps}` };
  if (stray) return { kind: "category", why: `no number because of “${brief(stray[1])}” in line ${count(stray[0])}${gaps}` };
  const some = values ? `${values.slice(0, 3).map(([value]) => brief(value)).join(", ")}${values.length > 3 ? `, … (${values.length})` : ""}` : "more than 100 texts";
  return { kind: "category", why: `${some}${gaps}` };
}

/** Names of columns in a sentence. */
function named(columns) {
  const all = columns.map(({ name }) => brief(name));
  if (all.length > 3) all.splice(3, Infinity, `${count(columns.length - 3)} more`);
  return all.length > 1 ? `${all.slice(0, -1).join(", ")} and ${all.at(-1)}` : all[0];
}

/**
 * What there is to know of the columns before they train, a line of each kind.
 * @param {{ columns: object[], rows: number }} table @param {string} label @param {Set<string>} dropped columns
 * @param {object[]} [known] the columns, measured alone
 */
export function findings({ columns, rows }, label, dropped, known) {
  const others = columns.filter(({ name }) => name !== label);
  const used = others.filter((column) => !dropped.has(column.name) && !taken(column, rows).out);
  const line = (all, one, more) => (all.length ? [`${named(all)} ${all.length > 1 ? more : one}`] : []);
  const away = used.filter(({ name }) => known?.find((column) => column.name === name).alone >= AWAY);
  return [
    ...line(others.filter(({ identifier, missing }) => identifier && missing < rows), "tells rows apart, so it is left out.", "tell rows apart, so they are left out."),
    ...line(others.filter(({ missing }) => missing === rows), "has no values and is left out.", "have no values and are left out."),
    ...others.filter(({ doubt }) => doubt).map(({ name, doubt }) => `${brief(name)}: ${doubt.replace(/^.*? in column ".*?": /, "")}. ${dropped.has(name) ? "It is left out until you tick it below" : "Each value is a category"}.`),
    ...used.filter(({ stray }) => stray).map(({ name, stray }) => `${brief(name)} has “${brief(stray[1])}” among its numbers (line ${count(stray[0])}), so each value is a category.`),
    ...line(used.filter(({ values, missing }) => values?.length === 1 && !missing), "is the same in every row and tells nothing.", "are the same in every row and tell nothing."),
    ...line(used.filter(({ dates }) => dates), "is a date; rows are held out at random, not the last ones.", "are dates; rows are held out at random, not the last ones."),
    ...line(used.filter(({ kind, values }) => kind === "text" && !values), "has more than 100 texts, each a category.", "have more than 100 texts each, all of them categories."),
    ...line(away, `alone tells ${brief(label)} almost without error. Not known beforehand? Untick it below.`, `each tell ${brief(label)} almost without error. Not known beforehand? Untick them below.`),
  ];
}

/**
 * What is in a file, and what to make of it, before anything is trained.
 * @param {import("./side.js").Side} side @param {(choice: object) => void} prepare
 * @param {(of: { label: string, positive: string }) => Promise<{ columns: object[] }>} measure what each column alone knows of a label
 */
export function inspect(side, table, prepare, measure) {
  const sparse = table.format === "LIBSVM";
  const usual = ["label", "target", "class", "y"];
  const twoValued = table.columns.filter((column) => column.values && column.values.length > 1);
  const guess = table.columns.find((column) => usual.includes(column.name.toLowerCase())) ?? twoValued.findLast((column) => column.values.length === 2) ?? twoValued.at(-1) ?? table.columns.at(-1);
  const rowsText = (n) => `${count(n)} row${n === 1 ? "" : "s"}`;
  const label = h("select", {}, ...table.columns.map((column) => h("option", { value: column.name, textContent: column.name, selected: column === guess })));
  const positive = h("select");
  const which = h("label", {}, "Positive class", positive);
  const all = h("div", { className: "segments", role: "radiogroup", "aria-label": "What to train", id: "what" });
  let several = true;
  const ratio = h("p", { className: "hint", id: "ratio", "aria-live": "polite" });
  const found = h("ul", { className: "hint found", id: "found", "aria-live": "polite" });
  /** What columns know, by label and value. */
  const asked = new Map();
  const known = (of) => {
    const key = JSON.stringify(of);
    if (!asked.has(key)) {
      asked.set(key, null);
      // (Of a file that is closed meanwhile nobody asks.)
      measure(of).then(({ columns }) => {
        asked.set(key, columns);
        if (label.value === of.label) describe();
      }, () => {});
    }
    return asked.get(key);
  };
  const impute = h("input", { type: "checkbox", checked: true });
  const go = h("button", { type: "button", className: "primary", textContent: "Train on it" });
  const gaps = h("span");
  const fillIn = h("label", { className: "check" }, impute, gaps);
  const weight = h("select");
  const weigh = h("label", {}, "A positive row counts as", weight);
  // (LIBSVM has numbers of columns, not names.)
  const listed = sparse ? [] : table.columns.slice(0, LISTED);
  const dropped = new Set(listed.filter(({ doubt }) => doubt).map(({ name }) => name));
  const boxes = listed.map((column) => {
    const { kind, why, out } = taken(column, table.rows);
    const box = h("input", { type: "checkbox", checked: !out && !column.doubt, disabled: Boolean(out), onchange: () => {
      if (box.checked) dropped.delete(column.name);
      else dropped.add(column.name);
      describe();
    } });
    return { column, box, node: h("li", {}, h("label", {}, box, h("span", {}, h("b", { textContent: brief(column.name) }), ` ${kind}: `, h("span", { textContent: why })))) };
  });
  const used = h("summary");
  const columns = h("details", { className: "columns-list" }, used, h("ul", {}, ...boxes.map(({ node }) => node)), ...(table.columns.length > LISTED ? [h("p", { className: "hint", textContent: `The other ${count(table.columns.length - LISTED)} columns are used as they are.` })] : []));
  const gone = ({ name }) => name === label.value || dropped.has(name);
  const describe = () => {
    const { values, missing: unlabelled } = table.columns.find((column) => column.name === label.value);
    for (const { column, node } of boxes) node.hidden = column.name === label.value;
    const features = table.columns.filter((column) => !gone(column) && !taken(column, table.rows).out).length;
    used.textContent = `${count(features)} of ${count(table.columns.length - 1)} columns are used`;
    const missing = table.columns.filter((column) => column.missing > 0 && column.missing < table.rows && !gone(column));
    const holes = missing.reduce((sum, column) => sum + column.missing, 0);
    fillIn.hidden = !holes;
    gaps.textContent = `Fill in ${count(holes)} missing value${holes > 1 ? "s" : ""} (${missing.slice(0, 3).map((column) => column.name).join(", ")}${missing.length > 3 ? "…" : ""})`;
    const chosen = values?.find(([value]) => value === positive.value);
    const what = sparse ? "The label" : "This column";
    const more = values?.length > 2;
    all.hidden = !more;
    // A split needs two rows of each class.
    const lone = more && several && values.find(([, n]) => n < 2);
    which.hidden = !(values?.length > 1) || (more && several);
    if (more) {
      segments(all, [["all", `All ${values.length} classes`], ["one", "One class"]], several ? "all" : "one", (choice) => {
        several = choice === "all";
        describe();
      });
    }
    const binary = Boolean(chosen) && !(more && several);
    weigh.hidden = !binary;
    if (binary) {
      const even = Math.round((table.rows - chosen[1]) / chosen[1]);
      const [before, offered] = [weight.value || "1", [...new Set([...WEIGHTS.filter((times) => times < even), Math.max(1, even)])]];
      weight.replaceChildren(...offered.map((times) => h("option", { value: String(times), textContent: `${count(times)} row${times === 1 ? "" : "s"}${times === even && even > 1 ? ": both classes alike" : ""}`, selected: String(times) === before })));
    }
    go.disabled = (!sparse && !features) || !chosen || values.length < 2 || unlabelled > 0 || Boolean(lone);
    if (!values) ratio.textContent = `${what} has more than 100 different values: a number to predict, or more classes than the page takes.`;
    else if (unlabelled) ratio.textContent = `${rowsText(unlabelled)} without a label, and every row needs one.`;
    else if (values.length < 2) ratio.textContent = `${what} has one value only; two classes are needed.`;
    else if (!sparse && !features) ratio.textContent = "No column is left to learn from.";
    else if (lone) {
      ratio.textContent = `Class ${brief(lone[0])} has one row, and all ${values.length} classes need two: one to train on, one held out.`;
    } else if (more && several) {
      const rows = values.map(([, n]) => n);
      const [least, most] = [Math.min(...rows), Math.max(...rows)];
      ratio.textContent = `${values.length} classes of ${least < most ? `${count(least)} to ${rowsText(most)}` : `${rowsText(most)} each`} are trained at once.`;
    } else {
      const rarer = Math.min(chosen[1], table.rows - chosen[1]);
      ratio.textContent = `${sparse ? "The label" : brief(label.value)} is ${brief(chosen[0])} in ${count(chosen[1])} of ${count(table.rows)} rows (${percent(chosen[1], table.rows)}): these are to be found.` +
        (more ? ` The rows of the other ${values.length - 1} classes are negatives.` : "") + (rarer < FEW ? ` ${rowsText(rarer)} ${rarer === 1 ? "is" : "are"} few: differences between methods will be noise.` : "");
    }
    const told = sparse ? [] : findings(table, label.value, dropped, binary && !unlabelled && values.length > 1 ? known({ label: label.value, positive: chosen[0] }) : undefined);
    found.replaceChildren(...told.map((textContent) => h("li", { textContent })));
    found.hidden = !told.length;
  };
  const fill = () => {
    const values = table.columns.find((column) => column.name === label.value).values ?? [];
    const rare = values.reduce((best, [, rows], k) => (rows <= values[best][1] ? k : best), 0);
    all.replaceChildren();
    positive.replaceChildren(...values.map(([value, n], k) => h("option", { value, textContent: `${value} (${rowsText(n)})`, selected: k === rare })));
    describe();
  };
  label.onchange = fill;
  positive.onchange = describe;
  const name = h("summary", {}, h("strong", { textContent: table.name }));
  go.onclick = () => {
    // Out of the way, and still there to choose otherwise.
    name.focus();
    name.parentNode.open = false;
    prepare({ file: table.file, name: table.name, encoding: table.encoding === "latin1" ? table.encoding : undefined, label: label.value, positive: which.hidden ? undefined : positive.value, impute: impute.checked, ignore: [...dropped].filter((column) => column !== label.value), categorical: table.columns.filter((column) => (column.stray || column.doubt) && !gone(column)).map(({ name }) => name), weight: weigh.hidden ? 1 : Number(weight.value) });
  };
  const parts = [h("p", { className: "hint", textContent: `${table.format}${table.encoding === "latin1" ? " in Windows-1252" : ""}, ${rowsText(table.rows)}${sparse ? "" : ` × ${table.columns.length} columns`}` })];
  if (!sparse) parts.push(h("label", {}, "Label column", label));
  parts.push(all, which, ratio, found, weigh);
  if (!sparse) parts.push(columns);
  parts.push(fillIn);
  side.unfold(true);
  side.form.replaceChildren(h("details", { className: "file", id: "inspect", open: true }, name, h("div", {}, ...parts, go)));
  side.form.style.marginTop = "8px";
  fill();
}
