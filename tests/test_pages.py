"""Every Python block of the pages runs, the blocks of a page one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_names import names_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"catgrad.md", "polygrad.md", "tinygrad.md"}
"""Run in environments of their own, by tests/sources."""

PROVING = {
    "README.md",
    "api.md",
    "disputes.md",
    "groth16.md",
    "halo2.md",
    "mirage.md",
    "report.md",
    "tensor.md",
    "verifying.md",
}

BLOCKS = {page: re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE) for page in PAGES}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.proof] if page.name in PROVING else [])
        for page in PAGES
        if BLOCKS[page] and page.name not in ELSEWHERE
    ],
)
def test_python_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page", **names_of(page.name, tmp_path)}
    for block in BLOCKS[page]:
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.proof
@pytest.mark.parametrize("prover", ["groth16", "halo2", "tensor_proof"])
def test_the_readme_works_with_every_prover(prover: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In at most 15 lines; whoever takes the tensor prover leaves out the keys, and says that nothing is hidden."""
    monkeypatch.chdir(tmp_path)
    (block,) = BLOCKS[ROOT / "README.md"]
    assert len(block.splitlines()) <= 15 and "cz.mirage" in block
    changes = {"cz.mirage": f"cz.{prover}"}
    if prover == "tensor_proof":
        changes |= {"keys=keys": "not_zero_knowledge=True", "step, keys.verifying": "step", "keys = ": "# "}
    for before, after in changes.items():
        assert before in block
        block = block.replace(before, after)
    names: dict[str, object] = {"__name__": "page", **names_of("README.md", tmp_path)}
    exec(compile(block, "README.md", "exec"), names)
    assert names["verdict"]
