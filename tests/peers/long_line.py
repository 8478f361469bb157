"""Peak memory of a file of one line of 500 MB: python tests/peers/long_line.py COMMAND [MB]. Exit code 1 above 1.1 of the line."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(command, megabytes="500"):
    size, worst = int(megabytes) * 1_000_000, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, part in [("numbers", b"1,"), ("one cell", b"a")]:
            path = Path(folder) / f"{name}.csv"
            with open(path, "wb") as file:
                for _ in range(size // 1_000_000):
                    file.write(part * (1_000_000 // len(part)))
            for args in [["look", path], ["train", path, "--label", "a"]]:
                process = subprocess.Popen([command, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                told = process.stdout.read().strip().split("\n")[-1]
                _, status, usage = os.wait4(process.pid, 0)
                times = usage.ru_maxrss * 1024 / size
                worst = max(worst, times)
                print(f"{name}, {args[0]}: {times:.2f} of the line, exit code {os.waitstatus_to_exitcode(status)}: {told[-160:]}")
    return int(worst > 1.1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
