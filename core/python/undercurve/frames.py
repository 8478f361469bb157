"""Rows of any kind as tables of the core: arrays, sparse matrices, pandas, polars, Arrow and files."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Callable, Sequence
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
    # (The sparse `dok_matrix` is a dict.)
    return is_file(data) or is_pandas(data) or hasattr(data, "__arrow_c_stream__") or (isinstance(data, dict) and not is_sparse(data))


def is_missing(cell: Any) -> bool:
    """Whether it is None, NaN, NA or NaT."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def is_sparse(data: Any) -> bool:
    """Whether it is a sparse matrix or array of SciPy."""
    return hasattr(data, "tocsr")


# Nanoseconds of NumPy's units of time; months and years have no length.
_UNITS = {"W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def column(name: str, values: Any) -> Any:
    """A column as the compiled part takes it: what its type says, and no text read again.

    An array of numbers, with NaN for missing ones; a list of texts and None; or a kind with what it has: ``("truth", 0 and 1)``,
    ``("level", numbers that are categories)``, ``("date" | "time" | "duration", whole numbers, nanoseconds of one)``, ``("whole", numbers,
    [(row, digits) of those that a float has not])``.
    """
    of = getattr(values, "dtype", None)
    kind = getattr(of, "kind", None)
    if str(of) == "category":
        return _category(name, values)
    if str(of).startswith("period["):
        return column(name, (values.dt if hasattr(values, "dt") else values).to_timestamp())
    if kind == "b":
        return "truth", _numbers(values, of, "float64")
    if kind is not None and kind in "iu":
        return _whole(values, of)
    if kind == "f":
        # (float32 stays what it is: the compiled part takes its shortest decimals, as from a file.)
        return _numbers(values, of, "float32" if getattr(of, "itemsize", 8) == 4 else "float64")
    # (Days of Arrow in pandas are Python's dates.)
    if kind is not None and kind in "Mm" and str(of)[:6] not in ("date32", "date64"):
        return _times(values, "datetime64" if kind == "M" else "timedelta64")
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    absent = [is_missing(cell) for cell in cells]
    there = [cell for a, cell in zip(absent, cells) if not a]
    types: list[tuple[Any, Callable[[Any], int]]] = [(datetime.timedelta, _of_delta), (datetime.time, _of_clock), (datetime.date, _of_date)]
    for (type_, nanos), word in zip(types, ("duration", "time", "date")):
        if there and all(isinstance(cell, type_) for cell in there):
            return word, np.array([_NO_TIME if a else nanos(cell) // 1000 for a, cell in zip(absent, cells)], "int64"), 1000
    if there and all(isinstance(cell, (bool, np.bool_)) for cell in there):
        return "truth", np.array([np.nan if a else float(cell) for a, cell in zip(absent, cells)])
    if there and all(isinstance(cell, (int, np.integer)) for cell in there):
        return _exact(np.array([np.nan if a else float(cell) for a, cell in zip(absent, cells)]), [None if a else int(cell) for a, cell in zip(absent, cells)])
    if there and all(_is_number(cell) for cell in there):
        return np.array([np.nan if a else float(cell) for a, cell in zip(absent, cells)])
    for row, cell in enumerate(cells):
        # (Offsets of pandas, as of months, have no length.)
        if not absent[row] and (isinstance(cell, (list, tuple, dict, set, np.ndarray)) or type(cell).__name__ == "DateOffset"):
            raise TypeError(f"column {name!r}: row {row} is a {type(cell).__name__}, expected a number or a text (ignore=[{name!r}] leaves it out)")
    return [None if a else _text(name, row, cell) for row, (a, cell) in enumerate(zip(absent, cells))]


_NO_TIME = np.iinfo("int64").min


def _numbers(values: Any, of: Any, dtype: str) -> Any:
    """Numbers of NumPy, or of pandas with what is missing as NaN."""
    if hasattr(values, "to_numpy") and not isinstance(of, np.dtype):
        return values.to_numpy(dtype=dtype, na_value=np.nan)
    return np.asarray(values, dtype)


def _whole(values: Any, of: Any) -> Any:
    numbers = _numbers(values, of, "float64")
    if getattr(of, "itemsize", 8) < 8 or not (np.abs(numbers) >= 2.0**53).any():
        return numbers
    return _exact(numbers, [None if cell is None or cell != cell or type(cell).__name__ == "NAType" else int(cell) for cell in values.tolist()])


def _exact(numbers: Any, cells: list[int | None]) -> Any:
    """Whole numbers, with the digits of those that a float has not."""
    other = [(row, str(cell)) for row, cell in enumerate(cells) if cell is not None and int(numbers[row]) != cell]
    return ("whole", numbers, other) if other else numbers


def _times(values: Any, what: str) -> Any:
    """Moments or lengths of time, in the unit that they have."""
    of = values.dtype
    unit = np.datetime_data(of)[0] if isinstance(of, np.dtype) else getattr(of, "unit", "ns")
    if unit not in _UNITS:
        unit = "ns" if unit in ("as", "fs", "ps") else "D"
    dtype = f"{what}[{unit}]"
    array = values.to_numpy(dtype, na_value=np.array("NaT", dtype)[()]) if hasattr(values, "to_numpy") else np.asarray(values, dtype)
    return ("date" if what == "datetime64" else "duration"), np.ascontiguousarray(array.astype("int64")), _UNITS[unit]


def _category(name: str, values: Any) -> Any:
    """A categorical column of pandas: numbers are categories, everything else what its values are."""
    of = values.dtype.categories
    kind = getattr(of.dtype, "kind", "O")
    if kind in "Mm":
        return column(name, values.astype(of.dtype))
    made = column(name, values.astype("float64") if kind == "f" else np.asarray(values.astype(object), object))
    if kind in "iuf":
        # (Those that a float has not are told apart by their digits.)
        exact = isinstance(made, tuple) and made[0] == "whole"
        return [None if cell is None or cell != cell else str(cell) for cell in values.tolist()] if exact else ("level", made)
    return made


def _is_number(cell: Any) -> bool:
    # (Decimals are numbers, and neither real nor complex.)
    return isinstance(cell, (numbers.Real, np.bool_)) or (
        isinstance(cell, numbers.Number) and not isinstance(cell, numbers.Complex)
    )


def _text(name: str, row: int, cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, (bytes, bytearray)):
        try:
            return cell.decode("utf-8")
        except UnicodeDecodeError:
            raise TypeError(f"column {name!r}: row {row} is bytes that are no UTF-8 text (ignore=[{name!r}] leaves it out)") from None
    return str(cell)


def _of_delta(cell: datetime.timedelta) -> int:
    return 10**9 * (86_400 * cell.days + cell.seconds) + 1000 * cell.microseconds


def _of_clock(cell: datetime.time) -> int:
    return 10**9 * (3_600 * cell.hour + 60 * cell.minute + cell.second) + 1000 * cell.microsecond


def _of_date(cell: datetime.date) -> int:
    """Since the beginning of 1970, of UTC where there is a zone."""
    if not isinstance(cell, datetime.datetime):
        return 86_400 * 10**9 * (cell.toordinal() - 719_163)
    if cell.tzinfo is not None:
        cell = cell.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return _of_delta(cell - datetime.datetime(1970, 1, 1))


def length(of: Any) -> int:
    """The rows of what `column` makes."""
    return len(of[1] if isinstance(of, tuple) else of)


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


def table_of(
    data: Any,
    more: Columns,
    label: str | None = None,
    *,
    texts: Sequence[str] = (),
    na: Sequence[str] = (),
    skip: int = 0,
    latin1: bool = False,
    ignore: Sequence[str] = (),
) -> _core.Table:
    """A table of rows, with further columns beside its own; of files how they are read, as `train` has it."""
    if is_file(data):
        if more:
            raise ValueError("a file has its labels, weights and groups in columns; name them")
        return _core.Table.of_file(data, label, list(texts), list(na), skip, latin1)
    if na:
        raise ValueError("na: is for files; in a frame what is missing are nulls, as frame.replace makes them")
    if skip or latin1:
        raise ValueError("skip, encoding: are for files")
    if is_sparse(data):
        rows = data.tocsr()
        if not getattr(rows, "has_canonical_format", True):
            # (Its arrays may be the caller's.)
            rows = rows.copy()
            rows.sum_duplicates()
        beside = dict(more)
        labels, weights = beside.pop("label", None), beside.pop("weight", None)
        if beside:
            raise ValueError("sparse rows take no groups; pass a dense array or a frame")
        if isinstance(labels, list):
            raise TypeError("labels: sparse rows need labels that are numbers")
        return _core.Table.of_csr(rows.data, rows.indices, rows.indptr, rows.shape[1], labels, weights)
    if isinstance(data, dict):
        named = [(str(name), of) for name, of in data.items()]
    elif is_pandas(data):
        named = [(str(name), data.iloc[:, at]) for at, name in enumerate(data.columns)]
    elif hasattr(data, "__arrow_c_stream__"):
        if len(getattr(data, "shape", (0, 0))) == 1:
            raise ValueError("rows: one column or row, expected a frame; of one row pass frame.iloc[[0]]")
        return _core.Table.of_arrow(_without_nothing(data).__arrow_c_stream__(), more)
    else:
        return _core.Table.of_matrix(data, more)
    # (What cannot be read and is left out is a column without a value.)
    return _core.Table.of_columns([(name, _or_nothing(name, of) if name in ignore else column(name, of)) for name, of in named] + more)


def _or_nothing(name: str, values: Any) -> Any:
    try:
        return column(name, values)
    except TypeError:
        return [None] * len(values)


def _without_nothing(data: Any) -> Any:
    """A polars frame whose columns without a type, which Arrow refuses of it, have one."""
    schema: Any = getattr(data, "schema", None)
    if not hasattr(data, "with_columns") or not hasattr(schema, "items"):
        return data
    nothing = [name for name, of in schema.items() if str(of) == "Null"]
    return data.with_columns(data[name].cast(float) for name in nothing) if nothing else data


def free_name(name: str, taken: list[str]) -> str:
    """The name, with underscores behind it where a column has it."""
    while name in taken:
        name += "_"
    return name
