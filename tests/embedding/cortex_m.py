"""The program that trains without an allocator, on a Cortex-M4 in QEMU: its bits beside those of this machine, flash, static memory
and painted stack.

    python3 tests/embedding/cortex_m.py [--check]      # fails where bits differ, or above the ceilings below
"""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "cortex-m"
TARGET = "thumbv7em-none-eabihf"
# Bytes of flash, of static memory and of stack, by `compact`.
CEILINGS = {False: (57_000, 0, 14_000), True: (41_000, 0, 13_700)}
QEMU = "qemu-system-arm"
MACHINE = "-machine mps2-an386 -nographic -monitor none -serial none -semihosting-config enable=on,target=native -kernel"


def sections(elf):
    """Bytes of the sections that are loaded, and of those that only take memory, by name."""
    (start,) = struct.unpack_from("<I", elf, 32)
    size, count, names = struct.unpack_from("<HHH", elf, 46)
    heads = [struct.unpack_from("<10I", elf, start + size * k) for k in range(count)]
    text = heads[names][4]
    out = {}
    for name, kind, flags, _, _, length, *_ in heads:
        if flags & 2:  # takes memory
            out[elf[text + name : elf.index(b"\0", text + name)].decode()] = length
    return out


def build(compact, target):
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target")).absolute() / "embedding"
    command = ["cargo", "build", "--quiet", "--release", *(["--features", "compact"] if compact else [])]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder)}
    if target:
        command += ["--target", target]
    subprocess.run(command, cwd=HERE, check=True, env=environment)
    return folder / (target or "") / "release" / "undercurve-cortex-m"


def run(command):
    # (What a program says through QEMU comes out of its stderr.)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return done.stdout.split() if done.returncode == 0 else [f"{done.stdout[-300:]} (exit code {done.returncode})"]


def main(arguments):
    installed = subprocess.run(["rustup", "target", "list", "--installed"], capture_output=True, text=True).stdout
    missing = [what for what, there in ((QEMU, shutil.which(QEMU)), (TARGET, TARGET in installed)) if not there]
    if missing:
        print(f"skipped: {' and '.join(missing)} not installed")
        return
    print("| `compact` | flash, bytes | static memory | stack | bits |")
    print("|---|---|---|---|---|")
    faults, bits = [], set()
    for compact in (False, True):
        there = build(compact, TARGET)
        sizes = sections(there.read_bytes())
        here = run([str(build(compact, None))])
        got = run([QEMU, *MACHINE.split(), str(there)])
        if len(got) != 3:
            sys.exit(f"the program in QEMU said {got}")
        static = sizes.get(".data", 0) + sizes.get(".bss", 0)
        figures = (sizes[".text"] + sizes.get(".rodata", 0) + sizes.get(".data", 0), static, int(got[2], 16))
        bits.add(tuple(here))
        equal = got[:2] == here and len(bits) == 1
        print(f"| {'yes' if compact else 'no'} | {figures[0]:,} | {figures[1]:,} | {figures[2]:,} | {'equal' if equal else 'differ'} |")
        if not equal:
            faults.append(f"{got[:2]} in QEMU, {here} here, {len(bits)} with and without `compact`")
        if any(figure > most for figure, most in zip(figures, CEILINGS[compact])):
            faults.append(f"{figures}, above {CEILINGS[compact]}")
    if "--check" in arguments and faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main(sys.argv[1:])
