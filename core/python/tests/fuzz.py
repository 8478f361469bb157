"""Random calls: no crash, no other errors than of values and types, and no memory that grows.

    python fuzz.py [CALLS]     2,000 calls; --long makes a million
"""

import os
import pickle
import sys
import threading
import warnings

import numpy as np

import undercurve
from undercurve import Loss, _core

DTYPES = [np.float32, np.float64, np.float16, np.int8, np.int64, np.uint8, np.uint32, np.bool_, np.complex64, object, "U3", "M8[s]"]
SURROGATES = ["square", "squared-hinge", "hinge", "logistic", "sigmoid", "exponential", "smoothed-hinge", "ramp"]


def array(rng, n, label=False):
    """Something that may be an array of n numbers."""
    kind = rng.integers(12)
    values = rng.integers(0, 2, n) if label else rng.normal(size=n) * 10.0 ** rng.integers(-3, 30)
    if kind < 6:
        return values.astype(rng.choice([np.float32, np.float64])) if not label else values
    if kind == 6:
        return np.stack([values] * 3, axis=1)[:, rng.integers(3)]
    if kind == 7:
        return values[:: -1 if rng.random() < 0.5 else 2]
    if kind == 8:
        values = values.astype(float)
        values[rng.random(n) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -0.0, 5e-324])
        return values
    if kind == 9:
        with np.errstate(all="ignore"):
            return values.astype(DTYPES[rng.integers(len(DTYPES))])
    if kind == 10:
        memory = np.zeros(n * 8 + 3, np.uint8)[3:]
        memory = memory[: n * 8].view(np.float64)
        memory[:] = values
        return memory
    return [values.tolist(), values[None], None, "x", values[: n // 2], 3.5, {}, b"abc"][rng.integers(8)]


def call(rng, loss, model):
    n = int(rng.choice([0, 1, 2, 3, 17, 64, 300]))
    scores, labels = array(rng, n), array(rng, n, label=True)
    weights = array(rng, n) if rng.random() < 0.3 else None
    fpr = (0.0, 0.5) if rng.random() < 0.8 else tuple(rng.normal(size=2))
    kind = rng.integers(9)
    if kind < 3:
        loss.value_grad(scores, labels, weights)
    elif kind == 3:
        undercurve.metrics(scores, labels, weights, fpr=fpr)
    elif kind == 4:
        undercurve.curves(scores, labels, weights, points=None if rng.random() < 0.5 else int(rng.integers(0, 9)))
    elif kind == 5:
        names = ["auc", "ap", "pauc"]
        made = Loss(names[rng.integers(3)], surrogate=SURROGATES[rng.integers(8)], fpr=fpr)
        pickle.loads(pickle.dumps(made)).value_grad(scores, labels, weights)
    elif kind == 6:
        known = _core.methods()
        method = known[rng.integers(len(known))]["name"]
        made = _core.Estimator(method, int(rng.integers(0, 200)), int(rng.integers(0, 400)), [], fpr, bool(rng.integers(2)))
        state = np.zeros(made.state_len(400) + int(rng.random() < 0.1))
        aux = np.zeros(sum(made.aux))
        made.update(scores, labels, rng.integers(0, 420, n) if rng.random() < 0.8 else None, state, aux)
    elif kind == 7:
        table = {"a": scores, "b": array(rng, n), "label": labels}
        if rng.random() < 0.02:
            undercurve.train(table, method="soap", steps=3)
        else:
            undercurve.frames.table_of(table, [])
    else:
        model.scores(np.stack([np.resize(np.asarray(scores, float), 8)] * 2, axis=1))


def fuzz(calls, seed):
    rng = np.random.default_rng(seed)
    loss = Loss("ap")
    X = rng.normal(size=(50, 2))
    model = undercurve.train(X, X[:, 0] > 0, method="ce", steps=5)
    refused = 0
    for at in range(calls):
        try:
            call(rng, loss, model)
        except (ValueError, TypeError, OverflowError):
            refused += 1
        except BaseException:
            print(f"seed {seed}, call {at}")
            raise
    return refused


def resident():
    """Megabytes of memory of this process."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def main():
    warnings.simplefilter("ignore")
    calls = 1_000_000 if "--long" in sys.argv else next((int(one) for one in sys.argv[1:] if one.isdigit()), 2000)
    fuzz(calls // 10, 1)
    before = resident()
    found = {}
    threads = [threading.Thread(target=lambda seed=seed: found.update({seed: fuzz(calls * 9 // 40, seed)})) for seed in range(2, 6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    grown = resident() - before
    print(f"{calls} calls, {sum(found.values())} of the last {calls * 9 // 10} refused; memory {before:.0f} MB, grown by {grown:.0f} MB")
    if len(found) < 4 or grown > 60:
        sys.exit("a thread ended early, or memory grows")


if __name__ == "__main__":
    main()
