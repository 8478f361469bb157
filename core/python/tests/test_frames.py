"""Frames of every kind and type train the model that their CSV file trains, to the bit, and score as it does."""

import datetime
import decimal

import numpy as np
import pytest

import undercurve

pytestmark = pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
ROWS = 300
QUICK = {"method": "soap", "steps": 100, "missing": "impute"}
FLAGS = "flag"
NONE = np.iinfo("int64").min


def columns(missing: bool):
    """Values by name, as Python has them."""
    rng = np.random.default_rng(0)
    town = rng.choice(["Bern", "Thun", "Zürich, alt"], ROWS).tolist()
    age = rng.normal(50, 15, ROWS).round(3)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(0, 90, ROWS)]
    moments = [datetime.datetime(1969, 6, 1) + datetime.timedelta(seconds=int(s)) for s in rng.integers(0, 90_000_000, ROWS)]
    table = {
        "age": age.tolist(),
        "count": rng.integers(-5, 50, ROWS).tolist(),
        "single": rng.normal(size=ROWS).astype(np.float32).tolist(),
        "town": town,
        "long": town[::-1],
        "seen": rng.choice(["a", "b"], ROWS).tolist(),
        "price": [decimal.Decimal(int(cents)) / 100 for cents in rng.integers(100, 100_000, ROWS)],
        "day": days,
        "moment": moments,
        FLAGS: (rng.random(ROWS) < 0.4).tolist(),
    }
    if missing:
        table = {name: [None if rng.random() < 0.1 else one for one in values] for name, values in table.items()}
    risk = (age - 50) / 15 + np.array([one == "Thun" for one in town]) + rng.logistic(size=ROWS)
    return {**table, "label": np.where(risk > 1.5, "yes", "no").tolist()}


def arrow(table):
    pa = pytest.importorskip("pyarrow")
    types = {
        "age": pa.float64(), "count": pa.int16(), "single": pa.float32(), "town": pa.dictionary(pa.int8(), pa.string()),
        "long": pa.large_string(), "seen": pa.string_view(), "price": pa.decimal128(10, 2), "day": pa.date32(),
        "moment": pa.timestamp("us"), FLAGS: pa.bool_(), "label": pa.string(),
    }  # fmt: skip
    return pa.table({name: pa.array(values, types[name]) for name, values in table.items()})


@pytest.mark.parametrize("missing", [False, True])
def test_frames_train_the_model_of_their_file(tmp_path, missing):
    pa = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    from pyarrow import parquet

    table = arrow(columns(missing))
    parquet.write_table(table, tmp_path / "rows.parquet")
    frames = {
        "arrow": table,
        "batches": pa.Table.from_batches(table.to_batches(max_chunksize=64)),
        "file": tmp_path / "rows.parquet",
        "polars": polars.from_arrow(table),
        "pandas": table.to_pandas(),
        "pandas on Arrow": table.to_pandas(types_mapper=pandas.ArrowDtype),
    }
    models = {kind: undercurve.train(frame, **QUICK) for kind, frame in frames.items()}
    for kind, model in models.items():
        assert model.to_bytes() == models["arrow"].to_bytes(), kind
    table.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    polars.from_arrow(table).write_csv(tmp_path / "polars.csv")
    files = [tmp_path / "pandas.csv", tmp_path / "polars.csv"]
    model, scores = models["arrow"], models["arrow"].scores(table)
    of = [model, *(undercurve.train(path, **QUICK) for path in files)]
    for other in of:
        assert np.array_equal(other.params(), model.params()) and other.about()["encoded"] == model.about()["encoded"]
        # Each scores the rows wherever they are.
        for rows in [*frames.values(), *files]:
            assert np.array_equal(other.scores(rows), scores), rows
    assert ("flag", False) in model.about()["columns"]


def test_categories_of_pandas_are_categories_though_they_are_numbers():
    pandas = pytest.importorskip("pandas")
    table = columns(False)
    code = np.arange(ROWS) % 3
    label = np.where((code == 1) ^ (np.arange(ROWS) % 7 == 0), "yes", "no")
    frame = pandas.DataFrame({"code": pandas.Categorical(code), "age": table["age"], "label": label})
    model = undercurve.train(frame, **QUICK)
    assert model.about()["columns"] == [("code", True), ("age", False)]
    assert undercurve.train(frame.astype({"code": int}), **QUICK).about()["columns"][0] == ("code", False)
    for other in (frame.astype({"code": int}), frame.astype({"code": float}), frame.astype({"code": str})):
        assert np.array_equal(model.scores(other), model.scores(frame))


def test_columns_of_objects():
    column = undercurve.frames.column
    utc = datetime.timezone.utc
    for values, want in [
        ([decimal.Decimal("1.5"), None, 2], [1.5, np.nan, 2.0]),
        ([datetime.date(1970, 1, 2), None], ("date", [86_400 * 10**6, NONE], 1000)),
        ([datetime.datetime(1970, 1, 1, 12)], ("date", [43_200 * 10**6], 1000)),
        ([datetime.datetime(1970, 1, 1, 12, tzinfo=utc)], ("date", [43_200 * 10**6], 1000)),
        ([datetime.timedelta(hours=-1), None], ("duration", [-3600 * 10**6, NONE], 1000)),
        ([datetime.time(18, 30)], ("time", [66_600 * 10**6], 1000)),
        ([True, None, False], ("truth", [1.0, np.nan, 0.0])),
        ([2**53 + 1, None, 7], ("whole", [2.0**53, np.nan, 7.0], [(0, "9007199254740993")])),
        (["a", None, "1", "NA", " 1.10", ""], ["a", None, "1", "NA", " 1.10", ""]),
        ([b"a", None], ["a", None]),
    ]:
        found = column("x", np.array(values, object))
        listed = lambda one: one.tolist() if isinstance(one, np.ndarray) else one
        plain = tuple(listed(one) for one in found) if isinstance(found, tuple) else listed(found)
        assert str(plain) == str(want), (values, found)


def test_other_types_of_arrow_and_those_that_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    label = pa.array([k % 3 == 0 for k in range(ROWS)])
    hours = pa.array([datetime.timedelta(hours=k % 50) for k in range(ROWS)], pa.duration("s"))
    halves = pa.array(np.arange(ROWS).astype(np.float16) / 8)
    model = undercurve.train(pa.table({"x": hours, "h": halves, "y": label}), **QUICK)
    days = undercurve.train({"x": (np.arange(ROWS) % 50) / 24, "h": np.arange(ROWS) / 8, "y": np.arange(ROWS) % 3 == 0}, **QUICK)
    assert np.array_equal(model.params(), days.params())
    for of in (pa.array([[k] for k in range(ROWS)]), pa.array([b"\xff"] * ROWS), pa.array([{"a": 1}] * ROWS)):
        rows = pa.table({"x": of, "h": halves, "y": label})
        with pytest.raises(TypeError, match=r'column "x" holds .*, which is neither numbers, text nor dates \(ignore=\["x"\]'):
            undercurve.train(rows, **QUICK)
        assert undercurve.train(rows, ignore=["x"], **QUICK).columns == ["h"]


def test_parquet_files_that_are_damaged(tmp_path):
    (tmp_path / "rows.bin").write_bytes(b"PAR1....")
    with pytest.raises(ValueError, match="rows.bin: this Parquet file cannot be read"):
        undercurve.train(tmp_path / "rows.bin", **QUICK)


def test_booleans_and_single_numbers_score_the_same_from_a_file(tmp_path):
    rng = np.random.default_rng(3)
    flag, x = rng.random(ROWS) < 0.4, rng.normal(size=ROWS).astype(np.float32)
    label = np.where(x + flag + rng.logistic(size=ROWS) > 1, "yes", "no")
    model = undercurve.train({"flag": flag, "x": x, "label": label.tolist()}, **QUICK)
    assert model.about()["columns"] == [("flag", False), ("x", False)]
    for words in (("false", "true"), ("False", "True"), ("FALSE", "TRUE"), ("0", "1")):
        lines = [f"{words[int(one)]},{number!s}" for one, number in zip(flag, x)]
        lines[5] = "," + lines[5].split(",")[1]
        (tmp_path / "rows.csv").write_text("flag,x\n" + "\n".join(lines) + "\n", encoding="utf-8")
        found, want = model.scores(tmp_path / "rows.csv"), model.scores({"flag": np.where(np.arange(ROWS) == 5, np.nan, flag), "x": x})
        assert np.array_equal(found, want), words
    lines[7] = "perhaps," + lines[7].split(",")[1]
    (tmp_path / "rows.csv").write_text("flag,x\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match='"perhaps" in column "flag" of numbers'):
        model.scores(tmp_path / "rows.csv")
    # A whole file of numbers in single precision trains the model of the array.
    lines = [f"{number!s},{one}" for one, number in zip(label, x)]
    (tmp_path / "rows.csv").write_text("x,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    want = undercurve.train(tmp_path / "rows.csv", **QUICK).params()
    assert np.array_equal(undercurve.train({"x": x, "label": label.tolist()}, **QUICK).params(), want)
