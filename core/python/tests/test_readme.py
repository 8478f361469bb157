"""Every Python block of the README, run from an empty directory."""

import pathlib
import re
import subprocess
import sys

import pytest

TEXT = pathlib.Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", TEXT, re.S | re.M)


@pytest.mark.parametrize(("title", "block"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_block(title: str, block: str, tmp_path: pathlib.Path) -> None:
    assert len(block.splitlines()) <= 20, f"{title}: more than 20 lines"
    for module in ("sklearn", "torch"):
        if f"from {module}" in block or f"import {module}" in block:
            pytest.importorskip(module)
    done = subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_there_are_five_recipes() -> None:
    assert len(BLOCKS) == 5


def test_the_block_of_the_checkouts_readme(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(__file__).parents[3]
    (block,) = re.findall(r"```python\n(.*?)```", root.joinpath("README.md").read_text(encoding="utf-8"), re.S)
    (tmp_path / "demo").symlink_to(root / "demo")
    done = subprocess.run([sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model.uc").is_file()
