#!/usr/bin/env python3
"""Inputs that the fuzz targets begin with: python3 tests/fuzz/seeds.py unpack | pack TARGET…

seeds/TARGET.txt has an input a line, in hex. `unpack` writes each into a file of corpus/TARGET, where `cargo fuzz run` finds it.
`pack` makes seeds/TARGET.txt of what a run left in corpus/TARGET: of all inputs, again and again the one that reaches most new
features for its bytes, until there are 60 inputs or 2,000 bytes. It needs the target, built by `cargo +nightly fuzz build --fuzz-dir tests/fuzz`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUTS, BYTES = 60, 2_000


def unpack():
    for seeds in sorted(HERE.glob("seeds/*.txt")):
        folder = HERE / "corpus" / seeds.stem
        folder.mkdir(parents=True, exist_ok=True)
        for k, line in enumerate(seeds.read_text().split()):
            (folder / f"seed-{k}").write_bytes(bytes.fromhex(line))


def features(target, folder):
    """Inputs of a folder, each with the features it reaches, as libFuzzer numbers them."""
    program = next(HERE.glob(f"target/*/release/{target}"))
    with tempfile.TemporaryDirectory() as place:
        control, merged = Path(place) / "control", Path(place) / "merged"
        merged.mkdir()
        command = [program, "-merge=1", f"-merge_control_file={control}", merged, folder]
        subprocess.run(command, check=True, capture_output=True)
        lines = control.read_text().splitlines()
    count, first = int(lines[0]), 2
    names = lines[first : first + count]
    found = {}
    for line in lines[first + count :]:
        kind, number, *rest = line.split()
        if kind == "FT":
            found[Path(names[int(number)]).read_bytes()] = set(rest)
    return found


def pack(target):
    found, known, chosen, total = features(target, HERE / "corpus" / target), set(), [], 0
    while found and len(chosen) < INPUTS:
        best = max(found, key=lambda one: (len(found[one] - known) / (len(one) + 8), one))
        news = found.pop(best) - known
        if not news:
            break
        if best and total + len(best) <= BYTES:
            known |= news
            total += len(best)
            chosen.append(best.hex())
    (HERE / "seeds").mkdir(exist_ok=True)
    (HERE / f"seeds/{target}.txt").write_text("".join(f"{line}\n" for line in sorted(chosen, key=lambda line: (len(line), line))))
    print(f"{target}: {len(chosen)} inputs, {total} bytes, {len(known)} features")


if __name__ == "__main__":
    if sys.argv[1:] == ["unpack"]:
        unpack()
    elif sys.argv[1:2] == ["pack"] and sys.argv[2:]:
        for target in sys.argv[2:]:
            pack(target)
    else:
        sys.exit("usage: seeds.py unpack | pack TARGET…")
