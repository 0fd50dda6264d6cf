"""Keys that are missing, of another prover or of another program are refused before a circuit is emitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest
from cli_programs import STEP, copied, keys, refused

from circuitize.provers.groth16 import circuit as groth16
from circuitize.provers.halo2 import circuit as halo2


def never(*_: Any) -> NoReturn:
    raise AssertionError("a circuit was emitted")


@pytest.fixture(autouse=True)
def _no_emission(monkeypatch: pytest.MonkeyPatch) -> None:
    keys(), keys("other")
    for module in (groth16, halo2):
        monkeypatch.setattr(module, "emit", never)


@pytest.mark.parametrize("prover", ["groth16", "mirage", "halo2"])
def test_folders_without_keys(tmp_path: Path, prover: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("keys")
    for given, words in (
        ("absent", "found No such file or directory"),
        ("empty", "empty/proving.key; make keys"),
        ("file/keys", "found Not a directory"),
    ):
        line = refused("prove", STEP, "--prover", prover, "--keys", tmp_path / given, "-o", tmp_path / "p")
        assert words in line and f"circuitize setup {STEP} --prover {prover} -o KEYS" in line
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("prover", ["mirage", "halo2"])
def test_keys_of_another_prover(tmp_path: Path, prover: str) -> None:
    line = refused("prove", STEP, "--prover", prover, "--keys", keys(), "-o", tmp_path / "p")
    assert f"expected keys of the prover {prover}, found {keys()}/proving.key of groth16; give its keys" in line
    assert "--prover groth16" in line


def test_keys_of_another_program(tmp_path: Path) -> None:
    line = refused("prove", STEP, "--prover", "groth16", "--keys", keys("other"), "-o", tmp_path / "p")
    assert "expected keys of the program" in line and "give the keys of this program" in line


def test_keys_of_two_provers_in_one_folder(tmp_path: Path) -> None:
    folder = copied(keys(), tmp_path / "keys")
    key = folder / "verifying.key"
    key.write_bytes(b"circuitize-mirvk" + key.read_bytes()[16:])
    line = refused("prove", STEP, "--prover", "groth16", "--keys", folder, "-o", tmp_path / "p")
    assert f"found {key} of mirage" in line


@pytest.mark.parametrize("option", ["--inputs", "--openings-from"])
def test_files_that_are_read_late(tmp_path: Path, option: str) -> None:
    for given, words in (("absent", "found no such file"), (".", "found a folder")):
        line = refused(
            *("prove", STEP, "--prover", "groth16", "--keys", keys(), "-o", tmp_path / "p", option, tmp_path / given)
        )
        assert words in line and option in line


def test_a_ceremony_that_is_not_there(tmp_path: Path) -> None:
    ceremony = ("--zkey", tmp_path / "absent.zkey", "--ptau", tmp_path / "absent.ptau")
    line = refused("setup", STEP, "--prover", "groth16", "-o", tmp_path / "k", *ceremony)
    assert "absent.zkey: expected a file for --zkey, found no such file" in line
