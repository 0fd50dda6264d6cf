"""Mutated proofs and files: a seeded part of what `tests/tensor_mutations.py` tries."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_mutations import MESSAGES, Victim, check, peak, victims


@pytest.fixture(scope="module")
def given() -> list[Victim]:
    return victims()


def test_the_victims_are_valid(given: list[Victim]) -> None:
    from tensor_proofs import refusals

    for victim in given:
        for found in (victim.found, victim.other):
            assert refusals(victim.program, found.statement, found.proof, victim.made) == (None, None)


def test_mutated_proofs_are_rejected(given: list[Victim], capfd: pytest.CaptureFixture[str]) -> None:
    """None is accepted, none makes the native verifier panic, all take no memory; every 40th by both verifiers."""
    before = peak()
    tally = check(given, np.random.default_rng(11), 4000, 0.025)
    assert not tally.wrong
    assert set(tally.tried) == {kind.__name__ for kind in MESSAGES} | {"header"}
    assert peak() - before < 64 << 20
    assert "panicked" not in capfd.readouterr().err
