"""Keys and proofs that cannot fit in the machine's memory are refused before a circuit is emitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest
from cli_programs import STEP, keys, refused
from example_programs import example

from circuitize.circuits import memory
from circuitize.provers import catalogue
from circuitize.provers.groth16 import circuit as groth16
from circuitize.provers.halo2 import circuit as halo2

PROVERS = ["groth16", "mirage", "halo2"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 1 kB on which no circuit may be emitted."""

    def never(*_: Any) -> NoReturn:
        raise AssertionError("a circuit was emitted")

    for prover in PROVERS:
        keys("step", prover)
    for module in (groth16, halo2):
        monkeypatch.setattr(module, "emit", never)
    monkeypatch.setattr(memory, "physical_bytes", lambda: 1000)
    monkeypatch.setattr(memory, "swap_bytes", lambda: 0)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("prover", PROVERS)
def test_a_machine_that_is_too_small(tmp_path: Path, prover: str) -> None:
    for arguments in (("setup",), ("prove", "--keys", str(keys("step", prover)))):
        line = refused(arguments[0], STEP, "--prover", prover, *arguments[1:], "-o", tmp_path / "made")
        assert "of memory for this proof, found one with 1.0 kB; prove a smaller batch or model" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("prover", PROVERS)
def test_what_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch, prover: str) -> None:
    """What is told is below what proving took: the digits step, in 340, 215 and 76 MB and more."""
    told: list[float] = []
    monkeypatch.setattr(memory, "require_memory", lambda needed, _: told.append(needed))
    catalogue.prover(prover).require_memory(example("digits.py:step").integer)
    most = {"groth16": 250e6, "mirage": 125e6, "halo2": 76e6}[prover]
    assert most / 5 < told[0] < most
