"""Seconds of scikit-learn's logistic regression to ||grad P||^2 <= 1e-10, as JSON lines.

The problem is that of `cargo experiment ai-sarah`: unit-length rows, a constant 1 appended and regularised like the
rest, lambda = 1/n, start at 0. A solver is called with one tolerance after the other until the gradient is small enough,
and the seconds of that last call alone are reported (median of three).

    python3 sklearn_logistic.py FOLDER [name ...]      FOLDER holds the LIBSVM files, name.svm.gz
"""
import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

GOAL = 1e-10
SOLVERS = ["liblinear", "saga", "lbfgs", "newton-cholesky"]


def gradient_norm_sq(x, y, w):
    n = x.shape[0]
    z = y * (x @ w)
    g = x.T @ (-y / (1 + np.exp(z))) / n + w / n
    return float(g @ g)


def main():
    warnings.filterwarnings("ignore")
    for name in sys.argv[2:] or ["w8a", "ijcnn1"]:
        x, y = load_svmlight_file(f"{sys.argv[1]}/{name}.svm.gz")
        x = sp.hstack([normalize(x), np.ones((x.shape[0], 1))], format="csr")
        y = np.where(y > 0, 1.0, -1.0)
        for solver in SOLVERS:
            for power in range(2, 13):
                fit = lambda: LogisticRegression(
                    C=1.0, fit_intercept=False, solver=solver, tol=10.0**-power, max_iter=5000, random_state=0
                ).fit(x, y)
                norm = gradient_norm_sq(x, y, fit().coef_[0])
                if norm <= GOAL:
                    break
            times = []
            for _ in range(3):
                begun = time.perf_counter()
                fit()
                times.append(time.perf_counter() - begun)
            print(json.dumps({
                "data": name, "solver": solver, "version": sklearn.__version__, "tol": 10.0**-power,
                "grad_norm_sq": norm, "reached": norm <= GOAL, "seconds": sorted(times)[1],
            }), flush=True)


if __name__ == "__main__":
    main()
