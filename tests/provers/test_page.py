"""The web page in headless Chromium: what it says of honest folders, and of a hundred changed ones."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import browser as chromium
import pytest
import tiers
from cli_programs import keys
from held_folders import KINDS, PROVERS, files, folder, held, mutants

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "build" / "verify.html"
Ask = Callable[..., dict[str, Any]]

pytestmark = [pytest.mark.deep, pytest.mark.proof, pytest.mark.interop]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What the page says of files that are chosen in it; `make page` builds it, and gets Chromium."""
    assert PAGE.is_file(), f"expected {PAGE}, found none; run make page"
    driver = ROOT / "tests" / "support" / "browser.mjs"
    with subprocess.Popen(
        ["node", str(driver), str(PAGE), chromium.program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as browser:
        assert browser.stdin and browser.stdout

        def asked(own: Path, **of: object) -> dict[str, Any]:
            assert browser.stdin and browser.stdout
            print(json.dumps({"held": str(own), **of}), file=browser.stdin, flush=True)
            found: dict[str, Any] = json.loads(browser.stdout.readline())
            return found

        yield asked
        browser.stdin.close()


@pytest.mark.parametrize("kind", KINDS)
def test_honest_folders_hold(kind: str, ask: Ask) -> None:
    said = ask(held(kind), folder=str(folder(kind)))
    assert said["state"] == "valid" and said["text"].startswith("valid: it proves "), said
    if kind != "run":
        chosen = [str(folder(kind) / name) for name in files(folder(kind))]
        assert ask(held(kind), files=chosen)["state"] == "valid"


def test_a_hundred_changed_folders_are_refused(ask: Ask, tmp_path: Path) -> None:
    for kind in KINDS:
        for what, changed in mutants(kind, tiers.count(1, deep=20), 11, tmp_path):
            said = ask(held(kind), folder=str(changed))
            assert said["state"] == "refused" and said["text"].startswith("NOT valid: "), (what, said)


def test_other_held_files_are_refused(ask: Ask) -> None:
    for kind in KINDS:
        for other in KINDS:
            state = ask(held(other), folder=str(folder(kind)))["state"]
            assert state == ("valid" if kind == other else "refused"), (kind, other)
    assert ask(keys("step") / "verifying.key", folder=str(folder("groth16")))["state"] == "refused"


def test_names_are_shown_as_text(ask: Ask, tmp_path: Path) -> None:
    changed = Path(copytree(folder("groth16"), tmp_path / "changed"))
    name = "<img src=x onerror=document.body.remove()>"
    (changed / name).write_bytes(b"")
    said = ask(held("groth16"), folder=str(changed))
    assert said["state"] == "refused" and name in said["text"] and "<img" not in said["html"]


def test_a_name_twice_is_refused(ask: Ask, tmp_path: Path) -> None:
    for prover in PROVERS:
        other = Path(copytree(folder(prover), tmp_path / prover))
        chosen = [str(each / name) for each in (folder(prover), other) for name in files(each)]
        said = ask(held(prover), files=chosen)
        assert said["state"] == "refused" and "it is there twice" in said["text"], said
