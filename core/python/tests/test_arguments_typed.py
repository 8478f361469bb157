"""The types of arguments are those of the registry and of `Trainer`, and help, completion and mypy know them.

``UNDERCURVE_BLESS=1`` writes `_arguments.pyi` anew.
"""

import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import undercurve
from undercurve import arguments

HERE = pathlib.Path(__file__).parent
STUB = HERE.parent / "undercurve" / "_arguments.pyi"


def types():
    """The text of `_arguments.pyi`."""
    methods = undercurve.methods()
    own = inspect.signature(undercurve.Trainer.__init__).parameters
    settings = {}
    for one in methods:
        for name, domain in one["domains"].items():
            of = settings.setdefault(arguments.as_argument(name), (set(), set()))
            if isinstance(domain, tuple):
                of[0].add(domain[0])
                of[1].update([domain[1]] if domain[1] else [])
            else:
                of[1].update(domain)
    lines = ['"""Types of arguments, written by tests/test_arguments_typed.py: of methods and settings by the registry, of others by `Trainer`."""', ""]
    lines += ["from collections.abc import Mapping, Sequence", "from typing import Any, Literal, TypedDict", ""]
    lines += ["from numpy.typing import ArrayLike", "", "from .models import Model, Range", ""]
    names = sorted(one["name"] for one in methods)
    lines += [f"MethodName = Literal{[*names, 'top']}", ""]
    lines += ["class Settings(TypedDict, total=False):"]
    for name, (kinds, words) in sorted(settings.items()):
        if name in own:
            continue
        said = sorted(kinds) + ([f"Literal{sorted(words)}"] if words else [])
        if "float" in kinds and "int" in kinds:
            said.remove("int")
        lines.append(f"    {name}: {' | '.join(said)}")
    lines += ["", "class Arguments(Settings, total=False):"]
    for name, of in own.items():
        if of.kind is inspect.Parameter.KEYWORD_ONLY:
            lines.append(f"    {name}: {of.annotation}")
    return "\n".join(lines).replace("'", '"') + "\n"


def test_the_types_are_those_of_the_registry_and_of_trainer():
    want = types()
    if os.environ.get("UNDERCURVE_BLESS"):
        STUB.write_text(want)
    assert STUB.read_text() == want, "UNDERCURVE_BLESS=1 writes it anew"


def test_help_and_completion_know_the_arguments():
    of = inspect.signature(undercurve.train).parameters
    assert {"method", "valid", "threshold", "class_weight", "progress"} <= set(of)
    assert of["method"].kind is inspect.Parameter.KEYWORD_ONLY and of["settings"].kind is inspect.Parameter.VAR_KEYWORD


# A call that mypy --strict refuses, a line each, and what it is told.
WRONG = """
u.train(X, y, metod="soap")
u.train(X, y, method="sopa-x")
u.train(X, y, validd=0.2)
u.train(X, y, dtype="float16")
u.train(X, y, calibrate="plat")
u.train(X, y, missing="drop")
u.train(X, y, seed=None)
u.train(X, y, lr="fast")
u.train(X, y, optimizer="lion")
u.train(X, y, surrogate="hing")
u.train(X, y, positives=2.5)
u.train(X, y, n_jobs=2)
u.train(X, y, constraints=0.3)
u.train(X, y, start="old.model")
u.Trainer(X, y, shedule="linear")
u.Loss("app")
u.Loss("ap", surrogate="hing")
u.train(X, y).evaluat(X, y)
u.train(X, y).save()
u.metrics(X, y, fpr="0.05")
u.decide(X, y)
u.load("old.model").predict(X)
""".strip().splitlines()
RIGHT = """
u.train(X, y, method="soap", lr=0.1, optimizer="adam", positives=8, decay="auto", valid=0.2, patience=3)
u.train(X, y, method="ai-sarah", lambda_=0.1).evaluate(X, y).auroc
u.train("rows.csv", label="churned", positive="yes", class_weight="balanced", fpr=(0, 0.1), dtype="float64").evaluate("rows.csv")
u.train(X, y, valid=(X, y), threshold="precision>=0.8@90%", callback=lambda run: run.steps_done < 10)
u.Trainer(X, y, model="mlp:8", steps=10).run(progress=True).save("new.model")
u.Loss("ap", surrogate="squared-hinge", margin=0.5)
""".strip().splitlines()


def test_mypy_knows_wrong_calls(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    place = pathlib.Path(undercurve.__file__).parent.parent
    head = ["import numpy as np", "import undercurve as u", "X = np.zeros((9, 2))", "y = np.arange(9) % 2"]
    file = tmp_path / "calls.py"
    file.write_text("\n".join([*head, *WRONG, *RIGHT]) + "\n")
    more = {} if place.name == "site-packages" else {"MYPYPATH": str(place)}
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--follow-imports=silent", "calls.py"]
    told = subprocess.run(command, cwd=tmp_path, env=os.environ | more, capture_output=True, text=True).stdout
    lines = {int(found) for found in re.findall(r"calls\.py:(\d+): error", told)}
    assert lines == set(range(len(head) + 1, len(head) + 1 + len(WRONG))), told


X = np.random.default_rng(0).normal(size=(60, 3))
Y = (np.arange(60) % 3 == 0).astype(int)


def test_names_of_other_libraries_are_answered_by_the_name_here():
    foreign = arguments._foreign()
    assert len(foreign) >= 200
    known = {*inspect.signature(undercurve.Trainer.__init__).parameters, *arguments.settings_of()} - {"settings"}
    assert not set(foreign) & set(inspect.signature(undercurve.Trainer.__init__).parameters), "a name that is taken needs no answer"
    for names in arguments._HERE:
        assert re.match("[a-z0-9_]+", names)[0] in known | {"progress", "callback"}, names
    for name, answer in foreign.items():
        if name in arguments.settings_of("ce-exact"):
            continue
        with pytest.raises(ValueError, match=f"^{name}: {re.escape(answer)}"):
            undercurve.train(X, Y, **{name: 1}) if name not in ("data", "labels") else undercurve.Trainer(X, Y, **{name: 1})


@pytest.mark.parametrize(
    ("name", "near"),
    [("metod", "method"), ("validd", "valid"), ("surogate", "surrogate"), ("threshhold", "threshold"), ("constrains", "constraints"),
     ("valid_frac", "valid"), ("pretrain_steps", "pretrain"), ("Seed", "seed"), ("class_weigth", "class_weight")],
)  # fmt: skip
def test_a_name_that_is_near_is_named(name, near):
    with pytest.raises(ValueError, match=f"^{name}: no argument and no setting has this name; did you mean {near}"):
        undercurve.train(X, Y, **{name: 1})
