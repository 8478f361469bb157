"""Thresholds by rules, on anyone's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, frames
from ._html import Shown


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """A threshold, and what it comes to on the rows that it was chosen on.

    Attributes
    ----------
    rule : str
        What it keeps.
    threshold : float
        Scores from here up are decided positive, midway between two scores; infinite where none is, -infinite where all are.
    true_positives, false_positives, true_negatives, false_negatives : int
        Right and wrong decisions; with weights float, what they weigh.
    intervals : dict
        95 % intervals of ``fpr``, ``recall`` and ``precision``, each a pair, as of a threshold that was fixed before. One that was
        chosen on these rows by a rule without a confidence does worse on others.
    """

    rule: str
    threshold: float
    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float
    intervals: dict[str, tuple[float, float]]

    @property
    def alerts(self) -> float:
        """Rows that are decided positive."""
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> float:
        """Share of positives among the alerts; NaN without alerts."""
        return self.true_positives / self.alerts if self.alerts else float("nan")

    @property
    def recall(self) -> float:
        """Share of the positives that are alerts."""
        return self.true_positives / (self.true_positives + self.false_negatives)

    @property
    def fpr(self) -> float:
        """Share of the negatives that are alerts."""
        return self.false_positives / (self.false_positives + self.true_negatives)

    def _rows(self) -> list[tuple[str, object]]:
        def of(name: str, value: float) -> str:
            low, high = self.intervals[name]
            return f"{value:.4f} [{low:.4f}, {high:.4f}]"

        return [
            ("rule", self.rule),
            ("threshold", f"{self.threshold:.6g}"),
            ("alerts", self.alerts),
            ("precision", of("precision", self.precision)),
            ("recall", of("recall", self.recall)),
            ("false-positive rate", of("fpr", self.fpr)),
        ]


def decide(
    scores: ArrayLike,
    labels: ArrayLike,
    rule: str,
    *,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    positive: object = None,
) -> Decision:
    """Find the threshold that a rule asks for, on anyone's scores.

    Parameters
    ----------
    scores : array of shape (n,)
        Higher means more likely positive. Finite. Of rows that the model was not trained on.
    labels : array of shape (n,)
        Two of any kind; see `metrics`.
    rule : str
        ``"fpr<=A"``, ``"precision>=P"`` or ``"recall>=R"`` on these rows; with ``@90%`` behind it on other rows like them, in 90 of 100
        choices; ``"alerts<=K"``, ``"alerts<=S%"``, ``"youden"``, ``"f1"``, ``"mcc"``, ``"costs:FP:FN"``, ``"costs:FP:FN:SHARE"`` or a score.
    weights : array of shape (n,), optional
        What each row counts: a row is one draw that stands for so many.
    clusters : array of shape (n,), optional
        Equal values for rows of one cluster (a patient, a site), where only whole clusters are independent.
    positive : optional
        The label that counts as positive.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        Where no threshold keeps the rule, or none can be promised (with about how many more rows would tell); as `metrics`.

    Notes
    -----
    One sort: O(n log n), or less.

    Examples
    --------
    >>> import numpy as np, undercurve
    >>> scores = np.arange(100.0)
    >>> found = undercurve.decide(scores, scores >= 50, "recall>=0.8@90%")
    >>> found.threshold, found.recall
    (49.5, 1.0)
    """
    found = _core.decide(scores, labels, str(rule), None if positive is None else str(positive), weights, numbers("clusters", clusters))
    if weights is None:
        found.update({name: int(found[name]) for name in found if name.endswith(("_positives", "_negatives"))})
    return Decision(**found)


def numbered(name: str, values: ArrayLike | None) -> tuple[list[int], list[Any]] | None:
    """A number for each row, equal ones for rows of equal values, and these."""
    if values is None:
        return None
    cells = np.asarray(values)
    if cells.ndim != 1:
        raise ValueError(f"{name}: {cells.ndim} dimensions, expected 1")
    for row, cell in enumerate(cells.tolist()):
        if frames.is_missing(cell):
            raise ValueError(f"{name}: row {row} is missing")
    if cells.dtype.kind == "O":
        known: dict[Any, int] = {}
        return [known.setdefault(cell, len(known)) for cell in cells.tolist()], list(known)
    names, of = np.unique(cells, return_inverse=True)
    return of.reshape(-1).tolist(), names.tolist()


def numbers(name: str, values: ArrayLike | None) -> list[int] | None:
    """The numbers alone."""
    found = numbered(name, values)
    return found and found[0]
