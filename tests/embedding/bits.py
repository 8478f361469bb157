"""The golden runs on other processors and engines: their lines beside tests/golden/bits.txt, their saved runs beside those of this machine.

    python3 tests/embedding/bits.py [--check] [TARGET…]        # a row for each target; --check fails where a bit differs
    python3 tests/embedding/bits.py --exchange 100 [TARGET…]   # runs begun on one target, gone on with on another, ended on a third

It needs the Rust targets and, for each, QEMU (Debian: qemu-user-static, qemu-system-arm, qemu-system-misc; $QEMU_USER names a folder with
another version) or an engine (Node; wasmtime and pywasm3 from PyPI in $UNDERCURVE_PYTHON); armv7, riscv64, s390x and powerpc64
need Debian's gcc for them, the others what Rust brings. What is missing is skipped, with a word. A difference is named by run, field and units in the last place.
"""

import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "embedding/golden"
SELF = "-Clinker=rust-lld -Clinker-flavor=ld.lld -Clink-self-contained=yes"
BARE = "-Clinker=rust-lld -Copt-level=s"
# (wasm3 0.5 takes no number of a table in five bytes, which the linker leaves where it may want to put in another.)
WASM = "-Clink-arg=--compress-relocations -Cstrip=debuginfo"
# Linked by Debian's C compiler for it.
GNU = "-Ctarget-feature=+crt-static -Clinker={}-gcc"
SYSTEM = "-nographic -monitor none -serial none -semihosting-config enable=on,target=native -kernel"
# Rust target, flags, and how its program is run. (A module's host calls `golden` and takes its lines.)
TARGETS = {
    "aarch64": ("aarch64-unknown-linux-musl", SELF, "qemu-aarch64"),
    "armv7": ("armv7-unknown-linux-gnueabihf", GNU.format("arm-linux-gnueabihf"), "qemu-arm"),
    "i686": ("i686-unknown-linux-musl", SELF, "qemu-i386"),
    "riscv64": ("riscv64gc-unknown-linux-gnu", GNU.format("riscv64-linux-gnu"), "qemu-riscv64"),
    "s390x": ("s390x-unknown-linux-gnu", GNU.format("s390x-linux-gnu"), "qemu-s390x"),
    "powerpc64": ("powerpc64-unknown-linux-gnu", GNU.format("powerpc64-linux-gnu"), "qemu-ppc64"),
    "thumbv7em": ("thumbv7em-none-eabihf", BARE, f"qemu-system-arm -machine mps2-an386 {SYSTEM}"),
    "riscv32imac": ("riscv32imac-unknown-none-elf", BARE, f"qemu-system-riscv32 -machine virt -m 256M -bios none {SYSTEM}"),
    "V8": ("wasm32-unknown-unknown", WASM, "node"),
    "wasmtime": ("wasm32-unknown-unknown", WASM, "wasmtime"),
    "wasm3": ("wasm32-unknown-unknown", WASM, "wasm3"),
}
NODE = """
const fs = require("node:fs");
let memory;
const say = (at, bytes) => fs.writeSync(1, Buffer.concat([Buffer.from(memory.buffer, at, bytes), Buffer.from("\\n")]));
WebAssembly.instantiate(fs.readFileSync(process.argv[1]), { host: { say } }).then(({ instance }) => {
  memory = instance.exports.memory;
  instance.exports.golden();
});
"""
WASMTIME = """
import sys, wasmtime as w
store = w.Store(w.Engine()); module = w.Module.from_file(store.engine, sys.argv[1])
def say(caller, at, size): print(bytes(caller["memory"].read(caller, at, at + size)).decode())
made = w.Instance(store, module, [w.Func(store, w.FuncType([w.ValType.i32(), w.ValType.i32()], []), say, access_caller=True)])
made.exports(store)["golden"](store)
"""
WASM3 = """
import sys, wasm3
environment = wasm3.Environment(); runtime = environment.new_runtime(1 << 20)
module = environment.parse_module(open(sys.argv[1], "rb").read()); runtime.load(module)
def say(at, size): print(bytes(runtime.get_memory(0)[at : at + size]).decode())
module.link_function("host", "say", "v(ii)", say)
runtime.find_function("golden")()
"""


class Missing(Exception):
    pass


def emulator(name):
    there = Path(os.environ.get("QEMU_USER", "/nowhere")) / name
    found = str(there) if there.exists() else shutil.which(name) or shutil.which(f"{name}-static")
    if not found:
        raise Missing(f"{name} is not installed")
    return found


def command(runner, program):
    """What runs a program, and what it is called."""
    if runner in ("wasmtime", "wasm3"):
        python = os.environ.get("UNDERCURVE_PYTHON", sys.executable)
        if subprocess.run([python, "-c", f"import {runner}"], capture_output=True).returncode:
            raise Missing(f"{runner} is not in that Python (PyPI: {'pywasm3' if runner == 'wasm3' else runner})")
        package = "pywasm3" if runner == "wasm3" else runner
        ask = f"from importlib.metadata import version; print(version('{package}'))"
        version = subprocess.run([python, "-c", ask], capture_output=True, text=True)
        return [python, "-c", WASMTIME if runner == "wasmtime" else WASM3, program], f"{package} {version.stdout.strip()}"
    name, *rest = runner.split()
    found = emulator(name)
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    words = version.replace("emulator version", "version").split()
    if name == "node":
        return [found, "-e", NODE, program], f"Node {words[0]}"
    return [found, *rest, program], f"QEMU {words[words.index('version') + 1]}"


def build(target=None, flags=""):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER)}
    line = ["cargo", "build", "--quiet", "--release", "--locked"]
    if target:
        line += ["--target", target]
        environment["CARGO_TARGET_" + target.upper().replace("-", "_") + "_RUSTFLAGS"] = flags
        linker = flags.rpartition("-Clinker=")[2]
        if linker.endswith("-gcc") and not shutil.which(linker):
            raise Missing(f"{linker} is not installed")
    subprocess.run(line, cwd=HERE / "golden", check=True, env=environment)
    end = ".wasm" if target and target.startswith("wasm32") else ""
    return str(FOLDER / (target or "") / "release" / f"golden{end}")


def made(name, installed):
    target, flags, runner = TARGETS[name]
    if target not in installed:
        raise Missing(f"rustup target add {target}")
    command(runner, "")
    return command(runner, build(target, flags))


def lines(words):
    # (Semihosting comes out of QEMU's stderr.)
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first, *runs = done.stdout.splitlines() or [""]
    if done.returncode or first not in ("products are right", "products are wrong"):
        sys.exit(f"{words[0]}: exit code {done.returncode}: {done.stdout[-500:]}")
    if first == "products are wrong":
        raise Missing("this emulator has the product of two f32 in f64 wrong (QEMU 7.2 on s390x; 10.0 is right)")
    return dict(line.split(": ", 1) for line in runs)


def apart(a, b):
    """The largest distance of two fields in units in the last place of f64, or bytes."""
    key = lambda word: (lambda bits: bits if bits >= 0 else -(bits & (1 << 63) - 1))(struct.unpack("<q", struct.pack("<Q", int(word, 16)))[0])
    return max((abs(key(x) - key(y)) for x, y in zip(a, b)), default=0)


def differences(words, native, run):
    """By field, where two processors part in a run."""
    if words[0].endswith(("node", "python")) or "-kernel" in words:
        return "(fields are told of programs with arguments)"
    told = [subprocess.run([*program, run], capture_output=True, text=True).stdout.splitlines() for program in (words, [native])]
    out = []
    for one, other in zip(*told):
        field, a = one[len(run) + 2 :].split(" ", 1) if " " in one[len(run) + 2 :] else ("", "")
        _, b = other[len(run) + 2 :].split(" ", 1) if " " in other[len(run) + 2 :] else ("", "")
        if a != b:
            out.append(f"{field} by {apart(a.split(), b.split()):,} units" if field not in ("saved", "resumed") else field)
    return ", ".join(out)


def compare(names, installed):
    native = build()
    here = lines([native])
    golden = dict(line.split(": ", 1) for line in (ROOT / "tests/golden/bits.txt").read_text().splitlines())
    spent = lambda: sum(os.times()[2:4])
    print("| target | run by | runs | other bits | processor seconds: building, running |\n|---|---|---|---|---|")
    faults = []
    for name in names:
        start = spent()
        try:
            words, runner = made(name, installed)
            begun = spent()
            there = lines(words)
        except Missing as why:
            print(f"| {name} | skipped: {why} | | | |")
            continue
        other = [run for run in here if there.get(run) != here[run] or there[run].split(" | ")[0] != golden.get(run)]
        other += [run for run in there if "resumes otherwise" in there[run] and run not in other]
        seconds = f"{begun - start:.0f}, {spent() - begun:.0f}"
        print(f"| {name} | {runner} | {len(there)} | {len(other)} | {seconds} |", flush=True)
        for run in other[:5]:
            faults.append(f"{name}: {run}: {differences(words, native, run)}")
        if set(there) != set(golden):
            faults.append(f"{name}: {len(set(there) ^ set(golden))} runs too many or too few")
    return faults


def exchange(times, names, installed):
    programs = {"this machine": [build()]}
    for name in names:
        try:
            words, _ = made(name, installed)
        except Missing as why:
            print(f"{name}: skipped: {why}")
            continue
        if len(words) == 2:
            programs[name] = words
    here = lines(programs["this machine"])
    # (Some cannot be made, and their lines say why.)
    runs = [run for run in here if re.match(r"[0-9a-f]{16} ", here[run])]
    pick = random.Random(1)
    part = lambda who, run, calls, saved: bytes.fromhex(
        subprocess.run([*programs[who], "--part", run, str(calls)], input=saved, check=True, stdout=subprocess.PIPE).stdout.decode()
    )
    faults = []
    for _ in range(times):
        run, hosts = pick.choice(runs), pick.sample(sorted(programs), min(3, len(programs)))
        whole, saved = part("this machine", run, 1 << 20, b""), b""
        cuts = [pick.randrange(1, 9) for _ in hosts[1:]] + [1 << 20]
        for who, calls in zip(hosts, cuts):
            saved = part(who, run, calls, saved)
        if saved != whole:
            faults.append(f"{run}: {' → '.join(hosts)} after {cuts[:-1]} calls: {sum(a != b for a, b in zip(saved, whole))} bytes differ")
    print(f"{times} runs, each begun, gone on with and ended on three of {', '.join(programs)}: {len(faults)} differ")
    return faults


def main(arguments):
    times = int(arguments.pop(arguments.index("--exchange") + 1)) if "--exchange" in arguments else 0
    names = [word for word in arguments if not word.startswith("-")]
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        sys.exit(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    names = names or list(TARGETS)
    installed = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True).stdout.split()
    faults = exchange(times, names, installed) if times else compare(names, installed)
    if faults:
        print("\n".join(faults))
        if times or "--check" in arguments:
            sys.exit(f"{len(faults)} differences")


if __name__ == "__main__":
    main(sys.argv[1:])
