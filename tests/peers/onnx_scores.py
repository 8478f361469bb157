"""Scores of the rows of a CSV or LIBSVM file by a model that `undercurve export` wrote, with onnxruntime.

python3 tests/peers/onnx_scores.py MODEL.onnx DATA [MISSING ...]

Writes CSV with the outputs of the graph; MISSING: spellings of a missing value besides the empty cell. Dates are days since 1970-01-01.
"""

import csv
import datetime
import gzip
import sys

import numpy
import onnxruntime

onnxruntime.set_default_logger_severity(3)
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
missing = {"", *sys.argv[3:]}
inputs = session.get_inputs()
open_text = gzip.open if sys.argv[2].endswith(".gz") else open


def number(text):
    if text in missing:
        return float("nan")
    if text.count("-") == 2 and len(text) == 10:
        return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
    return float(text)


if [i.name for i in inputs] == ["x"]:
    with open_text(sys.argv[2], "rt") as file:
        lines = [line.split() for line in file]
    x = numpy.zeros((len(lines), inputs[0].shape[1]))
    for row, tokens in enumerate(lines):
        for token in tokens[1:]:
            column, value = token.split(":")
            if int(column) <= x.shape[1]:
                x[row, int(column) - 1] = float(value)
    feed = {"x": x}
else:
    with open_text(sys.argv[2], "rt", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    feed = {}
    for one in inputs:
        # (A column that is called as an output is "column NAME".)
        name = one.name if one.name in rows[0] else one.name.removeprefix("column ")
        cells = [row[name].strip() for row in rows]
        if one.type == "tensor(string)":
            column = numpy.array([["" if cell in missing else cell] for cell in cells], dtype=object)
        else:
            column = numpy.array([[number(cell)] for cell in cells], dtype=numpy.float64)
        feed[one.name] = column

names = [one.name for one in session.get_outputs()]
found = session.run(names, feed)
found = [one.reshape(len(one), -1) for one in found]
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow([name if one.shape[1] == 1 else f"{name}:{k}" for name, one in zip(names, found) for k in range(one.shape[1])])
for cells in zip(*found):
    writer.writerow([cell if isinstance(cell, str) else repr(float(cell)) for part in cells for cell in part])
