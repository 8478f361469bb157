"""Golden bits on aarch64: every run of tests/tests/bits.rs as a static program in QEMU's user mode, beside tests/golden/bits.txt.

    python3 tests/embedding/aarch64.py [--check]      # with --check fails where a bit differs, else says so

It needs the Rust target aarch64-unknown-linux-musl and qemu-aarch64 (Debian: qemu-user-static; or $QEMU_AARCH64); no C compiler for
aarch64, because Rust brings the linker and the C library. Skipped, with a word, where one is missing.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = "aarch64-unknown-linux-musl"


# (A package of its own, because what benches need asks for a C compiler.)
MANIFEST = """[package]
name = "bits"
version = "0.0.0"
edition = "2024"
[dependencies]
undercurve = {{ path = "{root}/core" }}
undercurve-tests = {{ path = "{root}/tests" }}
[[test]]
name = "bits"
path = "{root}/tests/tests/bits.rs"
[profile.dev]
opt-level = 1
debug = false
[workspace]
"""


def build():
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "embedding/aarch64"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
    (folder / "src/lib.rs").write_text("")
    shutil.copy(ROOT / "Cargo.lock", folder / "Cargo.lock")
    if not (folder / "golden").exists():
        (folder / "golden").symlink_to(ROOT / "tests/golden")
    flags = "-Clinker=rust-lld -Clinker-flavor=ld.lld -Clink-self-contained=yes"
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(folder / "target"),
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUSTFLAGS": flags,
    }
    command = ["cargo", "test", "--quiet", "--test", "bits", "--no-run", "--target", TARGET, "--message-format", "json"]
    told = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    programs = [json.loads(line).get("executable") for line in told.splitlines() if line.startswith("{")]
    return [program for program in programs if program][-1]


def main(arguments):
    qemu = os.environ.get("QEMU_AARCH64") or shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    targets = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True).stdout.split()
    missing = [what for what, there in (("qemu-aarch64", qemu), (TARGET, TARGET in targets)) if not there]
    if missing:
        print(f"skipped: {' and '.join(missing)} not installed")
        return
    program, start = build(), time.monotonic()
    done = subprocess.run([qemu, program, "every_run_keeps_its_bits"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    runs = sum(1 for _ in open(ROOT / "tests/golden/bits.txt"))
    if done.returncode == 0 and "1 passed" in done.stdout:
        print(f"aarch64 (QEMU): {runs:,} runs with the bits of tests/golden/bits.txt, {time.monotonic() - start:.0f} s")
        return
    print(done.stdout[-4000:])
    if "--check" in arguments:
        sys.exit("aarch64 (QEMU): other bits")


if __name__ == "__main__":
    main(sys.argv[1:])
