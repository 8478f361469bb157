"""Metrics, linear models and scores of Spark data frames are those of all rows."""

import os
import sys

import numpy as np
import pytest

import undercurve

pytest.importorskip("pyspark", reason="pyspark is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture(scope="module")
def session():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in {"ui.enabled": "false", "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def test_partitions_give_the_metrics_of_all_rows(session):
    from undercurve import spark

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


def test_partitions_have_the_linear_model_of_one_process(session):
    from undercurve import spark
    from undercurve.distributed import Alone, minimize

    rng = np.random.default_rng(4)
    n = 3000
    y = rng.random(n) < 0.1
    x = rng.normal(size=(n, 3)) + y[:, None] * [1.0, 0.5, -0.3]
    # A partition of both classes, one of positives alone, and empty ones.
    rows = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y, "part": y & (x[:, 0] > 0)})
    frame = session.createDataFrame(rows).repartition(5, "part")
    assert frame.rdd.getNumPartitions() == 5
    loss = undercurve.Loss("ap", surrogate="squared-hinge")
    found, want = spark.minimize(loss, frame, ["a", "b", "c"], "y", steps=3), minimize(loss, x, y, Alone(), steps=3)
    assert found.params.tobytes() == want.params.tobytes() and found[1:] == want[1:]
    # A column of arrays, and from where another call ended.
    vectors = frame.selectExpr("array(a, b, c) x", "int(y) label").repartition(3)
    for kind in ("auc", "pauc"):
        loss = undercurve.Loss(kind, surrogate="hinge")
        found, want = spark.minimize(loss, vectors, "x", steps=1, start=found.params), minimize(loss, x, y, Alone(), steps=1, start=found.params)
        assert found.params.tobytes() == want.params.tobytes() and found[1:] == want[1:]
    with pytest.raises(ValueError, match="NaN or infinite"):
        spark.minimize(loss, frame.selectExpr("if(a > 2, double('nan'), a) a", "y"), "a", "y")
    with pytest.raises(ValueError, match="one class"):
        spark.minimize(loss, frame.where("y"), ["a"], "y", start=[1.0])


def test_partitions_are_encoded_as_all_rows(session):
    from undercurve import spark
    from undercurve.distributed import Alone, minimize

    rng = np.random.default_rng(9)
    n = 3000
    rows = pd.DataFrame({"x": rng.normal(size=n), "of": rng.choice(["red", "green", None], n), "day": pd.Timestamp("2024-01-01"), "y": rng.random(n) < 0.2})
    rows["day"] += pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    rows.loc[rows.x < -1, "x"] = np.nan
    # (Spark's frames have null where pandas has NaN.)
    frame = session.createDataFrame(rows).selectExpr("if(isnan(x), null, x) x", "of", "date(day) day", "y")
    found = [spark.preparation(frame.repartition(parts), "y", missing="impute", encode="splines:4") for parts in (1, 5)]
    prepared = found[0]
    assert prepared.to_bytes() == found[1].to_bytes()
    assert prepared.to_bytes() == undercurve.ColumnStats(frame.toPandas(), "y").preparation(missing="impute", encode="splines:4").to_bytes()
    all_rows = frame.toPandas()
    x, y = prepared.encode(all_rows)
    loss = undercurve.Loss("auc", surrogate="squared-hinge")
    fit = spark.minimize(loss, spark.encoded(frame.repartition(3), prepared), "x", steps=2)
    assert fit.params.tobytes() == minimize(loss, x, y, Alone(), steps=2).params.tobytes()


def test_models_score_rows_where_they_lie(session):
    from undercurve import spark

    rng = np.random.default_rng(7)
    n = 2000
    rows = pd.DataFrame({"row": range(n), "x y": rng.normal(size=n), "of": rng.choice(["red", "green", None], n), "label": rng.random(n) < 0.2})
    rows["x y"] += rows.label
    model = undercurve.train(rows, label="label", ignore=["row"], method="auc-exact", missing="impute")
    frame = session.createDataFrame(rows).repartition(3)
    found = spark.scored(frame, model).toPandas().sort_values("row")
    assert np.array_equal(found["score"], np.asarray(model.scores(rows), dtype="f8"))
    assert list(found["of"].isna()) == list(rows["of"].isna())
    by_udf = frame.select("row", spark.score(model).alias("s")).toPandas().sort_values("row")
    assert np.array_equal(by_udf["s"], found["score"])
    assert spark.scored(frame.where("row < 0"), model).count() == 0
    classes = rows.assign(label=rng.choice(["a", "b", "c"], n))
    model = undercurve.train(classes, label="label", ignore=["row"], method="ce", missing="impute", passes=1)
    told = spark.scored(session.createDataFrame(classes), model, "p", of="probabilities").toPandas()
    assert np.array_equal(np.stack(told["p"]), np.asarray(model.probabilities(classes), dtype="f8"))
