"""Metrics of Spark data frames are those of all rows."""

import os
import sys

import numpy as np
import pytest

import undercurve

pytest.importorskip("pyspark", reason="pyspark is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")


def test_partitions_give_the_metrics_of_all_rows():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    from undercurve import spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    rng = np.random.default_rng(1)
    n = 20_000
    rows = pd.DataFrame({"s": rng.normal(size=n), "y": rng.random(n) < 0.05, "w": rng.random(n), "g": rng.choice(["a", "b"], n)})
    frame = session.createDataFrame(rows).repartition(5)
    assert spark.metrics(frame, "s", "y", intervals=True) == undercurve.metrics(rows.s, rows.y, intervals=True)
    assert spark.metrics(frame, "s", "y", weight="w") == undercurve.metrics(rows.s, rows.y, rows.w)
    found = spark.metrics(frame, "s", "y", groups="g", fpr=(0, 0.3))
    assert found == {g: undercurve.metrics(of.s, of.y, fpr=(0, 0.3)) for g, of in rows.groupby("g")}
    assert spark.metrics(frame, "s", "y", groups=["g"], fpr=(0, 0.3), passes=2) == {(g,): of for g, of in found.items()}
    assert spark.metrics(frame, "s", "y", passes=2) == undercurve.metrics(rows.s, rows.y)
    with pytest.raises(ValueError):
        spark.metrics(frame.limit(0), "s", "y")
