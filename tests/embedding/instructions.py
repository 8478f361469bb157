"""Instructions of the exact sums and of a SOAP step, counted by callgrind, now and at another commit.

    python3 tests/embedding/instructions.py [COMMIT]
    python3 tests/embedding/instructions.py --program OLD NEW     # of two programs built from instructions/main.rs

Times on a busy machine say little; counts are the same each time. A sum is over 20,000 rows, 10 % of them positive, with its
gradient; a step is of a linear model with 20 columns. What comes before the case is counted apart and taken off. x86-64, release.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests/embedding/instructions/main.rs"
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "embedding/instructions"
# Cases and how often each is run.
CASES = {
    "auc squared-hinge": 1,
    "ap squared-hinge": 1,
    "pauc squared-hinge": 1,
    "ap hinge": 1,
    "ap ramp": 1,
    "auc sigmoid": 1,
    "ap sigmoid": 1,
    "soap": 100,
}
MANIFEST = """[package]
name = "instructions"
version = "0.0.0"
edition = "2024"
[dependencies]
undercurve = {{ path = "{core}", default-features = false, features = ["alloc", "every-method"] }}
[profile.release]
lto = "thin"
codegen-units = 4
[workspace]
"""


def build(name, checkout):
    package = FOLDER / name
    (package / "src").mkdir(parents=True, exist_ok=True)
    (package / "Cargo.toml").write_text(MANIFEST.format(core=checkout / "core"))
    shutil.copy(checkout / "Cargo.lock", package / "Cargo.lock")
    shutil.copy(SOURCE, package / "src/main.rs")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER / "target" / name)}
    subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=package, check=True, env=environment)
    return FOLDER / "target" / name / "release/instructions"


def at(commit):
    """The program on the core of a commit, unpacked."""
    checkout = FOLDER / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=checkout, check=True, input=archive)
    return build("before", checkout)


def count(program, case, times):
    out = FOLDER / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program), case, str(times)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


def main(arguments):
    if not shutil.which("valgrind"):
        print("skipped: valgrind not installed")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    if arguments[:1] == ["--program"]:
        programs = [Path(program) for program in arguments[1:]]
    else:
        programs = [at(arguments[0])] if arguments else []
        programs.append(build("now", ROOT))
    print("| case | " + ("before | now | now / before |" if len(programs) == 2 else "instructions |"))
    print("|---" * (4 if len(programs) == 2 else 2) + "|")
    for case, times in CASES.items():
        found = [(count(program, case, times) - count(program, case, 0)) // times for program in programs]
        ratio = f" {found[1] / found[0]:.3f} |" if len(found) == 2 else ""
        print(f"| {case} | " + " | ".join(f"{one:,}" for one in found) + " |" + ratio, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
