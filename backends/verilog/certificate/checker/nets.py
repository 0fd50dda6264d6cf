"""The nets of a circuit with their drivers, and the conditions that all nets must meet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .elaboration import Scope
from .refusal import Refused
from .syntax import Clocked, Expression, read_names


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver of `width` bits of a net from bit `low` on: an expression, or bits of a port of a module that is placed
    there.
    """

    low: int
    width: int
    scope: Scope
    value: Expression | None
    port: str = ""
    from_bit: int = 0

    @property
    def sources(self) -> list[str]:
        """Return the nets that a driver reads in the same clock."""
        names = self.scope.names
        return [self.port] if self.value is None else [names[n] for n in read_names(self.value) if n in names]


@dataclass(slots=True)
class Net:
    """A net of a circuit, with its width, its sign and its drivers.

    If a net is a register, `clocked` is the clocked block that assigns it, with its scope.
    """

    width: int
    signed: bool
    register: bool
    scope: Scope
    entries: int = 0
    drivers: list[Driver] = field(default_factory=list)
    clocked: tuple[Clocked, Scope] | None = None


def require_drivers(nets: Mapping[str, Net], given: Collection[str]) -> None:
    """Raise Refused unless every bit of each net is driven once, except for nets in `given`: inputs and memories."""
    for name, net in nets.items():
        ranges = sorted((driver.low, driver.low + driver.width) for driver in net.drivers)
        end = 0
        for low, high in ranges:
            if low != end:
                raise Refused(f"{net.scope.module.name}: bits of {name} are driven twice, or not at all")
            end = high
        whole = (end == net.width) + (net.clocked is not None) + (name in given)
        if whole != 1 or end not in (0, net.width):
            raise Refused(f"{net.scope.module.name}: bits of {name} are driven twice, or not at all")


def require_order(nets: Mapping[str, Net]) -> None:
    """Raise Refused if a net depends on itself, whether anything reads it or not: such a loop may never become
    stable.
    """
    done: set[str] = set()
    for first in nets:
        under_way: set[str] = set()
        front = [(first, False)]
        while front:
            name, left = front.pop()
            if left:
                under_way.remove(name)
                done.add(name)
            elif name in under_way:
                raise Refused(f"{nets[name].scope.module.name}: {name} depends on itself")
            elif name not in done:
                under_way.add(name)
                front.append((name, True))
                front += [(read, False) for driver in nets[name].drivers for read in driver.sources]
