"""Proofs for tests: the one place where they are judged, by the native verifier and by the independent one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from example_programs import example
from numpy.typing import NDArray
from side_by_side import side_by_side, values_of
from tiers import TIER

from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw, to_integers
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.prover import Hook, Proved, prove, prove_values
from circuitize.provers.tensor.runs.checking import Refusal
from circuitize.provers.tensor.statement import Statement
from circuitize.provers.tensor.verifier import refusal as native_refusal
from circuitize.sims import integer

Integers = NDArray[np.int64]


@lru_cache(maxsize=4)
def planned(name: str) -> tuple[IntegerProgram, Plan]:
    """An example's integer program and its plan."""
    program = example(name).integer
    return program, plan(program)


def example_inputs(program: IntegerProgram) -> dict[str, Integers]:
    return {port.name: to_integers(port, program.examples[0][port.name], "example") for port in program.inputs}


def independent_refusal(*arguments: Any) -> str | None:
    """The independent verifier's, which is loaded when it is first asked: it takes long to compile or to load."""
    from independent_verifier import refusal

    return refusal(*arguments)


_JUDGED: dict[bytes, str | None] = {}
"""What the independent verifier said, by all that it depends on: a proof that several tests look at is checked once."""


def opinions(
    program: IntegerProgram,
    statement: Statement,
    proof: Proof,
    made: Plan,
    context: bytes = b"",
    trusted: Mapping[str, bytes] | None = None,
) -> tuple[str | None, str | None]:
    """What the native and the independent verifier say, whether or not they agree."""
    arguments = program, statement, proof, made, context, trusted
    return native_refusal(*arguments), independent_refusal(*arguments)


def unjudged(program: IntegerProgram, statement: Statement, proof: Proof, made: Plan) -> list[str]:
    """Why each verifier will not judge a proof by this plan, whatever the proof."""
    found = []
    for judge in (native_refusal, independent_refusal):
        with pytest.raises(Unprovable) as raised:
            judge(program, statement, proof, made)
        found.append(str(raised.value))
    return found


def refusals(
    program: IntegerProgram,
    statement: Statement,
    proof: Proof,
    made: Plan | None = None,
    context: bytes = b"",
    trusted: Mapping[str, bytes] | None = None,
) -> tuple[str | None, str | None]:
    """What the native and the independent verifier say; that they agree is asserted."""
    made = made or plan(program)
    native = native_refusal(program, statement, proof, made, context, trusted)
    publics = [(key, x.shape, x.dtype, x.tobytes()) for key, x in sorted(statement.publics.items())]
    said = repr((made.digest, context, sorted((trusted or {}).items()), publics, sorted(statement.roots.items())))
    content = hashlib.sha256(said.encode() + proof.encode()).digest()
    if content not in _JUDGED:
        _JUDGED[content] = independent_refusal(program, statement, proof, made, context, trusted)
    other = _JUDGED[content]
    assert (native is None) == (other is None), f"the verifiers differ: {native!r}, {other!r}"
    return native, other


def both(*proof: Any, **more: Any) -> str | None:
    """One judge of two: what both verifiers say."""
    return refusals(*proof, **more)[0]


def judging(judge: Refusal) -> Refusal:
    """Return both verifiers where the native one is to judge, and any other judge as it is."""
    return both if judge is native_refusal else judge


def entering(statement: Statement) -> dict[str, bytes]:
    """The roots of committed inputs, by group: what a verifier may know to be in format."""
    return {name: root for (side, name), root in statement.roots.items() if side == "input"}


def proved(program: IntegerProgram, inputs: Mapping[str, Integers], made: Plan | None = None, **more: Any) -> Proved:
    """A proof of an honest run, accepted by both verifiers, whose outputs are those of the integer executor."""
    made = made or plan(program)
    found = prove(program, inputs, not_zero_knowledge=True, made=made, **more)
    expected = integer.run(program, raw(inputs))
    assert found.outputs.keys() == expected.keys()
    for name, values in expected.items():
        assert np.array_equal(found.outputs[name], values), name
    proof = Proof.decode(found.proof.encode())
    assert proof == found.proof
    assert refusals(program, found.statement, proof, made) == (None, None)
    return found


def proved_together(given: Sequence[tuple[IntegerProgram, Mapping[str, Integers] | None]]) -> None:
    """One proof of programs side by side, of those that have inputs; in `make deep` one of each."""
    known = [(program, inputs) for program, inputs in given if inputs is not None]
    for chosen in [[one] for one in known] if TIER == "deep" else [known] * bool(known):
        proved(side_by_side([program for program, _ in chosen]), values_of([inputs for _, inputs in chosen]))


def forged(
    program: IntegerProgram,
    inputs: Mapping[str, Integers],
    made: Plan,
    values: Sequence[Integers],
    hook: Hook | None = None,
) -> tuple[str | None, Proved]:
    """What both verifiers say to the proof that a cheating prover makes from these values of all bases."""
    trace = made.trace(inputs)
    found = prove_values(program, made, trace, values, hook=hook)
    return refusals(program, found.statement, found.proof, made)[0], found


def honest_values(made: Plan, inputs: Mapping[str, Integers]) -> list[Integers]:
    return list(made.values(made.trace(inputs)))


def committed_inputs(program: IntegerProgram) -> IntegerProgram:
    """The same program with every input committed and every output public."""
    return replace(
        program,
        inputs=tuple(replace(port, visibility=Visibility.COMMITTED) for port in program.inputs),
        outputs=tuple(replace(port, visibility=Visibility.PUBLIC) for port in program.outputs),
    )


def refused(call: Any) -> str:
    """The one line that something is refused with."""
    try:
        call()
    except CircuitizeError as error:
        assert "\n" not in str(error)
        return str(error)
    raise AssertionError("expected a refusal, found none")
