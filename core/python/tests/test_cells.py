"""What cells, labels and classes say: texts are what they are, labels have names."""

import datetime

import numpy as np
import pytest

import undercurve
from undercurve.models import TrainingWarning
from undercurve.sklearn import RankingClassifier

pytestmark = pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
N = 120
S = np.random.default_rng(2).normal(size=N)
Y = (np.arange(N) % 3 == 0).astype(int)
QUICK = {"method": "ce", "steps": 30}


def names(rows, **more):
    return [name for name, _, _ in undercurve.train(rows, **QUICK, **more).about()["encoded"]]


def test_texts_of_frames_are_what_they_are():
    texts = ["NA", "None", "", " x", "x", "1.10", "1.1", "1E5", "100000", "-"] * 12
    for rows in frames({"t": texts, "s": S.tolist(), "label": Y.tolist()}):
        found = [name for name in names(rows) if name.startswith("t=")]
        assert sorted(found) == sorted(f"t={text}" for text in set(texts)), type(rows)


def frames(table):
    yield table
    for module, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            found = __import__(module)
        except ImportError:
            continue
        yield getattr(found, make)(table)


def test_a_label_keeps_its_words(tmp_path):
    words = np.where(Y == 1, "Bleeding", "None")
    for rows in frames({"s": S.tolist(), "label": words.tolist()}):
        assert undercurve.train(rows, **QUICK).classes == ["None", "Bleeding"]
    file = tmp_path / "rows.csv"
    file.write_text("s,label\n" + "".join(f"{s},{y}\n" for s, y in zip(S, words)), encoding="utf-8")
    assert undercurve.train(file, **QUICK).classes == ["None", "Bleeding"]
    # Among numbers it asks, and both answers are taken.
    label = [("None" if k % 10 == 3 else y) for k, y in enumerate(Y)]
    file.write_text("s,label\n" + "".join(f"{s},{y}\n" for s, y in zip(S, label)), encoding="utf-8")
    with pytest.raises(ValueError, match=r'label "None" .* in 12 rows: .* \(na=\["None"\] leaves these rows out, na=\["label="\]'):
        undercurve.train(file, **QUICK)
    with pytest.warns(TrainingWarning, match="12 rows have no label and are left out"):
        assert undercurve.train(file, na=["None"], **QUICK).classes == ["0", "1"]
    assert undercurve.train(file, na=["label="], target="classes", **QUICK).classes == ["0", "1", "None"]


def test_labels_have_names():
    rows = {"s": S, "label": np.array(["Yes", "yes", "no"])[np.arange(N) % 3]}
    with pytest.raises(ValueError, match=r'labels "Yes", "yes" differ by case .* \(positive=\["Yes", "yes"\]\)'):
        undercurve.train(rows, positive="Yes", **QUICK)
    assert undercurve.train(rows, positive=["Yes", "yes"], **QUICK).classes == ["no", "Yes,yes"]
    for labels in (Y == 1, (Y == 1).tolist()):
        model = undercurve.train({"s": S, "label": labels}, **QUICK)
        assert model.classes == ["false", "true"]
        for positive in (True, 1, "true", "True"):
            assert undercurve.train({"s": S, "label": labels}, positive=positive, **QUICK).classes == model.classes
        assert undercurve.train({"s": S, "label": labels}, positive=False, **QUICK).classes == model.classes[::-1]


def test_class_weights_go_by_their_labels():
    plain = {"s": S, "label": Y}
    want = undercurve.train(plain, class_weight=[1.0, 10.0], **QUICK).params()
    for weights in ({1: 10.0}, {0: 1.0, 1: 10.0}, {"1": 10}, {True: 10.0}, {1.0: 10.0}):
        assert np.array_equal(undercurve.train(plain, class_weight=weights, **QUICK).params(), want), weights
    words = {"s": S, "label": np.where(Y == 1, "yes", "no").tolist()}
    assert np.array_equal(undercurve.train(words, class_weight={"yes": 10.0}, **QUICK).params(), want)
    three = {"s": S, "label": (np.arange(N) % 3).tolist()}
    one = undercurve.train(three, class_weight={2: 5.0}, target="classes", **QUICK).params()
    assert np.array_equal(one, undercurve.train(three, class_weight=[1, 1, 5], target="classes", **QUICK).params())
    with pytest.raises(ValueError, match='class_weight: there is no label "maybe"; the labels are "no", "yes"'):
        undercurve.train(words, class_weight={"maybe": 2.0}, **QUICK)
    with pytest.raises(ValueError, match="class_weight: expected 'balanced'"):
        undercurve.train(words, class_weight="equal", **QUICK)


def test_weights_have_no_scale():
    w = np.random.default_rng(0).integers(1, 9, N).astype(float)
    want = undercurve.train({"s": S, "label": Y}, weights=w, **QUICK).params()
    assert np.array_equal(undercurve.train({"s": S, "label": Y}, weights=1000 * w, **QUICK).params(), want)
    assert np.allclose(undercurve.train({"s": S, "label": Y}, weights=w / w.mean(), **QUICK).params(), want, rtol=1e-4)


def test_groups_are_told_apart_by_all_their_digits():
    groups = np.where(np.arange(N) % 2, 1_000_001, 1_000_002)
    model = undercurve.train({"s": S, "label": Y}, groups=groups, method="sonex", steps=9, constraints=["gap(tpr) <= 0.9"])
    assert model.about()["groups"][1] == ["1000001", "1000002"]


def test_texts_are_positive_as_train_has_them():
    X = S[:, None] + Y[:, None]
    for rare, often in (("fraud", "ok"), ("a", "b"), ("yes", "no")):
        y = np.where(Y == 1, rare, often)
        model = undercurve.train({"x1": X[:, 0], "label": y.tolist()}, **QUICK)
        found = RankingClassifier(method="ce", steps=30).fit(X, y)
        assert model.classes[1] == rare and found.model_.classes == ["0", "1"]
        assert np.allclose(found.model_.params(), model.params())
        first = list(found.classes_).index(rare) == 0
        assert np.array_equal(found.predict(X) == found.classes_[1], found.decision_function(X) > 0)
        assert np.allclose(found.predict_proba(X)[:, 0 if first else 1], model.probabilities({"x1": X[:, 0]}))
        heavy = RankingClassifier(method="ce", steps=30, class_weight={rare: 50.0}).fit(X, y)
        assert (heavy.predict(X) == rare).mean() > (found.predict(X) == rare).mean()
    numbers = RankingClassifier(method="ce", steps=30).fit(X, 1 - Y)
    assert np.array_equal(numbers.predict(X) == 1, numbers.decision_function(X) > 0)


def test_whole_numbers_that_a_float_has_not():
    ids = 2**53 + np.arange(N) % 4
    with pytest.warns(TrainingWarning, match="whole numbers beyond 2\\^53 were rounded in x"):
        undercurve.train({"x": ids, "label": Y}, **QUICK)
    assert len(names({"x": ids, "label": Y}, categorical=["x"])) == 4
    with pytest.raises(ValueError, match="labels .* are the same number"):
        undercurve.train({"s": S, "label": 2**53 + np.arange(N) % 2}, **QUICK)
    assert len(undercurve.train({"s": S, "label": (2**53 + np.arange(N) % 2).astype(str)}, **QUICK).classes) == 2


def test_what_was_a_kind_of_column_stays_one():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k % 40) for k in range(N)]
    model = undercurve.train({"d": days, "label": Y}, **QUICK)
    with pytest.raises(ValueError, match=r'column "d" has numbers, where training had dates \(give "d" the type'):
        model.scores({"d": S})
    clock = [datetime.time(k % 24, 30) for k in range(N)]
    length = [datetime.timedelta(hours=k % 24, minutes=30) for k in range(N)]
    model = undercurve.train({"t": clock, "label": Y}, **QUICK)
    with pytest.raises(ValueError, match="has durations, where training had times of the day"):
        model.scores({"t": length})


def test_what_stands_for_missing_is_for_files():
    with pytest.raises(ValueError, match="na: is for files"):
        undercurve.train({"s": S, "label": Y}, na=["99"], **QUICK)


def test_files_have_shapes(tmp_path):
    rows = "town;s;label\n" + "".join(f"{'Zürich' if k % 2 else 'Bern'};{s};{y}\n" for k, (s, y) in enumerate(zip(S, Y)))
    file = tmp_path / "rows.csv"
    file.write_bytes(rows.encode())
    meant = undercurve.train(file, **QUICK)
    # Lines before the names, and text of Windows.
    file.write_bytes(("A report\n\n" + rows).encode())
    assert np.array_equal(undercurve.train(file, skip=2, **QUICK).params(), meant.params())
    file.write_bytes(rows.encode("cp1252"))
    with pytest.raises(ValueError, match=r"is not UTF-8 \(encoding='latin1' reads"):
        undercurve.train(file, **QUICK)
    model = undercurve.train(file, encoding="latin1", **QUICK)
    assert np.array_equal(model.params(), meant.params())
    plain = tmp_path / "plain.csv"
    plain.write_bytes(rows.encode())
    assert np.array_equal(model.scores(file), meant.scores(plain))
    with pytest.raises(ValueError, match="encoding: expected 'utf8' or 'latin1'"):
        undercurve.train(file, encoding="cp1252", **QUICK)
    with pytest.raises(ValueError, match="skip, encoding: are for files"):
        undercurve.train({"s": S, "label": Y}, skip=1, **QUICK)
