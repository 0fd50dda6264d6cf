"""Groups of committed ports: the ports of one role, whose values a training run keeps under one root."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import identity, permute
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, Shape

from . import frozen
from .errors import Unprovable
from .forms import padded_bits
from .ports import PortList, listed

INPUT, OUTPUT = "input", "output"

PortKey = tuple[str, str]
"""A side, and the name of a port or a group."""

GroupName = str
DATA: GroupName = "data"

LEAST_VARIABLES = 8
"""The least number of variables of a commitment, which has 2^LEAST_VARIABLES elements or more."""

NAMES: dict[Role, GroupName] = {
    Role.PARAMETER: "parameters",
    Role.OPTIMIZER: "optimizer",
    Role.STATE: "state",
    Role.FROZEN: "frozen",
    Role.DATA: DATA,
}


@dataclass(frozen=True)
class Group:
    """A group: the committed ports of one side that share a root, sorted by name."""

    side: str
    name: GroupName
    ports: tuple[Port[Fixed], ...]

    @property
    def key(self) -> PortKey:
        """Return the side and the name of the group, by which its root is found."""
        return self.side, self.name

    @property
    def listed(self) -> PortList:
        """Return the list of ports to which the root of the group commits."""
        return listed(self.ports)


def group(port: Port[Fixed], side: str = INPUT) -> GroupName:
    """Return the group of a committed port: that of its role, except that a scalar is a group by itself, and so are
    data that leave a step.

    Frozen ports can form several groups: see `group_names`.
    """
    return port.name if side == OUTPUT and port.role is Role.DATA else NAMES.get(port.role, port.name)


def group_names(program: IntegerProgram) -> dict[str, GroupName]:
    """Return the name of each committed input's group, as `group` gives it; if frozen inputs form several groups, their
    names also have a number.
    """
    committed = [port for port in program.inputs if port.visibility is Visibility.COMMITTED]
    names = {port.name: group(port) for port in committed}
    found = frozen.parts([port for port in committed if port.role is Role.FROZEN])
    if len(found) > 1:
        base = NAMES[Role.FROZEN]
        names |= {port.name: f"{base}.{number}" for number, part in enumerate(found, 1) for port in part}
    return names


def frozen_groups(program: IntegerProgram) -> tuple[GroupName, ...]:
    """Return the groups of frozen inputs, in the order of the numbers in their names."""
    names = group_names(program)
    roles = {port.name: port.role for port in program.inputs}
    found = {group for name, group in names.items() if roles[name] is Role.FROZEN}
    return tuple(sorted(found, key=lambda name: (len(name), name)))


def groups(program: IntegerProgram) -> tuple[Group, ...]:
    """Return the groups of a program, those of inputs first, in the order of their first ports; the outputs of a
    `renewal` have the same groups as its inputs.

    Raise Unprovable if a public port, or a port that is a group by itself, has the name of another group, since a
    statement has only one entry for each side and name.
    """
    found: dict[PortKey, list[Port[Fixed]]] = {}
    returned, names = program.inputs == program.outputs, group_names(program)
    for side, ports in ((INPUT, program.inputs), (OUTPUT, program.outputs)):
        for port in ports:
            if port.visibility is Visibility.COMMITTED:
                own = names[port.name] if side == INPUT or returned else group(port, side)
                found.setdefault((side, own), []).append(port)
    made = tuple(Group(*key, tuple(sorted(ports, key=lambda port: port.name))) for key, ports in found.items())
    sides = {INPUT: program.inputs, OUTPUT: program.outputs}
    public = {(side, port.name) for side in sides for port in sides[side] if port.visibility is Visibility.PUBLIC}
    for one in made:
        if len({port.role for port in one.ports}) > 1 or one.key in public:
            raise Unprovable(
                f"expected no other {one.side} of the name {one.name!r} beside that group, found one; rename it"
            )
    return made


def layout(shapes: Sequence[Shape]) -> tuple[int, tuple[int, ...]]:
    """Return the number of variables of a commitment to tensors of the given shapes, and the offset of each tensor:
    wide tensors are placed first, and tensors of the same width in their order.

    Axes are padded to powers of two, and each offset is a multiple of the padded size of its tensor. The places of
    blocks in a commitment depend only on the list of ports: equal lists have their values at the same places.
    """
    offsets, end = [0] * len(shapes), 0
    for place in sorted(range(len(shapes)), key=lambda place: -padded_bits(shapes[place])):
        offsets[place], end = end, end + (1 << padded_bits(shapes[place]))
    return max(LEAST_VARIABLES, (end - 1).bit_length() if end else 0), tuple(offsets)


def input_groups(program: IntegerProgram) -> tuple[GroupName, ...]:
    """Return the names of the groups of committed inputs, in the order of their first ports."""
    return tuple(dict.fromkeys(group_names(program).values()))


def require_groups(program: IntegerProgram, groups: Collection[GroupName]) -> None:
    """Raise CircuitizeError for a name that is not a group of committed inputs."""
    known = input_groups(program)
    for name in sorted(groups):
        if name not in known:
            raise CircuitizeError(f"expected a group of committed inputs among {sorted(known)}, found {name!r}")


def format_program(program: IntegerProgram, groups: Collection[GroupName]) -> IntegerProgram:
    """Return the program whose proof shows that the roots of the given groups commit to values within the formats of
    their ports.

    The program that checks formats takes the committed inputs in the groups and returns nothing, so that its proof says
    only that values in format exist. The ports have the same names, roles and formats as in the original program, so
    that a group has the same root for both programs. Raise CircuitizeError for a group that the program does not have.
    """
    ports = _ports_of(program, groups)
    nothing = permute([port.format for port in ports if port.format is not None], [])
    return IntegerProgram(nothing, ports, (), _examples_of(program, ports), program.precision)


def renewal_program(program: IntegerProgram, groups: Collection[GroupName]) -> IntegerProgram:
    """Return the program that takes the committed inputs in the given groups and returns them, so that its proof shows
    that two roots commit to the same values.

    Raise CircuitizeError for a group that the program does not have.
    """
    ports = _ports_of(program, groups)
    return replace(renewal(ports), examples=_examples_of(program, ports), precision=program.precision)


def renewal(ports: Sequence[Port[Fixed]]) -> IntegerProgram:
    """Return a program that takes the given ports and returns them unchanged."""
    types = [port.format for port in ports if port.format is not None]
    return IntegerProgram(identity(*types), tuple(ports), tuple(ports))


def _ports_of(program: IntegerProgram, groups: Collection[GroupName]) -> tuple[Port[Fixed], ...]:
    require_groups(program, groups)
    names = group_names(program)
    return tuple(port for port in program.inputs if names.get(port.name) in groups)


def _examples_of(program: IntegerProgram, ports: Sequence[Port[Fixed]]) -> tuple[Mapping[str, Values], ...]:
    names = {port.name for port in ports}
    return tuple({name: values for name, values in batch.items() if name in names} for batch in program.examples)
