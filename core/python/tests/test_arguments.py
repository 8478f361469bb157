"""Nothing of the caller's is changed: every argument of every function is the same afterwards."""

import inspect
import pickle

import numpy as np
import pytest

import undercurve
from undercurve import sklearn as ours

N = 120
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0.5).astype(int)
S = X[:, 0].copy()
W = RNG.integers(1, 5, N).astype(float)
G = np.where(np.arange(N) % 3 == 0, "p", "q")
QUICK = {"method": "ce", "steps": 20}


def sparse():
    """Rows whose columns are in no order, one of them twice."""
    scipy = pytest.importorskip("scipy.sparse")
    starts = np.arange(0, 3 * N + 1, 3)
    columns = np.tile([2, 0, 2], N)
    return scipy.csr_matrix((RNG.random(3 * N), columns, starts), shape=(N, 3))


def frame():
    table = {"a": S, "town": ["Bern", "Thun", None] * (N // 3), "label": Y}
    return pytest.importorskip("pandas").DataFrame(table)


def frozen(value):
    """What is in a value: the bytes of arrays, and of frames what pickles have."""
    if hasattr(value, "indptr"):
        return [value.data.tobytes(), value.indices.tobytes(), value.indptr.tobytes()]
    if isinstance(value, np.ndarray):
        return [value.tobytes(), value.strides, value.flags.writeable]
    if isinstance(value, dict):
        return [(name, frozen(of)) for name, of in value.items()]
    if isinstance(value, (list, tuple)):
        return [frozen(of) for of in value]
    return pickle.dumps(value)


MODEL = undercurve.train(X, Y, threshold="youden", **QUICK)
TABLE = {"a": S, "town": np.array(["Bern", "Thun"] * (N // 2), object), "label": Y}
CALLS = [
    (undercurve.train, lambda: ((X, Y), {"weights": W, "class_weight": {0: 1.0, 1: 3.0}, "valid": 0.3, **QUICK})),
    (undercurve.train, lambda: ((X, Y), {"groups": G, "constraints": ["gap(tpr) <= 0.5"], "method": "sonex", "steps": 9})),
    (undercurve.train, lambda: ((sparse(), Y), QUICK)),
    (undercurve.train, lambda: ((frame(),), {"missing": "impute", "categorical": ["town"], "ignore": [], **QUICK})),
    (undercurve.train, lambda: ((TABLE,), {"test": TABLE, **QUICK})),
    (undercurve.train(sparse(), Y, **QUICK).scores, lambda: ((sparse(),), {})),
    (undercurve.train(TABLE, **QUICK).scores, lambda: ((TABLE,), {})),
    (MODEL.probabilities, lambda: ((X,), {})),
    (MODEL.decide, lambda: ((X,), {})),
    (MODEL.with_threshold, lambda: (("f1", X, Y), {})),
    (MODEL.evaluate, lambda: ((X, Y, W), {})),
    (undercurve.metrics, lambda: ((S, Y, W), {})),
    (undercurve.compare, lambda: ((S, X[:, 0].copy(), Y), {})),
    (undercurve.auroc, lambda: ((S, Y, W), {})),
    (undercurve.average_precision, lambda: ((S, Y, W), {})),
    (undercurve.partial_auc, lambda: ((S, Y, W), {})),
    (undercurve.curves, lambda: ((S, Y, W), {})),
    (undercurve.Loss("ap").value_grad, lambda: ((S, Y, W), {})),
    (undercurve.decide, lambda: ((S, Y, "fpr<=0.2"), {})),
    (undercurve.ColumnStats, lambda: ((TABLE,), {})),
    (undercurve.ColumnStats(TABLE).preparation().encode, lambda: ((TABLE,), {})),
    (ours.RankingClassifier(method="ce", steps=20).fit, lambda: ((X, Y, W), {})),
    (ours.RankingClassifier(method="ce", steps=20).fit, lambda: ((sparse(), Y), {})),
    (ours.RankingClassifier(method="ce", steps=20).fit(X, Y).predict, lambda: ((X,), {})),
]


@pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
@pytest.mark.parametrize("row", range(len(CALLS)))
def test_arguments_are_what_they_were(row):
    function, make = CALLS[row]
    args, options = make()
    before = frozen(args), frozen(options)
    function(*args, **options)
    assert (frozen(args), frozen(options)) == before, function
    # Memory that nobody may write to will do.
    for one in args:
        if isinstance(one, np.ndarray) and all(isinstance(other, np.ndarray) for other in args):
            one = one.copy()
            one.flags.writeable = False
            function(*(one if other.shape == one.shape and np.array_equal(other, one) else other for other in args), **options)


def test_every_function_of_rows_is_called():
    known = {function for function, _ in CALLS}
    functions = {getattr(undercurve, name) for name in undercurve.__all__ if inspect.isroutine(getattr(undercurve, name))}
    # (A search takes seconds: its rows are in test_search.py.)
    assert functions - known == {undercurve.load, undercurve.methods, undercurve.auto}


def test_rows_that_share_their_arrays_keep_them():
    one = sparse()
    other = pytest.importorskip("scipy.sparse").csr_matrix((one.data, one.indices, one.indptr), shape=one.shape)
    before = other.toarray()
    model = undercurve.train(one, Y, **QUICK)
    model.scores(one)
    assert np.array_equal(other.toarray(), before)
