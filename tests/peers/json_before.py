"""JSON of every subcommand by two programs, the settings of methods given: python3 tests/peers/json_before.py OLD NEW

Prints a line for each command: how many numbers and texts are equal, and the fields that only one program has, or that differ. Times are
not compared. No package is needed.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[2] / "demo/web/samples/breast-cancer.csv"
# What automatic defaults of either program would choose.
GIVEN = {"lr": "0.01", "pretrain": "0", "decay": "0", "pull": "0", "steps": "60", "batch": "32", "inner": "5", "outer": "4", "passes": "4"}
TIMES = {"seconds", "solve_seconds"}


def call(program, command, folder):
    done = subprocess.run([program, *command], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def flat(value, name=""):
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in TIMES:
                yield from flat(part, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for at, part in enumerate(value):
            at = part["name"] if isinstance(part, dict) and "name" in part else at
            yield from flat(part, f"{name}[{at}]")
    else:
        yield name, value


def fields(text):
    """Of the whole text, or of each line, every number and text by its name."""
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines() if line.startswith(("{", "["))]
    if not values:
        return {f"0:[{at}]": line for at, line in enumerate(text.splitlines())}
    names = [part.get("name", at) if isinstance(part, dict) else at for at, part in enumerate(values)]
    return {f"{name}:{field}": value for name, part in zip(names, values) for field, value in flat(part)}


def family(name):
    """A field without numbers of lines and places."""
    return re.sub(r"\[[^]]*\]", "[]", name.split(":", 1)[1])


def compare(title, old, new):
    if old[0] or new[0]:
        lines = [f"{which}: exit code {code}, {(said.strip().splitlines() or ['-'])[-1][:100]}" for which, (code, _, said) in
                 (("old", old), ("new", new)) if code]
        print(f"| {title} | – | {'; '.join(lines)} | |")
        return
    old, new = fields(old[1]), fields(new[1])
    shared = old.keys() & new.keys()
    differs = sorted({family(name) for name in shared if old[name] != new[name]})
    only = [sorted({family(name) for name in one.keys() - other.keys()} - {family(name) for name in other})
            for one, other in ((old, new), (new, old))]
    by = max((abs(old[name] - new[name]) for name in shared if old[name] != new[name] and "interval" not in name
              and isinstance(old[name], float) and isinstance(new[name], float)), default=0)
    equal = sum(old[name] == new[name] for name in shared)
    said = [f"{what} {', '.join(names[:8])}{f' and {len(names) - 8} more' if len(names) > 8 else ''}"
            for what, names in (("gone:", only[0]), ("new:", only[1])) if names]
    print(f"| {title} | {equal} of {len(shared)} | {'; '.join(said) or '–'} | {', '.join(differs) or '–'}{f'; intervals apart by at most {by:.1e}' if by else ''} |", flush=True)


def settings(program, method):
    """The method's settings that are automatic, given."""
    told = json.loads(call(program, ["methods", method, "--json"], ".")[1].splitlines()[0])
    names = {param["name"] for param in told["params"]}
    return {name: value for name, value in GIVEN.items() if name in names}


def accepted(programs, folders, command):
    """The command without settings that have no effect beside others, and what both programs answer."""
    while True:
        said = [call(program, command, folder) for program, folder in zip(programs, folders)]
        idle = [match[1] for _, _, text in said if (match := re.match(r"error: (\S+) has no effect with", text))]
        if not idle:
            return said
        at = next(at for at, word in enumerate(command) if word.startswith(f"{idle[0]}="))
        command = command[: at - 1] + command[at + 1 :]


def commands(old, new):
    data = ["data.csv", "--label", "diagnosis"]
    fit = [*data, "--ignore", "side", "--split", "0.75", "--seed", "3", "--threshold", "fpr<=0.05"]
    listed = [json.loads(line) for line in call(old, ["methods", "--json"], ".")[1].splitlines()]
    of_groups = {method["name"]: method["groups"] for method in reversed(listed)}
    yield "methods", ["methods", "--json"]
    for method in of_groups:
        both = {name: value for name, value in settings(old, method).items() if name in settings(new, method)}
        sets = [part for name, value in both.items() for part in ("--set", f"{name}={value}")]
        steps = [] if "steps" in both else ["--steps", "60"]
        groups = ["--group", "side"] if of_groups[method] else []
        yield f"train --method {method}", ["train", *fit, *groups, "--method", method, *sets, *steps, "--every", "20", "--json", "--out", f"{method}.model"]
    yield "eval", ["eval", "soap.model", "data.csv", "--json"]
    yield "eval --held-out", ["eval", "soap.model", "data.csv", "--held-out", "--json"]
    yield "predict", ["predict", "ce.model", "data.csv"]
    yield "inspect", ["inspect", "ce.model", "--json"]
    yield "export", ["export", "ce.model", "ce.json"]
    yield "export's file", ["cat", "ce.json"]
    yield "decide", ["decide", "ce.model", "data.csv", "--threshold", "fpr<=0.02", "--json", "--out", "decided.model"]
    yield "metrics", ["metrics", "scores.csv", "--json", "--threshold", "fpr<=0.05"]
    yield "compare", ["compare", *data, "--metric", "ap", "--methods", "auc-pairwise", "--folds", "3", "--json"]
    yield "prepare", ["prepare", *data, "--split", "0.75", "--train", "train.csv", "--test", "test.csv"]
    yield "prepare's rows", ["cat", "train.csv"]
    fit = ["data.csv", "--label", "diagnosis", "--split", "0.75", "--group", "side", "--ignore", "side", "--bounds", "0.1,0.3", "--json"]
    yield "frontier", ["frontier", *fit, "--steps", "60"]


def main():
    old, new = (str(Path(program).resolve()) for program in sys.argv[1:3])
    rows = DATA.read_text().splitlines()
    head = rows[0].split(",")
    side = ["side", *("left" if float(row.split(",")[0]) < 13.5 else "right" for row in rows[1:])]
    scores = ["label,score", *(f"{int(row.split(',')[-1] == rows[1].split(',')[-1])},{row.split(',')[0]}" for row in rows[1:])]
    print("| command | equal | fields of one program | fields that differ |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("old", "new")]
        for folder in folders:
            folder.mkdir()
            (folder / "data.csv").write_text("\n".join(f"{row},{of}" for row, of in zip(rows, side)) + "\n")
            (folder / "scores.csv").write_text("\n".join(scores) + "\n")
        assert head[-1] == "diagnosis", head[-1]
        for title, command in commands(old, new):
            if command[0] == "cat":
                texts = [(folder / command[1]).read_text() if (folder / command[1]).exists() else "" for folder in folders]
                said = [(0, text if text.startswith("{") else json.dumps(text.splitlines()), "") for text in texts]
            else:
                said = accepted((old, new), folders, command)
            compare(title, *said)


if __name__ == "__main__":
    main()
