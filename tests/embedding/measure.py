#!/usr/bin/env python3
"""Sizes and panics of the programs in src/lib.rs, built for wasm: python3 tests/embedding/measure.py [--check] [PROGRAM…]

For each, with and without the feature `compact`: bytes of code, calls that panic, imports (0 where nothing can panic), and what
Node prints of the program, where Node is there. `--check` fails above the ceilings below, `-v` lists the places of the panics.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TARGET = "wasm32-unknown-unknown"
# Bytes of code and calls that panic, at most: without and with `compact`.
CEILINGS = {
    "soap": {False: (60_000, 0), True: (38_500, 0)},
    "metrics": {False: (7_600, 0), True: (7_600, 0)},
    "pairs": {False: (43_500, 0), True: (49_000, 0)},
}
PANIC = re.compile(r"panicking|panic_already|_fail\b|_failed|_fail17h|_failed17h|len_mismatch")


class Reader:
    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def bytes(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length : self.at]


def calls(body):
    """Functions that a body calls, in order, each with the constant that was put down last."""
    constant = 0
    for _ in range(body.number()):
        body.number()
        body.byte()
    while body.at < body.end:
        code = body.byte()
        if code == 0x10:
            yield body.number(), constant
        elif code == 0x41:
            constant = body.number()
        elif code in (0x02, 0x03, 0x04):  # a block and its type
            body.number()
        elif code in (0x0C, 0x0D, 0x20, 0x21, 0x22, 0x23, 0x24, 0x3F, 0x40, 0x42, 0xD0, 0xD2):
            body.number()
        elif code == 0x0E:
            for _ in range(body.number() + 1):
                body.number()
        elif code == 0x11 or 0x28 <= code <= 0x3E:
            body.number()
            body.number()
        elif code == 0x43:
            body.at += 4
        elif code == 0x44:
            body.at += 8
        elif code == 0x1C:
            for _ in range(body.number()):
                body.byte()
        elif code == 0xFC:
            for _ in range({8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2}.get(body.number(), 0)):
                body.number()
        elif not (code in (0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B) or 0x45 <= code <= 0xC4):
            raise ValueError(f"an instruction of code {code:#x}")


def place(memory, at):
    """The place in the source that a panic is told: a file, its length, a line and a column."""

    def look(at, length):
        for start, data in memory.items():
            if start <= at and at + length <= start + len(data):
                return data[at - start : at - start + length]
        return b""

    if len(told := look(at, 16)) == 16:
        file, length, line, _ = (int.from_bytes(told[k : k + 4], "little") for k in range(0, 16, 4))
        name = look(file, length) if length < 300 else b""
        if name.rstrip(b"\0").endswith(b".rs"):
            return f"{'/'.join(name.decode().split('/')[-3:])}:{line}"
    return "?"


def read(module):
    """Bytes of code, bytes of constants, places of calls that panic by the function they are in, imports."""
    reader = Reader(module, 8)
    bodies, names, imports, code, constants, memory = [], {}, 0, 0, 0, {}
    while reader.at < reader.end:
        kind, start = reader.byte(), reader.at
        section = Reader(reader.bytes())
        if kind == 2:
            imports = section.number()
        elif kind == 10:
            code = section.end
            for _ in range(section.number()):
                length = section.number()
                bodies.append(Reader(section.data, section.at, section.at + length))
                section.at += length
        elif kind == 11:
            constants = section.end
            for _ in range(section.number()):
                if section.number() == 0:  # an active segment of memory 0, at a constant
                    section.byte()
                    start = section.number()
                    section.byte()
                    memory[start] = section.bytes()
        elif kind == 0 and section.bytes() == b"name":
            while section.at < section.end:
                what, part = section.byte(), Reader(section.bytes())
                if what == 1:
                    names = {part.number(): part.bytes().decode() for _ in range(part.number())}
    panics, sizes = {}, {}
    for at, body in enumerate(bodies, imports):
        name = names.get(at, f"function {at}")
        sizes[name] = body.end - body.at
        if not PANIC.search(name):
            places = [place(memory, constant) for to, constant in calls(body) if PANIC.search(names.get(to, ""))]
            if places:
                panics[name] = places
    return code, constants, panics, imports, sizes


def build(program, compact, places=False):
    features = program + (",compact" if compact else "") + (",places" if places else "")
    command = ["cargo", "build", "--quiet", "--release", "--lib", "--target", TARGET, "--features", features]
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")).absolute() / "embedding"
    subprocess.run(command, cwd=HERE, check=True, env={**os.environ, "CARGO_TARGET_DIR": str(folder)})
    return folder / TARGET / "release" / "undercurve_embedding.wasm"


def run(program, module):
    if not shutil.which("node"):
        return "-"
    script = f"""
    const panicked = () => {{ throw new Error("panicked"); }};
    const wasm = new WebAssembly.Module(require("fs").readFileSync({str(module)!r}));
    console.log(new WebAssembly.Instance(wasm, {{ env: {{ panicked }} }}).exports.{program}().toFixed(6));"""
    return subprocess.run(["node", "-e", script], check=True, capture_output=True, text=True).stdout.strip()


def main(arguments):
    verbose, check = "-v" in arguments, "--check" in arguments
    programs = [a for a in arguments if not a.startswith("-")] or ["soap", "metrics", "pairs"]
    print("| program | `compact` | code, bytes | constants, bytes | calls that panic | imports | result |")
    print("|---|---|---|---|---|---|---|")
    above = []
    for program in programs:
        for compact in (False, True):
            module = build(program, compact)
            code, constants, panics, imports, sizes = read(module.read_bytes())
            count = sum(len(places) for places in panics.values())
            result = run(program, module)
            print(f"| {program} | {'yes' if compact else 'no'} | {code:,} | {constants:,} | {count} | {imports} | {result} |", flush=True)
            if verbose:
                panics = read(build(program, compact, places=True).read_bytes())[2]
                for name, places in sorted(panics.items(), key=lambda item: -len(item[1]))[:40]:
                    print(f"    {len(places):4} {name}: {' '.join(places)}")
                for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:25]:
                    print(f"    {size:7} bytes {name}")
            most = CEILINGS.get(program, {}).get(compact)
            if most and (code > most[0] or count > most[1]):
                above.append(f"{program}{' compact' if compact else ''}: {code} bytes and {count} calls, above {most}")
    if check and above:
        sys.exit("\n".join(above))


if __name__ == "__main__":
    main(sys.argv[1:])
