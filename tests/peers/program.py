#!/usr/bin/env python3
"""Lines of help, time to start, and size of builds of the program, side by side.

    python3 tests/peers/program.py BEFORE AFTER

The time is the least of thirty runs of `--version`, which prints one line, beside that of `true`.
"""
import os
import subprocess
import sys
import time

COMMANDS = "look auto train eval predict compare decide metrics frontier prepare inspect export methods".split()


def lines(program, *args):
    return len(subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout.splitlines())


def start(*args):
    def once():
        begun = time.perf_counter()
        subprocess.run(args, capture_output=True, check=True)
        return 1e3 * (time.perf_counter() - begun)
    return min(once() for _ in range(30))


def main():
    programs = [os.path.abspath(program) for program in sys.argv[1:]]
    rows = [("size, MB", [f"{os.path.getsize(program) / 1e6:.1f}" for program in programs])]
    rows += [("start, ms", [f"{start(program, '--version'):.1f}" for program in programs])]
    rows += [("`true`, ms", [f"{start('true'):.1f}"] * len(programs))]
    rows += [("lines of `-h`", [lines(program, "-h") for program in programs])]
    for command in COMMANDS:
        rows += [(f"{command} `-h`, `--help`", [f"{lines(program, command, '-h')}, {lines(program, command, '--help')}" for program in programs])]
    print("| |", " | ".join(f"`{program}`" for program in sys.argv[1:]), "|")
    print("|---" * (len(programs) + 1) + "|")
    for name, cells in rows:
        print(f"| {name} |", " | ".join(map(str, cells)), "|")


main()
