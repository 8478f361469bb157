"""Rows without end through `undercurve metrics --memory`: bounds, their width, memory and time, beside the exact answer.

    python core/python/benches/memory.py [ROWS] [--memory 500M] [--command PATH]      e.g. 1e8

0.5 % positives, probabilities of nine digits, made again for each pass. One pass is read from stdin; up to 2·10⁸ rows two passes
are read from a file, too. The exact answer is that of two passes of `State`: the positives, and then the gaps between them. Memory is the largest
resident size that the system saw of the command. Prints a table.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import undercurve

PIECE = 1_000_000


def pieces(n):
    """Whole numbers below 10⁹, to be divided by it, and labels."""
    for at in range(0, n, PIECE):
        rng = np.random.default_rng((7, at))
        size = min(PIECE, n - at)
        labels = rng.random(size, dtype=np.float32) < 0.005
        logits = rng.standard_normal(size, dtype=np.float32) + np.float32(1.5) * labels - np.float32(4)
        noise = rng.random(size)  # (float32 has too few different values.)
        yield np.clip((1e9 + 100 * noise) / (1 + np.exp(-logits.astype(np.float64))), 0, 999_999_999).astype(np.int64), labels


def lines(n):
    yield b"label,score\n"
    yield from (text(*rows) for rows in pieces(n))


def text(scores, labels):
    lines = np.empty((len(scores), 14), dtype=np.uint8)
    lines[:] = np.frombuffer(b"0,0.000000000\n", dtype=np.uint8)
    lines[:, 0] += labels
    left = scores.astype(np.uint32)
    for place in range(12, 3, -1):
        left, digit = np.divmod(left, np.uint32(10))
        lines[:, place] += digit.astype(np.uint8)
    return lines.tobytes()


def command(args, feed=None):
    """What it prints, seconds, and the largest memory of any command so far in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(args, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=subprocess.PIPE)
    for piece in feed or ():
        process.stdin.write(piece)
    told = json.loads(process.communicate()[0])
    return told, time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def exact(n):
    total = undercurve.State()
    for scores, labels in pieces(n):
        total.update(scores[labels] / 1e9, labels[labels])
    gaps = undercurve.State.between(total)
    for scores, labels in pieces(n):
        gaps.update(scores / 1e9, labels)
    return total.merge(gaps).metrics()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("rows", nargs="?", default="1e7")
    options.add_argument("--memory", default="500M")
    options.add_argument("--command", default=os.environ.get("UNDERCURVE_COMMAND", "undercurve"))
    options = options.parse_args()
    n = int(float(options.rows))
    args = [options.command, "metrics", "--json", "--memory", options.memory]
    found = [("one pass, stdin", *command([*args, "-"], lines(n)))]
    told = found[0][1]
    print(found, file=sys.stderr, flush=True)
    if n <= 200_000_000:
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            file.writelines(lines(n))
            file.flush()
            found.append(("two passes, a file", *command([*args, "--passes", "2", file.name])))
    start = time.perf_counter()
    want = exact(n)
    print(f"{n:,} rows, {told['positives']:,} positive; --memory {options.memory}\n\n| way | time | memory | width of AUROC, AP, pAUC | contain |\n|---|---|---|---|---|")
    for way, told, seconds, memory in found:
        ends = [told["bounds"][name] if "bounds" in told else [told[name]] * 2 for name in ("auroc", "ap", "pauc")]
        inside = all(low <= value <= high for (low, high), value in zip(ends, (want.auroc, want.ap, want.pauc), strict=True))
        width = ", ".join(f"{high - low:.1e}" for low, high in ends)
        print(f"| {way} | {seconds:.0f} s | {memory / 1e6:.0f} MB | {width} | {'yes' if inside else 'NO'} |")
    print(f"| `State`, two passes | {time.perf_counter() - start:.0f} s | – | exact: {want.auroc:.7f}, {want.ap:.7f}, {want.pauc:.7f} | |")


if __name__ == "__main__":
    main()
