"""Tensor proofs whose challenges lie in the cubic extension: both verifiers, honest and forged, and who decides."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from example_programs import example
from tensor_attack import built
from tensor_forgery import answer, forged_trace
from tensor_mutations import REFUSED, check
from tensor_proofs import example_inputs, proved, refusals, refused
from tensor_victims import LABELS, victims
from tiers import count

from circuitize.circuits import integers
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.config import MOST_CLAIMS
from circuitize.provers.tensor.cost import sizes
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Proved, prove
from circuitize.provers.tensor.security import bounds, least_degree, require_secure, union

SMALL = Fixed((4,), 0, -20, 19)
TABLE = integers.Lookup(-20, np.arange(40) ** 2, 0)
LOOKED_UP = built([SMALL], (TABLE, (0,)))
MULTIPLIED = built([SMALL, SMALL], (integers.Multiply(), (0, 1)), (integers.Shift(3), (2,)), (integers.ReLU(), (3,)))
PROGRAMS: dict[str, IntegerProgram | str] = {
    "lookup": LOOKED_UP,
    "product": MULTIPLIED,
    "square": built([SMALL], (integers.Multiply(), (0, 0)), (integers.Check(0, 400), (1,))),
    "step": "iris.py:step",
    "digits": "digits.py:step",
    "convolutions": "cnn.py:step",
}
"""Programs, or names of examples, which are compiled where a test first asks for them."""


def program_of(name: str) -> IntegerProgram:
    given = PROGRAMS[name]
    return example(given).integer if isinstance(given, str) else given


def corner(rows: int) -> IntegerProgram:
    """The corner of a committed matrix of 2^14 columns."""
    view = integers.View.slice((rows, 1 << 14), (0, 0), (2, 2))
    return built([Fixed((rows, 1 << 14), 0, 0, 255)], (integers.Reindex(view), (0,)))


@lru_cache
def cubic(name: str) -> tuple[IntegerProgram, Plan]:
    program = program_of(name)
    return program, plan(program, degree=3)


def inputs_of(program: IntegerProgram, seed: int = 1) -> dict[str, np.ndarray]:
    if program.examples:
        return example_inputs(program)
    random = np.random.default_rng(seed)
    return {p.name: random.integers(p.format.low, p.format.high, p.format.shape) for p in program.inputs if p.format}


@lru_cache
def found(name: str, degree: int) -> tuple[Plan, Proved]:
    program = program_of(name)
    made = plan(program, degree=degree)
    return made, proved(program, inputs_of(program), made)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.deep] * (n == "convolutions")) for n in PROGRAMS])
def test_both_verifiers_accept_proofs_of_degree_three(name: str) -> None:
    made, cubed = found(name, 3)
    assert made.degree == 3 and min(bound.bits for bound in bounds(made)) >= 106
    if name in ("lookup", "step"):
        _, squared = found(name, 2)
        assert len(squared.proof.messages) < len(cubed.proof.messages) < 1.5 * len(squared.proof.messages)
    assert abs(len(cubed.proof.encode()) / sizes(made)["proof_bytes"] - 1) < 0.05


@pytest.mark.parametrize("name", ["lookup", "step"])
def test_a_proof_of_one_degree_is_none_of_another(name: str) -> None:
    """The verifier's plan says which degree; nothing in a proof does, and the digests differ."""
    (two, squared), (three, cubed) = found(name, 2), found(name, 3)
    assert two.records is not three.records and two.program == three.program and two.digest != three.digest
    program = program_of(name)
    assert all(refusals(program, squared.statement, squared.proof, three))
    assert all(refusals(program, cubed.statement, cubed.proof, two))


def test_roots_are_the_same_at_any_degree() -> None:
    """What one proof commits to is another's input, whatever their degrees: columns lie in the base field."""
    program, made = cubic("step")
    _, squared = found("step", 2)
    again = prove(program, inputs_of(program), not_zero_knowledge=True, made=made, salts=squared.secrets)
    assert again.statement.roots == squared.statement.roots
    assert refusals(program, again.statement, again.proof, made) == (None, None)


def test_the_plan_decides_the_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of("step")
    made = plan(program)
    assert made.degree == least_degree(made) == 2
    assert plan(program, degree=2).digest == made.digest
    for degree in (1, 4):
        assert f"degree 2 to 3 for this program, found {degree}" in refused(lambda d=degree: plan(program, degree=d))
    monkeypatch.setitem(MOST_CLAIMS, 2, made.claimed.claims - 1)
    assert plan(program).degree == 3
    assert "degree 3 to 3" in refused(lambda: plan(program, degree=2))


def test_a_large_program_takes_degree_three() -> None:
    """2^27 committed elements: folding them over the quadratic extension would leave 99 bits."""
    large = corner(1 << 13)
    made = plan(large)
    assert made.degree == 3 and max(made.commitments) == 27
    assert union(bounds(made)) >= 98
    require_secure(made)
    assert "expected 100 bits" in refused(lambda: require_secure(replace(made, degree=2)))
    assert "degree 3 to 3" in refused(lambda: plan(large, degree=2))
    assert plan(corner(1 << 12)).degree == 2


@pytest.mark.parametrize("name", ["lookup", "product"])
def test_a_forged_run_is_refused(name: str) -> None:
    """One more in a wire, and all that follows from it as it would be: of every wire that is not an input."""
    program, made = cubic(name)
    inputs = inputs_of(program)
    for wire in range(len(made.arrow.inputs), len(made.trace(inputs))):
        assert answer(program, made, forged_trace(made, inputs, wire, lambda x: x + 1))


@pytest.mark.deep
def test_mutated_proofs_are_rejected(capfd: pytest.CaptureFixture[str]) -> None:
    """By both verifiers, at every kind of message."""
    mutants = count(125, deep=10_000)
    tally = check(victims(degree=3), np.random.default_rng(5), mutants)
    assert not tally.wrong and {key[3] for key in tally.ends} <= set(REFUSED) and tally.ends.total() == mutants
    assert tally.by(1).keys() >= LABELS
    assert "panicked" not in capfd.readouterr().err
