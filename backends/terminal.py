"""The ports of a program in a circuit: what a verifier sees of each port, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, require_integers
from circuitize.circuits.types import Fixed

from .values import WireValue


@dataclass(frozen=True, slots=True)
class Public:
    """Consecutive public wires of a circuit: the integers of a public port, or the single digest of a committed port.

    The field `side` is "input" or "output"; the wire `first` has the public value number first - 1. Negative integers
    are represented modulo the prime on public wires.
    """

    side: str
    name: str
    format: Fixed
    committed: bool
    first: int
    count: int


@dataclass(slots=True, eq=False)
class Terminal:
    """A port of a program in a circuit, and the wire of this port in the arrow."""

    side: str
    port: Port[Fixed]
    format: Fixed
    wire: int

    @property
    def public(self) -> bool:
        """Return whether a verifier sees the port's values."""
        return self.port.visibility is Visibility.PUBLIC

    @property
    def committed(self) -> bool:
        """Return whether a verifier sees a commitment to the port's values instead of the values."""
        return self.port.visibility is Visibility.COMMITTED

    @property
    def label(self) -> str:
        """Return the name of the port in the circuit and among salts, which includes the side, since an input and an
        output may have the same name.
        """
        return f"{self.side} {self.port.name}"

    @property
    def value(self) -> WireValue:
        """Return the recipe for the value of the port's wire in a run."""
        return WireValue(0, self.wire)

    def visible(self, first: int, count: int) -> Public:
        """Return the public wires by which a verifier sees the port, which is public or committed."""
        return Public(self.side, self.port.name, self.format, self.committed, first, count)

    @classmethod
    def of(cls, program: IntegerProgram) -> tuple[list[Self], list[Self]]:
        """Return the inputs and the outputs of a program as two lists of terminals."""
        arrow = program.arrow
        inputs, outputs = (
            [cls(side, port, port.format, wire) for port, wire in zip(ports, wires.tolist(), strict=True)]
            for side, ports, wires in (
                ("input", program.inputs, arrow.inputs),
                ("output", program.outputs, arrow.outputs),
            )
        )
        return inputs, outputs


T = TypeVar("T", bound=Terminal)


def in_order(inputs: Sequence[T], outputs: Sequence[T]) -> list[T]:
    """Return the ports that a verifier sees, in the order in which their wires are numbered: outputs, committed inputs,
    public inputs.
    """
    seen = [terminal for terminal in outputs if terminal.public or terminal.committed]
    seen += [terminal for terminal in inputs if terminal.committed]
    return seen + [terminal for terminal in inputs if terminal.public]


def require_provable(program: IntegerProgram) -> None:
    """Raise CircuitizeError for a program from which no circuit can be made, and for one whose circuit would state
    nothing.
    """
    require_integers(program)
    if not program.binds():
        raise CircuitizeError(
            "expected a program that binds something, found every input or every output private: a proof would say "
            "nothing; make an input and an output public or committed"
        )
