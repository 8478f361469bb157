"""Exact ranking metrics for LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .metrics import metrics

_KINDS = {"auc": "auroc", "ap": "ap", "pauc": "pauc"}


class Metric:
    """An exact metric of validation rows, for early stopping and reports.

    Parameters
    ----------
    kind : {"auc", "ap", "pauc"}
        AUROC, average precision, or partial AUC.
    fpr : (low, high)
        Of ``"pauc"`` the range of false-positive rates.

    Notes
    -----
    The same object is LightGBM's ``feval`` (of ``LGBMClassifier`` the ``eval_metric``), XGBoost's ``custom_metric`` and CatBoost's ``eval_metric``. More
    is better: XGBoost needs to be told (``EarlyStopping(maximize=True)``), and ``XGBClassifier`` cannot be. Row weights count, but for
    ``LGBMClassifier``. Rows of one class have no such metric: they give NaN.

    Examples
    --------
    >>> from undercurve.boosting import Metric
    >>> feval = Metric("pauc", fpr=(0, 0.1))  # lightgbm.train(..., feval=feval)
    >>> feval
    Metric('pauc', fpr=(0.0, 0.1))
    """

    def __init__(self, kind: str = "ap", *, fpr: tuple[float, float] = (0.0, 0.05)) -> None:
        if kind not in _KINDS:
            raise ValueError(f"kind: expected 'auc', 'ap' or 'pauc', got {kind!r}")
        low, high = (float(end) for end in fpr)
        if not 0 <= low < high <= 1:
            raise ValueError(f"fpr: expected (low, high) with 0 <= low < high <= 1, got ({low}, {high})")
        self.kind = kind
        self.fpr = (low, high)
        self.__name__ = f"{kind}_{low:g}_{high:g}" if kind == "pauc" else kind

    def value(self, scores: Any, labels: Any, weights: Any = None) -> float:
        """The metric; NaN where a class has no row."""
        labels = np.asarray(labels)
        if not (labels == 1).any() or not (labels == 0).any():
            return float("nan")
        if weights is not None and not len(weights):
            weights = None
        return float(getattr(metrics(scores, labels, weights, fpr=self.fpr), _KINDS[self.kind]))

    def __call__(self, scores: Any, data: Any) -> Any:
        """As LightGBM (name, value, True) or XGBoost (name, value) want it."""
        if not hasattr(data, "get_label"):
            if sys._getframe(1).f_globals.get("__name__", "").startswith("xgboost"):
                raise TypeError("XGBClassifier would minimise it; xgboost.train(..., custom_metric=..., maximize=True) takes it")
            # (LGBMClassifier gives labels, then scores.)
            return self.__name__, self.value(data, scores), True
        value = self.value(scores, data.get_label(), data.get_weight())
        if type(data).__module__.partition(".")[0] == "xgboost":
            return self.__name__, value
        return self.__name__, value, True

    # What CatBoost asks for.
    def is_max_optimal(self) -> bool:
        """More is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """The metric, and 1 for its weight."""
        return self.value(approxes[0], target, weight), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """The metric."""
        return error

    def __repr__(self) -> str:
        return f"Metric({self.kind!r}, fpr={self.fpr})" if self.kind == "pauc" else f"Metric({self.kind!r})"
