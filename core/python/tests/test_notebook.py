"""The notebook runs to its end."""

import json
import pathlib

import pytest

PATH = pathlib.Path(__file__).parents[1] / "examples" / "ranking.ipynb"


def test_cells_in_one_process(capsys):
    names = {}
    for cell in json.loads(PATH.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert "AP 0." in capsys.readouterr().out


def test_as_a_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    book = nbformat.read(PATH, as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute(cwd=str(tmp_path))
    shown = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("text/html" in out.get("data", {}) for out in shown)
