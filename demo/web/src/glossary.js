// What terms mean, on touch, focus and under the pointer.

import { h } from "./dom.js";

export const TERMS = {
  ap: "Average precision (AP): the mean, over positives, of the precision at each positive’s rank. A constant score has the share of positives.",
  auroc: "AUROC: the area under the ROC curve, the share of pairs of a positive and a negative that are ranked correctly. Ties count half; a constant score has 0.5.",
  pauc: "Partial AUC: the mean true-positive rate over the false-positive rates of the band.",
  accuracy: "Accuracy: the share of rows on the right side of score 0. Where positives are rare, calling every row negative is nearly always right.",
  handTill: "Hand–Till AUC: the mean AUROC over all ordered pairs of classes.",
  worst: "The least AUROC within a group.",
  fprGap: "The largest difference of two groups’ false-positive rates, over all thresholds.",
  tprGap: "The largest difference of two groups’ true-positive rates, over all thresholds.",
  pass: "A pass (epoch): as many rows read as the training set has.",
  milliseconds: "Milliseconds that one training step takes here.",
  roc: "ROC curve: the share of positives found (true-positive rate) against the share of negatives shown with them (false-positive rate), for every threshold.",
  tp: "True positives: positives at or above the threshold.",
  fp: "False positives: negatives at or above the threshold.",
  fn: "False negatives: positives below the threshold.",
  tn: "True negatives: negatives below the threshold.",
  precision: "Precision: the share of positives among the rows at or above the threshold.",
  first: "The share of positives among so many first rows.",
  threshold: "Threshold: the score from which a row counts as positive.",
};

/** Terms are buttons with `data-term`, wherever they are made. */
export function glossary() {
  const tip = h("div", { id: "term", role: "tooltip", hidden: true });
  document.body.append(tip);
  let of = null;
  const hide = () => {
    of?.removeAttribute("aria-describedby");
    of = null;
    tip.hidden = true;
  };
  const show = ({ target }) => {
    const term = target.closest?.("[data-term]");
    if (!term) return;
    hide();
    of = term;
    tip.textContent = TERMS[term.dataset.term];
    tip.hidden = false;
    term.setAttribute("aria-describedby", tip.id);
    put();
  };
  const put = () => {
    // Below the term, or above it where there is no room; within the page.
    const [box, own] = [of.getBoundingClientRect(), tip.getBoundingClientRect()];
    const below = box.bottom + 6 + own.height <= innerHeight;
    tip.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 8, box.left))}px`;
    tip.style.top = `${below ? box.bottom + 6 : box.top - own.height - 6}px`;
  };
  // (By touch, a press focuses or clicks.)
  for (const type of ["pointerover", "focusin", "click"]) document.addEventListener(type, show);
  document.addEventListener("pointerout", ({ target, relatedTarget }) => target.closest?.("[data-term]") && !relatedTarget?.closest?.("#term") && document.activeElement !== of && hide());
  document.addEventListener("focusout", ({ target }) => target === of && hide());
  tip.addEventListener("pointerleave", () => document.activeElement !== of && hide());
  document.addEventListener("pointerdown", ({ target }) => of && !target.closest("[data-term], #term") && hide());
  addEventListener("scroll", () => of && (document.activeElement === of || of.matches(":hover") ? put() : hide()), { passive: true, capture: true });
  addEventListener("keydown", ({ key }) => key === "Escape" && hide());
}
