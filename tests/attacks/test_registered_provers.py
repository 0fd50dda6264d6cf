"""A proof does not choose a weak prover that somebody registered: only a verifier names one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cli_programs import STEP, run
from toys import believer, rerun

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers import catalogue, names
from circuitize.provers.statement import read_statement


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    for entry in (rerun.ENTRY, believer.ENTRY):
        catalogue.register(entry)
    yield
    for name in ("rerun", "believer"):
        del names.PROVERS[name]


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """A false claim about this program, in the name of a prover that believes everything."""
    folder = tmp_path / "proof"
    assert run("prove", STEP, "--prover", "rerun", "--not-zero-knowledge", "-o", folder).status == 0
    honest = read_statement(folder)
    key, values = next(iter(honest.publics.items()))
    publics = {**honest.publics, key: tuple(value + 1 for value in values)}
    replace(honest, prover="believer", publics=publics).write(folder)
    return folder


def test_a_proof_names_no_registered_prover(forged: Path) -> None:
    outcome = run("verify", forged, "--program", STEP)
    assert outcome.status == 2 and "expected the verifier's own key" in outcome.line
    assert run("verify", forged, "--program", STEP, "--digest", read_statement(forged).digest).status == 2
    with pytest.raises(CircuitizeError, match="expected a proof of tensor, found one of 'believer'"):
        cz.verifier(cz.load(_saved(forged), integer=True)).check(forged)


def test_the_forgery_is_one(forged: Path) -> None:
    """Whoever asks the believer by name is told that the claim holds, and the honest toy refuses it."""
    assert run("verify", forged, "--program", STEP, "--prover", "believer").status == 0
    replace(read_statement(forged), prover="rerun").write(forged)
    assert run("verify", forged, "--program", STEP, "--prover", "rerun").status == 1


def _saved(folder: Path) -> Path:
    path = folder.with_name("program.arrow")
    assert run("compile", STEP, "--target", "r1cs", "-o", folder.with_name("circuit")).status == 0
    (folder.with_name("circuit") / "program.arrow").rename(path)
    return path
