// The rankings between the maps, and the cut through them by pointer.

import { $, count, pressed, put } from "../dom.js";
import { onResize, sharp } from "../draw/canvas.js";
import { TOP, column, digits, geometry, middle, shownAt, top } from "../draw/columns.js";
import { LANES } from "../kinds.js";
import { colours, effect, nouns, playing, rows, state, untracked, waits } from "../store.js";
import { cut, ranked, want } from "./cut.js";

export function rankings() {
  const canvas = $("columns");
  let shape = null;
  let pixels = null;
  const draw = () => {
    const [both, palette, now] = [ranked.peek(), colours.peek(), cut.peek()];
    if (!both || !palette || !now) return;
    const { context, width, height } = sharp(canvas);
    if (!width) return;
    shape = geometry(width, height, both.a.rows, pixels ? Math.min(TOP, both.a.rows) : 0, palette.text);
    for (const name of LANES) {
      column(context, shape, both[name], name, palette, pixels ? 1 : 0);
      if (pixels) top(context, shape, both[name], name, palette, pixels);
    }
    middle(context, shape, { a: now.a.shown, b: now.b.shown }, palette);
    describe(both, shape);
  };
  const describe = ({ a, b }, { parts: [lens, rest], apart }) => {
    const each = (one) => `${count(one)} row${one === 1 ? "" : "s"} a line`;
    const { rows: called, positive } = nouns.peek();
    const said = `Of the first ${count(lens.count)} of ${count(a.rows)} held-out ${called}, ${count(a.before(lens.count))} are ${positive[1]} in lane A, ${count(b.before(lens.count))} in lane B`;
    if (!playing.peek()) canvas.setAttribute("aria-label", `Rankings, best rows first. ${said}.`);
    const lines = !pixels && (lens.each > 1 || rest?.each > 1) ? ` ${each(lens.each)} above${rest ? `, ${each(rest.each)} below` : ""}.` : "";
    put($("columns-hint"), `${pixels ? `Above: the first ${lens.count}, framed where it is no 8. Below: the rest.` : `Above: the top 5\u00a0%. Each lit piece is one ${positive[0]}.`}${apart || !lines ? (pixels ? "" : lines) : ` ${count(a.rows)} rows are shown in lines:${lines}`}`);
  };
  onResize(canvas, draw);
  pressed(canvas, (x, y) => {
    const [both, { width }] = [ranked.peek(), shape ?? {}];
    if (both) want(both[x < width / 2 ? "a" : "b"].before(Math.max(1, shownAt(shape, y))));
  });
  effect(() => {
    const now = rows.value;
    pixels = now && state.peek().data === "digits" && now.dims === 64 && !now.names ? digits(now.test, 64) : null;
  });
  effect(() => {
    const known = Boolean(ranked.value && cut.value && colours.value);
    void playing.value;
    if (ranked.peek() === undefined) return;
    $("rankings").hidden = !known;
    if (known && !untracked(() => waits(0))) untracked(draw);
  });
  return () => shape;
}
