"""The notebooks are their tutorials: the same cells, without results, and Jupyter runs them to the end."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import notebooks
import pytest


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_a_notebook_is_its_tutorial(name: str, request: pytest.FixtureRequest) -> None:
    """So what runs of the page, in the test of pages, is what is in the notebook."""
    path = notebooks.TUTORIALS / f"{name}.ipynb"
    expected = notebooks.notebook(notebooks.TUTORIALS / f"{name}.md")
    if request.config.getoption("--update-golden"):
        path.write_text(expected)
    assert path.read_text() == expected, f"{path.name} differs from its page; write it with: make golden"


def test_the_cells_are_all_that_the_page_has() -> None:
    """A judge that shares no code with the maker: every line of the page that is no fence is in a cell."""
    for name in notebooks.NAMES:
        page = (notebooks.TUTORIALS / f"{name}.md").read_text()
        cells = json.loads((notebooks.TUTORIALS / f"{name}.ipynb").read_text())["cells"]
        held = [
            line for cell in cells for line in "".join(cell["source"]).splitlines() if line.strip() and line != "%%sh"
        ]
        assert held == [line for line in page.splitlines() if line.strip() and not line.startswith("```")]
        assert sum(cell["cell_type"] == "code" for cell in cells) == page.count("```") // 2


@pytest.mark.deep
@pytest.mark.proof
@pytest.mark.skipif(find_spec("nbclient") is None, reason="needs nbclient: make .stamps/notebook")
@pytest.mark.filterwarnings("ignore")  # of Jupyter's own
@pytest.mark.parametrize("name", notebooks.NAMES)
def test_jupyter_runs_a_notebook(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient
    import nbformat

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(notebooks.TUTORIALS / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
