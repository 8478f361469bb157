"""The estimator by scikit-learn's own checks, and in what is made of estimators."""

import importlib.util
import os
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import undercurve
from undercurve.sklearn import RankingClassifier, pauc_scorer

# Batches are drawn from the rows in their order: weights are repeated rows in the same order, and scikit-learn shuffles.
SHUFFLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "batches are drawn from the rows in their order, which the check changes"
    for kind in ("dense", "sparse")
}  # (The default draws folds, which choose its penalty.)
PANDAS = {"check_classifier_data_not_an_array", "check_sample_weights_pandas_series"}
# (Its steps do not end at the minimum, where one class counts 10⁷ times the other.)
UNFINISHED = {"adam-sum": {"check_class_weight_classifiers": "steps of a fixed length"}}
METHODS = [one["name"] for one in undercurve.methods()]
# Without steps on batches the order does not matter.
WHOLE = [("ap-exact", {"pretrain": 0}), ("auc-exact", {"pretrain": 0, "tolerance": 1e-12})]


@pytest.mark.parametrize(
    ("method", "settings", "calibrate", "expected"),
    [(None, None, None, SHUFFLED)]
    + [(method, settings, "none", {}) for method, settings in WHOLE]
    # (Folds that calibrate are drawn from the rows in their order, too.)
    + [(*WHOLE[1], None, SHUFFLED)]
    + [(method, None, None, SHUFFLED | UNFINISHED.get(method, {})) for method in (("ce",) if "UNDERCURVE_LONG" not in os.environ else METHODS)],
)
def test_the_checks_of_scikit_learn(method, settings, calibrate, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            # (Some rows of the checks have less than one negative in a narrower range.)
            RankingClassifier(method=method, settings=settings, calibrate=calibrate, dtype="float64", fpr=(0, 0.9)),
            expected_failed_checks=expected,
            on_fail=None,
            on_skip=None,
        )
    # (Methods that take no weights say so.)
    for one in found:
        if one["status"] == "failed" and "takes no weights" in str(one["exception"]):
            one["status"] = "xfail"
            expected = expected | {one["check_name"]: "no weights"}
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
    pipeline = make_pipeline(StandardScaler(), RankingClassifier(method="ap-exact", calibrate="none"))
    search = GridSearchCV(
        pipeline, {"rankingclassifier__settings": [None, {"decay": 0.1}]}, scoring=pauc_scorer((0, 0.1)), cv=2
    ).fit(X, y)
    assert search.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.decision_function(X), search.best_estimator_.decision_function(X))
    assert clone(pipeline).get_params()["rankingclassifier__method"] == "ap-exact"
    assert cross_val_score(RankingClassifier(steps=300), X, y, scoring="roc_auc", cv=3).min() > 0.95


def test_settings_are_parameters():
    X, y = load_breast_cancer(return_X_y=True)
    named = RankingClassifier("soap", lr=0.05, steps=200)
    assert named.get_params()["lr"] == 0.05 and clone(named).lr == 0.05
    beside = RankingClassifier("soap", settings={"lr": 0.05}, steps=200)
    assert np.array_equal(named.fit(X, y).decision_function(X), beside.fit(X, y).decision_function(X))
    for name in ("lr", "settings__lr"):
        search = GridSearchCV(RankingClassifier("soap", steps=200), {name: [1e-9, 0.05]}, scoring="roc_auc", cv=2).fit(X, y)
        assert search.best_estimator_.lr == search.best_params_[name] and len(set(search.cv_results_["mean_test_score"])) == 2
    for name, text in [("learning_rate", "is called lr here"), ("n_jobs", "no counterpart"), ("schedul", "did you mean schedule"), ("metod", "did you mean method"),
                       ("seed", "is called random_state"), ("verbose", "is called progress in undercurve.train, and is not there"), ("preset", "no argument")]:
        with pytest.raises(ValueError, match=text):
            RankingClassifier(**{name: 1}).fit(X, y)
        with pytest.raises(ValueError, match=text):
            RankingClassifier().set_params(**{name: 1})


def test_coefficients_probabilities_and_labels_are_scikit_learns():
    X, y = load_breast_cancer(return_X_y=True)
    for labels in (y, np.where(y == 1, "benign", "malignant")):
        for threshold in (None, "fpr<=0.02"):
            found = RankingClassifier(dtype="float64", threshold=threshold).fit(X, labels)
            assert np.allclose(X @ found.coef_[0] + found.intercept_, found.decision_function(X), rtol=1e-9, atol=1e-9)
    assert found.coef_.shape == (1, 30)
    assert not hasattr(RankingClassifier(model="mlp:4", method="ce", steps=20).fit(X, y), "coef_")
    soft = VotingClassifier([("a", RankingClassifier()), ("b", LogisticRegression(max_iter=5000))], voting="soft").fit(X, y)
    assert soft.score(X, y) > 0.95
    with pytest.raises(AttributeError) as told:
        RankingClassifier("soap", steps=20, calibrate="none").fit(X, y).predict_proba(X)
    assert 'soap only ranks, and calibrate="none"' in str(told.value.__cause__)
    bad = RankingClassifier(pos_label="malignant").fit(X, labels)
    assert bad.model_.evaluate(X, labels == "malignant").auroc > 0.99 and set(bad.predict(X)) == {"benign", "malignant"}
    with pytest.raises(ValueError, match="pos_label: 'ill' is none of the labels, 'benign', 'malignant'"):
        RankingClassifier(pos_label="ill").fit(X, labels)


def test_weights_and_groups_are_routed():
    X, y = load_breast_cancer(return_X_y=True)
    groups, weights = np.where(X[:, 3] > np.median(X[:, 3]), "large", "small"), np.random.default_rng(0).random(len(y)) + 0.5
    with config_context(enable_metadata_routing=True):
        fair = RankingClassifier("sonex", constraints=["gap(fpr) <= 0.2"], steps=100).set_fit_request(groups=True)
        search = GridSearchCV(fair, {"steps": [100]}, cv=2).fit(X, y, groups=groups)
        assert search.best_estimator_.model_.about()["constraints"]
        scorer = pauc_scorer((0, 0.1)).set_score_request(sample_weight=True)
        plain = RankingClassifier().set_fit_request(sample_weight=True)
        scores = cross_validate(plain, X, y, scoring=scorer, cv=2, params={"sample_weight": weights})["test_score"]
        same = pauc_scorer((0, 0.1)).set_score_request(sample_weight=False)
        of_all = cross_validate(plain, X, y, scoring=same, cv=2, params={"sample_weight": weights})["test_score"]
    assert scores.min() > 0.8 and not np.allclose(scores, of_all, rtol=1e-9)


def test_frames_without_pandas_are_taken():
    rng = np.random.default_rng(0)
    town = rng.choice(["Bern", "Thun"], 400).tolist()
    y = (np.array(town) == "Thun") ^ (rng.random(400) < 0.2)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"town": town, "age": rng.integers(20, 80, 400)})
    found = RankingClassifier().fit(frame, y)
    assert list(found.feature_names_in_) == ["town", "age"] and found.score(frame, y) > 0.7


def test_probabilities_threshold_and_weights():
    X, y = load_breast_cancer(return_X_y=True)
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


def test_probabilities_are_of_rows_that_were_held_out():
    """Of noise they are the share of positives, where those of the training rows would say more."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 40)), (rng.random(300) < 0.3).astype(int)
    held = RankingClassifier("ap-exact").fit(X, y)
    own = RankingClassifier("ap-exact", calibrate="platt").fit(X, y)
    spread = [found.predict_proba(X)[:, 1].std() for found in (held, own)]
    assert spread[0] < 0.3 * spread[1], spread
    chance = held.predict_proba(X)[:, 1]
    assert abs(chance.mean() - y.mean()) < 0.03 and np.array_equal(chance >= 0.5, held.predict(X) == 1)
    rare = RankingClassifier("ap-exact").fit(X, np.arange(300) == 7)  # (One positive: no folds.)
    assert np.isfinite(rare.predict_proba(X)).all()


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
