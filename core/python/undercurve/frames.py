"""Rows of any kind as tables of the core: arrays, sparse matrices, pandas, polars, Arrow and files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core

Columns = list[tuple[str, Any]]


def is_pandas(data: Any) -> bool:
    """Whether it is a pandas frame. (Its Arrow interface needs pyarrow; its columns do not.)"""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def is_file(data: Any) -> bool:
    """Whether it is the path of a file."""
    return isinstance(data, (str, os.PathLike))


def is_frame(data: Any) -> bool:
    """Whether its columns have names."""
    return is_file(data) or is_pandas(data) or hasattr(data, "__arrow_c_stream__") or isinstance(data, dict)


def is_sparse(data: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy."""
    return hasattr(data, "tocsr")


def column(name: str, values: Any) -> Any:
    """Numbers as an array of float64 with NaN for missing ones, everything else as a list of texts and None.

    Dates become days since the beginning of 1970.
    """
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind is not None and kind in "biuf":
        if hasattr(values, "to_numpy") and not isinstance(values.dtype, np.dtype):
            return values.to_numpy(dtype="float64", na_value=np.nan)
        return np.asarray(values)
    if kind is not None and kind in "Mm":
        unit = "datetime64[ns]" if kind == "M" else "timedelta64[ns]"
        days = values.to_numpy(unit) if hasattr(values, "to_numpy") else np.asarray(values, unit)
        missing = np.isnat(days)
        return np.where(missing, np.nan, days.astype("int64") / 86_400e9)
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    absent = [cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType") for cell in cells]
    numbers = [isinstance(cell, (bool, int, float, np.number, np.bool_)) for cell in cells]
    if all(a or n for a, n in zip(absent, numbers)) and not all(absent):
        return np.array([np.nan if a else float(cell) for a, cell in zip(absent, cells)])
    for row, cell in enumerate(cells):
        if not absent[row] and isinstance(cell, (list, tuple, dict, set, np.ndarray)):
            raise TypeError(f"column {name!r}: row {row} is a {type(cell).__name__}, expected a number or a text")
    return [None if a else cell if isinstance(cell, str) else str(cell) for a, cell in zip(absent, cells)]


def names_of(data: Any) -> list[str]:
    """Names of a frame's columns."""
    if is_file(data):
        return []
    if isinstance(data, dict):
        return [str(name) for name in data]
    if is_pandas(data):
        return [str(name) for name in data.columns]
    if hasattr(data, "columns") and not callable(data.columns):
        return [str(getattr(name, "_name", name)) for name in getattr(data, "column_names", data.columns)]
    return [str(name) for name in getattr(data, "column_names", [])]


def table_of(data: Any, more: Columns, label: str | None = None) -> _core.Table:
    """A table of rows, with further columns beside its own."""
    if is_file(data):
        if more:
            raise ValueError("a file has its labels, weights and groups in columns; name them")
        return _core.Table.of_file(data, label)
    if is_sparse(data):
        rows = data.tocsr()
        rows.sum_duplicates()
        beside = dict(more)
        labels, weights = beside.pop("label", None), beside.pop("weight", None)
        if beside:
            raise ValueError("sparse rows take no groups; pass a dense array or a frame")
        if isinstance(labels, list):
            raise TypeError("labels: sparse rows need labels that are numbers")
        return _core.Table.of_csr(rows.data, rows.indices, rows.indptr, rows.shape[1], labels, weights)
    if isinstance(data, dict):
        return _core.Table.of_columns([(str(name), column(str(name), of)) for name, of in data.items()] + more)
    if is_pandas(data):
        own = [(str(name), column(str(name), data.iloc[:, at])) for at, name in enumerate(data.columns)]
        return _core.Table.of_columns(own + more)
    if hasattr(data, "__arrow_c_stream__"):
        return _core.Table.of_arrow(data.__arrow_c_stream__(), more)
    return _core.Table.of_matrix(data, more)


def free_name(name: str, taken: list[str]) -> str:
    """The name, with underscores behind it where a column has it."""
    while name in taken:
        name += "_"
    return name
