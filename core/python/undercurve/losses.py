"""Exact ranking losses with gradients."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from . import _core

Surrogate = Literal["square", "squared-hinge", "hinge", "logistic", "sigmoid", "exponential", "smoothed-hinge", "ramp"]


class Loss:
    """An exact ranking loss over all the rows it is given, in near-linear time.

    Parameters
    ----------
    kind : {"ap", "auc", "pauc"}
        ``"ap"``: minus the smoothed average precision (SOAP's objective). ``"auc"``: the mean of the surrogate over all pairs of
        a positive and a negative. ``"pauc"``: the same over the negatives of a range of false-positive rates.
    surrogate : str, optional
        The loss of the margin of a pair: ``square``, ``squared-hinge``, ``hinge``, ``logistic``, ``sigmoid``,
        ``exponential``, ``smoothed-hinge`` or ``ramp``. Default: that of the method of the same objective.
    margin, scale, smoothing : float, optional
        The surrogate's one parameter, above 0.
    fpr : (low, high)
        Of ``"pauc"`` the range of false-positive rates.
    tpr : float
        Of ``"pauc"`` the least true-positive rate (two-way partial AUC), from 0 up to below 1.
    grade : {"full", "fast"}
        Accuracy of sigmoid and logistic sums: 1e-12 or 1e-6, relative. The others are exact to rounding.

    Notes
    -----
    O(n log n) at most; no pairs are formed. Threads may share one object; the interpreter's lock is released.

    References
    ----------
    Qi et al. 2021 (SOAP), equations (2) to (4); Yao et al. 2022 (partial AUC), equation (2).

    Examples
    --------
    >>> import undercurve
    >>> loss = undercurve.Loss("auc", surrogate="hinge")
    >>> value, grad = loss.value_grad([0.3, 1.2, -0.4], [1, 0, 0])
    >>> round(value, 6), grad
    (1.1, array([-1. ,  0.5,  0.5]))
    """

    def __init__(
        self,
        kind: Literal["ap", "auc", "pauc"],
        *,
        surrogate: Surrogate | None = None,
        margin: float | None = None,
        scale: float | None = None,
        smoothing: float | None = None,
        fpr: tuple[float, float] = (0.0, 0.05),
        tpr: float = 0.0,
        grade: Literal["full", "fast"] = "full",
    ) -> None:
        self._core = _core.Loss(kind, surrogate, margin, scale, smoothing, fpr, tpr, grade)

    def value_grad(
        self, scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None
    ) -> tuple[float, NDArray[Any]]:
        """The loss, to be minimised, and its derivative by every score.

        Parameters
        ----------
        scores : array of shape (n,)
            float32 or float64, finite; other numbers become float64.
        labels : array of shape (n,)
            Booleans, or numbers that are 0 or 1.
        weights : array of shape (n,), optional
            What each row counts, 0 or more.

        Returns
        -------
        value : float
        grad : array of shape (n,)
            Of the scores' type.

        Raises
        ------
        ValueError
            With the row: for a score that is not finite, another label, a negative weight; for one class alone and for other
            lengths.
        """
        return self._core.value_grad(scores, labels, weights)

    def value(self, scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
        """The loss alone; as `value_grad`."""
        return self._core.value_grad(scores, labels, weights)[0]

    def __call__(self, scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
        return self.value(scores, labels, weights)

    def __repr__(self) -> str:
        known = self._core.arguments()
        kind = known.pop("kind")
        return f"Loss({kind!r}, " + ", ".join(f"{name}={value!r}" for name, value in known.items()) + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loss) and self._core.arguments() == other._core.arguments()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __getstate__(self) -> dict[str, Any]:
        return self._core.arguments()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._core = _core.Loss(**state)
