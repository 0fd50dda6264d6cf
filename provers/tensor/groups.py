"""Groups of committed ports: what a training run keeps under one root, by the role of each port."""

from __future__ import annotations

from collections.abc import Collection

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import permute
from circuitize.circuits.program import Port, Program, Role, Visibility

GroupName = str

NAMES: dict[Role, GroupName] = {
    Role.PARAMETER: "parameters",
    Role.OPTIMIZER: "optimizer",
    Role.STATE: "state",
    Role.DATA: "data",
}


def group(port: Port) -> GroupName:
    """The group of a committed port: that of its role; a scalar's is its own."""
    return NAMES.get(port.role, port.name)


def input_groups(program: Program) -> tuple[GroupName, ...]:
    """The groups of the committed inputs, in the order of their first ports."""
    return tuple(dict.fromkeys(group(port) for port in program.inputs if port.visibility is Visibility.COMMITTED))


def require_groups(program: Program, groups: Collection[GroupName]) -> None:
    """Raises CircuitizeError unless each is a group of committed inputs."""
    known = input_groups(program)
    for name in sorted(groups):
        if name not in known:
            raise CircuitizeError(f"expected a group of committed inputs among {sorted(known)}, found {name!r}")


def format_program(program: Program, groups: Collection[GroupName]) -> Program:
    """The program whose proof shows that the roots of these groups hold values within the formats of their ports.

    It takes the groups' committed inputs and returns nothing, so that all it says is that there are such values. Names,
    roles and formats are the program's: a group has one root, whichever of the two it is committed for. Raises
    CircuitizeError for a group that the program has not.
    """
    require_groups(program, groups)
    ports = tuple(port for port in program.inputs if port.visibility is Visibility.COMMITTED and group(port) in groups)
    nothing = permute([port.format for port in ports if port.format is not None], [])
    chosen = {port.name for port in ports}
    examples = tuple({name: values for name, values in batch.items() if name in chosen} for batch in program.examples)
    return Program(nothing, ports, (), examples, program.precision)
