"""The delays of an FPGA family's cells and of the wires between them, in nanoseconds."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Delays:
    """The delays of a family. Those of cells are the place-and-route tool's own; those of wires are fitted, since wires
    are known only after routing.

    A look-up table takes `table`; a sum takes `carry_in` from an operand to the carry chain, `carry` for each further
    bit, and `carry_out` to its result, and `same_bit` from an operand to the result's bit of the same place. Registers,
    block memories and multipliers take `register`, `block` and `multiplier`. A wire takes `wire` to one reader, and
    `spread` more each time that its readers double; `beside` is the wire from a cell to the register next to it, and
    `column` is how much longer a wire to or from a multiplier or a block memory is, which stand in few columns, and
    `far` how much longer a wire from the middle of the die to its corner is. A gate of two inputs takes the part `gate`
    of a table's level, since a table holds several.
    """

    table: float
    same_bit: float
    carry_in: float
    carry: float
    carry_out: float
    register: float
    block: float
    multiplier: float
    beside: float
    wire: float
    spread: float
    column: float
    far: float
    gate: float

    @property
    def level(self) -> float:
        """Return the delay of one look-up table and the wire to its reader."""
        return self.table + self.wire

    def more(self, readers: float) -> float:
        """Return by how much a wire to so many readers is slower than a wire to one."""
        return self.spread * math.log2(max(readers, 1.0))


ECP5 = Delays(
    table=0.24,
    same_bit=0.24,
    carry_in=0.45,
    carry=0.035,
    carry_out=0.44,
    register=0.52,
    block=5.61,
    multiplier=3.93,
    beside=0.13,
    wire=0.894,
    spread=0.195,
    column=0.451,
    far=110 * 0.0515,  # tiles of an LFE5U-85F, of 126 by 95; routed wires of 30 to 160 tiles take 0.0515 ns a tile
    gate=0.461,
)

DELAYS = {"ecp5": ECP5}
"""The families whose delays are known, by name."""
