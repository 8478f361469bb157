"""`auto`: as the command line, and what it refuses and warns of."""

import json
import os
import subprocess

import numpy as np
import pytest

import undercurve
from test_arguments import frozen
from test_command_line import COMMAND


LONG = pytest.mark.skipif(os.environ.get("UNDERCURVE_LONG") != "1", reason="the long tier (UNDERCURVE_LONG=1)")


def rows(count=240):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(count, 2)).round(4)
    return X, 3 * X[:, 0] + rng.normal(size=count) > 1


@pytest.mark.skipif(COMMAND is None, reason="no command line was built (UNDERCURVE_COMMAND)")
def test_it_is_that_of_the_command_line(tmp_path):
    X, y = rows()
    lines = [f"{a},{b},{int(label)}" for (a, b), label in zip(X, y)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,label", *lines]))
    words = [COMMAND, "auto", "data.csv", "--folds", "2", "--want", "20 alerts", "--threshold", "recall>=0.8", "--json", "--quiet"]
    told = json.loads(subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    found = undercurve.auto(str(tmp_path / "data.csv"), folds=2, want="20 alerts", threshold="recall>=0.8")
    assert [(one.name, one.options, one.values, one.dropped) for one in found.tried] == [
        (one["name"], one["options"], one["folds"], one["dropped"]) for one in told["compared"]
    ]
    assert (found.taken, found.verdict, found.signal) == (told["shipped"], told["verdict"], not told["no_signal"])
    assert (found.metric, list(found.fpr)) == (told["metric"], told["fpr"])
    assert found.model.threshold == told["threshold"]
    ours = undercurve.load(tmp_path / "data.auto" / "model.uc")
    rows_of = {"a": X[:, 0], "b": X[:, 1]}
    assert ours.scores(rows_of).tobytes() == found.model.scores(rows_of).tobytes()
    table = np.loadtxt(tmp_path / "data.auto" / "scores.csv", delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 0] - 1, found.rows) and np.array_equal(table[:, 1] - 1, found.folds)
    assert np.array_equal(table[:, 2], found.labels) and np.array_equal(table[:, 3].astype("float32"), found.scores)
    assert found.metrics().auroc == undercurve.auroc(found.scores, found.labels)
    told = [line.rsplit(",", 2) for line in (tmp_path / "data.auto" / "importances.csv").read_text().splitlines()[1:]]
    assert [(name, loss, sd) for name, (loss, sd) in found.importances.items()] == [(name, float(loss), float(sd)) for name, loss, sd in told]
    assert "ridge" in repr(found) and "AUROC" in repr(found) and found.taken in found._repr_html_()


@LONG
def test_clusters_stay_together_and_later_rows_are_held_out():
    X, y = rows(120)
    found = undercurve.auto(X, y, clusters=np.arange(120) // 2, folds=2)
    assert np.array_equal(found.folds[::2], found.folds[1::2])
    for order in (np.arange(120)[::-1], [f"2024-{1 + day // 28:02}-{1 + day % 28:02}" for day in range(119, -1, -1)]):
        found = undercurve.auto(X, y, order=order, folds=2)
        assert found.rows.max() < 80 and (found.folds[found.rows < 40] == 1).all()


@LONG
def test_what_gives_the_label_away_and_noise_are_warned_of():
    X, y = rows(120)
    told = np.c_[X, y * 2 + 0.01 * X[:, 0]]
    with pytest.warns(undercurve.TrainingWarning, match="column '?.*'? alone ranks the label almost perfectly"):
        undercurve.auto(told, y, folds=2)
    with pytest.warns(undercurve.TrainingWarning, match="no signal was found"):
        assert not undercurve.auto(X, np.arange(120) % 2, folds=2).signal


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"want": "map"}, "want: expected ap, auroc, pauc"),
        ({"folds": 1}, "folds: expected at least 2, got 1"),
        ({"folds": 100}, "folds: 100: there are 74 negative rows"),
        ({"threads": 0}, "threads: expected at least 1, got 0"),
        ({"clusters": [0] * 120, "order": [0] * 120}, "clusters, order: one of the two"),
        ({"clusters": np.r_[np.nan, np.arange(119)]}, 'row 0, column "cluster": missing value'),
        ({"order": np.arange(100)}, "^order: 100 values for 120 rows"),
        ({"threshold": "recall>=2"}, "^threshold: expected fpr<=A"),
        ({"clusters": [0] * 120}, "folds: 5: there are fewer groups"),
        ({"threshold": "recall>=0.8@90%"}, "a promise needs rows that decided nothing"),
        ({"ignore": ["z"]}, "ignore: there is no column"),
        ({"want": "1000 alerts"}, "^want: 1000 alerts of 120 rows"),
        ({"order": ["first"] * 120}, '^order: expected numbers, dates, or texts as "2024-05-31"; pandas.to_datetime reads others'),
    ],
)
def test_what_does_not_fit_is_named(wrong, told):
    X, y = rows(120)
    before = frozen((X, y, wrong))
    with pytest.raises(ValueError, match=told):
        undercurve.auto(X, y, **wrong)
    assert frozen((X, y, wrong)) == before


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"want": 100}, "want: expected a text, got int"),
        ({"clusters": 2}, "clusters: expected values, got int"),
        ({"seed": 2**64}, "^seed: expected a whole number from 0 to 2\\^64 - 1, got 18446744073709551616"),
        ({"seed": 10**400}, "^seed: expected a whole number from 0 to 2\\^64 - 1, got 1000000"),
        ({"missing": None}, "^missing: expected a text, got None"),
    ],
)
def test_what_is_of_another_type_is_named(wrong, told):
    X, y = rows(120)
    with pytest.raises(TypeError, match=told):
        undercurve.auto(X, y, **wrong)


def test_a_table_that_cannot_tell_says_so():
    table = {"a": [1, 2, 3, 4], "y": [0, 1, 0, 1]}
    with pytest.raises(ValueError, match="^clusters: 3 values for 4 rows"):
        undercurve.auto(table, label="y", clusters=[1, 2, 3])
    with pytest.raises(ValueError, match="^folds: 2: too few rows: one of the two folds"):
        undercurve.auto(table, label="y", folds=2, order=[1, 3, 2, 4])
    with pytest.raises(FileNotFoundError, match="none.csv"):
        undercurve.auto("none.csv", label="y")
