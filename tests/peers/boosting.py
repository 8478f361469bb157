"""Boosted trees by log loss, by log loss with class weights, and by exact AP (boosted.py), on real tables.

    pip install lightgbm xgboost catboost numpy pandas scikit-learn scipy      # and undercurve
    python3 tests/peers/tables.py fetch --to FOLDER/packages
    python3 tests/peers/boosting.py run --packages FOLDER/packages --data ../shared/data --out FOLDER/boosting.jsonl
    python3 tests/peers/boosting.py show --out FOLDER/boosting.jsonl

The tables and splits are those of tables.py. A fifth of the training rows chooses, in AP, among the learning rates of an arm and up to 300 trees (100 of
CatBoost); the figures are of the test rows. `run` goes on where it was stopped. `show` prints the table of tests/results/boosting.md.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import tables
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from boosted import Objective

# (CatBoost, which is the slowest, has fewer.)
TREES, PATIENCE = {"LightGBM": 300, "XGBoost": 300, "CatBoost": 100}, 40
# Rates: an objective with steps of bounded size takes larger ones.
RATES = {"log loss": (0.05, 0.2), "class weight": (0.05, 0.2), "ap": (0.3, 1.0), "auc": (0.3, 1.0)}


class Kept:
    """The scores of validation and test rows at the tree with the best AP of the validation rows."""

    def __init__(self, y):
        self.y, self.ap, self.trees, self.scores = y, -1.0, 0, None

    def choose(self, trees, valid, test):
        """Whether to go on."""
        ap = average_precision_score(self.y, valid)
        if ap > self.ap:
            self.ap, self.trees, self.scores = ap, trees, test
        return trees < self.trees + PATIENCE


def lightgbm(fit, valid, test, loss, rate):
    import lightgbm

    params = {"verbosity": -1, "num_threads": 1, "learning_rate": rate, "num_leaves": 15, "min_data_in_leaf": 5, "metric": "none", "seed": 0}
    params |= {"objective": "none" if loss in ("ap", "auc") else "binary"}
    params |= {"scale_pos_weight": (fit[1] == 0).sum() / fit[1].sum()} if loss == "class weight" else {}
    model = lightgbm.Booster(params, lightgbm.Dataset(*fit))
    for tree in range(TREES["LightGBM"]):
        done = model.update(fobj=Objective(loss)) if loss in ("ap", "auc") else model.update()
        yield tree + 1, *(model.predict(x, raw_score=True, start_iteration=tree, num_iteration=1) for x in (valid, test))
        if done:
            return


def xgboost(fit, valid, test, loss, rate):
    import xgboost

    params = {"nthread": 1, "eta": rate, "max_depth": 4, "seed": 0, "objective": "binary:logistic", "base_score": 0.5}
    params |= {"scale_pos_weight": float((fit[1] == 0).sum() / fit[1].sum())} if loss == "class weight" else {}
    rows, others = xgboost.DMatrix(*fit), [xgboost.DMatrix(x) for x in (valid, test)]
    model = xgboost.Booster(params, [rows])
    for tree in range(TREES["XGBoost"]):
        if loss in ("ap", "auc"):
            model.update(rows, tree, fobj=Objective(loss))
        else:
            model.update(rows, tree)
        yield tree + 1, *(model.predict(x, output_margin=True, iteration_range=(tree, tree + 1)) for x in others)


def catboost(fit, valid, test, loss, rate):
    import catboost

    more = {"scale_pos_weight": float((fit[1] == 0).sum() / fit[1].sum())} if loss == "class weight" else {}
    if loss in ("ap", "auc"):
        more |= {"eval_metric": "Logloss", "loss_function": Objective(loss), "leaf_estimation_method": "Newton"}
    model = catboost.CatBoostClassifier(iterations=TREES["CatBoost"], learning_rate=rate, depth=5, verbose=False, thread_count=1, random_seed=0, allow_writing_files=False, **more)
    model.fit(*fit)
    staged = [list(model.staged_predict(x, prediction_type="RawFormulaVal")) for x in (valid, test)]
    before = [0.0, 0.0]
    for tree, now in enumerate(zip(*staged)):
        yield tree + 1, *(a - b for a, b in zip(now, before))
        before = now


PACKAGES = {"LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost}


def sets(args):
    for name, rows in tables.tables(args.packages, args.data, args.rows):
        if not args.only or name in args.only.split(","):
            yield name, rows


def run(args):
    warnings.filterwarnings("ignore")
    known = {tuple(json.loads(line)[k] for k in ("set", "split", "package", "loss")) for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    with args.out.open("a") as out:
        for split in range(1, args.splits + 1):
            for name, rows in sets(args):
                train, test = tables.parts(rows, split)
                if test.y.sum() < tables.FEWEST:
                    continue
                x = [pd.get_dummies(part.drop(columns="y"), dtype=float) for part in (train, test)]
                x[1] = x[1].reindex(columns=x[0].columns, fill_value=0.0)
                x = [part.to_numpy(float) for part in x]
                fit, valid = train_test_split(np.arange(len(train)), test_size=0.2, stratify=train.y, random_state=split)
                y = train.y.to_numpy()
                for package in args.packages_of.split(","):
                    for loss in args.losses.split(","):
                        if (name, split, package, loss) in known:
                            continue
                        start, found = time.process_time(), []
                        for rate in RATES[loss]:
                            kept, of = Kept(y[valid]), [0.0, 0.0]
                            for trees, *parts in PACKAGES[package]((x[0][fit], y[fit]), x[0][valid], x[1], loss, rate):
                                of = [a + np.asarray(b, float) for a, b in zip(of, parts)]
                                if not kept.choose(trees, *of):
                                    break
                            found.append((kept.ap, kept.trees, rate, kept.scores))
                        ap, trees, rate, scores = max(found, key=lambda one: one[0])
                        line = {"set": name, "split": split, "package": package, "loss": loss, "values": tables.figures(test.y, scores), "valid": ap,
                                "trees": trees, "rate": rate, "seconds": time.process_time() - start, "rows": len(rows), "positives": int(rows.y.sum())}
                        print(json.dumps(line), file=out, flush=True)
                print(split, name, file=sys.stderr, flush=True)


def show(args):
    runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    value = {(r["set"], r["package"], r["loss"], r["split"]): r["values"] for r in runs}
    losses = args.losses.split(",")
    for package in PACKAGES:
        full = {}
        for name in dict.fromkeys(r["set"] for r in runs):
            splits = sorted({s for n, p, _, s in value if (n, p) == (name, package) and all((name, package, loss, s) in value for loss in losses)})
            full |= {name: splits} if splits else {}
        if not full:
            continue
        print(f"\n{package}: {len(full)} sets, {min(map(len, full.values()))} to {max(map(len, full.values()))} splits\n")
        print("| loss | AP | ahead of log loss in AP [95 % over sets] | beyond noise: ahead, behind | in AUROC | in pAUC [0, .05] | trees | seconds |\n|---|---|---|---|---|---|---|---|")
        for loss in losses:
            own = [r for r in runs if (r["package"], r["loss"]) == (package, loss)]
            apart = [[np.array([value[n, package, loss, s][k] - value[n, package, "log loss", s][k] for s in splits]) for n, splits in full.items()] for k in range(3)]
            ends = [tables.interval(values) for values in apart[0]]
            cells = [f"{m:+.4f} [{m - h:+.4f}, {m + h:+.4f}]" for m, h in (tables.over_sets([v.mean() for v in of]) for of in apart)]
            ap = np.mean([np.mean([value[n, package, loss, s][0] for s in splits]) for n, splits in full.items()])
            beyond = f"{sum(m > h for m, h in ends)}, {sum(-m > h for m, h in ends)}"
            print(f"| {loss} | {ap:.4f} | {cells[0]} | {beyond} | {cells[1]} | {cells[2]} | {np.median([r['trees'] for r in own]):.0f} | {np.median([r['seconds'] for r in own]):.1f} |")
    print("\n| set | rows | positives |", " | ".join(f"{p}: {loss}" for p in PACKAGES for loss in losses), "|\n|---|---|---|" + "---|" * (len(PACKAGES) * len(losses)))
    about = {r["set"]: r for r in runs}
    for name, r in about.items():
        cells = [[v[0] for (n, p, of, _), v in value.items() if (n, p, of) == (name, package, loss)] for package in PACKAGES for loss in losses]
        print(f"| {name} | {r['rows']} | {r['positives']} |", " | ".join(f"{np.mean(of):.3f}" if of else "" for of in cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    go = commands.add_parser("run")
    go.add_argument("--packages", type=Path, required=True)
    go.add_argument("--data", type=Path, default=Path("../shared/data"))
    go.add_argument("--rows", type=int, default=2000, help="most rows of a set")
    go.add_argument("--splits", type=int, default=5)
    go.add_argument("--only", default="", help="names of sets, with commas between them")
    go.add_argument("--packages-of", default="LightGBM,XGBoost,CatBoost", help="of trees")
    for one in (go, commands.add_parser("show")):
        one.add_argument("--losses", default="log loss,class weight,ap", help="of them and auc")
        one.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    run(args) if args.command == "run" else show(args)


if __name__ == "__main__":
    main()
