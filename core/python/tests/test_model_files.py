"""The model file of each language is read here, and that of here is the one that the others read (their tests read the same files, too)."""

import csv
import pathlib

import numpy as np
import pytest

import undercurve

DOORS = pathlib.Path(__file__).parents[3] / "tests/golden/doors"
pytestmark = pytest.mark.skipif(not DOORS.is_dir(), reason="not in a checkout")


@pytest.mark.parametrize("name", ["c", "command-line", "npm", "python", "rust"])
def test_a_model_file_of_any_language_scores_as_in_the_others(tmp_path, name):
    with (DOORS / "scores.csv").open() as file:
        want = np.array([np.float32(line[name]) for line in csv.DictReader(file)])
    model = undercurve.load(DOORS / f"{name}.uc")
    found = np.asarray(model.scores(str(DOORS / "rows.csv")), np.float32)
    assert np.array_equal(found, want)
    model.save(tmp_path / "again.uc")
    assert np.array_equal(undercurve.load(tmp_path / "again.uc").scores(str(DOORS / "rows.csv")), found)


def test_a_model_file_that_is_damaged_is_refused(tmp_path):
    for name in ["npm", "c"]:
        whole = (DOORS / f"{name}.uc").read_bytes()
        for at in range(len(whole)):
            for damaged in [whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]]:
                (tmp_path / "damaged.uc").write_bytes(damaged)
                with pytest.raises(ValueError):
                    undercurve.load(tmp_path / "damaged.uc")
