"""Rows of any kind as tables of the core: arrays, sparse matrices, pandas, polars, Arrow and files."""

from __future__ import annotations

import datetime
import numbers
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


def opened(data: Any) -> Any:
    """A Parquet file as a table of Arrow; all else as it is."""
    if not is_file(data):
        return data
    with open(data, "rb") as file:
        if file.read(4) != b"PAR1":
            return data
    from importlib import import_module

    for module, read in (("pyarrow.parquet", "read_table"), ("polars", "read_parquet")):
        try:
            reader = getattr(import_module(module), read)
        except ImportError:
            continue
        try:
            return reader(data)
        except Exception as error:  # (Of types of their own.)
            raise ValueError(f"{os.fspath(data)}: {str(error).splitlines()[0]}") from None
    raise ImportError(f"{os.fspath(data)}: Parquet files need pyarrow or polars: pip install pyarrow")


def is_frame(data: Any) -> bool:
    """Whether its columns have names."""
    return is_file(data) or is_pandas(data) or hasattr(data, "__arrow_c_stream__") or isinstance(data, dict)


def is_sparse(data: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy."""
    return hasattr(data, "tocsr")


def column(name: str, values: Any) -> Any:
    """Numbers as an array of float64 with NaN for missing ones, everything else as a list of texts and None.

    Dates become days since the beginning of 1970, booleans 0 and 1. A categorical column is text, also one of numbers.
    """
    of = getattr(values, "dtype", None)
    kind = getattr(of, "kind", None)
    if kind is not None and kind in "biuf":
        # (float32 stays what it is: the core reads its shortest decimals, as from a file.)
        narrow = kind == "f" and getattr(of, "itemsize", 8) == 4
        if hasattr(values, "to_numpy") and not isinstance(of, np.dtype):
            return values.to_numpy(dtype="float32" if narrow else "float64", na_value=np.nan)
        return np.asarray(values, None if narrow else "float64")
    # (Days of Arrow in pandas are Python's dates.)
    if kind is not None and kind in "Mm" and str(of)[:6] not in ("date32", "date64"):
        unit = "datetime64[ns]" if kind == "M" else "timedelta64[ns]"
        nothing = {"na_value": np.array("NaT", unit)[()]}
        days = values.to_numpy(unit, **nothing) if hasattr(values, "to_numpy") else np.asarray(values, unit)
        missing = np.isnat(days)
        return np.where(missing, np.nan, days.astype("int64") / 86_400e9)
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    absent = [cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell for cell in cells]
    there = [cell for a, cell in zip(absent, cells) if not a]
    if str(of) == "category":
        return [None if a else _plain(cell) for a, cell in zip(absent, cells)]
    if there and all(_is_number(cell) for cell in there):
        return np.array([np.nan if a else float(cell) for a, cell in zip(absent, cells)])
    if there and all(isinstance(cell, datetime.date) for cell in there):
        return np.array([np.nan if a else _days(cell) for a, cell in zip(absent, cells)])
    for row, cell in enumerate(cells):
        if not absent[row] and isinstance(cell, (list, tuple, dict, set, np.ndarray)):
            raise TypeError(f"column {name!r}: row {row} is a {type(cell).__name__}, expected a number or a text")
    return [None if a else cell if isinstance(cell, str) else str(cell) for a, cell in zip(absent, cells)]


def _is_number(cell: Any) -> bool:
    # (Decimals are numbers, and neither real nor complex.)
    return isinstance(cell, (numbers.Real, np.bool_)) or (
        isinstance(cell, numbers.Number) and not isinstance(cell, numbers.Complex)
    )


def _plain(cell: Any) -> str:
    """A category as a file has it: whole numbers without a point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15 else str(cell)


def _days(cell: datetime.date) -> float:
    """Days since the beginning of 1970, of UTC where there is a zone."""
    if not isinstance(cell, datetime.datetime):
        return float(cell.toordinal() - 719_163)
    if cell.tzinfo is None:
        cell = cell.replace(tzinfo=datetime.timezone.utc)
    return cell.timestamp() / 86_400


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
        if len(getattr(data, "shape", (0, 0))) == 1:
            raise ValueError("rows: one column or row, expected a frame; of one row pass frame.iloc[[0]]")
        return _core.Table.of_arrow(data.__arrow_c_stream__(), more)
    return _core.Table.of_matrix(data, more)


def free_name(name: str, taken: list[str]) -> str:
    """The name, with underscores behind it where a column has it."""
    while name in taken:
        name += "_"
    return name
