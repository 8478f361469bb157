#!/usr/bin/env python3
"""Whether further splits contradict what `undercurve auto` says: python3 tests/auto.py PROGRAM [SPLITS] FILE:LABEL:POSITIVE …

For each file and metric: the method that auto takes with seed 1, the interval of its figure on the rows set aside, and of the lead over
cross-entropy of the best other method; then the mean of both over further seeds, which set other rows aside and deal other folds. A claim
is contradicted where that mean lies outside the interval.
"""

import json
import subprocess
import sys
import tempfile
from statistics import mean

METHODS = {"ap": "ce-balanced,ap-exact", "auroc": "ce-balanced,auc-margin"}


def auto(program, file, label, positive, metric, seed, folder):
    command = [program, "auto", file, "--label", label, "--positive", positive, "--metric", metric, "--methods", METHODS[metric]]
    command += ["--seed", str(seed), "--out", f"{folder}/out", "--quiet", "--json", "--threads", "1"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    program, rest = sys.argv[1], sys.argv[2:]
    splits = int(rest.pop(0)) if rest and rest[0].isdigit() else 20
    contradicted = claims = 0
    print("| file | metric | taken | figure [95 %] | further splits | best other: lead [95 %] | further splits |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for what in rest:
            file, label, positive = what.rsplit(":", 2)
            for metric in METHODS:
                runs = [auto(program, file, label, positive, metric, seed, folder) for seed in range(1, splits + 2)]
                first = runs[0]
                figure = first["figures"][metric]
                others = [mean(run["figures"][metric]["value"] for run in runs[1:])]
                best = max((row for row in first["compared"] if row["interval"]), key=lambda row: row["mean"])
                leads = [next(row["ahead"] for row in run["compared"] if row["name"] == best["name"]) for run in runs[1:]]
                low, high = best["interval"]
                inside = [figure["interval"][0] <= others[0] <= figure["interval"][1], low <= mean(leads) <= high]
                claims += 2
                contradicted += inside.count(False)
                mark = ["" if fits else " (outside)" for fits in inside]
                print(
                    f"| {file.rsplit('/', 1)[-1]} | {metric} | {first['shipped']} "
                    f"| {figure['value']:.4f} [{figure['interval'][0]:.4f}, {figure['interval'][1]:.4f}] | {others[0]:.4f}{mark[0]} "
                    f"| {best['name']}: {best['ahead']:+.4f} [{low:+.4f}, {high:+.4f}] | {mean(leads):+.4f}{mark[1]} |",
                    flush=True,
                )
    print(f"\n{contradicted} of {claims} claims contradicted by the mean of {splits} further splits.")


main()
