"""Metrics of Spark data frames: each partition is counted where it lies, and the counts are merged."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pandas as pd

from .metrics import Range
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
    each different score. `undercurve` must be installed where the executors are.

    >>> from pyspark.sql import SparkSession
    >>> import undercurve.spark
    >>> session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    >>> frame = session.createDataFrame([(0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1)], ["score", "label"])
    >>> undercurve.spark.metrics(frame).auroc, undercurve.spark.metrics(frame, passes=2).auroc
    (0.75, 0.75)
    """
    told = {g: s.metrics(fpr=fpr, intervals=intervals) for g, s in states(frame, score, label, **more).items()}
    return told if more.get("groups") is not None else told[None]
