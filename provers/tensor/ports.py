"""What a root is of: the sorted list of its ports' names, shapes and formats, whatever program they are in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from circuitize.circuits.program import Port, Role
from circuitize.circuits.types import Fixed, Shape

from .blocks import blocks
from .errors import Unprovable

FLAGS, HIDDEN, CHUNKS = 0, 1, 1
"""What a list begins with: whether its root is for proofs in zero knowledge, and how many chunks its data are in."""


@dataclass(frozen=True)
class Listed:
    """One tensor behind a root; `blocks` is how many it is laid out in."""

    name: str
    shape: Shape
    fraction_bits: int
    low: int
    high: int
    blocks: int

    def encode(self) -> bytes:
        name = self.name.encode("utf-8", "surrogatepass")
        interval = (self.fraction_bits, self.low, self.high)
        return (
            _number(len(name)) + name + b"".join(map(_number, (*interval, len(self.shape), *self.shape, self.blocks)))
        )


PortList = tuple[Listed, ...]


def listed(ports: Iterable[Port[Fixed]]) -> PortList:
    """The list of ports, each with its format: sorted by name. Where each lies follows from it alone (`layout`)."""
    made = []
    for port in ports:
        format = port.format
        cut = 1 if port.role is Role.DATA else len(blocks(format.shape))
        made.append(Listed(port.name, format.shape, format.fraction_bits, format.low, format.high, cut))
    return tuple(sorted(made, key=lambda one: one.name))


def encoded(ports: PortList, openings: int | None = None) -> bytes:
    """The bytes that a root binds by their hash. No other list has them: each part has a fixed length or is counted.

    A root for proofs in zero knowledge is made for so many `openings`, which decide its size.
    """
    kind = (FLAGS, CHUNKS) if openings is None else (HIDDEN, CHUNKS, openings)
    return b"".join([*map(_number, (*kind, len(ports))), *(port.encode() for port in ports)])


def difference(
    ours: PortList, theirs: PortList, names: Sequence[str] = ("this program", "the other one")
) -> str | None:
    """The first difference of two lists, as one of `names` has it and the other one; None where they are equal."""
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


def _number(value: int) -> bytes:
    try:
        return value.to_bytes(8, "little", signed=True)
    except OverflowError:
        raise Unprovable(f"expected formats and shapes of numbers below 2^63, found {value}") from None
