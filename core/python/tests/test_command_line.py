"""Models go between the package and the command line, and score the same."""

import csv
import os
import subprocess

import numpy as np
import pytest

import undercurve

COMMAND = os.environ.get("UNDERCURVE_COMMAND")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="UNDERCURVE_COMMAND names no command line")


def table(rows: int = 1500) -> dict[str, list[object]]:
    rng = np.random.default_rng(7)
    age, city = rng.normal(50, 20, rows), rng.choice(["Bern", "Thun", "Biel"], rows)
    risk = (age - 50) / 15 + (city == "Thun") + rng.logistic(size=rows)
    return {"age": age.tolist(), "city": city.tolist(), "ill": np.where(risk > 3, "yes", "no").tolist()}


def write(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values()))


def predicted(folder, model):
    done = subprocess.run([COMMAND, "predict", model, "rows.csv"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return np.array([float(row["score"]) for row in csv.DictReader(done.stdout.splitlines())], np.float32)


@pytest.mark.parametrize("frame", ["dict", "pandas", "polars"])
@pytest.mark.parametrize("model", ["linear", "mlp:8"])
def test_a_model_of_the_package_scores_the_same_on_the_command_line(tmp_path, frame, model):
    columns = table()
    data = columns if frame == "dict" else pytest.importorskip(frame).DataFrame(columns)
    found = undercurve.train(data, label="ill", method="soap", model=model, valid=0.2, steps=500)
    found.save(tmp_path / "ill.uc")
    write(tmp_path / "rows.csv", columns)
    assert np.array_equal(predicted(tmp_path, "ill.uc"), found.scores(data))


@pytest.mark.parametrize("hashed", [[], ["--hash", "city:16"]])
def test_a_model_of_the_command_line_scores_the_same_in_the_package(tmp_path, hashed):
    columns = table()
    write(tmp_path / "rows.csv", columns)
    asked = ["train", "rows.csv", "--label", "ill", "--method", "soap", "--steps", "500", "--save", "ill.uc", *hashed]
    done = subprocess.run([COMMAND, *asked], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    model, scores = undercurve.load(tmp_path / "ill.uc"), predicted(tmp_path, "ill.uc")
    assert np.array_equal(scores, model.scores(columns))
    assert np.array_equal(scores, model.scores(str(tmp_path / "rows.csv")))
