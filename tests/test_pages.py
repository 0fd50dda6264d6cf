"""Every Python block of the pages runs, the blocks of a page one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_names import names_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"catgrad.md"}
"""Run in catgrad's own environment, by tests/catgrad."""

BLOCKS = {page: re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE) for page in PAGES}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCKS[page] and page.name not in ELSEWHERE], ids=lambda page: page.name
)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page", **names_of(page.name, tmp_path)}
    for block in BLOCKS[page]:
        exec(compile(block, page.name, "exec"), names)
