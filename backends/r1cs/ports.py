"""The inputs and outputs of a program as wires of an R1CS circuit: the elements of public ports are public wires, and
those of committed ports are bound to a public digest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from circuitize.circuits.program import IntegerProgram

from .. import terminal as ports
from ..forms import wires
from ..terminal import Public, in_order
from ..values import Drawn, Salt
from .builder import Kind
from .commitments import layout
from .gadgets.assembly import Assembly, Handle, Recipe
from .gadgets.commitment import Commitment, Digests, emit_commitment
from .gadgets.ranges import entering
from .gadgets.transcript import Element, Naturals

INPUT_RANGE = "input range"
"""The beginning of the role of rows that check an input's format."""


@dataclass(slots=True, eq=False)
class Terminal(ports.Terminal):
    """A port of a program, its wire in the arrow, and its wires in the circuit (0 means that it has none)."""

    first: int = 0
    digest: int = 0
    salt: int = 0
    commitment: Commitment = field(init=False)

    def __post_init__(self) -> None:
        self.commitment = Commitment(self.value, self.format, self.label)

    def allocate(self, assembly: Assembly, kind: Kind) -> None:
        """Allocate circuit wires of a given kind for the elements of the port."""
        assembly.no_wrap(-self.format.low, self.format.high)
        self.first = assembly.wires(self.value, self.format.size, self.label, self.format.shape, kind)

    def allocate_digest(self, assembly: Assembly) -> None:
        """Allocate the public wire of the port's digest, which is the output of the commitment's last permutation."""
        last = layout(self.format).permutations
        content = Digests(self.commitment, last - 1, last)
        self.digest = assembly.wires(content, 1, f"{self.label} commitment", (), Kind.PUBLIC_OUTPUT)

    def allocate_salt(self, assembly: Assembly) -> None:
        """Allocate the private wire of the salt of the port's commitment."""
        self.salt = assembly.wires(Salt(self.label), 1, f"{self.label} salt", (), Kind.PRIVATE_INPUT)

    def enter(self, assembly: Assembly) -> Handle:
        """Return the wires of an input, which are checked to be in the input's format."""
        forms = wires(self.first, self.format.size)
        return entering(assembly, forms, self.value, self.format, f"{INPUT_RANGE} {self.port.name}")

    def bind(self, assembly: Assembly, handle: Handle) -> None:
        """If the port is committed, constrain its digest to be the commitment to the handle's elements."""
        if self.committed:
            emit_commitment(assembly, self.commitment, handle, self.salt, self.digest, f"{self.label} commitment")

    def leave(self, assembly: Assembly, handle: Handle) -> None:
        """Constrain the public wires of an output, or its digest, to equal the output's computed value.

        Soundness: the row form * 1 = wire binds the public wire of an output, and both sides stand for integers below
        p/2 in magnitude.
        """
        if self.public:
            assembly.equal(handle.forms, wires(self.first, self.format.size), self.label)
        self.bind(assembly, handle)

    def absorbed(self) -> Naturals | Element:
        """Return the value that a challenge absorbs in order to depend on the port's elements: the digest, or the
        elements themselves.
        """
        if self.committed:
            last = layout(self.format).permutations
            return Element(self.digest, Digests(self.commitment, last - 1, last))
        width = (self.format.high - self.format.low).bit_length()
        return Naturals(wires(self.first, self.format.size), self.value, -self.format.low, width)

    @property
    def seen(self) -> Public:
        """Return the wires that a verifier sees of a public or committed port, with their meaning."""
        first, count = (self.digest, 1) if self.committed else (self.first, self.format.size)
        return self.visible(first, count)


def terminals(
    program: IntegerProgram, assembly: Assembly, drawn: bool
) -> tuple[list[Terminal], list[Terminal], tuple[Public, ...]]:
    """Return the inputs and the outputs of a program with their circuit wires, allocated in the order that files of
    constraint systems demand, and the public wires in order.

    If a challenge is drawn outside the circuit, its wire is the last public wire, and belongs to no port.
    """
    inputs, outputs = Terminal.of(program)
    seen = in_order(inputs, outputs)
    for terminal in seen:
        if terminal.committed:
            terminal.allocate_digest(assembly)
        else:
            terminal.allocate(assembly, Kind.PUBLIC_INPUT if terminal in inputs else Kind.PUBLIC_OUTPUT)
    if drawn:
        assembly.recipes.append(Recipe(assembly.builder.await_challenge(), 1, Drawn()))
    for terminal in inputs:
        if not terminal.public:
            terminal.allocate(assembly, Kind.PRIVATE_INPUT)
    for terminal in inputs + outputs:
        if terminal.committed:
            terminal.allocate_salt(assembly)
    return inputs, outputs, tuple(terminal.seen for terminal in seen)
