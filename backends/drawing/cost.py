"""The cost of each operation of an integer program, by which the boxes of a picture are coloured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Shift
from circuitize.circuits.program import IntegerProgram

from ..field import BN254
from ..plonkish import cost as plonkish
from ..plonkish.expressions import ExpressionBuilder
from ..r1cs.builder import CountingBuilder
from ..r1cs.challenge import Challenge
from ..r1cs.emit import assemble


def _rows(program: IntegerProgram) -> list[int]:
    """Return the number of R1CS constraints that each operation of the program takes."""
    builder = CountingBuilder(BN254)
    assemble(program, builder, Challenge.HASHED)
    found = [0] * program.arrow.edge_count
    for (edge, _), count in builder.counts.items():
        if edge >= 0:
            found[edge] += count.rows
    return found


def _lookups(program: IntegerProgram) -> list[int]:
    """Return the number of lookups that each operation of the program takes in a Plonkish system."""
    found = [0] * program.arrow.edge_count
    for placed in plonkish.search(program)[0].layout.units:
        unit = placed.unit
        each = len(unit.lookups(ExpressionBuilder(), range(len(unit.phases)), range(unit.fixed)))
        for task in placed.tasks:
            if task.edge >= 0:
                found[task.edge] += each * unit.elements(task) * unit.height(task)
    return found


def _bits(program: IntegerProgram) -> list[int]:
    """Return, for each operation of the program, the number of bits that it drops from each element by rounding, which
    only a Shift does.
    """
    return [edge.operation.bits if isinstance(edge.operation, Shift) else 0 for edge in program.arrow.edges()]


MEASURES: dict[str, tuple[str, Callable[[IntegerProgram], list[int]]]] = {
    "rows": ("constraints", _rows),
    "lookups": ("lookups", _lookups),
    "bits": ("bits lost", _bits),
}
"""The measures by name: what is counted, in words, and how; a measure gives one number for each operation of the
arrow.
"""

SHARES = (0, 1, 5, 20, 50)
"""Percents of the greatest cost above which a box has the next colour."""


def counted(program: IntegerProgram, measure: str) -> list[int]:
    """Return the cost of each operation of a program, by the given measure. Raise CircuitizeError for an unknown
    measure, and for a program of which the measured target has no circuit.
    """
    if measure not in MEASURES:
        raise CircuitizeError(f"expected a cost among {', '.join(MEASURES)}, found {measure!r}; choose one")
    return MEASURES[measure][1](program)


def step(cost: int, greatest: int) -> int:
    """Return the number of the colour of a cost, which is 0 for no cost."""
    return sum(100 * cost > share * greatest for share in SHARES)


def legend(measure: str, greatest: int) -> list[tuple[int, str]]:
    """Return each colour of a picture, with the cost that the colour stands for."""
    word = MEASURES[measure][0]
    said = [f"no {word}", *(f"up to {share} % of the most" for share in SHARES[1:]), f"up to the most, {greatest:,}"]
    return list(enumerate(said))


def of_box(costs: Sequence[int], edges: Sequence[int], measure: str) -> int:
    """Return the cost of a box of several operations: the sum of the operations' costs, or the greatest of them if lost
    bits are counted.
    """
    found = [costs[edge] for edge in edges]
    return max(found, default=0) if measure == "bits" else sum(found)
