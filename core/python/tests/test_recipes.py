"""Every block of RECIPES.md, run as a file from an empty directory."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

TEXT = pathlib.Path(__file__).parents[1].joinpath("RECIPES.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", TEXT, re.S | re.M)
RUNS = [(title, block, backend) for title, block in BLOCKS for backend in (("jax", "torch") if title.startswith("Keras") else ("",))]


@pytest.mark.parametrize(("title", "block", "backend"), RUNS, ids=[f"{title} {backend}".strip() for title, _, backend in RUNS])
def test_block(title, block, backend, tmp_path):
    assert sum(bool(line.strip()) for line in block.splitlines()) <= 20, f"{title}: more than 20 lines"
    for module in {*re.findall(r"^(?:import|from) (torch|jax|keras|sklearn|lightgbm|lightning|tensorflow)\b", block, re.M), *([backend] if backend else [])}:
        # (Imported, keras would ask for TensorFlow.)
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    (tmp_path / "recipe.py").write_text(block)
    done = subprocess.run([sys.executable, "recipe.py"], cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"KERAS_BACKEND": backend or ("tensorflow" if title == "TensorFlow" else "numpy")})
    assert done.returncode == 0, done.stderr


def test_there_are_ten():
    assert len(BLOCKS) == 10
