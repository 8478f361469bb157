"""Every method beside cross-entropy of the same model on ten small tables: where it is behind, and whether the run said so.

    python3 tests/peers/tables.py fetch --to FOLDER/packages
    python3 tests/peers/traps.py run --binary target/release/undercurve --packages FOLDER/packages --out FOLDER/traps.jsonl
    python3 tests/peers/traps.py show --out FOLDER/traps.jsonl
    python3 tests/peers/traps.py run --valid 0.3 --model linear --splits 2 --binary target/release/undercurve --packages FOLDER/packages --out FOLDER/valid.jsonl
    python3 tests/peers/traps.py warnings --out FOLDER/valid.jsonl

Each method at its defaults, in the metric that it is for; methods under constraints are left out. `show` prints each method that is behind by more than
.02 in the mean of the splits, and in how many of them a warning stood or no signal was found; runs of fewer than 250 positives, or negatives in the range, have a note
that nothing tells whether the method is ahead of cross-entropy. `warnings` prints how often two warnings come,
and how often rightly: that a run is behind cross-entropy on its validation rows, beside the difference on test rows; and that a finite sum has not converged, beside how much
of its decrease was left, by the least objective of all finite sums on the same rows.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import tables

SETS = ["crime1", "fringe", "smoke", "affairs", "gpa2", "mroz", "bwght", "rossi", "kidney_transplant", "german"]
MODELS = ["linear", "mlp:32"]
SUMS = ["ai-sarah", "sarah", "svrg", "momentum-sum", "adam-sum", "theoretical-ai-sarah", "bounded-ai-sarah"]


def run(args):
    listed = subprocess.run([args.binary, "methods", "--json"], capture_output=True, text=True, check=True).stdout
    methods = {m["name"]: m["metric"] for m in map(json.loads, listed.splitlines()) if not m["groups"]}
    if args.method:
        methods = {name: methods[name] for name in ["ce", *args.method.split(",")]}
    valid = ["--valid", args.valid] if args.valid else []
    known = set()
    if args.out.exists():
        known = {(r["set"], r["split"], r["model"], r["method"]) for r in map(json.loads, args.out.read_text().splitlines())}
    with args.out.open("a") as out:
        for split in range(1, args.splits + 1):
            for name, rows in tables.tables(args.packages, Path("nowhere"), args.rows):
                if name not in SETS:
                    continue
                train, test = tables.parts(rows, split)
                with tempfile.TemporaryDirectory() as folder:
                    files = [Path(folder) / "train.csv", Path(folder) / "test.csv"]
                    for file, part in zip(files, (train, test)):
                        part.to_csv(file, index=False)
                    for model in args.model or MODELS:
                        for method, metric in methods.items():
                            if (name, split, model, method) in known:
                                continue
                            done = subprocess.run([args.binary, "train", files[0], "--test", files[1], "--label", "y", "--positive", "1", "--missing", "impute",
                                                   "--method", method, "--model", model, "--seed", "1", "--threads", "1", *valid, "--json"], capture_output=True, text=True)
                            told = [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else [{}]
                            end, reports = told[-1], [line for line in told if "objective" in line]
                            line = {"set": name, "split": split, "model": model, "method": method, "metric": metric, "test": end.get("test"),
                                    "said": bool(end.get("warning") or end.get("no_signal") or end.get("behind")),
                                    "behind": bool(end.get("behind")), "few": bool(end.get("unvalidated")), "warning": end.get("warning"),
                                    "sums": [[line["objective"], line["grad_norm_sq"]] for line in (reports[0], reports[-1])] if reports else None, "refused": done.stderr.strip()[-200:] if done.returncode else None}
                            print(json.dumps(line), file=out, flush=True)


def show(args):
    runs = {(r["set"], r["split"], r["model"], r["method"]): r for r in map(json.loads, args.out.read_text().splitlines())}
    splits = sorted({key[1] for key in runs})
    print("| model | method | set | metric | beside cross-entropy | splits that said so |\n|---|---|---|---|---|---|")
    cells = behind = unsaid = 0
    refused = set()
    for model in MODELS:
        for method in dict.fromkeys(key[3] for key in runs):
            for name in SETS:
                pairs = [(runs.get((name, s, model, method)), runs.get((name, s, model, "ce"))) for s in splits]
                pairs = [(a, b) for a, b in pairs if a and b and b["test"]]
                refused |= {f"{method} ({model})" for a, _ in pairs if a["refused"]}
                pairs = [(a, b) for a, b in pairs if a["test"]]
                if not pairs:
                    continue
                metric, cells = pairs[0][0]["metric"], cells + 1
                apart = np.mean([a["test"][metric] - b["test"][metric] for a, b in pairs])
                said = sum(a["said"] for a, _ in pairs)
                if apart < -0.02:
                    behind += said < len(pairs)
                    unsaid += any(not (a["said"] or a.get("few")) for a, _ in pairs)
                    print(f"| {model} | {method} | {name} | {metric} | {apart:+.3f} | {said} of {len(pairs)} |")
    print(f"\n{cells} methods, models and sets, {len(splits)} splits each; {behind} behind by more than .02 without a warning in some split, "
          f"{unsaid} of them also without the note that nothing tells whether the method is ahead. Refused: {', '.join(sorted(refused)) or 'none'}.")


def told(args):
    runs = {(r["set"], r["split"], r["model"], r["method"]): r for r in map(json.loads, args.out.read_text().splitlines()) if r["test"]}
    print("| model | runs | behind on test rows by more than .02 | of these warned | by any line of the run | warned | of these behind on test rows | mean difference there |\n|---|---|---|---|---|---|---|---|")
    for model in dict.fromkeys(key[2] for key in runs):
        cells = []
        for (name, split, of, method), r in runs.items():
            base = runs.get((name, split, model, "ce"))
            if of == model and base and method not in ("ce", "ce-exact"):
                cells.append((r["test"][r["metric"]] - base["test"][r["metric"]], r["behind"], r["said"]))
        warned, far = [d for d, behind, _ in cells if behind], [cell for cell in cells if cell[0] < -0.02]
        print(f"| {model} | {len(cells)} | {len(far)} | {sum(cell[1] for cell in far)} | {sum(cell[2] for cell in far)} | {len(warned)} | {sum(d < 0 for d in warned)} | {np.mean(warned or [0]):+.3f} |")
    left = []
    for name, split in dict.fromkeys(key[:2] for key in runs):
        sums = [runs[key] for key in ((name, split, "linear", method) for method in SUMS) if key in runs]
        least = min((r["sums"][1][0] for r in sums), default=0)
        left += [((r["sums"][1][0] - least) / (r["sums"][0][0] - least), "not converged" in (r["warning"] or "")) for r in sums]
    warned, open_ = [share for share, said in left if said], [said for share, said in left if share > 0.02]
    print(f"\n{len(left)} linear runs by finite sums: {len(open_)} with more than 2 % of their decrease left, {sum(open_)} of these warned; "
          f"{len(warned)} warned, {sum(share <= 0.02 for share in warned)} of these with less left.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    go = commands.add_parser("run")
    go.add_argument("--binary", type=Path, required=True)
    go.add_argument("--packages", type=Path, required=True)
    go.add_argument("--rows", type=int, default=1500, help="most rows of a set")
    go.add_argument("--splits", type=int, default=5)
    go.add_argument("--out", type=Path, required=True)
    go.add_argument("--valid", help="share of the training rows for validation")
    go.add_argument("--model", action="append")
    go.add_argument("--method", help="some methods beside ce, with commas between")
    commands.add_parser("warnings").add_argument("--out", type=Path, required=True)
    commands.add_parser("show").add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    {"run": run, "show": show, "warnings": told}[args.command](args)


if __name__ == "__main__":
    main()
