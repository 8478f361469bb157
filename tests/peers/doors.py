"""The metrics of random files by all doors, bit for bit: python tests/peers/doors.py [FILES], in a Python that has undercurve.

Builds the command line and the C library with cargo, and takes the npm package of wasm/js (`cargo demo --build-only`). Then labels of every kind that
scikit-learn's type_of_target knows are taken or refused by Python, the command line and npm, and what each says is printed.
"""

import ctypes
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import undercurve

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAIN = "auroc ap pauc pauc:0.02:0.3 mcclish:0.1 mcclish:0.05:0.4 pauc2:0.4:0.3 accuracy:0.4 fpr:0.4 tpr:0.4 precision:0.4 f1:0.4 mcc:0.4"
PLAIN += " precision-at-recall:0.5 recall-at-precision:0.5 precision-at:5 recall-at:20% lift-at:10% log-loss brier ece"
QUERIES, GROUPS = "map ndcg ndcg:3 mrr", "gap(fpr) gap(tpr) gap(tpr@0.2) worst-auroc worst-accuracy:0.4 worst-loss cvar:0.5"
NODE = """
import { createInterface } from "node:readline";
import { metrics } from %s;
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const found = await metrics(JSON.parse(line));
    console.log(JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, { value, interval }]) => [name, [value === Infinity ? "inf" : value ?? null, interval ?? null]]))));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
}
"""


class Node:
    def __init__(self):
        text = NODE % json.dumps((ROOT / "wasm/js/index.js").as_uri())
        run = ["node", "--input-type=module", "-e", text]
        self.process = subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, **asked):
        self.process.stdin.write(json.dumps({name: of for name, of in asked.items() if of is not None}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def line(columns, *asked):
    """What the command line says of columns."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "scores.csv")
        rows = zip(*([name, *("" if cell is None else repr(cell) if isinstance(cell, float) else str(cell) for cell in of)] for name, of in columns.items()))
        file.write_text("".join(",".join(row) + "\n" for row in rows))
        done = subprocess.run([ROOT / "target/debug/undercurve", "metrics", file, "--json", *asked], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip().split("error: ")[-1]}


def c_metric(library, name, scores, labels, weights, beside):
    def at(array, dtype):
        return None if array is None else np.ascontiguousarray(array, dtype)

    held = [at(scores, "f8"), at(labels, "u1"), at(weights, "f8"), *(at(of, "u4") for of in beside)]
    found = np.zeros(3)
    pointers = [ctypes.c_void_p(None if of is None else of.ctypes.data) for of in held]
    code = library.uc_metric_f64(name.encode(), *pointers, ctypes.c_size_t(len(scores)), ctypes.c_void_p(found.ctypes.data))
    value, low, high = found.tolist()
    return {"error": code} if code else [None if math.isnan(value) else value, None if math.isnan(low) else [low, high]]


def told(name, found):
    """A value and its interval, of what the command line says."""
    return [found[name], found["intervals"].get(name)] if "error" not in found else found


def files(count, library, node):
    compared = differ = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(20, 300))
        labels = (rng.random(rows) < rng.choice([0.1, 0.3, 0.5])).astype(int)
        labels[:6] = [0, 1, 0, 1, 0, 1]
        scores = 1 / (1 + np.exp(-(labels * rng.choice([0.5, 2.0]) + rng.normal(size=rows))))
        scores = np.round(scores, int(rng.choice([1, 2, 15])))
        part = np.arange(rows) % 3
        weights = rng.integers(1, 5, rows) / 2 if seed % 3 == 1 else None
        clusters = rng.integers(0, rows // 3, rows) if seed % 3 == 2 else None
        base = {"label": labels.tolist(), "score": scores.tolist()}
        for names, key, column in ((PLAIN, None, None), (QUERIES, "queries", part), (GROUPS, "groups", part)):
            if key and weights is not None:
                continue
            names = names.split()
            more = {key: column} if key else {}
            python = undercurve.metrics(scores, labels, weights, metrics=names, clusters=clusters, **more)
            asked, columns = ["--metric", ",".join(names)], dict(base)
            beside = [("weight", weights), ("cluster", clusters), ("query" if key == "queries" else "group", column)]
            for option, of in beside:
                if of is not None:
                    asked, columns = [*asked, f"--{option}", option], {**columns, option: of.tolist()}
            command = line(columns, *asked)
            arrays = {"weights": weights, "clusters": clusters, **more}
            web = node(labels=labels.tolist(), scores=scores.tolist(), metrics=names, **{k: None if of is None else of.tolist() for k, of in arrays.items()})
            of_c = [clusters, column if key == "queries" else None, column if key == "groups" else None]
            for name in names:
                one = python[name]
                want = [one.value, None if one.interval is None else list(one.interval)]
                # (JSON has no infinity: the command line writes null.)
                json_want = [None if one.value == math.inf else one.value, want[1]]
                of_web = web.get(name, web)
                if isinstance(of_web, list) and of_web[0] == "inf":
                    of_web = [math.inf, of_web[1]]
                others = {"command line": told(name, command), "npm": of_web, "C": c_metric(library, name, scores, labels, weights, of_c)}
                compared += len(others)
                for door, found in others.items():
                    if found != (json_want if door == "command line" else want):
                        differ += 1
                        print(f"file {seed}, {name}, {door}: {found}, in Python {want}")
    print(f"{count} files: {compared} values with their intervals compared with Python's, {differ} differ")
    return differ


def kinds(node):
    """scikit-learn's kinds of targets, and nullable and object ones: [name, labels]."""
    nan = float("nan")
    yield "binary", [0, 1, 0, 1]
    yield "binary, −1 and 1", [-1, 1, -1, 1]
    yield "binary, texts", ["no", "yes", "no", "yes"]
    yield "binary, booleans", [False, True, False, True]
    yield "binary, floats", [0.0, 1.0, 0.0, 1.0]
    yield "binary, 1 and 2", [1, 2, 1, 2]
    yield "one class", [1, 1, 1, 1]
    yield "multiclass", [0, 1, 2, 1]
    yield "multiclass, texts", ["a", "b", "c", "b"]
    yield "continuous", [0.1, 0.5, 0.7, 1.5]
    yield "continuous, two", [0.5, 1.5, 0.5, 1.5]
    yield "nullable", [0, None, 1, 1]
    yield "object with None", ["no", None, "yes", "yes"]
    yield "NaN", [0.0, nan, 1.0, 1.0]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for package in ("undercurve-demo", "undercurve-c"):
        subprocess.run(["cargo", "build", "--quiet", "-p", package], cwd=ROOT, check=True)
    library = ctypes.CDLL(str(ROOT / "target/debug/libundercurve_c.so"))
    node, scores = Node(), [0.1, 0.4, 0.35, 0.8]
    differ = files(count, library, node)
    print("\n| labels | Python | command line | npm |\n|---|---|---|---|")
    for name, labels in kinds(node):
        try:
            python = undercurve.metrics(scores, labels, metrics="auroc")["auroc"].value
        except (TypeError, ValueError) as error:
            python = str(error)
        command = line({"label": labels, "score": scores}, "--metric", "auroc")
        web = node(labels=[None if label != label else label for label in labels], scores=scores, metrics="auroc")
        taken = [isinstance(python, float), "error" not in command, "error" not in web]
        differ += len(set(taken)) > 1
        print(f"| {name} | {python} | {command.get('error', command.get('auroc'))} | {web.get('error') or web['auroc'][0]} |")
    sys.exit(differ > 0)


main()
