"""The web page in headless Chromium: what it says of honest folders, and of a hundred changed ones.

tests/attacks/test_page_attacks.py tries what else the page might be told.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_programs import keys
from held_folders import DEMO, KINDS, PROVERS, files, folder, held, mutants
from verify_page import PAGE, Verifying, verifying

pytestmark = [pytest.mark.deep, pytest.mark.proof, pytest.mark.browser]


@pytest.fixture(scope="module")
def page() -> Iterator[Verifying]:
    with verifying() as own:
        yield own


@pytest.mark.parametrize("kind", KINDS)
def test_honest_folders_hold(kind: str, page: Verifying) -> None:
    said = page.ask(held(kind), folder(kind))
    assert said.state == "valid" and said.text.startswith("valid: it proves "), said
    assert said.of.startswith(f"checked: {len(files(folder(kind)))} files of {folder(kind).name}, by {kind}.held")
    if kind != "run":
        assert page.ask(held(kind), files=[folder(kind) / name for name in files(folder(kind))]).state == "valid"


def test_the_demos_folders_hold_and_a_hundred_changed_ones_are_refused(page: Verifying, tmp_path: Path) -> None:
    """Its step by Groth16 and by tensor, and its run; the report has what the page takes for each."""
    page.ask(held("groth16"), folder("groth16"))
    print(f"page: {PAGE.stat().st_size:,} bytes")
    for kind in DEMO:
        found = [page.ask(held(kind), folder(kind)) for _ in range(5)]
        assert all(said.state == "valid" and said.text.startswith("valid: it proves ") for said in found), found
        seconds = sorted(said.seconds for said in found)
        print(f"{kind}: held file of {held(kind).stat().st_size:,} bytes, {seconds[2]} s of {seconds}")
    for place, kind in enumerate(DEMO):
        for what, changed in mutants(kind, 34 - (place > 0), 13 + place, tmp_path):
            said = page.ask(held(kind), changed)
            assert said.state == "refused" and said.text.startswith("NOT valid: "), (what, said)


def test_changed_folders_of_every_prover_are_refused(page: Verifying, tmp_path: Path) -> None:
    for kind in KINDS:
        for what, changed in mutants(kind, 20, 11, tmp_path):
            said = page.ask(held(kind), changed)
            assert said.state == "refused" and said.text.startswith("NOT valid: "), (what, said)


def test_other_held_files_are_refused(page: Verifying) -> None:
    for kind in KINDS:
        for other in KINDS:
            state = page.ask(held(other), folder(kind)).state
            assert state == ("valid" if kind == other else "refused"), (kind, other)
    assert page.ask(keys("step") / "verifying.key", folder("groth16")).state == "refused"


def test_a_name_twice_is_refused(page: Verifying) -> None:
    for prover in PROVERS:
        said = page.ask(held(prover), files=[folder(prover) / name for name in files(folder(prover)) * 2])
        assert said.state == "refused" and "it is there twice" in said.text, said
