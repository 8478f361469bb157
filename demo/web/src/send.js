// Send it on: the picture with its sentence and its link, and the same for an article or a lecture.

import { colours, download, h } from "./dom.js";
import { SIZE, whole } from "./draw/sent.js";
import "./send.css";

const copy = async (button, text) => {
  const before = button.textContent;
  const done = await Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject()).then(() => true, () => false);
  button.textContent = done ? "Copied" : "Copy it from below";
  setTimeout(() => (button.textContent = before), 1500);
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
  const button = (id, textContent, onclick, className = "") => h("button", { type: "button", id, textContent, className, onclick: (event) => onclick(event.currentTarget) });
  const dialog = h("dialog", { id: "send", "aria-label": "Send it on" },
    h("img", { id: "send-picture", src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: sentence, ...SIZE }),
    h("div", { className: "send-deeds" },
      button("send-link", "Copy link", (own) => copy(own, link), "primary"),
      button("send-png", "Save PNG", async () => download("undercurve.png", await png(svg), "image/png")),
      button("send-svg", "Save SVG", () => download("undercurve.svg", svg, "image/svg+xml")),
      button("send-frame", "Copy frame", (own) => copy(own, frame)),
      ...(lecture ? [button("send-lecture", "Copy lecture", (own) => copy(own, site + lecture))] : []),
      h("span", { className: "spring" }),
      button("send-close", "Close", () => dialog.close())),
    h("p", { id: "send-address", textContent: link }));
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
}
