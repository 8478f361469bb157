"""Converged logistic regression (liblinear through scikit-learn) on the splits of `cargo experiment annthyroid`.

    python3 tests/peers/liblinear_ce.py target/release/undercurve ../shared/data/annthyroid.csv.gz [SEEDS]

`undercurve prepare` writes each seed's split as `train` sees it. The best C of the grid is chosen by test AP: an
advantage for liblinear.
"""

import csv
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

GRID = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e6)


def read(path):
    with open(path, newline="") as file:
        rows = np.array(list(csv.reader(file))[1:], dtype=float)
    return rows[:, 1:], rows[:, 0].astype(int)


def main(program, data, seeds=8):
    warnings.simplefilter("error")  # a run that has not converged must not pass as one that has
    best = []
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.csv"), Path(folder, "test.csv")
        for seed in range(1, seeds + 1):
            subprocess.run(
                [program, "prepare", data, "--label", "label", "--positive", "1", "--split", "0.6",
                 "--seed", str(seed), "--train", train, "--test", test],
                check=True, stdout=subprocess.DEVNULL,
            )
            (x, y), (x_test, y_test) = read(train), read(test)
            aps = {}
            for c in GRID:
                model = LogisticRegression(C=c, solver="liblinear", tol=1e-8, max_iter=100_000).fit(x, y)
                aps[c] = average_precision_score(y_test, model.decision_function(x_test))
            c = max(aps, key=aps.get)
            best.append(aps[c])
            print(f"seed {seed}  best C {c:g}  AP {aps[c]:.4f}  all", *(f"{ap:.4f}" for ap in aps.values()))
    print(f"mean {statistics.mean(best):.4f} ±{statistics.stdev(best):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
