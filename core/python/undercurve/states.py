"""Metrics of rows that are in several places: counted there, merged here."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from . import _core
from .curves import Curves
from .metrics import Metrics, Range


class State:
    """How many rows of each label have each score (and weight).

    Counts add: any split of the rows over states, merged in any order, has the metrics of all rows together, to the last
    bit, and the same bytes. States can be pickled.

    Notes
    -----
    From 2 to 12 bytes for each different score, and up to 10 for a weight; so scores that are rounded, to float32 or to some
    digits, make small states. Rows may be of one class as long as only the merged state is asked for metrics.

    Examples
    --------
    >>> import undercurve
    >>> here = undercurve.State().update([0.1, 0.4], [0, 0])
    >>> there = undercurve.State().update([0.35, 0.8], [1, 1]).to_bytes()
    >>> here.merge(there).metrics().auroc
    0.75
    """

    __slots__ = ("_core",)

    def __init__(self) -> None:
        self._core = _core.State()

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        """The state that `to_bytes` wrote.

        Raises
        ------
        ValueError
            For bytes that are no state, are damaged, or come from a release with another format.

        Examples
        --------
        >>> import undercurve
        >>> undercurve.State.from_bytes(b"something else")
        Traceback (most recent call last):
        ValueError: not a state of this kind
        """
        state = cls.__new__(cls)
        state._core = _core.State.from_bytes(data)
        return state

    @classmethod
    def between(cls, positives: State | bytes) -> State:
        """An empty state for the second of two passes: it counts negatives alone, by the gap of `positives` that they are in.

        Merged with `positives` it has the metrics and intervals of all rows, to the last bit, but no curves. It is as small as
        the positives are few, however many rows there are. Rows have no weights.

        Examples
        --------
        >>> import undercurve
        >>> positives = undercurve.State().update([0.35, 0.8], [1, 1])
        >>> gaps = undercurve.State.between(positives).update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
        >>> positives.merge(gaps).metrics().auroc
        0.75
        """
        of = positives if isinstance(positives, State) else cls.from_bytes(positives)
        state = cls.__new__(cls)
        state._core = _core.State.between(of._core)
        return state

    def update(self, scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> State:
        """Add rows, as `metrics` takes them, or none; returns the state.

        Either all rows of a state have weights or none has.
        """
        self._core.update(scores, labels, weights)
        return self

    def merge(self, *others: State | bytes) -> State:
        """Add the rows of other states, or of their bytes; returns the state."""
        for other in others:
            self._core.merge(other._core if isinstance(other, State) else _core.State.from_bytes(other))
        return self

    def to_bytes(self) -> bytes:
        """Its bytes, which depend on the rows alone."""
        return self._core.to_bytes()

    @property
    def rows(self) -> int:
        """Rows, those of weight 0 included."""
        return self._core.rows

    def metrics(self, *, fpr: Range = (0.0, 0.05), intervals: bool = False) -> Metrics:
        """The metrics of all rows; see `undercurve.metrics`.

        Examples
        --------
        >>> import undercurve
        >>> undercurve.State().update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).metrics(fpr=(0, 0.5)).pauc
        0.5
        """
        found = self._core.summary(fpr)
        ends = self._core.intervals(fpr) if intervals else {}
        return Metrics(fpr=(float(fpr[0]), float(fpr[1])), intervals=ends, **found)

    def curves(self, *, points: int | None = None) -> Curves:
        """ROC and precision-recall curves of all rows; see `undercurve.curves`.

        Examples
        --------
        >>> import undercurve
        >>> undercurve.State().update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]).curves().tpr
        array([0. , 0.5, 0.5, 1. , 1. ])
        """
        return Curves(metrics=self.metrics(), **self._core.curves(points))

    def __reduce__(self) -> tuple[Callable[[bytes], State], tuple[bytes]]:
        return State.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"State({self.rows} rows)"
