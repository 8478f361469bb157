"""Frames of every kind and type train the model that their CSV file trains, to the byte, and score as it does."""

import datetime
import decimal

import numpy as np
import pytest

import undercurve

pytestmark = pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
ROWS = 300
QUICK = {"method": "soap", "steps": 100, "missing": "impute"}
FLAGS = "flag"


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
    # (Booleans are 0 and 1 in memory, and words in a file.)
    plain = table.drop_columns([FLAGS])
    want = undercurve.train(plain, **QUICK).to_bytes()
    for name, write in [
        ("pandas.csv", lambda path: plain.to_pandas().to_csv(path, index=False)),
        ("polars.csv", lambda path: polars.from_arrow(plain).write_csv(path)),
    ]:
        write(tmp_path / name)
        assert undercurve.train(tmp_path / name, **QUICK).to_bytes() == want, name
    # The model of all columns scores the rows wherever they are.
    model, scores = models["arrow"], models["arrow"].scores(table)
    table.to_pandas().to_csv(tmp_path / "all.csv", index=False)
    polars.from_arrow(table).write_csv(tmp_path / "small.csv")
    for rows in [*frames.values(), tmp_path / "all.csv", tmp_path / "small.csv"]:
        assert np.array_equal(model.scores(rows), scores), rows
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
        ([datetime.date(1970, 1, 2), None], [1.0, np.nan]),
        ([datetime.datetime(1970, 1, 1, 12)], [0.5]),
        ([datetime.datetime(1970, 1, 1, 12, tzinfo=utc)], [0.5]),
        ([True, None, False], [1.0, np.nan, 0.0]),
        (["a", None, "1"], ["a", None, "1"]),
    ]:
        found = column("x", np.array(values, object))
        assert list(map(str, found)) == list(map(str, want)), (values, found)


def test_other_types_of_arrow_and_those_that_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    label = pa.array([k % 3 == 0 for k in range(ROWS)])
    hours = pa.array([datetime.timedelta(hours=k % 50) for k in range(ROWS)], pa.duration("s"))
    halves = pa.array(np.arange(ROWS).astype(np.float16) / 8)
    model = undercurve.train(pa.table({"x": hours, "h": halves, "y": label}), **QUICK)
    days = undercurve.train({"x": (np.arange(ROWS) % 50) / 24, "h": np.arange(ROWS) / 8, "y": np.arange(ROWS) % 3 == 0}, **QUICK)
    assert model.to_bytes() == days.to_bytes()
    for of in (pa.array([[k] for k in range(ROWS)]), pa.array([b"a"] * ROWS), pa.array([{"a": 1}] * ROWS)):
        with pytest.raises(TypeError, match='column "x": .* is neither numbers, text nor dates'):
            undercurve.train(pa.table({"x": of, "y": label}), **QUICK)


def test_parquet_files_that_are_damaged_or_without_a_reader(tmp_path, monkeypatch):
    import sys

    (tmp_path / "rows.bin").write_bytes(b"PAR1....")
    for module in ("pyarrow.parquet", "polars"):
        pytest.importorskip(module)
        with pytest.raises(ValueError, match="rows.bin: "):
            undercurve.train(tmp_path / "rows.bin", **QUICK)
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="rows.bin: Parquet files need pyarrow or polars: pip install pyarrow"):
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
    want = undercurve.train(tmp_path / "rows.csv", **QUICK).to_bytes()
    assert undercurve.train({"x": x, "label": label.tolist()}, **QUICK).to_bytes() == want
