"""The notebooks run from beginning to end."""

import pathlib

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"


@pytest.mark.parametrize("name", ["steward", "analyst"])
def test_a_notebook_runs(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert any("scumble" in html for html in shown)
    assert not any("<script" in html and "scumble" in html for html in shown)
