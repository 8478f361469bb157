"""Rows whose class another program decides otherwise: a threshold is to lie where the last bits of no host move a row across it.

    pip install ./core/python onnxruntime
    cargo build --release -p undercurve-demo
    cargo rustc -p undercurve-c --lib --profile embedded --crate-type cdylib
    cargo rustc -p undercurve-c --lib --profile embedded --crate-type cdylib --target wasm32-unknown-unknown
    nice python3 tests/peers/flips.py 100 100000 target/release/undercurve target

Models of random tables (numbers, whole numbers, categories; linear and networks) in 32 and 64 bits. The threshold of a random rule is chosen on
100,000 rows, and those and as many others are decided by the Python package, by onnxruntime, by NumPy from the exported JSON, and (32 bits, the only ones they have) by the
C library and its wasm module in Node. Prints, for each host, how many rows have another class than here.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import undercurve

onnxruntime.set_default_logger_severity(3)
RULES = ["fpr<=0.01", "fpr<=0.1", "precision>=0.6", "recall>=0.7", "alerts<=1%", "youden", "f1", "mcc", "costs:1:5"]
WASM = """
const { readFileSync, writeFileSync } = require("node:fs");
const uc = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(process.argv[1])), {}).exports;
const [, , model, rows, scores, columns] = process.argv;
const bytes = readFileSync(model), x = readFileSync(rows), part = 4096;
const out = uc.uc_alloc(8), saved = uc.uc_alloc(bytes.length), at = uc.uc_alloc(part * columns * 4), found = uc.uc_alloc(part * 4);
new Uint8Array(uc.memory.buffer, saved, bytes.length).set(bytes);
if (uc.uc_model_load(saved, bytes.length, out)) throw new Error("no model");
const handle = new Uint32Array(uc.memory.buffer, out, 1)[0], count = x.length / 4 / columns, all = new Float32Array(count);
for (let row = 0; row < count; row += part) {
  const some = Math.min(part, count - row);
  new Uint8Array(uc.memory.buffer, at, some * columns * 4).set(x.subarray(row * columns * 4, (row + some) * columns * 4));
  if (uc.uc_score(handle, at, some, columns, found, some)) throw new Error("no scores");
  all.set(new Float32Array(uc.memory.buffer, found, some), row);
}
writeFileSync(scores, all);
"""


def table(kind, columns, rows, rng):
    """Named columns, and the part of the label that they explain."""
    cells, signal = {}, np.zeros(rows)
    for k in range(columns):
        of = kind if kind != "mixed" else ["numbers", "whole", "categories"][k % 3]
        if of == "categories":
            numbers = rng.integers(0, 8, rows)
            cells[f"c{k}"] = np.array(list("abcdefgh"), dtype=object)[numbers]
            signal += rng.normal(size=8)[numbers]
        else:
            numbers = rng.integers(0, 20, rows).astype(float) if of == "whole" else rng.normal(size=rows)
            cells[f"x{k}"] = numbers * 10.0 ** rng.uniform(-2, 3) + 10.0 ** rng.uniform(-1, 3) if of == "numbers" else numbers
            signal += rng.normal() * numbers / numbers.std()
    return cells, signal / np.sqrt(columns)


def features(model, cells):
    """The inputs of the model as `core/src/guide/deploying.md` describes the JSON file."""
    parts = []
    for column in model["columns"]:
        values = cells[column["name"]]
        parts += [values == one for one in column["categories"]] if column["kind"] == "category" else [values]
    scale = [(x.astype(float) - f["shift"]) / f["divisor"] if f["divisor"] else 0 * x.astype(float) for x, f in zip(parts, model["features"])]
    return np.column_stack(scale).astype(np.float32 if model["precision"] == "f32" else np.float64)


def by_json(model, x):
    for k, layer in enumerate(model["layers"]):
        if k:
            x = np.maximum(x, 0) if model["activation"] == "relu" else np.tanh(x)
        x = x @ np.array(layer["weights"], x.dtype) + np.array(layer["bias"], x.dtype)
    return x[:, 0]


def by_onnx(session, cells, exported):
    """Of both forms of the graph: numbers alone, or a column each."""
    columns = json.loads(session.get_modelmeta().custom_metadata_map.get("columns", "[]"))
    if not columns:
        feed = {name: column.reshape(-1, 1) for name, column in cells.items()}
        return session.run(["class"], feed)[0] == exported["labels"][1]
    x = np.column_stack([cells[of["name"]] - of["origin"] for of in columns]).astype(np.float32)
    return session.run(["score"], {"x": x})[0].astype(float) >= exported["threshold"]


class Library:
    """The C library."""

    def __init__(self, path):
        self.uc = ctypes.CDLL(path)

    def __call__(self, saved, x):
        handle, scores = ctypes.c_uint32(), np.empty(len(x), np.float32)
        assert self.uc.uc_model_load(saved, ctypes.c_size_t(len(saved)), ctypes.byref(handle)) == 0
        size = ctypes.c_size_t
        code = self.uc.uc_score(handle, ctypes.c_void_p(x.ctypes.data), size(len(x)), size(x.shape[1]), ctypes.c_void_p(scores.ctypes.data), size(len(x)))
        threshold = ctypes.c_double()
        assert code == 0 and self.uc.uc_threshold(handle, ctypes.byref(threshold)) == 0 and self.uc.uc_release(handle) == 0
        return scores >= threshold.value


def main():
    models, rows, program, target = int(sys.argv[1]), int(sys.argv[2]), os.path.abspath(sys.argv[3]), os.path.abspath(sys.argv[4])
    library = Library(f"{target}/embedded/libundercurve_c.so")
    wasm = f"{target}/wasm32-unknown-unknown/embedded/undercurve_c.wasm"
    told = {}
    for number in range(models):
        for dtype in ("float32", "float64"):
            rng = np.random.default_rng([number, 32 if dtype == "float32" else 64])
            kind = ["numbers", "whole", "categories", "mixed"][number % 4]
            cells, signal = table(kind, int(rng.integers(2, 13)), 2 * rows, rng)
            labels = rng.random(2 * rows) < 1 / (1 + np.exp(3 - 1.5 * signal))
            some = {name: column[:4000] for name, column in cells.items()}
            method, shape = ["ce", "ap-exact", "soap"][number % 3], ["linear", "linear", "mlp:8", "mlp-tanh:6,4"][number // 4 % 4]
            plain = undercurve.train({**some, "label": labels[:4000]}, method=method, model=shape, steps=150, dtype=dtype, keep_identifiers=True)
            chosen = {name: column[:rows] for name, column in cells.items()}
            try:
                model = plain.with_threshold(RULES[number % len(RULES)], chosen, labels[:rows])
            except ValueError:  # (No threshold has that precision.)
                model = plain.with_threshold("youden", chosen, labels[:rows])
            at, ours = model.threshold, model.decide(cells)
            with tempfile.TemporaryDirectory() as folder:
                path = lambda name: os.path.join(folder, name)
                model.save(path("m.uc"))
                for name in ("m.onnx", "m.json"):
                    subprocess.run([program, "export", path("m.uc"), path(name)], check=True, capture_output=True)
                exported = json.load(open(path("m.json")))
                session = onnxruntime.InferenceSession(path("m.onnx"), providers=["CPUExecutionProvider"])
                x = features(exported, cells)
                theirs = {
                    "onnxruntime": by_onnx(session, cells, exported),
                    "NumPy, from JSON": by_json(exported, x) >= exported["threshold"],
                }
                if dtype == "float32":
                    x.tofile(path("x"))
                    subprocess.run(["node", "-e", WASM, wasm, path("m.uc"), path("x"), path("s"), str(x.shape[1])], check=True)
                    theirs["C"] = library(open(path("m.uc"), "rb").read(), x)
                    theirs["wasm in Node"] = np.fromfile(path("s"), np.float32) >= at
            for host, classes in theirs.items():
                of = told.setdefault((host, dtype), [0, 0, 0])
                other = np.ravel(classes) != ours
                of[0], of[1], of[2] = of[0] + 1, of[1] + int(other[:rows].sum()), of[2] + int(other[rows:].sum())
    print(f"| host | type | models | other class, of {rows:,} rows each that the threshold was chosen on | of {rows:,} others each |\n|---|---|---|---|---|")
    for (host, dtype), (count, same, fresh) in told.items():
        print(f"| {host} | {dtype} | {count} | {same} | {fresh} |")


main()
