"""Megabytes of a CSV file read a second, beside polars, pandas and Arrow: one run, in turns, the file in the system's cache.

    cargo build --release -p undercurve-experiments
    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install pandas polars pyarrow
    /tmp/peers/bin/python tests/peers/reading.py target/release/experiments [--rows 300000]

Thirty columns of six significant digits and a label, as `cargo experiment reading` draws them. Each is asked for one thread and for
all, and the least time counts.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

RUNS = 5
PEERS = {
    "polars": "import polars; read = lambda: polars.read_csv(path)",
    "pandas, pyarrow": "import pandas; read = lambda: pandas.read_csv(path, engine='pyarrow')",
    "pandas, c": "import pandas; read = lambda: pandas.read_csv(path)",
    "pyarrow": "from pyarrow import csv; read = lambda: csv.read_csv(path, read_options=csv.ReadOptions(use_threads=threads > 1))",
}
TIMED = """
import sys, time
path, threads = sys.argv[1], int(sys.argv[2])
{setup}
if {arrow}:
    import pyarrow
    pyarrow.set_cpu_count(threads)
begun = time.perf_counter()
read()
print(time.perf_counter() - begun)
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("experiments")
    parser.add_argument("--rows", type=int, default=300_000)
    asked = parser.parse_args()
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w") as file:
            file.write(",".join(f"x{column}" for column in range(30)) + ",label\n")
            for _ in range(asked.rows):
                file.write(",".join(f"{draw.gauss(0, 1):.6g}" for _ in range(30)) + f",{int(draw.random() < 0.1)}\n")
        size = os.path.getsize(path) / 1e6
        seconds = {}
        for _ in range(RUNS):
            for name, setup in PEERS.items():
                for threads in sorted({1, os.cpu_count()}):
                    code = TIMED.format(setup=setup, arrow="arrow" in name)
                    env = os.environ | {"POLARS_MAX_THREADS": str(threads)}
                    done = subprocess.run([sys.executable, "-c", code, path, str(threads)], env=env, capture_output=True, text=True, check=True)
                    seconds.setdefault((name, threads), []).append(float(done.stdout))
            for threads in sorted({1, os.cpu_count()}):
                command = [asked.experiments, "reading", "--file", path, "--json", "--runs", "1", "--threads", str(threads)]
                rates = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                seconds.setdefault(("undercurve", threads), []).append(size / rates["mb_s"])
                seconds.setdefault(("crate csv and str::parse", 1), []).append(size / rates["csv_mb_s"])
    print(f"{size:.0f} MB, least of {RUNS} runs\n\n| reader | threads | MB/s |\n|---|---|---|")
    for (name, threads), times in sorted(seconds.items(), key=lambda one: min(one[1])):
        print(f"| {name} | {threads} | {size / min(times):.0f} |")


if __name__ == "__main__":
    main()
