// Send it on: the picture with its sentence and its link, and the same for an article or a lecture.

import { $, colours, download, h } from "./dom.js";
import { SIZE, whole } from "./draw/sent.js";
import "./send.css";

/** Puts a text below the buttons, to be read or copied by hand. */
const below = (text) => {
  $("send-address").textContent = text;
  getSelection().selectAllChildren($("send-address"));
};

const copy = async (button, name, text) => {
  const done = await Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => true, () => false);
  // (Without a clipboard, as on a host without https, it is there to be copied.)
  if (!done) below(text);
  button.textContent = done ? "Copied" : "Copy it from below";
  setTimeout(() => (button.textContent = name), 1500);
};

/** The picture in points of the screen, twice as fine. */
async function png(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: 2 * SIZE.width, height: 2 * SIZE.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/**
 * @param {{ sentence: string, picture: (palette: object) => (height: number) => string, hash: string, embed: string, lecture?: string }} what
 *   `embed` and `lecture`: the addresses for a frame and a lecture, without the site
 */
export function send({ sentence, picture, hash, embed, lecture }) {
  const site = `${location.origin === "null" ? "" : location.origin}${location.pathname}`;
  const link = site + hash;
  const palette = colours();
  const svg = whole(sentence, link, picture(palette), palette);
  const frame = `<iframe src="${site}${embed.replaceAll("&", "&amp;")}" width="100%" height="600" title="undercurve" loading="lazy"></iframe>`;
  const button = (id, textContent, onclick, className = "") => h("button", { type: "button", id, textContent, className, onclick });
  const copied = (id, name, text, className) => button(id, name, ({ currentTarget }) => copy(currentTarget, name, text), className);
  const dialog = h("dialog", { id: "send", "aria-label": "Send it on" },
    h("img", { id: "send-picture", src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: sentence, ...SIZE }),
    h("div", { className: "send-deeds" },
      copied("send-link", "Copy link", link, "primary"),
      button("send-png", "Save PNG", () => png(svg).then((file) => download("undercurve.png", file, "image/png"), () => below("No PNG could be made here; save the SVG."))),
      button("send-svg", "Save SVG", () => download("undercurve.svg", svg, "image/svg+xml")),
      copied("send-frame", "Copy frame", frame),
      ...(lecture ? [copied("send-lecture", "Copy lecture", site + lecture)] : []),
      h("span", { className: "spring" }),
      button("send-close", "Close", () => dialog.close())),
    h("p", { id: "send-address", textContent: link }));
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
}
