"""Seconds and peak memory of reading a file, training on it and predicting, with test AP, beside scikit-learn and XGBoost.

    cargo build --release -p undercurve-demo
    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install -r tests/peers/requirements.txt
    /tmp/peers/bin/python tests/peers/files.py target/release/undercurve [--dense 1000000] [--sparse 100000]

Writes its data to a folder that it removes: dense CSV of 30 normal columns, the logit linear with two products; sparse LIBSVM of
as many columns as rows with 60 values a row, columns by a power law, the logit linear. Each run is a process of its own, one
after the other; peak memory is the process's (VmHWM), with its interpreter. Prints a Markdown table.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

COLUMNS = 30
VALUES = 60


def make(kind, path, rows, columns, seed):
    import numpy as np

    (dense if kind == "dense" else sparse)(path, int(rows), int(columns), np.random.default_rng(int(seed)))


def dense(path, rows, _, rng):
    import numpy as np

    weights = np.random.default_rng(1).standard_normal(COLUMNS) / 4
    with open(path, "w") as out:
        out.write(",".join(f"x{k}" for k in range(COLUMNS)) + ",label\n")
        for start in range(0, rows, 50_000):
            x = rng.standard_normal((min(50_000, rows - start), COLUMNS))
            logit = x @ weights + 0.5 * x[:, 0] * x[:, 1] + 0.5 * x[:, 2] * x[:, 3] - 4
            y = rng.random(len(x)) < 1 / (1 + np.exp(-logit))
            np.savetxt(out, np.column_stack([x, y]), fmt=["%.6g"] * COLUMNS + ["%d"], delimiter=",")


def sparse(path, rows, width, rng):
    import numpy as np

    weights = np.random.default_rng(1).standard_normal(width)
    with open(path, "w") as out:
        for _ in range(rows):
            columns = np.unique((width ** rng.random(VALUES)).astype(int) - 1)
            values = rng.random(len(columns)).round(4)
            y = rng.random() < 1 / (1 + np.exp(4 - 0.6 * values @ weights[columns]))
            pairs = " ".join(f"{c + 1}:{v}" for c, v in zip(columns, values))
            out.write(f"{int(y)} {pairs}\n")


def peer(name, kind, train, test):
    """Trains and predicts in this process; prints seconds and writes scores."""
    import numpy as np

    def read(path, columns=None):
        if kind == "dense":
            import pandas

            table = pandas.read_csv(path, dtype=np.float32)
            return table.drop(columns="label").to_numpy(), table["label"].to_numpy()
        from sklearn.datasets import load_svmlight_file

        rows, labels = load_svmlight_file(path, dtype=np.float32, n_features=columns)
        # (SAGA takes no other.)
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return rows, labels

    clock = time.perf_counter()
    x, y = read(train)
    seconds = {"read": time.perf_counter() - clock}
    clock = time.perf_counter()
    if name.startswith("XGBoost"):
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=100, tree_method="hist")
        score = lambda rows: model.predict_proba(rows)[:, 1]
    else:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import Normalizer, StandardScaler

        solver = name.split()[-1]
        scale = StandardScaler(copy=False) if kind == "dense" else Normalizer(copy=False)
        model = make_pipeline(scale, LogisticRegression(solver=solver, max_iter=200))
        score = lambda rows: model.decision_function(rows)
    model.fit(x, y)
    seconds["train"] = time.perf_counter() - clock
    columns = x.shape[1]
    del x, y
    clock = time.perf_counter()
    scores = score(read(test, columns)[0])
    seconds["predict"] = time.perf_counter() - clock
    np.savetxt("scores", scores)
    print(json.dumps(seconds))


def run(command, folder):
    """What a process prints, its seconds and its peak memory in MB."""
    clock = time.perf_counter()
    with open(os.path.join(folder, "out"), "wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - clock
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit status {status}")
    with open(os.path.join(folder, "out")) as out:
        return out.read(), seconds, usage.ru_maxrss / 1000


def precision(kind, test):
    import numpy as np
    from sklearn.metrics import average_precision_score

    at, delimiter = (-1, ",") if kind == "dense" else (0, " ")
    with open(test) as lines:
        labels = [int(line.split(delimiter)[at]) for line in lines if line[0] != "x"]
    print(average_precision_score(labels, np.loadtxt("scores")))


def ours(program, method, train, test, folder):
    fit = [program, "train", train, "--method", method, "--out", "model", "--json"]
    text, whole, peak = run(fit, folder)
    seconds = {"train": json.loads(text.splitlines()[-1])["seconds"]}
    seconds["read"] = whole - seconds["train"]
    text, seconds["predict"], _ = run([program, "predict", "model", test], folder)
    with open(os.path.join(folder, "scores"), "w") as scores:
        scores.writelines(line.split(",")[0] + "\n" for line in text.splitlines()[1:])
    return seconds, peak


def main():
    # (This process itself stays small: what it was counts in the peak of those that it starts.)
    own = {"--peer": peer, "--precision": precision, "--make": make}.get(sys.argv[1])
    if own:
        return own(*sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--dense", type=int, default=1_000_000)
    parser.add_argument("--sparse", type=int, default=100_000)
    parser.add_argument("--solvers", default="lbfgs,saga")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    print(f"{platform.machine()}, {os.cpu_count()} processors")
    for kind, rows in [("dense", args.dense), ("sparse", args.sparse)]:
        columns = COLUMNS if kind == "dense" else rows
        with tempfile.TemporaryDirectory() as folder:
            end = "csv" if kind == "dense" else "svm"
            train, test = f"train.{end}", f"test.{end}"
            itself = [sys.executable, os.path.abspath(__file__)]
            run([*itself, "--make", kind, train, str(rows), str(columns), "2"], folder)
            run([*itself, "--make", kind, test, str(rows // 4), str(columns), "3"], folder)
            size = os.path.getsize(os.path.join(folder, train)) / 1e6
            print(f"\n{rows} × {columns}, {kind}, {size:.0f} MB of text; test {rows // 4} rows\n")
            print("| | read, s | train, s | read and predict, s | peak, MB | test AP |\n|---|---|---|---|---|---|", flush=True)
            names = [f"undercurve {method}" for method in ("ce", "soap")]
            names += [f"scikit-learn {solver}" for solver in args.solvers.split(",")] + ["XGBoost, 100 trees"]
            for name in names:
                if name.startswith("undercurve"):
                    seconds, peak = ours(program, name.split()[1], train, test, folder)
                else:
                    text, _, peak = run([*itself, "--peer", name, kind, train, test], folder)
                    seconds = json.loads(text)
                cells = [f"{seconds[part]:.1f}" for part in ("read", "train", "predict")]
                ap = float(run([*itself, "--precision", kind, test], folder)[0])
                print(f"| {name} | {' | '.join(cells)} | {peak:.0f} | {ap:.4f} |", flush=True)


if __name__ == "__main__":
    main()
