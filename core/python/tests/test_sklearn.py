"""The estimator by scikit-learn's own checks, and in what is made of estimators."""

import importlib.util
import os
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import undercurve
from undercurve.sklearn import RankingClassifier, pauc_scorer

# Batches are drawn from the rows in their order: weights are repeated rows in the same order, and scikit-learn shuffles.
SHUFFLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches are drawn from the rows in their order, which the check changes"
    for kind in ("dense", "sparse")
}
PANDAS = {"check_classifier_data_not_an_array", "check_sample_weights_pandas_series"}
# Without steps on batches the order does not matter.
WHOLE = [("ap-exact", {"pretrain": 0}), ("auc-exact", {"pretrain": 0, "tolerance": 1e-12})]


@pytest.mark.parametrize(
    ("method", "settings", "expected"),
    [(method, settings, {}) for method, settings in WHOLE]
    + [(method, None, SHUFFLED) for method in (("ce",) if "UNDERCURVE_LONG" not in os.environ else ("ce", "soap", "ppd-sg", "pauc-exact"))],
)
def test_the_checks_of_scikit_learn(method, settings, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            RankingClassifier(method=method, settings=settings, dtype="float64"),
            expected_failed_checks=expected,
            on_fail=None,
            on_skip=None,
        )
    count = {status: sum(one["status"] == status for one in found) for status in ("passed", "failed", "xfail", "skipped")}
    assert count["failed"] == 0, [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"]
    assert count["xfail"] <= len(expected)
    # (One check wants array-api-strict and an environment variable, two want pandas.)
    skipped = {one["check_name"] for one in found if one["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"} | (set() if importlib.util.find_spec("pandas") else PANDAS), skipped
    print(method, count)
    assert count["passed"] + count["xfail"] + len(skipped) == len(found) >= 62, count


def test_pipelines_searches_scorers_and_copies():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RankingClassifier(method="ap-exact"))
    search = GridSearchCV(
        pipeline, {"rankingclassifier__settings": [None, {"decay": 0.1}]}, scoring=pauc_scorer((0, 0.1)), cv=2
    ).fit(X, y)
    assert search.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.decision_function(X), search.best_estimator_.decision_function(X))
    assert clone(pipeline).get_params()["rankingclassifier__method"] == "ap-exact"
    assert cross_val_score(RankingClassifier(steps=300), X, y, scoring="roc_auc", cv=3).min() > 0.95


def test_probabilities_threshold_and_weights():
    X, y = load_breast_cancer(return_X_y=True)
    assert not hasattr(RankingClassifier(method="soap", steps=300).fit(X, y), "predict_proba")
    plain = RankingClassifier(steps=300).fit(X, y)
    assert roc_auc_score(y, plain.predict_proba(X)[:, 1]) > 0.98
    sure = RankingClassifier(steps=300, valid=0.3).fit(X, y)
    chance = sure.predict_proba(X)
    assert np.allclose(chance.sum(axis=1), 1) and np.array_equal(chance[:, 1] >= 0.5, sure.predict(X) == 1)
    assert roc_auc_score(y, chance[:, 1]) > 0.98
    strict = RankingClassifier(steps=300, threshold="precision>=0.99").fit(X, y)
    assert ((strict.predict(X) == 1) & (y == 0)).sum() <= 0.011 * (strict.predict(X) == 1).sum()
    cautious = RankingClassifier(steps=300, class_weight={0: 50.0, 1: 1.0}).fit(X, y)
    assert cautious.predict(X).mean() < plain.predict(X).mean()


def test_frames_keep_their_texts_and_labels_their_names():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    town = rng.choice(["Bern", "Thun"], 400)
    frame = pandas.DataFrame({"town": town, "age": rng.integers(20, 80, 400)})
    y = np.where((town == "Thun") & (rng.random(400) < 0.8), "yes", "no")
    found = RankingClassifier(steps=300).fit(frame, y)
    assert list(found.feature_names_in_) == ["town", "age"] and list(found.classes_) == ["no", "yes"]
    assert set(found.predict(frame)) == {"no", "yes"}
    assert found.model_.evaluate(frame, y == "yes").auroc > 0.85


def test_a_wrong_target_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for y, text in [(np.arange(30) % 3, "Only binary"), (np.zeros(30), "only one class"), (X[:, 0], "Unknown label type")]:
        with pytest.raises(ValueError, match=text):
            RankingClassifier().fit(X, y)
    with pytest.raises(ValueError, match="choose another rule"):
        found = RankingClassifier(steps=50, threshold="precision>=1").fit(X, np.arange(30) % 2)
        assert found.threshold_ is None
        found.predict(X)


def test_importing_the_package_does_not_import_scikit_learn():
    import subprocess
    import sys

    code = "import undercurve, sys; assert not {'sklearn', 'torch', 'matplotlib', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert undercurve.__version__
