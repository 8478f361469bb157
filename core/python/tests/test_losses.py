"""Losses by double loops, by differences, by repeated rows, and from many threads."""

import concurrent.futures
import copy
import pickle

import numpy as np
import pytest

from undercurve import Loss

SURROGATES = {
    "square": lambda t: (1 - t) ** 2,
    "squared-hinge": lambda t: np.maximum(1 - t, 0) ** 2,
    "hinge": lambda t: np.maximum(1 - t, 0),
    "logistic": lambda t: np.logaddexp(0, -t),
    "sigmoid": lambda t: 1 / (1 + np.exp(2 * t)),
    "exponential": lambda t: np.exp(-t),
    "smoothed-hinge": lambda t: np.where(t >= 1, 0, np.where(t > 0, (1 - t) ** 2 / 2, 0.5 - t)),
    "ramp": lambda t: np.clip(1 - t, 0, 1),
}
PARAM = {"sigmoid": {"scale": 2.0}, "logistic": {"scale": 1.0}, "exponential": {"scale": 1.0}, "smoothed-hinge": {"smoothing": 1.0}}
KINDS = [("auc", {}), ("ap", {}), ("pauc", {"fpr": (0.1, 0.6)})]
CASES = [(kind, more, name) for kind, more in KINDS for name in SURROGATES if kind != "pauc" or name != "square"]


def made(kind, more, name):
    return Loss(kind, surrogate=name, **PARAM.get(name, {"margin": 1.0}), **more)


def naive(kind, more, name, scores, labels, weights):
    """The definition, as a double loop over the rows."""
    of = SURROGATES[name]
    p, q = scores[labels == 1], scores[labels == 0]
    v, w = weights[labels == 1], weights[labels == 0]
    if kind == "ap":
        every = of(p[:, None] - scores[None]) * weights
        return -(v * (every[:, labels == 1].sum(1) / every.sum(1))).sum() / v.sum()
    if kind == "pauc":
        low, high = (share * w.sum() for share in more["fpr"])
        order = np.argsort(-q, kind="stable")
        ends = np.cumsum(w[order])
        part = np.clip(np.minimum(ends, high) - np.maximum(ends - w[order], low), 0, None)
        w = np.zeros_like(w)
        w[order] = part
    return (v[:, None] * w[None] * of(p[:, None] - q[None])).sum() / (v.sum() * w.sum())


@pytest.mark.parametrize(("kind", "more", "name"), CASES)
def test_value_and_gradient(kind, more, name):
    rng = np.random.default_rng(1)
    loss = made(kind, more, name)
    for n in (12, 90):
        scores, labels = rng.normal(size=n), (np.arange(n) % 4 == 0).astype(int)
        for weights in (None, rng.random(n) + 0.1):
            w = np.ones(n) if weights is None else weights
            value, grad = loss.value_grad(scores, labels, weights)
            assert np.isclose(value, naive(kind, more, name, scores, labels, w), rtol=1e-10, atol=1e-13)
            step = 1e-6
            for row in range(0, n, 5):
                moved = np.eye(n)[row] * step
                slope = (loss.value(scores + moved, labels, weights) - loss.value(scores - moved, labels, weights)) / (2 * step)
                assert abs(grad[row] - slope) < 1e-6 * (1 + abs(slope)), (row, grad[row], slope)


@pytest.mark.parametrize(("kind", "more", "name"), CASES)
def test_weights_are_repeated_rows(kind, more, name):
    rng = np.random.default_rng(2)
    scores, labels = rng.normal(size=60), (np.arange(60) % 3 == 0).astype(int)
    times = rng.integers(0, 4, 60)
    loss = made(kind, more, name)
    value, grad = loss.value_grad(scores, labels, times)
    twin, each = loss.value_grad(np.repeat(scores, times), np.repeat(labels, times))
    assert np.isclose(value, twin, rtol=1e-12)
    assert np.allclose(grad, [part.sum() for part in np.split(each, np.cumsum(times)[:-1])], atol=1e-12)
    assert (grad[times == 0] == 0).all()


def test_types_copies_and_threads():
    rng = np.random.default_rng(3)
    loss = Loss("ap")
    scores, labels = rng.normal(size=5000), rng.random(5000) < 0.05
    value, grad = loss.value_grad(scores, labels)
    assert grad.dtype == np.float64 and loss.value_grad(scores.astype(np.float32), labels)[1].dtype == np.float32
    assert loss.value_grad(scores.astype(np.float16), labels)[1].dtype == np.float32
    for other in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):
        assert other == loss and hash(other) == hash(loss) and repr(other) == repr(loss)
        assert np.array_equal(other.value_grad(scores, labels)[1], grad)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found, by_row in pool.map(lambda _: loss.value_grad(scores, labels), range(64)):
            assert found == value and np.array_equal(by_row, grad)
    strided = np.stack([scores, scores], axis=1)[:, 1]
    assert np.array_equal(loss.value_grad(strided, labels)[1], grad)


def test_defaults_are_those_of_the_methods():
    import undercurve

    for kind in ("ap", "auc", "pauc"):
        params = {name: default for name, default, _ in next(m for m in undercurve.methods() if m["name"] == f"{kind}-exact")["params"]}
        told = Loss(kind)._core.arguments()
        assert told["surrogate"] == params["surrogate"]
        own = next(name for name in ("margin", "scale", "smoothing") if name in told)
        assert told[own] == float(params[own])
