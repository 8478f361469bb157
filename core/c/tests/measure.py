#!/usr/bin/env python3
"""Sizes of the C library and its wasm module, and the module in its hosts: python3 core/c/tests/measure.py [--check] [--native]

The module is built with everything and without runs, and has no imports. Node runs examples/train.mjs, and a Python that has the
package wasmtime ($UNDERCURVE_WASMTIME, or this one) examples/train.py: both print what the test of the C example expects.
`--native` builds the shared library, too, with the feature `bare`, also with `compact`. `--check` fails above the ceilings.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.parent
WASM = "wasm32-unknown-unknown"
# Bytes at most.
CEILINGS = {
    ("wasm", "stateless"): 415_000,
    ("wasm", "all"): 1_600_000,
    ("shared", "stateless"): 445_000,
    ("shared", "all"): 1_850_000,
    ("shared", "compact"): 1_010_000,
}
# What abi.rs expects, too.
GRADIENT = "gradient b2ebbff8"


def build(kind, which):
    command = ["cargo", "rustc", "--quiet", "-p", "undercurve-c", "--lib", "--profile", "embedded", "--crate-type", "cdylib"]
    command += ["--no-default-features"] if which == "stateless" else []
    features = ["compact"] * (which == "compact") + ["bare"] * (kind == "shared")
    command += ["--features", ",".join(features)] if features else []
    command += ["--target", WASM] if kind == "wasm" else []
    subprocess.run(command, cwd=HERE, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
    name = f"{WASM}/embedded/undercurve_c.wasm" if kind == "wasm" else "embedded/libundercurve_c.so"
    return folder / name


def imports(module):
    """Whether a module has a section of imports with something in it."""
    data, at = module.read_bytes(), 8
    while at < len(data):
        kind, size, shift, at = data[at], 0, 0, at + 1
        while True:
            byte, at = data[at], at + 1
            size, shift = size | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        if kind == 2:
            return data[at]
        at += size
    return 0


def main(arguments):
    wrong = []
    for kind in ["wasm"] + ["shared"] * ("--native" in arguments):
        for which in ["stateless", "all"] + ["compact"] * (kind == "shared"):
            built = build(kind, which)
            size, most = built.stat().st_size, CEILINGS[kind, which]
            print(f"{kind} {which}: {size:,} bytes", flush=True)
            if size > most:
                wrong.append(f"{kind} {which}: {size} bytes, above {most}")
            if kind == "wasm" and imports(built):
                wrong.append(f"{built.name} has imports")
            if kind == "wasm" and which == "all":
                hosts = {}
                if shutil.which("node"):
                    hosts["Node"] = ["node", HERE / "examples/train.mjs", built]
                python = os.environ.get("UNDERCURVE_WASMTIME") or (importlib.util.find_spec("wasmtime") and sys.executable)
                if python:
                    hosts["wasmtime"] = [python, HERE / "examples/train.py", built]
                for host in ["Node", "wasmtime"]:
                    if host not in hosts:
                        print(f"{host}: skipped, it is not there")
                        continue
                    told = subprocess.run(hosts[host], check=True, capture_output=True, text=True).stdout.strip()
                    print(f"{host}: {told}")
                    if told != GRADIENT:
                        wrong.append(f"{host}: {told}, but {GRADIENT} in C")
    if "--check" in arguments and wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
