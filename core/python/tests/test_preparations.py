"""Statistics of columns merge to the preparation of all rows."""

import pickle

import numpy as np
import pytest

import undercurve


def table(n, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {
        "x": np.where(rng.random(n) < 0.1, np.nan, x),
        "far": 1.7e9 + np.floor(1e5 * rng.random(n)),
        "city": [None if u < 0.1 else "Bern" if u < 0.6 else "Thun" for u in rng.random(n)],
        "row": [f"row {k}" for k in rng.permutation(n)],
        "ill": np.where(x + rng.logistic(size=n) > 2, "yes", "no").tolist(),
    }


def rows(of, where):
    return {name: [column[k] for k in where] if isinstance(column, list) else column[where] for name, column in of.items()}


def test_any_split_encodes_alike():
    of, rng = table(3000), np.random.default_rng(2)
    one = undercurve.ColumnStats(of, "ill")
    for parts in (2, 5):
        owner = rng.integers(0, parts, 3000)
        stats = [undercurve.ColumnStats(rows(of, rng.permutation(np.flatnonzero(owner == k))), "ill") for k in range(parts)]
        merged = undercurve.ColumnStats().merge(*(part.to_bytes() for part in stats[1:]), pickle.loads(pickle.dumps(stats[0])))
        assert merged.to_bytes() == one.to_bytes() and merged.rows == 3000
    for encode in (None, "splines:5", "bins:4"):
        prepared = one.preparation(missing="impute", encode=encode)
        x, y = prepared.encode(of)
        # Those of a model that is trained on all rows.
        with pytest.warns(UserWarning, match="left out: row"):
            model = undercurve.train(of, label="ill", method="auc-exact", missing="impute", encode=encode, dtype="float64")
        assert prepared.names == [name for name, _, _ in model.about()["encoded"]] and not any(name.startswith("row") for name in prepared.names)
        assert np.array_equal(y, [label == "yes" for label in of["ill"]]) and (prepared.label, prepared.positive) == ("ill", "yes")
        flag = np.array([np.isin(column, [0, 1]).all() for column in x.T])
        assert abs(x[:, ~flag].mean(0)).max(initial=0) < 1e-10 and abs(x[:, ~flag].std(0) - 1).max(initial=0) < 1e-10
        *weights, bias = model.params()
        assert np.any(weights) and abs(x @ weights + bias - model.scores(of)).max() < 1e-10
        again = pickle.loads(pickle.dumps(prepared))
        part = rows(of, np.arange(100, 200))
        assert np.array_equal(again.encode(part)[0], x[100:200]) and again.encode(part, labels=False)[1] is None


def test_what_does_not_fit_is_refused():
    one = undercurve.ColumnStats({"a": [1.0, 2.0], "y": [0, 1]}, "y")
    before = one.to_bytes()
    for other in ({"a": ["red", "blue"], "y": [0, 1]}, {"b": [1.0, 2.0], "y": [0, 1]}):
        with pytest.raises(ValueError, match="red|blue|\"a\""):
            one.merge(undercurve.ColumnStats(other, "y"))
    with pytest.raises(ValueError, match="damaged"):
        one.merge(before[:-1])
    with pytest.raises(ValueError, match="encode"):
        one.preparation(encode="splines")
    with pytest.raises(ValueError, match="label"):
        undercurve.ColumnStats({"a": [1.0], "y": [None]}, "y")
    with pytest.raises(TypeError, match="frame"):
        undercurve.ColumnStats(np.zeros((2, 2)))
    assert one.to_bytes() == before and repr(one) == "ColumnStats(2 rows)"
