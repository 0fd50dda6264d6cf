"""Once a tensor proof was judged by the plan that another thread had just made, of another program: it was valid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cli_programs import other, step

from circuitize import compile, tensor_proof, verifier
from circuitize.api.exact import exact
from circuitize.api.proofs import Proof
from circuitize.circuits.phases import Phases
from circuitize.provers.statement import read_statement
from circuitize.provers.tensor.descriptor import Tensor
from circuitize.provers.tensor.plan import Plan, plan

THEIRS = exact(other(), Phases()).integer


class Raced(Tensor):
    """A plan that is kept is replaced at once by that of another thread."""

    def __setattr__(self, name: str, value: object) -> None:
        theirs = (THEIRS, dict.fromkeys((True, False), plan(THEIRS)))
        super().__setattr__(name, theirs if name == "_last" else value)


class Stale(Tensor):
    """The program was changed in place after its plan was made."""

    def _plan(self, program: object, zero_knowledge: bool) -> Plan:
        return plan(THEIRS)


@pytest.fixture(scope="module")
def easier() -> Proof:
    return compile(other(), tensor_proof).prove(not_zero_knowledge=True)


@pytest.mark.parametrize("prover", [Tensor, Raced, Stale])
def test_a_relabelled_proof_is_refused_whatever_plan_is_kept(
    prover: type[Tensor], easier: Proof, tmp_path: Path
) -> None:
    own = replace(verifier(step()), prover=prover())
    folder = easier.save(tmp_path / "proof")
    replace(read_statement(folder), digest=own.exact.digest).write(folder)
    verdict = own.check(folder)
    assert (verdict.valid, verdict.publics, verdict.roots) == (False, {}, {})
    assert f"program {easier.digest}" in str(verdict.reason)
