"""Witnesses, outputs and the frames of a design could be read by everyone on the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hardware_programs
import pytest
from cli_programs import STEP, keys, run

from circuitize.circuits.files import write_whole


@pytest.fixture(autouse=True)
def _open_mask() -> Iterator[None]:
    """The most permissive mask: modes are what the package chooses."""
    mask = os.umask(0)
    yield
    os.umask(mask)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(("target", "name"), [("r1cs", "witness.wtns"), ("plonkish", "witness.cells")])
def test_a_witness_is_its_owners_alone(tmp_path: Path, target: str, name: str) -> None:
    assert run("compile", STEP, "--target", target, "--witness", "-o", tmp_path / "c").status == 0
    assert mode(tmp_path / "c" / name) == 0o600
    assert mode(tmp_path / "c" / "program.arrow") == 0o666


@pytest.mark.parametrize("prover", ["groth16", "tensor"])
def test_outputs_and_openings_are_their_owners_alone(tmp_path: Path, prover: str) -> None:
    own = ("--keys", keys()) if prover == "groth16" else ("--not-zero-knowledge",)
    (tmp_path / "new.npz").write_bytes(b"an earlier file, which all could read")
    made = run("prove", STEP, "--prover", prover, *own, "-o", tmp_path / "p", "--outputs", tmp_path / "new.npz")
    assert made.status == 0, made
    assert mode(tmp_path / "new.npz") == mode(tmp_path / "p.openings.json") == 0o600
    assert mode(tmp_path / "p" / "statement.json") == 0o666


def test_the_examples_of_a_design_are_its_owners_alone(tmp_path: Path) -> None:
    made = ("compile", f"{hardware_programs.__file__}:linear", "--target", "verilog", "--scheduler", "folded")
    assert run(*made, "-o", tmp_path / "d").status == 0
    assert mode(tmp_path / "d" / "test" / "vectors.npz") == 0o600 and mode(tmp_path / "d" / "design.json") == 0o666


def test_a_private_file_is_private_before_it_has_content(tmp_path: Path) -> None:
    """Also while it has another name."""

    def chunks() -> Iterator[bytes]:
        assert [mode(path) for path in tmp_path.iterdir()] == [0o600]
        yield b"secret"

    write_whole(tmp_path / "kept", chunks(), private=True)
    assert mode(tmp_path / "kept") == 0o600
