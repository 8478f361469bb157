"""Tables at the edges: what training ends with, how long it takes, and how much memory.

    python3 tests/peers/extremes.py FOLDER PROGRAM [PROGRAM ...]

Makes the tables in FOLDER (some 700 MB) where they are not there yet, and prints a row for each table, method and program: how it ended, AUROC and average
precision on test rows, seconds, largest resident megabytes. With CSR: that as a multiple of 8 bytes for each number that is not 0. Needs NumPy.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROWS = {"20 positives": 2000, "half positive": 4000, "separable": 4000, "random labels": 4000, "1,000,000 x 30": 1_000_000,
        "100,000 sparse columns": 100_000, "10,000 categories": 100_000, "10,000 x 3,471": 10_000}
# Rows that train; the others are tested.
SHARE = 0.6


def linear(rng, rows, columns, share, noise=1.0):
    """Scores of a linear model with normal noise; the largest are positive."""
    x = rng.standard_normal((rows, columns))
    score = x @ rng.standard_normal(columns) / np.sqrt(columns) + noise * rng.standard_normal(rows)
    return x, (score > np.quantile(score, 1 - share)).astype(int)


def csv(path, x, y):
    header = ",".join([f"x{at}" for at in range(x.shape[1])] + ["y"])
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header=header, comments="", fmt=["%.5g"] * x.shape[1] + ["%d"])


def make(name, path, rng):
    """Writes the table; numbers that are not 0, for sparse ones."""
    rows = ROWS[name]
    if name == "20 positives":
        csv(path, *linear(rng, rows, 20, 20 / rows))
    elif name == "half positive":
        csv(path, *linear(rng, rows, 20, 0.5))
    elif name == "separable":
        csv(path, *linear(rng, rows, 20, 0.1, noise=0.0))
    elif name == "random labels":
        x, y = linear(rng, rows, 20, 0.1)
        csv(path, x, rng.permutation(y))
    elif name == "1,000,000 x 30":
        csv(path, *linear(rng, rows, 30, 0.05))
    elif name == "10,000 x 3,471":
        x, y = linear(rng, rows, 3471, 0.1)
        csv(path, np.where(np.abs(x) > 1.5, x, 0.0), y)
    elif name == "100,000 sparse columns":
        columns, held = 100_000, 50
        weights = rng.standard_normal(columns)
        with path.open("w") as out:
            for _ in range(rows):
                at = np.unique(np.minimum(rng.zipf(1.3, held), columns) - 1)
                score = weights[at].sum() / np.sqrt(len(at)) + rng.standard_normal()
                out.write(f"{1 if score > 1.6 else -1} " + " ".join(f"{column + 1}:1" for column in at) + "\n")
    else:
        effect = rng.standard_normal(10_000)
        x, category = rng.standard_normal((rows, 3)), rng.integers(0, 10_000, rows)
        y = effect[category] + x @ [1.0, -1.0, 0.5] + rng.standard_normal(rows) > 2.5
        with path.open("w") as out:
            out.write("a,b,c,shop,y\n")
            for row, shop, label in zip(x, category, y):
                out.write(f"{row[0]:.4f},{row[1]:.4f},{row[2]:.4f},s{shop},{int(label)}\n")


def nonzeros(path):
    with path.open() as rows:
        return sum(line.count(":") for line in rows)


def call(*command):
    """The program's output, its exit code, seconds and largest resident bytes."""
    code = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(done.returncode)")
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True)
    lines = done.stderr.strip().splitlines()
    return done.stdout, lines[:-1], done.returncode, time.perf_counter() - start, int(lines[-1]) * 1024


def row(name, path, program, what, common):
    verb = ["compare"] if what == "compare" else ["train", "--method", what, "--seed", "1", "--json"]
    split = ["--metric", "ap", "--folds", "3"] if what == "compare" else ["--split", str(SHARE)]
    out, said, code, seconds, bytes_ = call(program, verb[0], path, *common, *split, *verb[1:])
    figures = "–"
    if code == 0 and what != "compare":
        test = json.loads(out.strip().splitlines()[-1])["test"]
        figures = f"{test['auroc']:.3f}, {test['ap']:.3f}"
    ended = "ended" if code == 0 else f"exit code {code}"
    notes = [line for line in said if line.startswith(("warning", "error"))]
    memory = f"{bytes_ / 1e6:.0f}"
    if path.suffix == ".svm":
        memory += f" ({bytes_ / (8 * SPARSE[path]):.1f} CSR)"
    print(f"| {name} | {what} | {ended}{': ' + notes[0][:140] if notes else ''} | {figures} | {seconds:.1f} | {memory} |", flush=True)


SPARSE = {}


def main():
    folder, programs = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(exist_ok=True)
    for program in programs:
        print(f"\n`{Path(program).name}`\n\n| table | method | end | test AUROC, AP | seconds | MB |\n|---|---|---|---|---|---|")
        for name in ROWS:
            path = folder / (name.replace(" ", "-").replace(",", "") + (".svm" if "sparse" in name else ".csv"))
            if not path.exists():
                make(name, path, np.random.default_rng(len(name)))
            common = []
            if path.suffix == ".svm":
                SPARSE[path] = SPARSE.get(path) or nonzeros(path)
            else:
                common = ["--label", "y", *(["--categorical", "shop"] if "categories" in name else [])]
            for what in ["compare"] if name == "10,000 x 3,471" else ["ce", "soap", "ap-exact"]:
                row(name, path, program, what, common)


if __name__ == "__main__":
    main()
