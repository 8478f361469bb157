// A little DOM.

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] properties; `on…` are listeners, others with a dash or `role` attributes
 * @param {...(Node | string)} children
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.includes("-") || name === "role" || name === "for") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

/** A term that the glossary explains. */
export const term = (key, textContent) => h("button", { type: "button", className: "term", "data-term": key, textContent });

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** A row of exclusive buttons. `choices` are [value, text]. The same choices keep their buttons, and so the focus. */
export function segments(root, choices, value, change) {
  const made = [...root.querySelectorAll("input")];
  if (made.length === choices.length && made.every((input, k) => input.value === choices[k][0])) {
    for (const input of made) input.checked = input.value === value;
    return;
  }
  root.replaceChildren(
    ...choices.map(([key, text]) =>
      h("label", {}, h("input", { type: "radio", name: root.id, value: key, checked: key === value, onchange: () => change(key) }), h("span", {}, text)),
    ),
  );
}

/** Puts a text where there is another: the same text again would be laid out again. */
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Three decimals, as scores are written here. */
export const three = (x) => (Number.isFinite(x) ? x.toFixed(3) : "–");

/** A name of a class where there is little room. */
export const brief = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

const numbers = new Intl.NumberFormat("en");
/** A count, as counts are written here: 5,472. */
export const count = (n) => numbers.format(n);

/** Offers bytes or text as a file. */
export function download(name, parts, type) {
  const url = URL.createObjectURL(new Blob([parts], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Values of custom properties of the style sheet. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const named = ["paper", "card", "ink", "soft", "line", "a", "b", "no"].map((name) => [name, value(name)]);
  const several = (of, length) => Array.from({ length }, (_, k) => value(`${of}${k}`));
  return { ...Object.fromEntries(named), text: parseFloat(value("text")), classes: several("c", 8), groups: several("g", 4) };
}

/** Calls with where the pointer is, in CSS pixels, while it is pressed on a node. */
export function pressed(node, told) {
  const at = (event) => {
    const { left, top } = node.getBoundingClientRect();
    told(event.clientX - left, event.clientY - top);
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    at(event);
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) at(event);
  });
}
