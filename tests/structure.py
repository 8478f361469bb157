#!/usr/bin/env python3
"""Figures of the source: python3 tests/structure.py [CHECKOUT [BEFORE]], a second column for another checkout.

Sources are those of core, demo, gpu, wasm and the experiments, without tests. It reads lines as rustfmt leaves them, and compiles nothing but for the
size of target/release/undercurve, where that is there.
"""

import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

CRATES = ["core/src", "core/c/src", "demo/src", "demo/site/src", "gpu/src", "tests/experiments/src", "wasm/src"]


def sources(root, folder):
    return sorted((root / folder).rglob("*.rs")) if (root / folder).exists() else []


def body(text):
    """Without test modules at the end of a file and without comment lines."""
    text = re.split(r"\n#\[cfg\(test\)\]\nmod tests \{", text)[0]
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))


def functions(text):
    """(lines, arguments) of every function with a body."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        found = re.match(r"( *)(pub(\([a-z ]+\))? )?(const |unsafe |async )*fn (\w+)", line)
        if not found:
            continue
        indent = found.group(1)
        head, end = [], at
        while end < len(lines) and not lines[end].rstrip().endswith(("{", ";", "}")):
            head.append(lines[end])
            end += 1
        head.append(lines[end] if end < len(lines) else "")
        if head[-1].rstrip().endswith(";"):
            continue
        close = end
        if not head[-1].rstrip().endswith("}"):
            while close + 1 < len(lines) and lines[close] != indent + "}":
                close += 1
        yield close - at + 1, arguments(" ".join(head))


def arguments(head):
    start = head.find("(", head.find("fn "))
    depth, angle, count, some = 0, 0, 0, False
    for at in range(start, len(head)):
        char = head[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                inside = head[start + 1 : at].strip().rstrip(",")
                return count + 1 if inside else 0
        elif char == "<":
            angle += 1
        elif char == ">" and head[at - 1] != "-":
            angle -= 1
        elif char == "," and depth == 1 and angle == 0 and head[at + 1 :].strip()[:1] not in ("", ")"):
            count += 1
    return count


def module(root, folder, path):
    parts = list(path.relative_to(root / folder).with_suffix("").parts)
    if parts[-1] in ("mod", "lib", "main"):
        parts.pop()
    return "::".join(parts)


def uses(text):
    """Paths below `crate::` that a file names, groups taken apart."""
    for found in re.finditer(r"\bcrate::((?:\w+::)*)(?:(\w+)|\{)", text):
        if found.group(2):
            yield found.group(1) + found.group(2)
            continue
        depth, at, inside = 1, found.end(), ""
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            inside += text[at]
            at += 1
        for name in re.findall(r"\w+", inside):
            yield found.group(1) + name


def circles(root, folder):
    """Files of one crate that import each other in a circle (strongly connected components of more than one module)."""
    texts = {module(root, folder, path): body(path.read_text()) for path in sources(root, folder)}
    graph = defaultdict(set)
    for name, text in texts.items():
        for path in uses(text):
            parts = path.split("::")
            for length in range(len(parts), 0, -1):
                other = "::".join(parts[:length])
                if other in texts:
                    # (A module and those below it are one house.)
                    if not (name == other or name.startswith(other + "::") or other.startswith(name + "::")):
                        graph[name].add(other)
                    break
    index, low, stack, found, order = {}, {}, [], [], [0]

    def visit(node):
        index[node] = low[node] = order[0]
        order[0] += 1
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                if part[-1] == node:
                    break
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for node in sorted(texts):
        if node not in index:
            visit(node)
    return found


def figures(root):
    out = {}
    all_circles = [(folder.split("/")[0], circle) for folder in CRATES for circle in circles(root, folder)]
    out["circles of modules"] = len(all_circles)
    out["modules in the largest circle"] = max((len(circle) for _, circle in all_circles), default=0)
    texts = {path: path.read_text() for folder in CRATES for path in sources(root, folder)}
    out["files over 600 lines"] = sum(text.count("\n") > 600 for text in texts.values())
    every = [one for text in texts.values() for one in functions(body(text))]
    out["functions over 60 lines"] = sum(lines > 60 for lines, _ in every)
    out["functions of 8 arguments and more"] = sum(count >= 8 for _, count in every)
    of = lambda folder: [body(text) for path, text in texts.items() if path.is_relative_to(root / folder)]
    out["cfg attributes in core/src"] = sum(len(re.findall(r"#!?\[cfg(?:_attr)?\(", text)) for text in of("core/src"))
    out["string arms in gpu/src"] = sum(len(re.findall(r'^\s*(?:\| )?"[\w-]+"(?: \| "[\w-]+")* =>', text, re.M)) for text in of("gpu/src"))
    for folder in ["core/src", "gpu/src"]:
        out[f"wildcard arms in {folder}"] = sum(len(re.findall(r"^\s*_ =>", text, re.M)) for text in of(folder))
    for folder in CRATES + ["tests/src", "tests/tests"]:
        out[f"lines of {folder}"] = sum(path.read_text().count("\n") for path in sources(root, folder) if "target" not in path.parts)
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"]:
        text = (root / name).read_text()
        out[f"lines of {name}"] = text.count("\n")
        out[f"words of {name}"] = len(text.split())
    program = root / "target/release/undercurve"
    if program.exists():
        out["MB of the program"] = round(program.stat().st_size / 1e6, 1)
        times = []
        for _ in range(20):
            start = time.perf_counter()
            subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - start)
        out["ms to start and end"] = round(1e3 * min(times), 1)
    return out, all_circles


def main():
    roots = [Path(root).resolve() for root in sys.argv[1:3]] or [Path(__file__).resolve().parent.parent]
    now, found = figures(roots[0])
    before = figures(roots[1])[0] if len(roots) == 2 else {}
    for name, value in now.items():
        print(f"{name:<36}{before.get(name, ''):>10}{value:>10}")
    for crate, circle in found:
        print(f"circle in {crate}: {', '.join(circle)}")


main()
