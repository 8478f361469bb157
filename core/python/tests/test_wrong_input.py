"""Wrong input: the type of the error, and what it says. What it tells to do is tried."""

import warnings

import numpy as np
import pytest

import undercurve
from undercurve import Loss, Trainer, _core, curves, metrics, train

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (np.arange(60) % 3 == 0).astype(int)
S = X[:, 0]
TABLE = {"a": S, "town": ["Bern", "Thun", None] * 20, "label": Y}
NAN, INF = np.where(np.arange(60) == 7, np.nan, S), np.where(np.arange(60) == 9, np.inf, S)
OTHER = np.where(np.arange(60) == 5, 2, Y)
AP = Loss("ap")
QUICK = {"steps": 20}


def of(name, **more):
    return train(X, Y, method=name, **QUICK, **more)


V, T = ValueError, TypeError
ROWS = [
    # scores
    (lambda: metrics(NAN, Y), V, "scores: row 7 is NaN or infinite"),
    (lambda: metrics(INF, Y), V, "scores: row 9 is NaN or infinite"),
    (lambda: metrics(S[:5], Y), V, "labels: 60 values for 5 scores"),
    (lambda: metrics(X, Y), V, "scores: 2 dimensions, expected 1"),
    (lambda: metrics(3.0, Y), V, "scores: 0 dimensions"),
    (lambda: metrics(["a"], [1]), T, "scores: expected numbers"),
    (lambda: metrics(S + 1j, Y), T, "scores: expected numbers"),
    (lambda: metrics(None, Y), V, "scores: 0 dimensions"),
    (lambda: metrics([], []), V, "scores is empty"),
    (lambda: metrics(S.astype("M8[s]"), Y), T, "scores: expected numbers"),
    (lambda: AP.value_grad(NAN, Y), V, "scores: row 7"),
    (lambda: AP.value_grad(NAN.astype("f4"), Y), V, "scores: row 7"),
    (lambda: curves(INF, Y), V, "scores: row 9"),
    # labels
    (lambda: metrics(S, OTHER), V, "labels: row [0-9]+: the third of more than two label values"),
    (lambda: metrics(S, OTHER.astype(float)), V, "labels: row [0-9]+: the third"),
    (lambda: metrics(S, Y * 0.5 + np.arange(60)), V, "labels: row 2: the third"),
    (lambda: metrics(S, np.where(Y, np.nan, 0)), V, "labels: row 0: the label is missing"),
    (lambda: metrics(S, [None, *map(bool, Y[1:])]), V, "labels: row 0: the label is missing"),
    (lambda: metrics(S, Y, metrics="ap", positive=7), V, "labels: .*7"),
    (lambda: metrics(S, ["yes"] * 60), V, "labels: every label is .yes., and two classes are needed"),
    # metrics by name
    (lambda: metrics(S, Y, metrics="aup"), V, "metrics: no metric .aup.; there are auroc, ap"),
    (lambda: metrics(S, Y, metrics="ndcg"), V, "metrics: ndcg: is of queries; pass queries"),
    (lambda: metrics(S, Y, metrics="gap(tpr)"), V, "metrics: gap.tpr.: is of groups; pass groups"),
    (lambda: metrics(S, Y, metrics="f1"), V, "metrics: f1: is at a threshold, as f1:0.5 has, or pass threshold"),
    (lambda: metrics(S, Y, metrics="brier"), V, "metrics: brier: is of probabilities, and the scores are not all"),
    (lambda: metrics(S, Y, np.ones(60) * 2, metrics="map", queries=Y), V, "metrics: map: takes no weights"),
    (lambda: metrics(S, Y, metrics="precision-at:70"), V, "metrics: precision-at:70: there are 60 rows"),
    (lambda: metrics(S, Y, metrics="gap(tpr)", groups=[None, *Y[1:]]), V, "groups: row 0 is missing"),
    (lambda: metrics(S, Y, queries=Y), V, "queries: is of metrics by name"),
    (lambda: metrics(S, Y, fpr="low"), V, "fpr: expected .low, high. or a number"),
    (lambda: metrics(S, np.ones(60)), V, "one class has no row"),
    (lambda: metrics(S, np.zeros(60, bool)), V, "both positives and negatives are needed"),
    (lambda: AP.value_grad(S, np.stack([Y, Y])), V, "labels: 2 dimensions"),
    # weights
    (lambda: metrics(S, Y, S), V, "weights: row"),
    (lambda: metrics(S, Y, NAN), V, "weights: row"),
    (lambda: metrics(S, Y, np.ones(3)), V, "weights: 3 values for 60 scores"),
    (lambda: metrics(S, Y, Y), V, "one class has no row"),
    (lambda: metrics(S, Y, clusters=np.ones(6), intervals=True), V, "clusters"),
    (lambda: AP.value_grad(S, Y, -np.ones(60)), V, "weights: row 0 is no number of 0 or more"),
    # ranges
    (lambda: metrics(S, Y, fpr=(0.5, 0.1)), V, "fpr: expected"),
    (lambda: metrics(S, Y, fpr=(-1, 1)), V, "fpr: expected"),
    (lambda: metrics(S, Y, fpr=(0, float("nan"))), V, "fpr: expected"),
    (lambda: Loss("pauc", fpr=(0, 2)), V, "fpr: expected"),
    (lambda: Loss("pauc", tpr=1.0), V, "tpr: expected 0 <= tpr < 1"),
    # losses
    (lambda: Loss("roc"), V, "kind: expected 'ap', 'auc' or 'pauc'"),
    (lambda: Loss("ap", surrogate="hinges"), V, 'surrogate: expected one of "square"'),
    (lambda: Loss("ap", surrogate="sigmoid", margin=1.0), V, "has a scale and no margin"),
    (lambda: Loss("ap", surrogate="hinge", margin=-1.0), V, "margin: expected a number above 0"),
    (lambda: Loss("ap", surrogate="hinge", margin=float("nan")), V, "margin: expected"),
    (lambda: Loss("pauc", surrogate="square"), V, "needs one that falls everywhere"),
    (lambda: Loss("ap", grade="best"), V, "grade: expected 'full' or 'fast'"),
    # rows to train on
    (lambda: train(X), V, "labels: rows without names of columns need labels"),
    (lambda: train(X, Y[:9]), V, "labels?: 9 values for 60 rows"),
    (lambda: train(S, Y), V, "X: 1 dimensions, expected 2"),
    (lambda: train(np.where(X > 1, np.nan, X), Y), V, r'row \d+, column "x\d": missing value'),
    (lambda: train(np.where(X > 2, np.inf, X), Y), V, "is not finite"),
    (lambda: train(X, np.zeros(60)), V, "label"),
    (lambda: train(X, Y[:, None]), V, "labels: 2 dimensions, expected 1; pass values.ravel"),
    (lambda: train(X.astype(str), Y), T, "X: expected numbers"),
    (lambda: train(np.zeros((0, 3)), []), V, "expected at least 1"),
    (lambda: train(TABLE, label="town2"), V, 'there is no column "town2"'),
    (lambda: train(TABLE, Y, label="label"), V, "label, labels: one of the two"),
    (lambda: train({"a": S, "b": S[:3], "label": Y}), V, "3 cells"),
    (lambda: train(TABLE), V, 'row 2, column "town": missing value'),
    (lambda: train({"a": [[1], [2]], "label": [0, 1]}), T, "column 'a': row 0 is a list"),
    (lambda: train("no/such/file.csv"), FileNotFoundError, "No such file"),
    # options
    (lambda: of("soup"), V, "undercurve.methods"),
    (lambda: of("soap", lrr=1), V, "lrr: no argument and no setting has this name; did you mean lr"),
    (lambda: of("soap", lr="fast"), V, "lr"),
    (lambda: of("soap", model="mlp"), V, "expected linear, mlp:WIDTHS"),
    (lambda: of("soap", dtype="int8"), V, "dtype: expected 'float32' or 'float64'"),
    (lambda: of("soap", valid=2.0), V, "valid: expected a share"),
    (lambda: of("soap", patience=3), V, "patience: needs validation rows"),
    (lambda: of("soap", scale="big"), V, "scale: expected one of"),
    (lambda: of("soap", missing="drop"), V, "missing: expected one of"),
    (lambda: of("soap", init="zero"), V, "init: expected one of"),
    (lambda: of("soap", passes=2), V, "steps, passes: one of the two"),
    (lambda: of("soap", threshold="fpr=1"), V, "threshold: expected"),
    (lambda: of("soap", calibrate="yes"), V, "calibrate: expected one of"),
    (lambda: of("soap", constraints=["recall >= 0.5"]), V, "trains under no constraints"),
    (lambda: of("sonex", constraints=["recal >= 0.5"]), V, "constraint"),
    (lambda: of("sonex", constraints=["gap(tpr) <= 0.1"]), V, "group"),
    (lambda: of("soap", preset="fair"), V, "preset: expected"),
    (lambda: of("soap", class_weight=[1, 2, 3]), V, "class_weight: 3 weights for 2 classes"),
    (lambda: of("soap", class_weight=[1, 0]), V, "class_weight: expected numbers above 0"),
    (lambda: train(TABLE, ignore=["towns"]), V, 'ignore: there is no column "towns"'),
    (lambda: train(X, Y, method="soap", steps=0), V, "steps: expected at least 1"),
    (lambda: Trainer(X, Y, test=X, **QUICK), V, r"test: expected \(rows, labels\)"),
    # what is often mistaken
    (lambda: metrics(Y, S), V, "labels: row 2: .*, and all scores are: scores come first, labels second"),
    (lambda: metrics(X, Y), V, r"scores: 2 dimensions, expected 1; pass one column, as X\[:, 1\]"),
    (lambda: AP.value_grad(S, ["yes"] * 60), T, 'compare texts with the positive one, as y == "yes"'),
    (lambda: train(TABLE, "label"), V, "a column of the rows is named by label='label'"),
    (lambda: train(X, S), V, r'label values \("[^"]+", "[^"]+", "[^"]+", …\).* numbers by target="values"'),
    (lambda: train(X, np.arange(60) % 3), V, "several classes are trained by the methods ce, ppd-sg and ppd-adagrad"),
    (lambda: train(NAN[:, None], Y), V, r'missing value .*\(missing="impute" fills it in\)'),
    (lambda: train({"a": S, "b": S}), V, r'which column is the label\? .* \(label=…\)'),
    (lambda: of("auroc"), V, "did you mean auc-exact"),
    (lambda: of("ap-exakt"), V, "did you mean ap-exact"),
    (lambda: of("soap", learning_rate=0.1), V, "learning_rate: is called lr here"),
    (lambda: of("soap", epochs=3), V, "epochs: is called passes here"),
    (lambda: of("soap", valid=X), V, "valid: expected a share, or .rows, labels."),
    (lambda: train(X, Y, steps=2.5), T, "steps: expected a whole number from 0 to 2\\^64 - 1, got 2.5"),
    (lambda: of("soap", seed=None), T, "seed: expected a whole number"),
    # models
    (lambda: of("soap").scores(X[:, :2]), V, "X has 2 columns and no names"),
    (lambda: of("soap").scores({"x1": S}), V, 'there is no column "x2"'),
    (lambda: of("soap").scores({"x1": S, "x2": S, "x3": ["a"] * 60}), V, 'column "x3"'),
    (lambda: of("soap").probabilities(X), V, "only ranks: train with valid=0.2"),
    (lambda: of("soap", threshold="precision>=1").decide(X), V, "the model has no threshold"),
    (lambda: _core.Model.of_bytes(b"not a model"), V, "not a saved"),
]


@pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
@pytest.mark.parametrize("row", range(len(ROWS)))
def test_wrong_input(row):
    call, kind, text = ROWS[row]
    with pytest.raises(kind, match=text) as found:
        call()
    assert "\n" not in str(found.value) and "panic" not in str(found.value).lower()


def test_a_frame_that_still_holds_its_label_is_told():
    table = {"a": S, "b": Y, "label": np.array(["yes" if y else "no" for y in Y])}
    for labels, name in [(Y, "b"), (table["label"], "label")]:
        with pytest.warns(undercurve.models.TrainingWarning, match=f"column '{name}' has the values of the labels"):
            train(table, labels, **QUICK)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        train(table, Y, ignore=["b"], **QUICK)
        train({"a": S, "b": Y}, 1 - Y, **QUICK)
    assert not [one for one in told if "has the values" in str(one.message)]


@pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
def test_one_row_of_a_frame_is_no_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": S, "label": Y})
    model = train(frame, **QUICK)
    with pytest.raises(ValueError, match=r"of one row pass frame.iloc\[\[0\]\]"):
        model.scores(frame.iloc[0])
    assert model.scores(frame.iloc[[0]]).shape == (1,)


def test_there_are_sixty_rows():
    assert len(ROWS) >= 60


@pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
def test_what_messages_tell_to_do_helps():
    table = {**TABLE, "town": ["Bern", "Thun", "Bern"] * 20}
    assert train(TABLE, missing="impute", **QUICK).scores(TABLE).shape == (60,)
    assert of("soap", valid=0.2).probabilities(X).shape == (60,)
    assert of("soap", calibrate="platt").probabilities(X).shape == (60,)
    assert of("soap", valid=0.3, patience=3)
    assert train(X, Y[:, None].ravel(), **QUICK)
    assert train(table, keep_identifiers=True, **QUICK)
    assert {"soap", "ap-exact"} <= {method["name"] for method in undercurve.methods()}
