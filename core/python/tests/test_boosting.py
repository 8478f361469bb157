"""Metrics of gradient boosting, in each library."""

import copy
import pickle

import numpy as np
import pytest

import undercurve
from undercurve.boosting import Metric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = (X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=600) > 1).astype(float)
W = RNG.random(600) + 0.1
METRIC = Metric("pauc", fpr=(0, 0.2))


def want(scores, weights=None):
    return undercurve.partial_auc(scores, Y[400:], weights, fpr=(0, 0.2))


def test_lightgbm():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    train = lightgbm.Dataset(X[:400], Y[:400], weight=W[:400])
    valid = lightgbm.Dataset(X[400:], Y[400:], weight=W[400:], reference=train)
    seen = {}
    model = lightgbm.train(
        {"objective": "binary", "metric": "none", "verbosity": -1, "num_threads": 1},
        train,
        30,
        valid_sets=[valid],
        feval=METRIC,
        callbacks=[lightgbm.record_evaluation(seen), lightgbm.early_stopping(5, verbose=False)],
    )
    found = seen["valid_0"]["pauc_0_0.2"]
    scores = model.predict(X[400:], raw_score=True, num_iteration=model.best_iteration)
    assert abs(max(found) - want(scores, W[400:])) < 1e-6 and model.best_iteration == int(np.argmax(found)) + 1


def test_scikit_learn_wrappers():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    model = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1, metric="none")
    model.fit(X[:400], Y[:400], eval_X=X[400:], eval_y=Y[400:], eval_metric=METRIC)
    assert abs(model.evals_result_["valid_0"]["pauc_0_0.2"][-1] - want(model.predict(X[400:], raw_score=True))) < 1e-6
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    with pytest.raises(TypeError, match="XGBClassifier would minimise it; xgboost.train"):
        xgboost.XGBClassifier(n_estimators=2, eval_metric=METRIC, n_jobs=1).fit(X, Y, eval_set=[(X, Y)], verbose=False)


def test_xgboost():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    train, valid = xgboost.DMatrix(X[:400], Y[:400]), xgboost.DMatrix(X[400:], Y[400:])
    seen = {}
    model = xgboost.train(
        {"objective": "binary:logistic", "disable_default_eval_metric": 1, "nthread": 1},
        train,
        20,
        evals=[(valid, "valid")],
        custom_metric=METRIC,
        evals_result=seen,
        verbose_eval=False,
    )
    assert abs(seen["valid"]["pauc_0_0.2"][-1] - want(model.predict(valid))) < 1e-6


def test_catboost():
    catboost = pytest.importorskip("catboost", reason="catboost is not installed")
    model = catboost.CatBoostClassifier(
        iterations=20, eval_metric=METRIC, verbose=False, thread_count=1, allow_writing_files=False, use_best_model=False
    )
    model.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:]))
    found = model.get_evals_result()["validation"]["Metric"]
    assert abs(found[-1] - want(model.predict(X[400:], prediction_type="RawFormulaVal"))) < 1e-6


def test_copies_and_wrong_ones():
    for twin in (copy.deepcopy(METRIC), pickle.loads(pickle.dumps(METRIC))):
        assert repr(twin) == repr(METRIC) and twin.value(X[:, 0], Y) == METRIC.value(X[:, 0], Y)
    assert np.isnan(Metric("auc").value(X[:5, 0], np.zeros(5)))
    for more in ({"kind": "roc"}, {"kind": "pauc", "fpr": (1, 0)}):
        with pytest.raises(ValueError, match="expected"):
            Metric(**more)
