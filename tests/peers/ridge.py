"""Processor seconds of a ridge with a penalty that is given: ce-exact beside scikit-learn's solvers, in one run, to the same objective.

    python3 tests/peers/ridge.py [ROWS×COLUMNS …]      of the Python package that is found

Rows are drawn: normal columns that go together, standardised, a tenth or so positive. Each solver has one thread and the tolerance that scikit-learn's default and,
below, a hundredth of it; "above" is how far its objective is above the least that any found, as a share. Median of five, interleaved.
"""
import os
import sys
import time

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")})

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression

import undercurve

DECAY = 1e-5


def rows(count, cols):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(count, cols)) @ (0.3 * np.eye(cols) + rng.normal(size=(cols, cols)) / np.sqrt(cols))
    x = (x - x.mean(0)) / x.std(0)
    score = x @ (rng.normal(size=cols) / np.sqrt(cols)) * 2 - 4
    return x.astype(np.float32), (rng.random(count) < 1 / (1 + np.exp(-score))).astype(np.int64)


def objective(x, y, weights, bias):
    wrong = np.where(y == 1, -1, 1) * (x @ weights + bias)
    return np.logaddexp(0, wrong).mean() + DECAY / 2 * (weights @ weights)


def ours(x, y):
    model = undercurve.train(x, y, method="ce-exact", decay=DECAY, scale="none")
    params = model.params().astype(float)
    return params[:-1], params[-1]


def theirs(solver, tolerance):
    def fit(x, y):
        # (liblinear's penalty is on its bias, too, unless that is far scaled.)
        model = LogisticRegression(C=1 / (DECAY * len(y)), solver=solver, tol=tolerance, max_iter=10_000, intercept_scaling=1e3)
        model.fit(x, y)
        return model.coef_[0].astype(float), float(model.intercept_[0])

    return fit


def main():
    print(f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}, {DECAY:g} times half the squared norm")
    for shape in sys.argv[1:] or ["4000×10", "45850×22", "45850×100", "500000×22"]:
        count, cols = map(int, shape.split("×"))
        x, y = rows(count, cols)
        fits = {"ce-exact": ours}
        for solver in ("lbfgs", "newton-cholesky", "liblinear"):
            for tolerance in (1e-4, 1e-6):
                if solver != "liblinear" or count < 100_000:
                    fits[f"{solver} {tolerance:g}"] = theirs(solver, tolerance)
        seconds, found = {name: [] for name in fits}, {}
        for _ in range(5):
            for name, fit in fits.items():
                begun = time.process_time()
                found[name] = fit(x, y)
                seconds[name].append(time.process_time() - begun)
        values = {name: objective(x.astype(float), y, *model) for name, model in found.items()}
        least = min(values.values())
        print(f"\n{shape}, {y.mean():.3f} positive")
        for name in fits:
            print(f"  {name:22} {sorted(seconds[name])[2]:8.4f} s   above {values[name] / least - 1:.1e}")


if __name__ == "__main__":
    main()
