"""Valid tensor proofs to be mutated, which have every kind of message between them, and where their messages lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from independent_verifier.verifier import Verifier
from tensor_attack import built
from tensor_proofs import entering, example_inputs, planned
from tensor_rows import of_rows, proved_on_rows

from circuitize.circuits import integers
from circuitize.circuits.integers import View
from circuitize.circuits.program import Program, Visibility
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Proved, prove

OF_LOOKUPS = {"fractions.root", "fractions.sum", "fractions.ends", "lookups.values"}
OF_PRODUCTS = {"dense", "dense.value", "product", "operands"}
OF_OPENINGS = {"whir.fold", "whir.root", "whir.last", "whir.leaves", "whir.salts", "whir.nodes"}
LABELS = frozenset({"columns", "zeros"} | OF_LOOKUPS | OF_PRODUCTS | OF_OPENINGS)
"""All kinds of messages that a tensor proof consists of."""

HIDDEN_LABELS = LABELS | {"inverse", "products.factors", "whir.carried", "whir.mask"}
"""The same of one in zero knowledge."""


@dataclass(frozen=True)
class Victim:
    """A program with two proofs, of different inputs, and what a verifier knows to be in format."""

    name: str
    program: Program
    made: Plan
    found: Proved
    other: Proved
    trusted: Mapping[str, bytes]
    spans: Mapping[str, list[range]]
    """By label, the bytes of each message that is not empty."""

    weight: float = 1.0
    """How often it is mutated, beside the others."""

    context: bytes = b""
    """What its proofs are made for."""


def victim(
    name: str, program: Program, made: Plan, found: Proved, other: Proved, weight: float, context: bytes = b""
) -> Victim:
    assert repr(found.statement) != repr(other.statement)
    known = entering(found.statement) if made.assumed else {}
    return Victim(name, program, made, found, other, known, spans(made, found, context), weight, context)


def spans(made: Plan, found: Proved, context: bytes) -> dict[str, list[range]]:
    """Where the messages of a proof lie, as the independent verifier reads them."""
    verifier = Verifier(made, found.statement, found.proof.messages)
    read = verifier.transcript.bytes
    seen: dict[str, list[range]] = {}

    def noted(label: str, length: int) -> bytes:
        if length:
            seen.setdefault(label, []).append(range(verifier.transcript.at, verifier.transcript.at + length))
        return read(label, length)

    verifier.transcript.bytes = noted  # type: ignore[method-assign]
    verifier.check(context)
    return seen


def seen_by_all(program: Program) -> Program:
    return replace(program, inputs=tuple(replace(port, visibility=Visibility.PUBLIC) for port in program.inputs))


def victims(degree: int = 2, openings: int | None = None) -> list[Victim]:
    """Proofs of few elements, for which both verifiers take milliseconds, and one of a training step."""
    few, grid = Fixed((2,), 0, -2, 1), Fixed((2, 3), 0, 0, 3)
    squares = integers.Lookup(-2, np.arange(4) ** 2, 0)
    reshaped = integers.Reindex(View.reshape((2, 3), (3, 2)))
    ending = integers.Sum(View.broadcast((1025,), (0,)))
    times = integers.Multiply()
    programs = {
        "shift": (built([few], (integers.Shift(1), (0,))), 1.0),
        "table": (seen_by_all(built([few], (squares, (0,)))), 1.0),
        "step": (built([few, few], (times, (0, 1)), (integers.Shift(1), (2,)), (integers.ReLU(), (3,))), 1.0),
        "dense": (seen_by_all(built([grid, grid], (times, (0, 1)), (reshaped, (2,)), (integers.Shift(1), (3,)))), 1.0),
        "long": (built([Fixed((1025,), 0, 0, 3)], (ending, (0,))), 0.4),
    }
    made, hidden = [], "hidden " if openings else ""
    for name, (program, weight) in programs.items():
        random = np.random.default_rng(1)
        drawn = [
            {p.name: random.integers(p.format.low, p.format.high + 1, p.format.shape) for p in program.inputs}  # type: ignore[union-attr]
            for _ in range(2)
        ]
        own = plan(program, assumed={"data"} if name == "long" else (), degree=degree, openings=openings)
        found, other = (prove(program, x, not_zero_knowledge=True, made=own) for x in drawn)
        made.append(victim(f"{hidden}{name}", program, own, found, other, weight))
    program, own = of_rows(degree, openings)
    found, other = (proved_on_rows(program, own, rows, context=b"step 1") for rows in ([4, 1, 4], [0, 1, 2]))
    made.append(victim(f"{hidden}rows", program, own, found, other, 1.0, b"step 1"))
    program, _ = planned("iris.py:step")
    own = plan(program, degree=degree, openings=openings)
    inputs = example_inputs(program)
    given = (inputs, {**inputs, "inputs": inputs["inputs"][::-1].copy()})
    found, other = (prove(program, x, not_zero_knowledge=True, made=own) for x in given)
    return [*made, victim(f"{hidden}iris", program, own, found, other, 0.06)]
