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
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
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
    program: IntegerProgram
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
    name: str, program: IntegerProgram, made: Plan, found: Proved, other: Proved, weight: float, context: bytes = b""
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


def seen_by_all(program: IntegerProgram) -> IntegerProgram:
    return replace(program, inputs=tuple(replace(port, visibility=Visibility.PUBLIC) for port in program.inputs))


FEW, TALL, WIDE = Fixed((2,), 0, -2, 1), Fixed((2,), 0, 0, 3), Fixed((3,), 0, 0, 3)
SQUARES = integers.Lookup(-2, np.arange(4) ** 2, 0)
RESHAPED = integers.Reindex(View.reshape((2, 3), (3, 2)))
ENDING, CORNER = integers.Sum(View.broadcast((1025,), (0,))), integers.Reindex(View.slice((257, 128), (0, 0), (1, 2)))
TIMES, HALF, OUTER = integers.Multiply(), integers.Shift(1), integers.Contract("i,j->ij")
PROGRAMS = {
    "shift": built([FEW], (HALF, (0,))),
    "table": seen_by_all(built([FEW], (SQUARES, (0,)))),
    "step": built([FEW, FEW], (TIMES, (0, 1)), (HALF, (2,)), (integers.ReLU(), (3,))),
    "dense": seen_by_all(built([TALL, WIDE], (OUTER, (0, 1)), (RESHAPED, (2,)), (HALF, (3,)))),
    "long": built([Fixed((1025,), 0, 0, 3)], (ENDING, (0,))),
    "longer": built([Fixed((257, 128), 0, 0, 3)], (CORNER, (0,))),
}
"""Programs whose proofs have every kind of message between them.

Of the last two, one folds a vector again in zero knowledge, the other where nothing is hidden.
"""


def drawn(program: IntegerProgram, seed: int = 1) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        p.name: random.integers(p.format.low, p.format.high + 1, p.format.shape) for p in program.inputs if p.format
    }


def small_victim(name: str, weight: float, degree: int = 2, openings: int | None = None) -> Victim:
    program = PROGRAMS[name]
    made = plan(program, assumed={"data"} if name.startswith("long") else (), degree=degree, openings=openings)
    found, other = (prove(program, drawn(program, seed), not_zero_knowledge=True, made=made) for seed in (1, 2))
    return victim(f"hidden {name}" if openings else name, program, made, found, other, weight)


def of_a_dataset(weight: float, degree: int = 2, openings: int | None = None) -> Victim:
    program, made = of_rows(degree, openings)
    found, other = (proved_on_rows(program, made, rows, context=b"step 1") for rows in ([4, 1, 4], [0, 1, 2]))
    return victim("hidden rows" if openings else "rows", program, made, found, other, weight, b"step 1")


def victims(degree: int = 2) -> list[Victim]:
    """Proofs of few elements, for which both verifiers take milliseconds, and one of a training step."""
    small = [small_victim(name, 0.4 if name == "longer" else 1.0, degree) for name in PROGRAMS if name != "long"]
    program, _ = planned("iris.py:step")
    made = plan(program, degree=degree)
    inputs = example_inputs(program)
    given = (inputs, {**inputs, "inputs": inputs["inputs"][::-1].copy()})
    found, other = (prove(program, x, not_zero_knowledge=True, made=made) for x in given)
    return [*small, of_a_dataset(1.0, degree), victim("iris", program, made, found, other, 0.06)]


def hidden_victims(degree: int = 2) -> list[Victim]:
    """Proofs in zero knowledge, one of which has two vectors; a verifier in Python takes longer for them."""
    small = {"step": 0.15, "dense": 0.15, "long": 0.05}
    return [
        *(small_victim(name, weight, degree, openings=4) for name, weight in small.items()),
        of_a_dataset(0.15, degree, 4),
    ]
