"""Spark data frames: metrics, preparations, linear models and scores of rows that stay where they lie.

`undercurve` must be installed where the executors are.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .distributed import Fit, _at, _descend, _mean_difference
from .losses import Loss
from .metrics import Range
from .models import Model
from .preparations import ColumnStats, Preparation, Target
from .states import State


def states(frame: Any, score: str, label: str, weight: str | None = None, groups: Any = None, passes: int = 1) -> dict[Any, State]:
    """A `State` for each value of `groups`, as in `metrics`; without groups one, of None."""
    columns = [score, label, *([weight] if weight else []), *([groups] if isinstance(groups, str) else groups or [])]

    def counted(before: dict[Any, bytes] | None, without: int | None) -> dict[Any, State]:
        def count(batches: Iterator[Any]) -> Iterator[Any]:
            found: dict[Any, State] = {}
            for batch in batches:
                batch = batch if without is None else batch[batch[label] != without]
                for group, rows in [(None, batch)] if groups is None else batch.groupby(groups, dropna=False):
                    if group not in found:
                        found[group] = State() if before is None else State.between(before.get(group, State().to_bytes()))
                    weights = rows[weight].to_numpy() if weight else None
                    found[group].update(rows[score].to_numpy(), rows[label].to_numpy(), weights)
            yield pd.DataFrame([(pickle.dumps(g), s.to_bytes()) for g, s in found.items()], columns=["group", "state"])

        merged: dict[Any, State] = {} if groups is not None else {None: State()}
        for group, part in frame.select(*dict.fromkeys(columns)).mapInPandas(count, "group binary, state binary").collect():
            merged.setdefault(pickle.loads(group), State()).merge(bytes(part))
        return merged

    found = counted(None, 0 if passes == 2 else None)
    gaps = counted({g: s.to_bytes() for g, s in found.items()}, 1) if passes == 2 else {}
    for group, state in gaps.items():
        found.setdefault(group, State()).merge(state)
    return found


def metrics(
    frame: Any, score: str = "score", label: str = "label", *, fpr: Range = (0.0, 0.05), intervals: bool = False, **more: Any
) -> Any:
    """Exactly what `undercurve.metrics` says of all rows.

    More arguments: `weight`, a column; `groups`, a column or a list, for a dict of metrics by value or tuple of values;
    `passes=2` reads the frame twice and sends as little as the positives are few (without weights), not from 2 to 12 bytes for
    each different score.

    >>> from pyspark.sql import SparkSession
    >>> import undercurve.spark
    >>> session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    >>> frame = session.createDataFrame([(0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1)], ["score", "label"])
    >>> undercurve.spark.metrics(frame).auroc, undercurve.spark.metrics(frame, passes=2).auroc
    (0.75, 0.75)
    """
    told = {g: s.metrics(fpr=fpr, intervals=intervals) for g, s in states(frame, score, label, **more).items()}
    return told if more.get("groups") is not None else told[None]


def minimize(
    loss: Loss,
    frame: Any,
    columns: str | Sequence[str],
    label: str = "label",
    *,
    decay: float = 1e-4,
    steps: int = 100,
    tolerance: float = 1e-7,
    start: ArrayLike | None = None,
) -> Fit:
    """What `undercurve.distributed.minimize` finds, to the last bit, of the rows of a frame, whatever their partitions.

    Parameters
    ----------
    columns : str or list of str
        Numeric columns, of like scales; or one column of arrays (of a vector, `pyspark.ml.functions.vector_to_array`).
    label : str
        A column of 0 and 1.

    Notes
    -----
    The rows are packed and persisted. Each exchange of the workers, six of them a call of the loss, is a job whose messages
    `treeReduce` adds; a task computes its part of the call again from the messages before. So tasks can be repeated and moved.
    Not through Spark Connect, which has no RDDs.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> import undercurve.spark
    >>> session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    >>> frame = session.createDataFrame([(0.1, 1.0, 0), (0.4, -1.0, 0), (0.35, 1.0, 1), (0.8, 0.5, 1)], ["a", "b", "label"])
    >>> loss = undercurve.Loss("auc", surrogate="squared-hinge")
    >>> undercurve.spark.minimize(loss, frame, ["a", "b"], steps=2).params.round(2)
    array([1.73, 0.45])
    """
    wanted = [columns] if isinstance(columns, str) else list(columns)
    frame = frame.select(*wanted, label)
    width = len(wanted)
    if isinstance(columns, str) and frame.schema[0].dataType.typeName() == "array":
        width = len((frame.first() or [[]])[0])

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            x = np.stack(batch.iloc[:, 0]) if len(wanted) < width else batch.iloc[:, :-1].to_numpy()
            y = batch.iloc[:, -1].to_numpy(dtype=np.float64, na_value=np.nan)
            yield pd.DataFrame([(x.astype(np.float64).T.tobytes(), y.tobytes())], columns=["x", "y"])

    rows = frame.mapInPandas(pack, "x binary, y binary").rdd.map(tuple).persist()
    none = np.zeros((0, width)), np.zeros(0)
    size = rows.getNumPartitions() + 1  # (With the driver, a worker without rows.)

    def together(work: Callable[[Any, Any, Any], Any]) -> Any:
        def asked(given: list[Any]) -> Any:
            def ask(rank: int, blocks: Iterator[Any]) -> Iterator[Any]:
                pairs = [(np.frombuffer(x).reshape(width, -1), np.frombuffer(y)) for x, y in blocks]
                x, y = (np.concatenate(parts, -1) for parts in zip(*pairs, strict=True)) if pairs else (none[0].T, none[1])
                try:
                    work(x.T, y, _Told(rank, size, given))
                except _Asked as asks:
                    yield asks.args

            return rows.mapPartitionsWithIndex(ask).treeReduce(_add)[1] if size > 1 else None

        return work(*none, _Driver(size, asked))

    try:
        w = together(_mean_difference) if start is None else np.array(start, dtype=np.float64)
        return _descend(lambda w: together(lambda x, y, engine: _at(loss, x, y, w, engine)), w, decay, steps, tolerance)
    finally:
        rows.unpersist()


class _Asked(BaseException):
    """What a worker asks for (an operation, and what it hands to it), where the answer is not yet known."""


class _Told:
    """The engine of a worker that is told the answers so far."""

    def __init__(self, rank: int, size: int, given: list[Any]) -> None:
        self.rank, self.size, self.given = rank, size, iter(given)

    def gather(self, own: bytes) -> list[bytes]:
        return self._answer("gather", {self.rank: own})

    def reduce(self, op: str, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._answer(op, numbers.copy())

    def _answer(self, op: str, own: Any) -> Any:
        for answer in self.given:
            return answer
        raise _Asked(op, own)


class _Driver(_Told):
    """The engine of the driver, which asks the partitions."""

    def __init__(self, size: int, asked: Callable[[list[Any]], Any]) -> None:
        super().__init__(size - 1, size, [])
        self.told: list[Any] = []
        self.asked = asked

    def _answer(self, op: str, own: Any) -> Any:
        theirs = self.asked(self.told)
        _, all_of = (op, own) if theirs is None else _add((op, own), (op, theirs))
        self.told.append([all_of[rank] for rank in range(self.size)] if op == "gather" else all_of)
        return self.told[-1]


def _add(a: Any, b: Any) -> Any:
    """The messages of two workers as one."""
    (op, one), (_, other) = a, b
    if op == "gather":
        return op, one | other
    return op, one + other if op == "sum" else np.maximum(one, other)


def preparation(
    frame: Any,
    label: str = "label",
    *,
    target: Target = "binary",
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    **more: Any,
) -> Preparation:
    """The preparation of all rows, whatever their partitions; more arguments are those of `ColumnStats.preparation`.

    Each task sends the counts of its columns, about 300 KB for a column of many different numbers.

    >>> from pyspark.sql import SparkSession
    >>> import undercurve.spark
    >>> session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    >>> frame = session.createDataFrame([(1.0, "a", 0), (3.0, "b", 1), (5.0, "a", 0)], ["x", "of", "label"])
    >>> prepared = undercurve.spark.preparation(frame, encode="bins:2")
    >>> prepared.names
    ['x[,3)', 'x>=3', 'of=a', 'of=b']
    >>> undercurve.spark.encoded(frame, prepared).columns
    ['x', 'label']
    """
    import pyarrow as pa

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        stats = ColumnStats()
        for batch in batches:
            if len(batch):
                rows = pa.Table.from_batches([batch])
                stats.merge(ColumnStats(rows, label, target=target, categorical=categorical, ignore=ignore))
        yield pa.RecordBatch.from_pydict({"stats": [stats.to_bytes()]})

    parts = frame.mapInArrow(count, "stats binary").collect()
    return ColumnStats().merge(*(bytes(part[0]) for part in parts)).preparation(target=target, **more)


def encoded(frame: Any, prepared: Preparation, columns: str = "x", label: str = "label") -> Any:
    """The rows as a model sees them: a column of arrays, and one of targets, as `minimize` takes them."""
    import pyarrow as pa

    def encode(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if len(batch):
                x, y = prepared.encode(pa.Table.from_batches([batch]))
                yield pa.RecordBatch.from_pydict({columns: pa.array(list(x)), label: pa.array(y, pa.float64())})

    return frame.mapInArrow(encode, f"`{columns}` array<double>, `{label}` double")


Told = Literal["scores", "probabilities"]


def score(model: Model, of: Told = "scores") -> Any:
    """A column of the model's scores, or of its probabilities, of the model's columns: a pandas UDF.

    >>> from pyspark.sql import SparkSession
    >>> import undercurve
    >>> import undercurve.spark
    >>> session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    >>> frame = session.createDataFrame([(0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1)], ["x", "label"])
    >>> model = undercurve.train(frame.toPandas(), label="label", method="auc-exact")
    >>> frame.withColumn("score", undercurve.spark.score(model)).columns
    ['x', 'label', 'score']
    """
    from pyspark.sql.functions import col, pandas_udf

    names = model.columns

    def scores(*columns: pd.Series) -> pd.Series:
        return pd.Series(_scores(model, of, pd.concat(columns, axis=1, keys=names)))

    return pandas_udf(scores, _kind(model))(*(col(f"`{name}`") for name in names))  # type: ignore[call-overload]


def scored(frame: Any, model: Model, column: str = "score", of: Told = "scores") -> Any:
    """The frame with one more column, of the model's scores or of its probabilities, by `mapInArrow`.

    The bits of `model.scores` on all rows.
    """
    import pyarrow as pa
    from pyspark.sql.types import StructType

    def add(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            told = _scores(model, of, table) if len(table) else []
            yield from table.append_column(column, [told]).to_batches()

    return frame.mapInArrow(add, StructType([*frame.schema.fields]).add(column, _kind(model)))


def _kind(model: Model) -> Any:
    from pyspark.sql.types import ArrayType, DoubleType

    return ArrayType(DoubleType()) if len(model.classes) > 2 else DoubleType()


def _scores(model: Model, of: Told, rows: Any) -> Any:
    found = np.asarray(getattr(model, of)(rows), dtype=np.float64)
    return list(found) if found.ndim > 1 else found
