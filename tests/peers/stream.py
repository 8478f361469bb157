#!/usr/bin/env python3
"""Memory, time and quality of `undercurve train --stream`.

    python3 tests/peers/stream.py UNDERCURVE [ROWS [FOLDER]]     # the program; 10,000,000 rows without

A table of ROWS × 30 columns of numbers, one in fifty rows positive, is written to FOLDER and trained on as a file and, through a pipe,
once more. Peak memory is that of the process (ru_maxrss). Both models must have the same bytes. The first 200,000 rows and other
test rows say what is lost against training in memory, with 20,000 rows held of them. Needs NumPy and PyArrow.
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy
import pyarrow
import pyarrow.csv

COLUMNS, BLOCK, SHARE = 30, 100_000, 0.02
PLAIN = pyarrow.csv.WriteOptions(include_header=False)


def rows(seed, count):
    """Columns with some signal in each, curved in some of them."""
    random = numpy.random.default_rng(seed)
    label = (random.random(count) < SHARE).astype(int)
    columns = {}
    for k in range(COLUMNS):
        x = random.normal(size=count) + label * (0.9 - 0.03 * k)
        columns[f"x{k}"] = numpy.round(numpy.exp(0.5 * x) if k % 3 == 0 else x, 4)
    return pyarrow.table({**columns, "label": label})


def write(path, seeds):
    with open(path, "wb") as out:
        out.write((",".join([f"x{k}" for k in range(COLUMNS)] + ["label"]) + "\n").encode())
        for seed in seeds:
            pyarrow.csv.write_csv(rows(seed, BLOCK), out, PLAIN)


def run(program, *args, piped=None):
    """What it prints as JSON, seconds and megabytes."""
    begun = time.perf_counter()
    child = subprocess.Popen([program, "--quiet", "train", *map(str, args), "--json"], stdout=subprocess.PIPE,
                             stdin=subprocess.PIPE if piped else None)
    if piped:
        def feed():
            with open(piped, "rb") as source:
                while piece := source.read(1 << 20):
                    child.stdin.write(piece)
            child.stdin.close()
        threading.Thread(target=feed).start()
    lines = child.stdout.read().splitlines()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"exit code {child.returncode}")
    return json.loads(lines[-1]), time.perf_counter() - begun, usage.ru_maxrss / 1e3


def main():
    program = os.path.abspath(sys.argv[1])
    count = int(float(sys.argv[2])) if len(sys.argv) > 2 else 10_000_000
    folder = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "stream")
    folder.mkdir(parents=True, exist_ok=True)
    large, some, test = (folder / name for name in ("large.csv", "some.csv", "test.csv"))
    write(large, range(max(count // BLOCK, 1)))
    write(some, [0, 1])
    write(test, [10**6])
    print(f"{count} rows, {COLUMNS} columns, {large.stat().st_size / 1e6:.0f} MB of text", flush=True)

    told, models = [], [folder / name for name in ("file.uc", "pipe.uc")]
    for source, model in zip([large, "-"], models):
        last, seconds, memory = run(program, source, "--stream", "--test", test, "--out", model,
                                    piped=large if source == "-" else None)
        told.append(memory)
        print(f"{'pipe' if source == '-' else 'file'}: {memory:.1f} MB, {seconds:.0f} s, {last['steps']} steps, "
              f"test AUROC {last['test']['auroc'][0]:.4f}, AP {last['test']['ap'][0]:.4f}", flush=True)
    same = models[0].read_bytes() == models[1].read_bytes()
    print(f"the bytes of the models are {'the same' if same else 'OTHERS'}")

    model = folder / "some.uc"
    for method in ("ce", "auc-margin", "ppd-sg", "smooth-ap"):
        ends = []
        for how in ([], ["--stream", "--buffer", 20_000]):
            # (As many steps of both; in memory the last report has the figures of the test rows.)
            run(program, some, *how, "--test", test, "--method", method, "--steps", 12_000, "--out", model)
            figures = json.loads(subprocess.run([program, "--quiet", "eval", model, test, "--metric", "auroc,ap", "--json"],
                                                capture_output=True, text=True, check=True).stdout.splitlines()[-1])
            ends.append((figures["auroc"], figures["ap"]))
        (auroc, ap), (streamed, streamed_ap) = ends
        print(f"{method}: in memory AUROC {auroc:.4f}, AP {ap:.4f}; by a stream {streamed - auroc:+.4f}, {streamed_ap - ap:+.4f}",
              flush=True)
    raise SystemExit(0 if same and max(told) <= 200 else "more than 200 MB, or other bytes")


main()
