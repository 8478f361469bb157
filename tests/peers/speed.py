"""The works of `cargo experiment speed` by other libraries of Python: asked for a work a line, answers with the seconds of one call.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy scikit-learn numba polars pandas pyarrow duckdb torch
    cargo experiment speed --python /tmp/peers/bin/python

What is not installed has no works. One thread; where a work would take too long it answers with null.
"""
import functools
import importlib
import json
import os
import sys
import time

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")})

import numpy as np

LEAST = 2e-3
WORKS = {}


def timed(call):
    calls = 1
    while True:
        begun = time.perf_counter()
        for _ in range(calls):
            call()
        seconds = time.perf_counter() - begun
        if seconds >= LEAST:
            return seconds / calls
        calls *= 4


def work(group, name, *modules, most=None):
    """Registers what makes a call of the request, if its modules are there."""
    def register(make):
        try:
            version = importlib.import_module(modules[0]).__version__
            for module in modules[1:]:
                importlib.import_module(module)
        except ImportError:
            return make
        title = f"{name} ({modules[0]} {version.split('+')[0]})"
        WORKS.setdefault(group, {})[title] = lambda asked: timed(make(asked)) if most is None or asked["rows"] <= most else None
        return make
    return register


@functools.lru_cache(maxsize=1)
def rows_of(folder, rows):
    return np.fromfile(f"{folder}/{rows}.f32", np.float32), np.fromfile(f"{folder}/{rows}.u8", np.uint8)


def rows(asked):
    return rows_of(asked["folder"], asked["rows"])


@work("sums", "one sort of the scores, S", "numpy")
def _(asked):
    scores, _ = rows(asked)
    return lambda: np.sort(scores)


@work("sums", "AUROC and AP", "sklearn", "sklearn.metrics")
def _(asked):
    from sklearn.metrics import average_precision_score, roc_auc_score
    scores, labels = rows(asked)
    return lambda: (roc_auc_score(labels, scores), average_precision_score(labels, scores))


@work("sums", "AUROC and AP, a loop over an argsort", "numba")
def _(asked):
    import numba

    @numba.njit
    def both(scores, labels):
        order = np.argsort(scores)[::-1]
        above = wins = ties = seen = 0
        ap, at = 0.0, 0
        while at < len(order):
            last, positives, negatives = at, 0, 0
            while last < len(order) and scores[order[last]] == scores[order[at]]:
                positives += labels[order[last]]
                negatives += 1 - labels[order[last]]
                last += 1
            wins += above * negatives
            ties += positives * negatives
            above += positives
            seen += positives + negatives
            ap += positives * above / seen
            at = last
        return (wins + ties / 2) / (above * (len(order) - above)), ap / above

    scores, labels = rows(asked)
    labels = labels.astype(np.int64)
    both(scores, labels)
    return lambda: both(scores, labels)


@work("sums", "AP, by expressions", "polars")
def _(asked):
    import polars as pl
    scores, labels = rows(asked)
    frame = pl.DataFrame({"s": scores, "y": labels.astype(np.float64)})

    def ap():
        ranked = frame.lazy().sort("s", descending=True).with_columns(tp=pl.col("y").cum_sum(), k=pl.int_range(1, pl.len() + 1))
        return ranked.filter(pl.col("y") == 1).select((pl.col("tp") / pl.col("k")).mean()).collect()
    return ap


def all_pairs(name, loss_of):
    """Of torch: a loss of the scores, of which rows are positive."""
    @work("sums", f"{name}, all pairs, with gradient", "torch", most=10_000)
    def _(asked):
        import torch
        torch.set_num_threads(1)
        numbers, labels = rows(asked)
        y = torch.from_numpy(labels == 1)
        return lambda: loss_of(torch.from_numpy(numbers).requires_grad_(), y).backward()


def ap(s, y):
    shares = (s[None, :] - s[y][:, None]).sigmoid()
    return -(shares[:, y].sum(1) / shares.sum(1)).mean()


all_pairs("AP, sigmoid", ap)
all_pairs("AUC, squared hinge", lambda s, y: (1 - (s[y][:, None] - s[~y][None, :])).relu().square().mean())


def ridge(solver, tolerance):
    @work("ridge, 45,850 x 22", f"{solver}, tolerance {tolerance:g}", "sklearn", "sklearn.linear_model")
    def _(asked):
        from sklearn.linear_model import LogisticRegression
        y = np.fromfile(f"{asked['folder']}/ridge.u8", np.uint8)
        x = np.fromfile(f"{asked['folder']}/ridge.f32", np.float32).reshape(len(y), -1)
        # (liblinear's penalty is on its bias, too, unless that is far scaled.)
        model = LogisticRegression(C=1 / (1e-5 * len(y)), solver=solver, tol=tolerance, max_iter=10_000, intercept_scaling=1e3)
        return lambda: model.fit(x, y)


for solver in ("lbfgs", "newton-cholesky", "liblinear"):
    for tolerance in (1e-4, 1e-6):
        ridge(solver, tolerance)


@work("step, 32-64-64-1", "cross-entropy, Adam", "torch")
def _(asked):
    import torch
    torch.set_num_threads(1)
    x, y = torch.randn(64, 32), (torch.arange(64) % 8 == 0).float()
    layers = [torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)]
    net, loss = torch.nn.Sequential(*layers), torch.nn.BCEWithLogitsLoss()
    rule = torch.optim.Adam(net.parameters())

    def step():
        rule.zero_grad()
        loss(net(x)[:, 0], y).backward()
        rule.step()
    return step


def reading(name, *modules):
    return work("reading, 143,024 x 11", name, *modules)


@reading("read_csv", "polars")
def _(asked):
    import polars
    return lambda: polars.read_csv(f"{asked['folder']}/reading.csv")


@reading("read_csv", "pandas")
def _(asked):
    import pandas
    return lambda: pandas.read_csv(f"{asked['folder']}/reading.csv")


@reading("read_csv", "pyarrow", "pyarrow.csv")
def _(asked):
    from pyarrow import csv
    return lambda: csv.read_csv(f"{asked['folder']}/reading.csv", read_options=csv.ReadOptions(use_threads=False))


@reading("read_csv", "duckdb")
def _(asked):
    import duckdb
    duckdb.sql("SET threads = 1")
    return lambda: duckdb.sql(f"FROM read_csv('{asked['folder']}/reading.csv')").fetchnumpy()


def main():
    print(json.dumps({group: list(works) for group, works in WORKS.items()}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        seconds = next(works[asked["work"]] for works in WORKS.values() if asked["work"] in works)(asked)
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
