"""Scores of the rows of a CSV or LIBSVM file by models that `undercurve export` wrote, with onnxruntime.

python3 tests/peers/onnx_scores.py MODEL.onnx[,MODEL.onnx ...] DATA [MISSING ...]

Writes CSV with the outputs of each graph; MISSING: spellings of a missing value besides the empty cell. Dates are days since 1970-01-01. Of a graph of
numbers alone the class is made from its metadata.
"""

import csv
import datetime
import gzip
import json
import sys

import numpy
import onnxruntime

onnxruntime.set_default_logger_severity(3)
missing = {"", *sys.argv[3:]}
open_text = gzip.open if sys.argv[2].endswith(".gz") else open


def number(text):
    if text in missing:
        return float("nan")
    if text.count("-") == 2 and len(text) == 10:
        return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
    return float(text)


def place(text, categories):
    if text in categories:
        return categories.index(text)
    return float("nan") if text in missing else -1


def libsvm(columns):
    with open_text(sys.argv[2], "rt") as file:
        lines = [line.split() for line in file]
    x = numpy.zeros((len(lines), columns))
    for row, tokens in enumerate(lines):
        for token in tokens[1:]:
            column, value = token.split(":")
            if int(column) <= columns:
                x[row, int(column) - 1] = float(value)
    return x


def cells(name):
    return [row[name].strip() for row in rows]


def outputs(model):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    inputs, meta = session.get_inputs(), session.get_modelmeta().custom_metadata_map
    columns = json.loads(meta.get("columns", "[]"))
    if columns:
        all = [[place(cell, of["categories"]) if "categories" in of else number(cell) - of["origin"] for cell in cells(of["name"])] for of in columns]
        feed = {"x": numpy.column_stack(all)}
    elif [i.name for i in inputs] == ["x"]:
        feed = {"x": libsvm(inputs[0].shape[1])}
    else:
        feed = {}
        for one in inputs:
            # (A column that is called as an output is "column NAME".)
            found = cells(one.name if one.name in rows[0] else one.name.removeprefix("column "))
            if one.type == "tensor(string)":
                feed[one.name] = numpy.array([["" if cell in missing else cell] for cell in found], dtype=object)
            else:
                feed[one.name] = numpy.array([[number(cell)] for cell in found], dtype=numpy.float64)
    if inputs[0].type == "tensor(float)":
        feed = {name: x.astype(numpy.float32) for name, x in feed.items()}
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(names, feed)))
    labels, threshold = json.loads(meta.get("labels", "null")), json.loads(meta.get("threshold", "null"))
    if labels and (len(labels) > 2 or threshold is not None):
        score = found["score"]
        at = score.argmax(1) if len(labels) > 2 else (score[:, 0].astype(float) >= threshold).astype(int)
        found["class"] = numpy.where(numpy.isnan(score).any(1), "", numpy.array(labels)[at])
    return {name: one.reshape(len(one), -1) for name, one in found.items()}


rows = []
if not sys.argv[2].removesuffix(".gz").endswith(".svm"):
    with open_text(sys.argv[2], "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
found = [pair for model in sys.argv[1].split(",") for pair in outputs(model).items()]
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow([name if one.shape[1] == 1 else f"{name}:{k}" for name, one in found for k in range(one.shape[1])])
for row in zip(*(one for _, one in found)):
    writer.writerow([cell if isinstance(cell, str) else repr(float(cell)) for part in row for cell in part])
