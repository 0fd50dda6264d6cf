"""Keys of no ceremony were made where one was asked for, inputs joined nothing, and an entry said what is not so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_programs import step
from toys import rerun

from circuitize import compile, halo2, tensor_proof
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers import catalogue, names


def test_ceremony_keys_without_a_ceremony_are_not_made(tmp_path: Path) -> None:
    """An option that is not there, as an environment without the variable has it, is no consent to INSECURE keys."""
    missing: Any = None
    with pytest.raises(TypeError):
        compile(step(), halo2).ceremony_keys(tmp_path / "keys", ptau=missing)
    assert not list(tmp_path.iterdir())


def test_joining_wants_openings() -> None:
    with pytest.raises(CircuitizeError, match="join: expected openings_from with it"):
        compile(step(), tensor_proof).prove(join=["parameters"], not_zero_knowledge=True)


@pytest.mark.parametrize("told", [{"hides": True}, {"verifying_magic": b"circuitize-rerun"}])
def test_an_entry_says_what_its_prover_does(told: dict[str, Any]) -> None:
    with pytest.raises(CircuitizeError, match="expected an entry of rerun that says"):
        catalogue.register(replace(rerun.ENTRY, **told))
    assert "rerun" not in names.names()
