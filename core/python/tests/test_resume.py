"""Runs that are saved and go on: the bits of runs without a pause, here and on the command line."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import undercurve
from undercurve import Trainer

pytestmark = pytest.mark.filterwarnings("ignore::undercurve.models.TrainingWarning")
COMMAND = os.environ.get("UNDERCURVE_COMMAND")
N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = X[:, 0] + RNG.normal(size=N) > 1.2
GROUP = np.where(RNG.random(N) < 0.5, "a", "b")
WEIGHT = RNG.random(N) + 0.2
KINDS = {method["name"]: method["kind"] for method in undercurve.methods()}


def asked(method, valid):
    """A run of a method, and what stands beside its rows."""
    options = {"method": method, "steps": 60, "valid": valid, "dtype": "float64" if valid else "float32"}
    beside = {"groups": GROUP} if KINDS[method] == "groups" else {}
    if beside and method not in ("ooa",):
        options["constraints"] = ["gap(fpr) <= 0.1"]
    elif not beside and valid is None and method not in ("agd-sbcd", "dca", "proximal-dca", "svm-pauc-tight", "sorr"):
        beside = {"weights": WEIGHT}
    return options, beside


@pytest.mark.parametrize("method", KINDS)
def test_a_resumed_run_has_the_bits_of_one_without_a_pause(tmp_path, method):
    path = tmp_path / "run.uc"
    for valid in (None, 0.25):
        options, beside = asked(method, valid)
        want = Trainer(X, Y, **options, **beside).run()
        run = Trainer(X, Y, **options, **beside)
        run.step(25)
        run.save(path)
        # The file is a model, too: the run's, now.
        assert np.array_equal(undercurve.load(path).scores(X), run.model().scores(X))
        again = Trainer.resume(path, X, Y, **beside)
        assert (again.steps_done, again.method, again.total_steps) == (run.steps_done, method, run.total_steps)
        again.step(5)
        again.save(path)
        found = Trainer.resume(path, X, Y, **beside).run()
        assert found.to_bytes() == want.to_bytes(), (method, valid)


def test_the_model_file_of_each_language_is_read_and_ours_is_read_by_them():
    doors = Path(__file__).parents[3] / "tests" / "golden" / "doors"
    table = np.loadtxt(doors / "rows.csv", delimiter=",", skiprows=1)
    ours = undercurve.train(table[:, :2].astype(np.float32), table[:, 2] == 1, method="ce", steps=30).to_bytes()
    if os.environ.get("UNDERCURVE_BLESS") == "doors":
        (doors / "python.uc").write_bytes(ours)
    assert ours == (doors / "python.uc").read_bytes()
    names, *lines = [line.split(",") for line in (doors / "scores.csv").read_text().split()]
    for name, want in zip(names, np.array(lines, np.float32).T):
        model = undercurve.load(doors / f"{name}.uc")
        assert np.array_equal(model.scores(doors / "rows.csv"), want), name
        assert np.array_equal(model.scores(table[:, :2]), want), name


def test_rows_of_every_kind_and_networks(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    path = tmp_path / "run.uc"
    table = {"a": X[:, 0], "town": GROUP.tolist(), "w": WEIGHT, "label": np.where(Y, "yes", "no").tolist()}
    for data, more, options in [
        (table, (), {"weights": "w", "method": "ap-exact"}),
        (table, (), {"groups": "town", "method": "sonex", "constraints": ["recall >= 0.5"], "steps": 60}),
        (sparse.csr_matrix(X), (Y,), {"weights": WEIGHT}),
        (X, (Y,), {"model": "mlp:8", "method": "ap-exact"}),
        (X, (GROUP,), {"method": "ce", "positive": "b"}),
        (X, (Y,), {"method": "soap", "threshold": "precision>=0.4", "calibrate": "isotonic"}),
        (X, (X[:, 1],), {"method": "ai-sarah", "target": "values", "loss": "least-squares"}),
        (X, (np.digitize(X[:, 0], [-0.5, 0.5]),), {"method": "ppd-sg"}),
    ]:
        options = {"steps": 60, **options}
        test = {"test": (X, more[0])} if len(more) and data is X else {}
        run = Trainer(data, *more, **options, **test)
        run.step(20)
        run.save(path)
        beside = {"weights": WEIGHT} if options.get("weights") is WEIGHT else {}
        found = Trainer.resume(path, data, *more, **beside, **test)
        assert found.run().to_bytes() == run.run().to_bytes(), options
        assert found.report() == run.report()


def test_the_rest_may_be_longer_and_have_other_settings(tmp_path):
    path = tmp_path / "run.uc"
    run = Trainer(X, Y, method="soap", steps=50, pretrain=0)
    run.run()
    run.save(path)
    longer = Trainer.resume(path, X, Y, steps=120)
    assert (longer.steps_done, longer.total_steps, longer.is_done) == (50, 120, False)
    other = Trainer.resume(path, X, Y, steps=120, lr=0.5, threshold="precision>=0.3", calibrate="platt").run()
    assert not np.array_equal(other.params(), longer.run().params())
    assert other.about()["rule"][0] == "precision>=0.3" and other.has_probabilities and other.about()["steps"] == 120


def test_what_does_not_fit_is_refused(tmp_path):
    path, model = tmp_path / "run.uc", tmp_path / "model.uc"
    run = Trainer(X, Y, method="soap", steps=50, valid=0.2)
    run.step(30)
    run.save(path)
    run.run().save(model)
    table = {**{f"x{k + 1}": X[:, k] for k in range(4)}, "label": Y}
    for call, text in [
        (lambda: Trainer.resume(path, X[:-1], Y[:-1]), "run.uc: saved with another (training|validation) data set"),
        (lambda: Trainer.resume(path, X, ~Y), "another training data set"),
        (lambda: Trainer.resume(path, X[:, :3], Y), 'no column "x4"'),
        (lambda: Trainer.resume(path, X), "labels: rows without names"),
        (lambda: Trainer.resume(path, X, Y[:5]), "labels: 5 values for 400 rows"),
        (lambda: Trainer.resume(path, table, Y), "labels: the run reads them from a column"),
        (lambda: Trainer.resume(path, X, Y, groups=GROUP), "groups: the run has none"),
        (lambda: Trainer.resume(path, X, Y, weights=WEIGHT), "weights: the run has none"),
        (lambda: Trainer.resume(path, X, Y, steps=20), "has done 30 already"),
        (lambda: Trainer.resume(path, X, Y, steps=20, passes=2), "one of the two"),
        (lambda: Trainer.resume(path, X, Y, lrr=1), "lrr"),
        (lambda: Trainer.resume(path, X, Y, threshold="best"), "threshold: expected"),
        (lambda: Trainer.resume(model, X, Y), "model.uc: a model without its run"),
    ]:
        with pytest.raises(ValueError, match=text) as found:
            call()
        assert "\n" not in str(found.value)
    assert Trainer.resume(path, table).run().to_bytes()


@pytest.mark.skipif(COMMAND is None, reason="UNDERCURVE_COMMAND names no command line")
@pytest.mark.parametrize("more", [[], ["--valid", "0.2"], ["--split", "0.7"]], ids=["plain", "valid", "split"])
def test_runs_of_the_command_line_go_on_here_and_ours_there(tmp_path, more):
    file, theirs, ours, out = (tmp_path / name for name in ("rows.csv", "theirs.uc", "ours.uc", "out.uc"))
    lines = [",".join(map(repr, map(float, row))) + f",{int(y)}" for row, y in zip(X, Y)]
    file.write_text("a,b,c,d,label\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def command(*line):
        done = subprocess.run([COMMAND, "train", file, *line], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    command("--method", "soap", "--steps", "60", "--save", theirs, *more)
    command("--resume", theirs, "--steps", "120", "--save", tmp_path / "end.uc", "--out", out)
    assert Trainer.resume(theirs, file, steps=120).run().to_bytes() == out.read_bytes()
    again = Trainer.resume(theirs, file)
    again.save(ours)
    assert ours.read_bytes() == theirs.read_bytes()
    if "--split" not in more:
        run = Trainer(file, method="soap", steps=60, missing="impute", **({"valid": 0.2} if more else {}))
        run.step(60)
        run.save(ours)
        assert ours.read_bytes() == theirs.read_bytes()
        command("--resume", ours, "--steps", "120", "--save", tmp_path / "end.uc", "--out", out)
        assert Trainer.resume(ours, file, steps=120).run().to_bytes() == out.read_bytes()
