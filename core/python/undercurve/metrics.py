"""Exact ranking metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._html import table
from .decisions import numbered

Range = tuple[float, float]


@dataclass(frozen=True)
class Metrics:
    """Exact metrics of one set of scores.

    Attributes
    ----------
    auroc : float
        Area under the ROC curve. Tied pairs count half.
    ap : float
        Average precision, as scikit-learn's ``average_precision_score``.
    pauc : float
        Partial AUC over `fpr`, by the trapezoid rule, divided by the width of the range (0 to 1).
    fpr : tuple of float
        The range of false-positive rates of `pauc`.
    accuracy : float
        Share of right predictions at a threshold of 0.
    tied : float
        Share of the pairs of a positive and a negative that have equal scores.
    positives, negatives : int
        Rows of each class, without those of weight 0.
    intervals : dict
        95 % intervals of ``auroc``, ``ap`` and ``pauc``, each a pair or None. Empty unless they were asked for.
    """

    auroc: float
    ap: float
    pauc: float
    fpr: Range
    accuracy: float
    tied: float
    positives: int
    negatives: int
    intervals: dict[str, Range | None]

    def _rows(self) -> list[tuple[str, object]]:
        def of(name: str, value: float) -> str:
            ends = self.intervals.get(name)
            return f"{value:.4f}" + (f" [{ends[0]:.4f}, {ends[1]:.4f}]" if ends else "")

        low, high = self.fpr
        return [
            ("AUROC", of("auroc", self.auroc)),
            ("average precision", of("ap", self.ap)),
            (f"partial AUC, FPR {low:g} to {high:g}", of("pauc", self.pauc)),
            ("positives", self.positives),
            ("negatives", self.negatives),
        ]

    def _repr_html_(self) -> str:
        return table("Metrics", self._rows())


def metrics(
    scores: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    fpr: Range = (0.0, 0.05),
    intervals: bool = False,
    clusters: ArrayLike | None = None,
) -> Metrics:
    """Exact AUROC, average precision and partial AUC.

    Parameters
    ----------
    scores : array of shape (n,)
        Higher means more likely positive. Finite.
    labels : array of shape (n,)
        1 or True for positives, 0 or False for negatives.
    weights : array of shape (n,), optional
        What each row counts, 0 or more. A row of weight 2 is two rows.
    fpr : (low, high)
        Range of false-positive rates of the partial AUC, 0 <= low < high <= 1.
    intervals : bool
        Also compute 95 % intervals.
    clusters : array of shape (n,), optional
        Equal values for rows of one cluster (a patient, a site), where only whole clusters are independent: intervals are for those.

    Returns
    -------
    Metrics

    Raises
    ------
    ValueError
        For a score that is not finite, another label, a negative weight, one class alone, other lengths.

    Notes
    -----
    One sort: O(n log n), or less. Agrees with scikit-learn to the last bits.

    Examples
    --------
    >>> import undercurve
    >>> found = undercurve.metrics([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], fpr=(0, 0.5))
    >>> found.auroc, found.pauc
    (0.75, 0.5)
    """
    try:
        found = _core.summary(scores, labels, weights, fpr)
    except ValueError as error:
        if str(error).startswith("labels: row") and _are_labels(scores):
            raise ValueError(f"{error}, and all scores are: scores come first, labels second") from None
        raise
    ends = _core.intervals(scores, labels, weights, numbered(clusters), fpr) if intervals else {}
    return Metrics(fpr=(float(fpr[0]), float(fpr[1])), intervals=ends, **found)


@dataclass(frozen=True)
class Difference:
    """A metric of two scores of the same rows.

    Attributes
    ----------
    values : tuple of float
        The metric of each.
    intervals : tuple
        The 95 % interval of each, a pair, or None where a class has one row, or one cluster.
    difference : float
        The first less the second.
    interval : tuple of float or None
        Its 95 % interval.
    z, p : float or None
        The difference over its deviation, and how often scores that are equally good differ by as much or more. None where the rows tell no
        deviation of a difference that there is.
    """

    values: Range
    intervals: tuple[Range | None, Range | None]
    difference: float
    interval: Range | None
    z: float | None
    p: float | None


@dataclass(frozen=True)
class Comparison:
    """Two scores of the same rows; see `compare`.

    Attributes
    ----------
    auroc, ap, pauc : Difference
        Of AUROC, average precision, and the partial AUC over `fpr`.
    fpr : tuple of float
        The range of false-positive rates of `pauc`.
    """

    auroc: Difference
    ap: Difference
    pauc: Difference
    fpr: Range


def compare(
    a: ArrayLike,
    b: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    fpr: Range = (0.0, 0.05),
    clusters: ArrayLike | None = None,
) -> Comparison:
    """Metrics of two scores of the same rows, with their differences, 95 % intervals and p-values.

    Parameters
    ----------
    a, b : array of shape (n,)
        Higher means more likely positive. Finite.
    labels, weights, fpr, clusters
        As of `metrics`.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        As `metrics`.

    Notes
    -----
    Of AUROC the test of DeLong, DeLong and Clarke-Pearson (1988), as pROC's ``roc.test``; with clusters that of Obuchowski (1997). Of the others the
    same with the influence of each row. O(n log n).

    Examples
    --------
    >>> import undercurve
    >>> a, b = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], [0.6, 0.8, 0.7, 0.9, 0.5, 0.4, 0.3, 0.2]
    >>> found = undercurve.compare(a, b, [1, 1, 1, 0, 0, 0, 0, 1])
    >>> found.auroc.values, round(found.auroc.p, 3)
    ((0.75, 0.5625), 0.343)
    """
    found = _core.compare(a, b, labels, weights, numbered(clusters), fpr)
    each = {name: Difference(**values) for name, values in found.items()}
    return Comparison(fpr=(float(fpr[0]), float(fpr[1])), **each)


def _are_labels(values: ArrayLike) -> bool:
    return bool(np.isin(np.asarray(values), (0, 1)).all())


def auroc(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Area under the ROC curve; see `metrics`.

    Examples
    --------
    >>> import undercurve
    >>> undercurve.auroc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    return metrics(scores, labels, weights).auroc


def average_precision(scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Average precision; see `metrics`.

    Examples
    --------
    >>> import undercurve
    >>> round(undercurve.average_precision([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]), 4)
    0.8333
    """
    return metrics(scores, labels, weights).ap


def partial_auc(
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, *, fpr: Range = (0.0, 0.05)
) -> float:
    """Partial AUC over a range of false-positive rates, divided by its width; see `metrics`.

    Examples
    --------
    >>> import undercurve
    >>> undercurve.partial_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], fpr=(0, 0.5))
    0.5
    """
    return metrics(scores, labels, weights, fpr=fpr).pauc
