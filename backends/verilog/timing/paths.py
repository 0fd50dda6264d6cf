"""The longest path of a design from one clock edge to the next, and the clock that it allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..certificate.checker.elaboration import Scope
from ..certificate.checker.syntax import Assignment, Branch, Statement, Store
from ..design import Design
from ..devices.family import Family
from .arrivals import Arrivals
from .bits import Bits, Times
from .delays import DELAYS, Delays
from .pads import Pads
from .reading import Circuit, circuit_of, clocked_blocks

MHZ = "mhz"
"""The field of a report that says which frequency in MHz a design is expected to reach."""


class Paths:
    """The end of the longest path of a circuit: its time in nanoseconds, and the register or memory where it ends.

    A path begins at a register or a memory. Paths from inputs and to outputs of the design are not counted, as place
    and route does not count them without constraints of their own.
    """

    def __init__(self, circuit: Circuit, delays: Delays, family: Family) -> None:
        self.delays, self.arrivals = delays, Arrivals(circuit, delays, family)
        self.cells = self.arrivals.cells
        self.pads = Pads(circuit, self.arrivals.loads)
        self.longest, self.end = delays.register + delays.beside, ""
        for body, scope in clocked_blocks(circuit):
            self._block(body, scope, ())

    def _block(self, body: Iterable[Statement], scope: Scope, under: tuple[Bits, ...]) -> None:
        """Note the paths that end in the registers and memories that statements write under some conditions."""
        for part in body:
            if isinstance(part, Branch):
                written = (*part.yes, *part.no)
                condition = self.arrivals.condition(part.condition, scope, self.arrivals.loads.written(written, scope))
                self._block(written, scope, (*under, condition))
            elif isinstance(part, Assignment):
                self._register(part, scope, under)
            elif isinstance(part, Store):
                for operand in (part.index, part.value):
                    self._end(self.cells.settled(self.arrivals.value(operand, scope)), scope, part.name)
                self._enable(scope, part.name, under)

    def _register(self, part: Assignment, scope: Scope, under: Sequence[Bits]) -> None:
        address = self.arrivals.block_of(part.value, scope)
        if address is None:
            # The last cell lies beside the register.
            saved = self.delays.wire - self.delays.beside
            ends = self.cells.settled(self.arrivals.value(part.value, scope)) - saved
            apart = self.pads.apart.get(scope.names[part.target.name])
            if apart is not None:
                ends = ends[: len(apart)] + self.delays.far * apart
        else:
            ends = self.cells.settled(self.arrivals.value(address, scope)) + self.delays.column
        self._end(ends, scope, part.target.name)
        self._enable(scope, part.target.name, under)

    def _enable(self, scope: Scope, name: str, under: Sequence[Bits]) -> None:
        """Note the paths to the enable of a register or memory, for which conditions within conditions take a table."""
        if under:
            made = self.cells.gates(under, 1)
            if len(under) > 1:
                made = Bits(made.time + self.cells.unit, made.solid)
            self._end(self.cells.settled(made), scope, name)

    def _end(self, times: Times, scope: Scope, name: str) -> None:
        if times.max() > self.longest:
            self.longest, self.end = float(times.max()), f"{scope.path}.{name}"


def expected_mhz(design: Design, family: Family) -> int:
    """Return the frequency in MHz, rounded down, that the clock of a design is expected to reach after place and route
    in a family whose delays are known.

    The time taken is linear in the text of the design.
    """
    return int(1000 / Paths(circuit_of(design.files, design.top), DELAYS[family.name], family).longest)


def timed(design: Design, family: Family) -> Design:
    """Return a design whose report says under `mhz` how fast it is expected to be, if the delays of the family are
    known.
    """
    if family.name not in DELAYS:
        return design
    return replace(design, report={**design.report, MHZ: expected_mhz(design, family)})
