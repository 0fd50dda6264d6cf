"""The exact sizes of a program's constraint system, counted by emitting the system into a builder that keeps only
counts.
"""

from __future__ import annotations

from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json

from ..field import BN254, Field
from .builder import Count, CountingBuilder
from .challenge import Challenge
from .emit import assemble, degree
from .ports import INPUT_RANGE


def estimate(program: IntegerProgram, field: Field = BN254, challenge: Challenge = Challenge.HASHED) -> Json:
    """Return the sizes of the system that `emit(program, field, challenge)` makes, which are equal by construction; no
    row is kept. Raise CircuitizeError for the same reasons as `emit`.

    The entries of the estimate are constraints, wires (including the constant), public (outputs and inputs), nonzeros
    (of A, B and C together), input_range_constraints, challenge_degree (see `emit`), and `parts`, `operations` and
    `roles`, which have the constraints, wires and nonzeros by provenance part, by operation name and by gadget role.
    The program's own inputs and outputs are counted as the part "inputs and outputs".
    """
    builder = CountingBuilder(field)
    assembly, _ = assemble(program, builder, challenge)
    arrow = program.arrow
    parts: dict[str, Count] = {}
    operations: dict[str, Count] = {}
    roles: dict[str, Count] = {}
    input_range = 0
    for (edge, role), count in builder.counts.items():
        if role.startswith(INPUT_RANGE):
            input_range += count.rows
        if edge < 0:
            part = operation = "inputs and outputs"
        else:
            found = arrow.edge(edge)
            part, operation = found.provenance.part or "unnamed part", found.operation.name
        for table, name in ((parts, part), (operations, operation), (roles, role)):
            total = table.setdefault(name, Count())
            total.rows += count.rows
            total.wires += count.wires
            total.nonzeros += count.nonzeros
    return {
        "constraints": builder.constraints,
        "wires": builder.wire_count,
        "public": builder.public,
        "nonzeros": builder.nonzeros,
        "input_range_constraints": input_range,
        "challenge_degree": degree(assembly),
        "parts": _plain(parts),
        "operations": _plain(operations),
        "roles": _plain(roles),
    }


def _plain(table: dict[str, Count]) -> dict[str, dict[str, int]]:
    return {
        name: {"constraints": count.rows, "wires": count.wires, "nonzeros": count.nonzeros}
        for name, count in table.items()
    }
