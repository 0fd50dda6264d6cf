"""What a root commits to: the sorted list of its ports' names, shapes and formats, whatever program they are in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from circuitize.circuits.port import Port, Role
from circuitize.circuits.types import Fixed, Shape

from .blocks import blocks


@dataclass(frozen=True)
class Listed:
    """One tensor behind a root; `blocks` is the number of blocks in which the root lays it out."""

    name: str
    shape: Shape
    fraction_bits: int
    low: int
    high: int
    blocks: int


PortList = tuple[Listed, ...]


def listed(ports: Iterable[Port[Fixed]]) -> PortList:
    """Return the list of ports, each with its format: sorted by name. The place of each port's values in a commitment
    follows from the list of ports alone (`layout`).
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
    """Return the first difference of two lists of ports, told with `names` for the two sides, or None if they are
    equal.
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
