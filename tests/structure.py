#!/usr/bin/env python3
"""Figures of the source: python3 tests/structure.py [CHECKOUT [BEFORE]], a second column for another checkout. With --check it fails where a
figure is above its ceiling below, which only goes down.

Sources are those of core, demo, gpu, wasm and the experiments, without tests. It reads lines as rustfmt leaves them, and compiles nothing but for the
size of target/release/undercurve, where that is there.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

CRATES = ["core/src", "core/arrow/src", "core/c/src", "core/python/src", "core/search/src", "demo/src", "demo/site/src", "gpu/src", "tests/experiments/src", "wasm/src"]

CEILINGS = {
    "circles of modules": 0,
    "files over 600 lines": 1,
    "functions over 60 lines": 39,
    "functions of 8 arguments and more": 3,
    "cfg attributes in core/src": 142,
    "string arms in gpu/src": 0,
    "wildcard arms in gpu/src": 0,
}


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


def trees(text):
    """The paths of a `use` tree, groups taken apart: `a::{b, c::d}` is a::b and a::c::d. (A name given by `as` is left out.)"""
    depth, start, parts = 0, 0, []
    for at, char in enumerate(text + ","):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    for part in filter(None, parts):
        head, brace, inside = part.partition("{")
        if brace:
            for path in trees(inside.rsplit("}", 1)[0]):
                yield head.strip() + path
        else:
            yield part.split(" as ")[0].strip()


def nested(text):
    """(text, levels) of a file: what stands in it, and what stands in modules written inside it, for which `super` is the file."""
    lines, outside, at = text.split("\n"), [], 0
    while at < len(lines):
        head = re.match(r"( *)(?:pub(?:\([a-z ]+\))? )?mod \w+ \{$", lines[at])
        if not head:
            outside.append(lines[at])
            at += 1
            continue
        close = next(end for end in range(at, len(lines)) if lines[end] == head.group(1) + "}")
        yield from ((inner, levels + 1) for inner, levels in nested("\n".join(lines[at + 1 : close])))
        at = close + 1
    yield "\n".join(outside), 0


def uses(name, is_folder, text):
    """Paths from the root of the crate that a file names: in `use` trees and in the code, from `crate`, `super` and `self`."""
    for part, levels in nested(text):
        statements = re.findall(r"\buse ([^;]+);", part)
        code = re.sub(r"\buse [^;]+;", "", part)
        paths = [path for statement in statements for path in trees(re.sub(r"\s+", " ", statement))]
        paths += re.findall(r"(?<![\w:])\$?(?:crate|super|self)(?:::\w+)+", code)
        here = name.split("::") if name else []
        for path in paths:
            steps = path.lstrip("$").split("::")
            if steps[0] not in ("crate", "super", "self"):
                # (A path of another crate, or of a module below this one.)
                if is_folder and levels == 0:
                    yield "::".join(here + steps)
                continue
            up = 0
            while steps and steps[0] in ("super", "self"):
                up += steps[0] == "super"
                steps = steps[1:]
            if path.lstrip("$").startswith("crate"):
                base, steps = [], steps[1:]
            elif up <= levels:
                base = here
            else:
                base = here[: len(here) - (up - levels)]
            yield "::".join(base + steps)


def faces(name, text):
    """What a module hands on from below it: (the path outside, the path of the file that has it)."""
    for statement in re.findall(r"\bpub(?:\([a-z ]+\))? use ([^;]+);", text):
        for path in trees(re.sub(r"\s+", " ", statement)):
            steps = re.sub(r"^(self|\$?crate)::", "", path).split("::")
            inside = steps if path.startswith("crate::") or not name else name.split("::") + steps
            if steps[-1] != "*":
                yield "::".join(filter(None, [name, steps[-1]])), "::".join(inside)


def circles(root, folder):
    """Files of one crate that import each other in a circle (strongly connected components of more than one module)."""
    paths = {module(root, folder, path): path for path in sources(root, folder)}
    texts = {name: body(path.read_text()) for name, path in paths.items()}
    handed = dict(pair for name, text in texts.items() for pair in faces(name, text))
    graph = defaultdict(set)
    for name, text in texts.items():
        for path in uses(name, paths[name].stem in ("mod", "lib", "main"), text):
            for _ in range(4):
                path = handed.get(path, path)
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


def sees_circles():
    """Whether the gauge sees the circles of a crate made for it, however they are written, and no other."""
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\nmod f;",
        "a.rs": "use super::b::B;",
        "b.rs": "use crate::{a::A, f::F};",
        "c.rs": "mod inside {\n    use super::super::d::Below;\n    use super::X;\n}",
        "d/mod.rs": "mod below;\npub use below::Below;",
        "d/below.rs": "fn f() {\n    super::super::c::g();\n}",
        "e.rs": "use super::{f::F, d::Below as D};",
        "f.rs": "#[cfg(test)]\nmod tests {\n    use super::super::e::E;\n}",
    }
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / "core/src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"//! A file.\n{text}\n")
        return circles(Path(root), "core/src") == [["a", "b"], ["c", "d::below"]]


def main():
    check = sys.argv[1:] == ["--check"]
    given = [] if check else sys.argv[1:3]
    roots = [Path(root).resolve() for root in given] or [Path(__file__).resolve().parent.parent]
    now, found = figures(roots[0])
    before = figures(roots[1])[0] if len(roots) == 2 else {}
    for name, value in now.items():
        print(f"{name:<36}{before.get(name, ''):>10}{value:>10}")
    for crate, circle in found:
        print(f"circle in {crate}: {', '.join(circle)}")
    if check:
        if not sees_circles():
            sys.exit("the gauge of circles is blind")
        above = [f"{name}: {now[name]}, at most {most}" for name, most in CEILINGS.items() if now[name] > most]
        below = [f"{name}: {now[name]}, not {most}" for name, most in CEILINGS.items() if now[name] < most]
        if below:
            print(f"ceilings of tests/structure.py that can be lowered: {'; '.join(below)}")
        sys.exit(f"above their ceilings: {'; '.join(above)}" if above else 0)


main()
