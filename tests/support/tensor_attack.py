"""Forgeries of tensor proofs: what a cheating prover claims, whom it convinces, and programs that are attacked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from independent_verifier.arithmetic import Elements, numbers, total
from independent_verifier.numbered import Mix
from independent_verifier.transcript import Refused
from independent_verifier.verifier import Verifier
from independent_verifier.weights import apply
from numpy.typing import NDArray
from r1cs_programs import program as program_of
from tensor_cheat import Cheat
from tensor_proofs import committed_inputs, entering, refusals
from tensor_words import Deaf

from circuitize.backends.tensor.forms import Public
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.config import DEGREES
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.statement import Statement

Integers = NDArray[np.int64]

at_every_degree = pytest.mark.parametrize(
    "degree", [pytest.param(degree, marks=[] if degree == max(DEGREES) else [pytest.mark.deep]) for degree in DEGREES]
)
"""Of the extension that challenges are drawn from; in `make test` the highest."""


def small_plan(program: IntegerProgram, degree: int, *assumed: str) -> Plan:
    """The plan with tables of 16 entries, which a prover in Python has time for; some groups may be `assumed`."""
    return plan(program, 4, assumed=assumed, degree=degree)


class Forgery:
    """What a cheating prover claims of a program, and its proof."""

    def __init__(self, program: IntegerProgram, made: Plan, statement: Statement, messages: bytes) -> None:
        self.program, self.made, self.statement = program, made, statement
        self.proof = Proof(made.program, messages)

    def passes(self, kind: type[Verifier] = Verifier, deaf: frozenset[str] = frozenset(), context: bytes = b"") -> bool:
        """Whether it convinces a verifier that is weaker than it should be."""
        verifier = kind(self.made, self.statement, self.proof.messages)
        channel = Deaf(self.proof.messages, self.made.degree)
        channel.labels = deaf
        verifier.transcript = channel
        try:
            verifier.check(context)
        except Refused:
            return False
        return True

    def is_refused(self, context: bytes = b"") -> bool:
        return self.refusal(context) is not None

    def refusal(self, context: bytes = b"") -> str | None:
        """Of both verifiers, as they are, who know of all roots that what is behind them is in format."""
        known = entering(self.statement)
        return refusals(self.program, self.statement, self.proof, self.made, context, known)[1]


def publics_of(made: Plan, trace: Any) -> dict[tuple[str, str], Integers]:
    wires = [("input", *pair) for pair in zip(made.inputs, made.arrow.inputs.tolist(), strict=True)]
    wires += [("output", *pair) for pair in zip(made.outputs, made.arrow.outputs.tolist(), strict=True)]
    asked = {(base.side, base.name) for base in made.bases if isinstance(base, Public)}
    return {(side, name): trace[wire] for side, name, wire in wires if (side, name) in asked}


def attack(
    program: IntegerProgram,
    made: Plan,
    inputs: dict[str, Integers],
    kind: type[Cheat] = Cheat,
    deaf: frozenset[str] = frozenset(),
    output: Integers | None = None,
) -> tuple[Forgery, Cheat]:
    """The proof by a plan that a cheat makes; `output` is claimed in place of the true one."""
    trace = list(made.trace(inputs))
    values = made.values(trace)
    cheat = kind(made, values, deaf)
    publics = publics_of(made, trace)
    if output is not None:
        publics["output", program.outputs[0].name] = output
        for base, found in enumerate(made.bases):
            if isinstance(found, Public) and found.side == "output":
                cheat.values[base] = numbers(output)
    messages, roots = cheat.prove(publics)
    return Forgery(program, made, Statement(publics, dict(zip(made.groups, roots, strict=True))), messages), cheat


class FalseSum(Cheat):
    """Claims of the first input what makes a false output of a sum true."""

    gamma: Elements | None = None

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        if label != "zeros":
            return honest
        made = honest.copy()
        made[0] = made[0] + self.missing(asked[0][1], honest)
        return made

    def missing(self, mix: Mix, honest: Elements) -> Elements:
        ((output,),) = ([i for i, base in enumerate(self.plan.bases) if isinstance(base, Public)],)
        (number,) = mix
        return apply(self.weights[number], self.values[output]) - total(honest)


def built(sources: list[Fixed], *rows: tuple[integers.IntegerOperation, tuple[int, ...]]) -> IntegerProgram:
    """The program of operations on wires by number, which returns the last one."""
    builder = Builder()
    wires = builder.inputs(sources)
    for operation, read in rows:
        wires.append(builder.add(operation, *(wires[i] for i in read)))
    return committed_inputs(program_of(builder.build([wires[-1]])))


SMALL = Fixed((4,), 0, 0, 15)
SUM = built([SMALL, SMALL], (integers.Add(), (0, 1)))
PRODUCT = built([SMALL, SMALL], (integers.Multiply(), (0, 1)))
INPUTS = {"in0": np.array([1, 2, 3, 4]), "in1": np.array([5, 6, 7, 8])}
OUTSIDE = {"in0": np.array([16, 2, 3, 4]), "in1": np.array([5, 6, 7, 8])}
"""16 is outside of the format."""
