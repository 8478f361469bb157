"""Exact ranking metrics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._html import Shown
from .decisions import numbered, numbers

Range = tuple[float, float]


def names_of(metrics: str | Iterable[str] | None) -> list[str] | None:
    """Names of metrics, which may be one text with commas between them."""
    return None if metrics is None else metrics.split(",") if isinstance(metrics, str) else [str(name) for name in metrics]


def span(fpr: Range | float) -> Range:
    """A range of false-positive rates; a number is its end."""
    if isinstance(fpr, (int, float, np.number)):
        return 0.0, float(fpr)
    try:
        low, high = fpr
        return float(low), float(high)
    except (TypeError, ValueError):
        raise ValueError(f"fpr: expected (low, high) or a number, got {fpr!r}") from None


@dataclass(frozen=True, repr=False)
class Metrics(Shown):
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

        return [
            ("AUROC", of("auroc", self.auroc)),
            ("average precision", of("ap", self.ap)),
            (_called(self.fpr), of("pauc", self.pauc)),
            ("positives", self.positives),
            ("negatives", self.negatives),
        ]


@dataclass(frozen=True)
class Measured:
    """What a metric says.

    Attributes
    ----------
    value : float or None
        None where there are no rows to tell it from.
    interval : tuple of float or None
        The 95 % interval of a metric that has one.
    groups : tuple
        The group, or the two groups, that it is of.
    noise : float or None
        Of a gap between groups what 95 of 100 samples of groups that do not differ stay below.
    """

    value: float | None
    interval: Range | None
    groups: tuple[Any, ...] = ()
    noise: float | None = None


@overload
def metrics(
    scores: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    metrics: None = None,
    fpr: Range | float = (0.0, 0.05),
    intervals: bool = False,
    clusters: ArrayLike | None = None,
    positive: object = None,
) -> Metrics: ...
@overload
def metrics(
    scores: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    metrics: str | Iterable[str],
    fpr: Range | float = (0.0, 0.05),
    clusters: ArrayLike | None = None,
    queries: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    threshold: float | None = None,
    positive: object = None,
) -> dict[str, Measured]: ...
def metrics(
    scores: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    metrics: str | Iterable[str] | None = None,
    fpr: Range | float = (0.0, 0.05),
    intervals: bool = False,
    clusters: ArrayLike | None = None,
    queries: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    threshold: float | None = None,
    positive: object = None,
) -> Metrics | dict[str, Measured]:
    """Exact AUROC, average precision and partial AUC, or any metrics by name.

    Parameters
    ----------
    scores : array of shape (n,)
        Higher means more likely positive. Finite. Scores from 0 to 1 are probabilities, too.
    labels : array of shape (n,)
        Two of any kind: the larger of two numbers is positive; of two words yes, true or positive, else the rarer. With `queries` they may be
        more than two numbers from 0 to 100, how relevant each row is; those above 0 are positive.
    weights : array of shape (n,), optional
        What each row counts, 0 or more. A row of weight 2 is two rows.
    metrics : str or iterable of str, optional
        Names as of the command line's ``--metric``, with commas between them in one text: ``"auroc,mcclish:0.1,precision-at:2%"``.
        ``undercurve.METRICS`` lists them.
    fpr : (low, high) or float
        Range of false-positive rates of the partial AUC, 0 <= low < high <= 1; a number is its end.
    intervals : bool
        Also compute 95 % intervals. Metrics by name have theirs.
    clusters : array of shape (n,), optional
        Equal values for rows of one cluster (a patient, a site), where only whole clusters are independent: intervals are for those.
    queries : array of shape (n,), optional
        The query of each row, for ``map``, ``ndcg`` and ``mrr``.
    groups : array of shape (n,), optional
        The group of each row, for ``gap(tpr)``, ``worst-auroc`` and their like.
    threshold : float, optional
        Of ``f1`` and other metrics at a threshold that is not named.
    positive : optional
        The label that counts as positive.

    Returns
    -------
    Metrics, or a dict of Measured by name

    Raises
    ------
    ValueError
        For a score that is not finite, a missing label, labels that are not two, a negative weight, other lengths, and a metric of what is
        not given.

    Notes
    -----
    One sort for each metric: O(n log n), or less. Agrees with scikit-learn to the last bits.

    Examples
    --------
    >>> import undercurve
    >>> found = undercurve.metrics([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], fpr=(0, 0.5))
    >>> found.auroc, found.pauc
    (0.75, 0.5)
    >>> found = undercurve.metrics([0.1, 0.4, 0.35, 0.8], ["no", "no", "yes", "yes"], metrics="ap,f1:0.3,mcclish:0.5")
    >>> {name: round(one.value, 4) for name, one in found.items()}
    {'ap': 0.8333, 'f1:0.3': 0.8, 'mcclish:0.5': 0.6667}
    """
    fpr, one = span(fpr), None if positive is None else str(positive)
    names = names_of(metrics)
    beside = {"queries": queries, "groups": groups, "threshold": threshold}
    for name, given in beside.items():
        if names is None and given is not None:
            raise ValueError(f"{name}: is of metrics by name, as metrics=[\"f1\"]")
    graded = None
    if queries is not None and positive is None:
        levels = np.asarray(labels)
        if levels.ndim == 1 and levels.dtype.kind in "iuf" and len(np.unique(levels)) > 2:
            graded = levels.astype("float64").tolist()
    found_groups = numbered("groups", groups)
    asked = {
        "metrics": names or ["auroc", "ap", "pauc"],
        "fpr": fpr,
        "threshold": threshold,
        "clusters": numbers("clusters", clusters),
        "queries": numbers("queries", queries),
        "gains": graded,
        "groups": found_groups and (found_groups[0], len(found_groups[1])),
    }
    try:
        if names is None:
            found = _core.summary(scores, labels, one, weights, fpr)
        measured = _core.measure(scores, labels, asked, one, weights) if names is not None or intervals else {}
    except ValueError as error:
        if str(error).startswith("labels: ") and _are_labels(scores):
            raise ValueError(f"{error}, and all scores are: scores come first, labels second") from None
        raise
    if names is None:
        return Metrics(fpr=fpr, intervals={name: of["interval"] for name, of in measured.items()}, **found)
    of = found_groups[1] if found_groups else []
    return {name: Measured(**{**one, "groups": tuple(of[at] for at in one["groups"])}) for name, one in measured.items()}


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


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
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

    def _rows(self) -> list[tuple[str, object]]:
        def of(one: Difference) -> str:
            ends = f" [{one.interval[0]:+.4f}, {one.interval[1]:+.4f}]" if one.interval else ""
            chance = "" if one.p is None else f", p = {one.p:.3g}"
            return f"{one.values[0]:.4f} and {one.values[1]:.4f}, {one.difference:+.4f}{ends}{chance}"

        return [("AUROC", of(self.auroc)), ("average precision", of(self.ap)), (_called(self.fpr), of(self.pauc))]


def _called(fpr: Range) -> str:
    return f"partial AUC, FPR {fpr[0]:g} to {fpr[1]:g}"


@overload
def compare(
    a: ArrayLike,
    b: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    metrics: None = None,
    fpr: Range | float = (0.0, 0.05),
    clusters: ArrayLike | None = None,
    positive: object = None,
) -> Comparison: ...
@overload
def compare(
    a: ArrayLike,
    b: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    metrics: str | Iterable[str],
    fpr: Range | float = (0.0, 0.05),
    clusters: ArrayLike | None = None,
    positive: object = None,
) -> dict[str, Difference]: ...
def compare(
    a: ArrayLike,
    b: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    metrics: str | Iterable[str] | None = None,
    fpr: Range | float = (0.0, 0.05),
    clusters: ArrayLike | None = None,
    positive: object = None,
) -> Comparison | dict[str, Difference]:
    """Metrics of two scores of the same rows, with their differences, 95 % intervals and p-values.

    Parameters
    ----------
    a, b : array of shape (n,)
        Higher means more likely positive. Finite.
    labels, weights, fpr, clusters, positive
        As of `metrics`.
    metrics : str or iterable of str, optional
        Names as of `metrics`: of ``auroc``, ``ap``, ``pauc``, ``mcclish``, ``precision-at`` and ``recall-at`` differences are tested.

    Returns
    -------
    Comparison, or a dict of Difference by name

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
    fpr, one = span(fpr), None if positive is None else str(positive)
    names = names_of(metrics)
    asked = {"metrics": names or ["auroc", "ap", "pauc"], "fpr": fpr, "clusters": numbers("clusters", clusters)}
    found = _core.compare(a, b, labels, asked, one, weights)
    each = {name: Difference(**values) for name, values in found.items()}
    return Comparison(fpr=fpr, **each) if names is None else each


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
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, *, fpr: Range | float = (0.0, 0.05)
) -> float:
    """Partial AUC over a range of false-positive rates, divided by its width; see `metrics`.

    Examples
    --------
    >>> import undercurve
    >>> undercurve.partial_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], fpr=(0, 0.5))
    0.5
    """
    return metrics(scores, labels, weights, fpr=fpr).pauc
