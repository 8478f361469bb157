"""Examples in docstrings run; types are those of the compiled module; a short fuzz."""

import doctest
import importlib
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("name", ["", ".metrics", ".decisions", ".curves", ".losses", ".models", ".states", ".preparations", ".frames", ".boosting", ".sklearn", ".torch", ".jax", ".distributed", ".spark"])
def test_examples(name):
    for needs, module in (("sklearn", "sklearn"), ("torch", "torch"), ("jax", "jax"), ("distributed", "torch"), ("spark", "pyspark")):
        if name == f".{needs}":
            pytest.importorskip(module, reason=f"{module} is not installed")
    if name == ".spark":
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with numpy.printoptions(legacy=False):
        found = doctest.testmod(importlib.import_module(f"undercurve{name}"))
    assert found.failed == 0 and (found.attempted > 0 or name in (".frames",))


def test_types(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    import undercurve

    place = pathlib.Path(undercurve.__file__).parent
    run = [sys.executable, "-m", "mypy", "--ignore-missing-imports"]  # (matplotlib is optional)
    # (mypy finds an installed package itself, and refuses to be told of its folder.)
    installed = place.parent.name == "site-packages"
    where = {"cwd": tmp_path, "env": os.environ | ({} if installed else {"MYPYPATH": str(place.parent)}), "capture_output": True, "text": True}
    stubs = subprocess.run([*run[:2], "mypy.stubtest", "undercurve._core"], **where)
    assert stubs.returncode == 0, stubs.stdout + stubs.stderr
    modules = [f"undercurve{name}" for name in ("", ".metrics", ".curves", ".losses", ".models", ".states", ".preparations", ".frames", ".distributed")]
    checked = subprocess.run([*run, *(word for name in modules for word in ("-m", name))], **where)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_short_fuzz():
    done = subprocess.run([sys.executable, HERE / "fuzz.py", "3000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
