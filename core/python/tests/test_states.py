"""States merge to the metrics of all rows, to the last bit."""

import pickle
import threading

import numpy as np
import pytest

import undercurve


def same(found, want):
    assert found == want  # (floats to the last bit)


def test_any_split_gives_the_metrics_of_all_rows():
    rng = np.random.default_rng(1)
    for case in range(100):
        n = int(rng.integers(2, 2000))
        scores = np.round(rng.normal(size=n), int(rng.integers(0, 12))).astype(rng.choice([np.float32, np.float64]))
        labels = rng.random(n) < rng.choice([0.02, 0.3, 0.9])
        labels[:2] = [True, False]
        weights = np.round(rng.random(n), 2) if case % 3 == 0 else None
        part = rng.integers(0, rng.integers(1, 17), size=n)
        states = []
        for k in rng.permutation(part.max() + 2):  # (one is empty)
            rows = np.flatnonzero(part == k)
            rng.shuffle(rows)
            w = None if weights is None else weights[rows]
            states.append(pickle.loads(pickle.dumps(undercurve.State().update(scores[rows], labels[rows], w))))
        merged = undercurve.State().merge(*states)
        assert merged.rows == n
        assert merged.to_bytes() == undercurve.State().merge(*(state.to_bytes() for state in states[::-1])).to_bytes()
        if weights is None:
            gaps = undercurve.State.between(undercurve.State().update(scores[labels], labels[labels])).update(scores, labels)
            twice = undercurve.State().update(scores[labels], labels[labels]).merge(gaps.to_bytes())
            same(twice.metrics(), undercurve.metrics(scores, labels))
        fpr = (0.1 * rng.random(), 0.2 + 0.8 * rng.random())
        if weights is not None and not (weights[labels].any() and weights[~labels].any()):
            continue
        same(merged.metrics(fpr=fpr), undercurve.metrics(scores, labels, weights, fpr=fpr))
        found, want = merged.curves(points=20), undercurve.curves(scores, labels, weights, points=20)
        assert all(np.array_equal(getattr(found, name), getattr(want, name)) for name in ("fpr", "tpr", "precision", "recall"))
    want = undercurve.metrics(scores, labels, intervals=True)
    same(undercurve.State().update(scores, labels).metrics(intervals=True), want)


def test_what_does_not_fit_is_refused():
    state = undercurve.State().update([0.5, 0.1], [1, 0])
    before = state.to_bytes()
    for wrong in [([np.nan], [1]), ([0.1], [2]), ([0.1, 0.2], [1]), ([0.1], [1], [1.0])]:
        with pytest.raises(ValueError):
            state.update(*wrong)
    with pytest.raises(ValueError, match="damaged"):
        state.merge(before[:-1])
    with pytest.raises(ValueError, match="one class"):
        undercurve.State().update([0.5], [1]).metrics()
    assert state.to_bytes() == before and repr(state) == "State(2 rows)"
    assert state.merge(state).rows == 4


def test_threads_may_share_a_state():
    rng = np.random.default_rng(2)
    scores, labels = rng.normal(size=40_000), rng.random(40_000) < 0.1
    state = undercurve.State()
    parts = np.array_split(np.arange(40_000), 80)
    threads = [threading.Thread(target=lambda k=k: [state.update(scores[p], labels[p]) for p in parts[k::8]]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same(state.metrics(), undercurve.metrics(scores, labels))
