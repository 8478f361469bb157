#!/usr/bin/env python3
"""What `auto` claims of ten sets, against twenty further splits of each.

    python3 tests/peers/auto_sets.py UNDERCURVE [FOLDER]     # the program; where data sets and cards go

`auto` compares methods with cross-entropy on five folds of three quarters of the rows, and takes another one only where its 95 %
interval is above 0. Here `compare` draws four folds five times anew, with another seed: twenty splits that `auto` has not seen.
The claim is about one method: the one shipped or, where that is cross-entropy, the one that is furthest ahead of it. It is
contradicted where the interval of these splits lies wholly outside that of `auto`. The figures of the card are counted again from
the scores that `auto` writes.

Sets: those of ../shared/data (or $UNDERCURVE_SHARED/data), of scikit-learn and of statsmodels; a set that is not there is named and
left out. At most 1,000 rows of each, drawn once.
"""
import csv
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("UNDERCURVE_SHARED", HERE.parent.parent.parent / "shared")) / "data"
MOST = 1000


def shared(name, label, without=""):
    def read():
        path = SHARED / name
        if not path.exists():
            raise ImportError(f"{path} is not there")
        rows = list(csv.reader(gzip.open(path, "rt")))
        keep = [k for k, column in enumerate(rows[0]) if column not in without.split(",")]
        rows = [[row[k] for k in keep] for row in rows]
        return rows[0], rows[1:], label, None
    return read


def sklearn(name, positive=None):
    def read():
        from sklearn import datasets
        data = getattr(datasets, f"load_{name}")()
        target = [int(y == positive) if positive is not None else int(y) for y in data.target]
        names = [f"x{k}" for k in range(data.data.shape[1])]
        return [*names, "label"], [[*map(repr, map(float, x)), y] for x, y in zip(data.data, target)], "label", "1"
    return read


def statsmodels(name, label, positive):
    def read():
        import importlib
        frame = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
        if positive is None:  # more than nothing
            frame[label] = (frame[label] > 0).astype(int)
        elif not isinstance(positive, str):
            frame[label] = (frame[label] >= positive).astype(int)
        return list(frame.columns), frame.astype(str).values.tolist(), label, "1"
    return read


SETS = {
    "wine, class 2": sklearn("wine", 2),
    "breast cancer": sklearn("breast_cancer"),
    "fair": statsmodels("fair", "affairs", None),
    "anes96, vote": statsmodels("anes96", "vote", 1),
    "mammography": shared("mammography.csv.gz", "label"),
    "annthyroid": shared("annthyroid.csv.gz", "label"),
    "compas": shared("compas.csv.gz", "two_year_recid", "is_recid,decile_score,score_text"),
    "digits, 8": sklearn("digits", 8),
    "digits, 1": sklearn("digits", 1),
    "adult": shared("adult.train.csv.gz", "income"),
}


def run(*args):
    done = subprocess.run([str(arg) for arg in args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, args))}: {done.stderr}")
    return done.stdout


def auroc(rows):
    """By ranks, ties in the middle."""
    rows = sorted((score, label) for label, score in rows)
    rank, at, total = 0.0, 0, 0.0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end][0] == rows[at][0]:
            end += 1
        total += (at + end + 1) / 2 * sum(label for _, label in rows[at:end])
        at = end
    positives = sum(label for _, label in rows)
    return (total - positives * (positives + 1) / 2) / (positives * (len(rows) - positives))


def recounted(folder, told):
    """The figures of the rows set aside that are most easily counted otherwise: AUROC, recall and false alarms at the threshold."""
    rows = [row for row in csv.DictReader(open(folder / "scores.csv")) if row["part"] == "aside"]
    rows = [(int(row["label"]), float(row["score"])) for row in rows]
    share = lambda label: [score >= told["threshold"] for of, score in rows if of == label]
    mean = lambda found: sum(found) / len(found)
    own = {"auroc": auroc(rows), "recall": mean(share(1)), "fpr": mean(share(0))}
    return max(abs(own[name] - told["figures"][name]["value"]) for name in own)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    place = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "auto-sets")
    place.mkdir(parents=True, exist_ok=True)
    only = sys.argv[3:]
    print("| set | rows | shipped | claim: ahead in AP | 20 further splits | contradicted | card, largest error |")
    print("|---|---|---|---|---|---|---|", flush=True)
    wrong = 0
    for name, read in SETS.items():
        if only and name not in only:
            continue
        try:
            names, rows, label, positive = read()
        except ImportError as error:
            print(f"| {name} | left out: {error} ||||||", flush=True)
            continue
        random.Random(1).shuffle(rows)
        file = place / f"{name.replace(', ', '-').replace(' ', '-')}.csv"
        with open(file, "w", newline="") as out:
            csv.writer(out).writerows([names, *rows[:MOST]])
        options = ["--label", label, "--json", "--threads", 1]
        options += ["--positive", positive] if positive else []
        folder = file.with_suffix(".auto")
        told = json.loads(run(program, "auto", file, "--out", folder, *options))
        others = [one for one in told["compared"] if one["ahead"] is not None]
        shipped = [one for one in others if one["name"] == told["shipped"]]
        claim = shipped[0] if shipped else max(others, key=lambda one: one["ahead"])
        again = run(program, "compare", file, "--metric", told["metric"], "--methods", claim["name"], "--folds", 4,
                    "--repeats", 5, "--seed", 1001, *options)
        later = next(one for one in map(json.loads, again.splitlines()) if one.get("method") == claim["name"])
        (low, high), (before, after) = claim["interval"], later["interval"]
        bad = before > high or after < low
        shown = [f"{claim['name']} {claim['ahead']:+.4f} ({low:+.4f} to {high:+.4f})",
                 f"{later['ahead']:+.4f} ({before:+.4f} to {after:+.4f})"]
        wrong += bad
        print(f"| {name} | {len(rows[:MOST])} | {told['shipped']} | {shown[0]} | {shown[1]} | {'YES' if bad else 'no'} "
              f"| {recounted(folder, told):.1e} |", flush=True)
    raise SystemExit(f"{wrong} claims are contradicted" if wrong else 0)


main()
