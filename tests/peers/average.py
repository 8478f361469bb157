"""Networks alone and the mean of five, on the samples of the page: python3 tests/peers/average.py PROGRAM [K [OPTION …]]

Test AP of `mlp:32` by cross-entropy and by SOAP, with validation rows, on ten splits of each set, and seconds of a training. No package is needed.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "demo/web/samples"
SETS = {"breast-cancer": ["--label", "diagnosis"], "page-blocks": ["--label", "kind", "--positive", "other"], "digits": ["--label", "digit", "--positive", "8"]}
SPLITS = 10


def ap(program, name, method, seed, more):
    command = [program, "train", SAMPLES / f"{name}.csv", *SETS[name], "--split", "0.6", "--valid", "0.25", "--method", method, "--model", "mlp:32",
               "--seed", str(1000 * seed), "--json", *more, *sys.argv[3:]]
    start = time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])["test"]["ap"], time.perf_counter() - start


def main():
    program, count = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "5"
    print(f"| set | method | one network | mean of {count} | difference (its standard error) | ahead | seconds |\n|---|---|---|---|---|---|---|")
    for name in SETS:
        for method in ("ce", "soap"):
            pairs = [(ap(program, name, method, seed, []), ap(program, name, method, seed, ["--average", count])) for seed in range(1, SPLITS + 1)]
            by = [mean[0] - one[0] for one, mean in pairs]
            one, mean = (statistics.mean(pair[at][0] for pair in pairs) for at in (0, 1))
            times = [statistics.mean(pair[at][1] for pair in pairs) for at in (0, 1)]
            error = statistics.stdev(by) / SPLITS**0.5
            print(f"| {name} | {method} | {one:.4f} | {mean:.4f} | {statistics.mean(by):+.4f} ({error:.4f}) | {sum(x > 0 for x in by)} of {SPLITS} | {times[0]:.1f}, {times[1]:.1f} |",
                  flush=True)


if __name__ == "__main__":
    main()
