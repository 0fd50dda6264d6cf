"""The list of ports to which a root commits: their names, shapes and formats, sorted by name, whatever program the
ports are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from circuitize.circuits.port import Port, Role
from circuitize.circuits.types import Fixed, Shape

from .blocks import blocks


@dataclass(frozen=True)
class Listed:
    """One tensor to which a root commits; `blocks` is the number of blocks in which the commitment lays it out."""

    name: str
    shape: Shape
    fraction_bits: int
    low: int
    high: int
    blocks: int


PortList = tuple[Listed, ...]


def listed(ports: Iterable[Port[Fixed]]) -> PortList:
    """Return the list of the given ports with their formats, sorted by name. The places of all values in a commitment
    to these ports follow from this list alone (`layout`).
    """
    made = []
    for port in ports:
        format = port.format
        cut = 1 if port.role is Role.DATA else len(blocks(format.shape))
        made.append(Listed(port.name, format.shape, format.fraction_bits, format.low, format.high, cut))
    return tuple(sorted(made, key=lambda one: one.name))


def difference(
    ours: PortList, theirs: PortList, names: Sequence[str] = ("this program", "the other one")
) -> str | None:
    """Return the first difference between two lists of ports as a text, in which `names` stand for the two sides, or
    None if the lists are equal.
    """
    here, there = ({port.name: port for port in ports} for ports in (ours, theirs))
    for name in sorted({*here, *there}):
        if name not in here or name not in there:
            has, lacks = names if name in here else tuple(reversed(names))
            return f"port {name!r} is in {has} and not in {lacks}"
        for part in fields(Listed):
            mine, other = getattr(here[name], part.name), getattr(there[name], part.name)
            if mine != other:
                what = part.name.replace("_", " ")
                return f"port {name!r} has {what} {_shown(mine)} in {names[0]} and {_shown(other)} in {names[1]}"
    return None


def _shown(value: int | Shape) -> str:
    return str(list(value) if isinstance(value, tuple) else value)
