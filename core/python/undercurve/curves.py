"""ROC and precision-recall curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .metrics import Metrics, metrics

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curves:
    """Points of both curves, by descending threshold.

    Attributes
    ----------
    fpr, tpr, roc_thresholds : array
        The ROC curve, from (0, 0), whose threshold is infinite, to (1, 1).
    precision, recall, pr_thresholds : array
        The precision-recall curve.
    metrics : Metrics
        The metrics of the same scores.
    """

    fpr: Floats
    tpr: Floats
    roc_thresholds: Floats
    precision: Floats
    recall: Floats
    pr_thresholds: Floats
    metrics: Metrics

    def plot(self, axes: Any = None) -> Any:
        """Draw both curves by matplotlib.

        Parameters
        ----------
        axes : pair of matplotlib axes, optional
            Where to draw: the ROC curve, then the other. New ones without.

        Returns
        -------
        pair of axes
        """
        roc, pr = _subplots(2, (9, 4)) if axes is None else axes
        roc.plot(self.fpr, self.tpr, label=f"AUROC {self.metrics.auroc:.4f}")
        roc.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle="--")
        roc.set(xlabel="false-positive rate", ylabel="true-positive rate", xlim=(0, 1), ylim=(0, 1.02))
        roc.legend(loc="lower right")
        share = self.metrics.positives / (self.metrics.positives + self.metrics.negatives)
        pr.step(self.recall, self.precision, where="post", label=f"AP {self.metrics.ap:.4f}")
        pr.axhline(share, color="grey", linewidth=0.8, linestyle="--")
        pr.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
        pr.legend(loc="upper right")
        return roc, pr


    def plot_thresholds(self, axis: Any = None) -> Any:
        """Draw precision, recall and false-positive rate against the threshold by matplotlib.

        Parameters
        ----------
        axis : matplotlib axis, optional
            Where to draw; a new one without.

        Returns
        -------
        axis
        """
        if axis is None:
            (axis,) = _subplots(1, (6, 4))
        axis.step(self.pr_thresholds, self.precision, where="pre", label="precision")
        axis.step(self.pr_thresholds, self.recall, where="pre", label="recall")
        axis.step(self.roc_thresholds[1:], self.fpr[1:], where="pre", label="false-positive rate")
        axis.set(xlabel="threshold", ylabel="rate of the scores from here up", ylim=(0, 1.02))
        axis.legend()
        return axis

    def _repr_html_(self) -> str:
        return self.metrics._repr_html_()


def _subplots(count: int, size: tuple[float, float]) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots(1, count, figsize=size, layout="constrained", squeeze=False)[1][0]


def curves(
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None, *, points: int | None = None
) -> Curves:
    """ROC and precision-recall curves.

    Parameters
    ----------
    scores, labels, weights
        As in `metrics`.
    points : int, optional
        At most about so many points, for a plot; all of them without.

    Returns
    -------
    Curves

    Examples
    --------
    >>> import undercurve
    >>> undercurve.curves([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    found = _core.curves(scores, labels, None, weights, points)
    return Curves(metrics=metrics(scores, labels, weights), **found)
