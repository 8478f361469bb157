"""Preparations of tables that are in several places: columns counted there, and rows encoded alike everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core, frames

Target = Literal["binary", "classes", "values"]


class ColumnStats:
    """What a preparation needs to know of each column: counts that merge.

    Statistics of parts merge to the same statistics, however the rows are split and in whatever order they are merged. So every
    machine that makes a preparation of them encodes rows alike, to the last bit.

    Parameters
    ----------
    rows : frame, dict or path, optional
        A part of the rows, with their labels. Without it, none.
    label : str
        The label column.
    target : {"binary", "classes", "values"}
        What it tells.
    categorical : list of str
        Columns of numbers to take as categories, and of text whatever they look like.
    ignore : list of str
        Columns that are no features.

    Notes
    -----
    Means and deviations are of exact sums. Quantiles, for splines and bins, are exact up to 65,536 different numbers in a column; of more,
    neighbours count as one, and a share of the rows is off by that of such neighbours. A column of more different texts is refused,
    unless it is ignored or tells rows apart. Rows have no weights and no groups. About 300 KB for a column of many different numbers.

    Examples
    --------
    >>> import undercurve
    >>> here = undercurve.ColumnStats({"age": [31, 47], "ill": ["no", "yes"]}, label="ill")
    >>> there = undercurve.ColumnStats({"age": [52, 30], "ill": ["no", "no"]}, label="ill").to_bytes()
    >>> prepared = here.merge(there).preparation(scale="none")
    >>> prepared.encode({"age": [40], "ill": ["yes"]})
    (array([[40.]]), array([1], dtype=uint8))
    """

    __slots__ = ("_core",)

    def __init__(
        self,
        rows: Any = None,
        label: str = "label",
        *,
        target: Target = "binary",
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        if rows is None:
            self._core = _core.ColumnStats()
            return
        if not frames.is_frame(rows):
            raise TypeError("rows: expected a frame, whose columns have names")
        asked: dict[str, Any] = {
            "label": str(label),
            "target": target,
            "categorical": [str(name) for name in categorical],
            "features": [],
            "ignore": [str(name) for name in ignore],
        }
        table = frames.table_of(rows, [], str(label), texts=asked["categorical"], ignore=asked["ignore"])
        self._core = _core.ColumnStats.of(table, asked)

    @classmethod
    def from_bytes(cls, data: bytes) -> ColumnStats:
        """The statistics that `to_bytes` wrote.

        Raises
        ------
        ValueError
            For bytes that are none, are damaged, or come from a release with another format.
        """
        stats = cls.__new__(cls)
        stats._core = _core.ColumnStats.from_bytes(data)
        return stats

    def merge(self, *others: ColumnStats | bytes) -> ColumnStats:
        """Add the rows of others, or of their bytes, which have the same columns; returns the statistics."""
        for other in others:
            self._core.merge(other._core if isinstance(other, ColumnStats) else _core.ColumnStats.from_bytes(other))
        return self

    def to_bytes(self) -> bytes:
        """Their bytes, which depend on the rows alone (and on the order of the columns)."""
        return self._core.to_bytes()

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._core.rows

    def preparation(
        self,
        *,
        target: Target = "binary",
        positive: str | None = None,
        scale: Literal["none", "standard", "unit", "robust", "rank"] | None = None,
        encode: str | None = None,
        missing: Literal["error", "impute"] = "error",
        keep_identifiers: bool = False,
    ) -> Preparation:
        """What `train` makes of the columns of all rows; its arguments, too."""
        asked = {
            "target": target,
            "positive": None if positive is None else str(positive),
            "scale": scale,
            "encode": encode,
            "missing": missing,
            "keep_identifiers": keep_identifiers,
        }
        return Preparation(self._core.finish(asked))

    def __reduce__(self) -> tuple[Callable[[bytes], ColumnStats], tuple[bytes]]:
        return ColumnStats.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"ColumnStats({self.rows} rows)"


class Preparation:
    """What turns rows into the numbers that a model sees; made by `ColumnStats.preparation`. It can be pickled."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Preparation) -> None:
        self._core = core

    @classmethod
    def from_bytes(cls, data: bytes) -> Preparation:
        """The preparation that `to_bytes` wrote."""
        return cls(_core.Preparation.from_bytes(data))

    def to_bytes(self) -> bytes:
        """Its bytes."""
        return self._core.to_bytes()

    @property
    def names(self) -> list[str]:
        """What the encoded columns are called."""
        return self._core.names

    @property
    def label(self) -> str | None:
        """The label column."""
        return self._core.labels[0]

    @property
    def positive(self) -> str | None:
        """The label that is positive, of two."""
        return self._core.labels[1]

    @property
    def classes(self) -> list[str]:
        """The classes, of several."""
        return self._core.labels[2]

    def encode(self, rows: Any, *, labels: bool = True) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
        """Rows, of shape (n, d), and their targets: 0 and 1, numbers of classes, or values; None with ``labels=False``."""
        table = self._core.read(rows) if frames.is_file(rows) else frames.table_of(rows, [], self.label)
        return self._core.encode(table, labels)

    def __reduce__(self) -> tuple[Callable[[bytes], Preparation], tuple[bytes]]:
        return Preparation.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"Preparation({len(self.names)} columns)"
