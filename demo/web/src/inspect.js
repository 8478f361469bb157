// A file before it is trained on.

import { brief, count, h, segments } from "./dom.js";

/** A share of rows in per cent. */
const percent = (part, all) => `${((100 * part) / all).toPrecision(3)}\u00a0%`;

/** What is in a file, and what to make of it, before anything is trained. @param {import("./side.js").Side} side */
export function inspect(side, table) {
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
  const impute = h("input", { type: "checkbox", checked: true });
  const go = h("button", { type: "button", className: "primary", textContent: "Train on it" });
  const gaps = h("span");
  const fillIn = h("label", { className: "check" }, impute, gaps);
  const describe = () => {
    const { values, missing: unlabelled } = table.columns.find((column) => column.name === label.value);
    const missing = table.columns.filter((column) => column.missing > 0 && column.name !== label.value);
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
    go.disabled = !chosen || values.length < 2 || unlabelled > 0 || Boolean(lone);
    if (!values) ratio.textContent = `${what} has more than 100 different values: a number to predict, or more classes than the page takes.`;
    else if (unlabelled) ratio.textContent = `${rowsText(unlabelled)} without a label, and every row needs one.`;
    else if (values.length < 2) ratio.textContent = `${what} has one value only; two classes are needed.`;
    else if (lone) {
      ratio.textContent = `Class ${brief(lone[0])} has one row, and all ${values.length} classes need two: one to train on, one held out.`;
    } else if (more && several) {
      const rows = values.map(([, n]) => n);
      const [least, most] = [Math.min(...rows), Math.max(...rows)];
      ratio.textContent = `${values.length} classes of ${least < most ? `${count(least)} to ${rowsText(most)}` : `${rowsText(most)} each`} are trained at once.`;
    } else {
      ratio.textContent = `${count(chosen[1])} of ${count(table.rows)} rows are positive (${percent(chosen[1], table.rows)}).` +
        (more ? ` The rows of the other ${values.length - 1} classes are negatives.` : "");
    }
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
    side.prepare({ file: table.file, name: table.name, label: label.value, positive: which.hidden ? undefined : positive.value, impute: impute.checked });
  };
  const parts = [h("p", { className: "hint", textContent: `${table.format}, ${rowsText(table.rows)}${sparse ? "" : ` × ${table.columns.length} columns`}` })];
  if (!sparse) parts.push(h("label", {}, "Label column", label));
  parts.push(all, which, ratio, fillIn);
  side.unfold(true);
  side.form.replaceChildren(h("details", { className: "file", id: "inspect", open: true }, name, h("div", {}, ...parts, go)));
  side.form.style.marginTop = "8px";
  fill();
}
