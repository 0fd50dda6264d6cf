"""Sums of estimates: LUTs, registers and memory blocks of the parts of a folded design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..devices.family import SEVEN, Family
from . import steering
from .arithmetic import Table
from .blocks import BYTE, choosing, in_luts
from .counter import rom_in_block
from .functions import Functions, Indices
from .sequence import Sequence as Numbers
from .steering import Part

CONTROL = 2.5
"""LUTs of four inputs for one of six in counters and in what decides: `benchmarks/verilog_devices.py` fits it."""


@dataclass
class Cost:
    """A sum of estimates of LUTs, flip-flops and block RAM on an FPGA of one family. If `apart` is true, a register
    follows each table of addresses that is in a block memory.
    """

    family: Family = SEVEN
    lut: float = 0
    ff: float = 0
    bram_bits: int = 0
    blocks: int = 0
    apart: bool = False

    @property
    def narrow(self) -> bool:
        """Return whether the LUTs of the family have four inputs."""
        return self.family.inputs == 4

    def add(self, lut: float, ff: float, narrow: float | None = None) -> None:
        """Add `ff` flip-flops and `lut` LUTs of six inputs; `narrow`, if known, replaces `lut` in a family with LUTs of
        four inputs.
        """
        if self.narrow:
            lut = CONTROL * lut if narrow is None else narrow
        self.lut, self.ff = self.lut + lut, self.ff + ff

    def put(self, part: Part) -> None:
        """Add a part that steers data."""
        self.add(part.lut, part.ff, part.narrow)

    def block(self, words: int, width: int, copies: int = 1) -> None:
        """Add `copies` equal memories in block RAM."""
        self.bram_bits += words * width * copies
        self.blocks += self.family.blocks(words, width) * copies
        self.deep(width * copies, self.family.depth(words, width))

    def row(self, words: int, width: int, count: int) -> None:
        """Add `count` memories side by side in block RAM, each of which is written separately in whole bytes of
        a word.
        """
        whole = width if count == 1 else -(-width // BYTE) * BYTE * count
        self.bram_bits += words * width * count
        self.blocks += self.family.blocks(words, whole)
        self.deep(width * count, self.family.depth(words, whole))

    def sequence(self, sequence: Numbers | None) -> None:
        """Add the cost of a sequence: its counters, and its table in block RAM or in LUTs; a sequence of None adds no
        cost.
        """
        if sequence is None:
            return
        self.put(steering.running(sequence))
        if sequence.loops is None and rom_in_block(sequence.steps, sequence.bits):
            self.block(sequence.steps, sequence.bits)
            self.add(0, sequence.bits * (1 + self.apart))
        elif sequence.loops is None:
            self.functions([(sequence.values, sequence.bits)])

    def functions(self, columns: Sequence[tuple[Indices, int]], copies: int = 1, held: bool = False) -> None:
        """Add a table in LUTs, given by columns of so many bits, and the registers behind it, unless multipliers hold
        them.
        """
        found = Functions(self.family)
        for words, bits in columns:
            found.add(words, bits)
        self.add(found.luts * copies, 0 if held else found.registers * copies, found.luts * copies)

    def memory(self, words: int, width: int, block: bool) -> None:
        """Add a memory that is read into a register, in block RAM if `block` is true, else in LUTs.

        Four LUTs of six inputs hold 32 words of 6 bits or 64 words of 3 bits; further LUTs select one of several such
        groups.
        """
        if block:
            self.block(words, width)
            return
        pairs, whole = -(-words // 32), -(-words // 64)
        luts, groups = min((4 * pairs * -(-width // 6), pairs), (4 * whole * -(-width // 3), whole))
        luts += width * -(-groups // 4) + groups if groups > 1 else 0
        self.add(luts, width, in_luts(words, width))

    def constants(self, words: Indices, widths: Sequence[int]) -> None:
        """Add constants that are read into a register, with a column of `words` for each width."""
        steps, width = len(words), sum(widths)
        if rom_in_block(steps, width) or self.family.holds_table(steps, width):
            self.block(steps, width)
        else:
            self.functions([(words[:, k], bits) for k, bits in enumerate(widths)])

    def table(self, table: Table, copies: int) -> None:
        """Add the tables that a Lookup reads. A table stays in LUTs where multipliers hold the register behind it,
        which a block would need.
        """
        words = 1 << max(1, (len(table.words) - 1).bit_length())
        if self.family.holds_table(words, table.bits) and not table.held:
            self.block(words, table.bits, copies)
        else:
            self.functions([(table.words, table.bits)], copies, table.held)

    def deep(self, bits: int, ways: int) -> None:
        """Add the choice of `bits` bits that are read from one of `ways` blocks one below the other."""
        self.add(bits * _of_six(ways), 0, bits * choosing(ways))

    def chosen(self, bits: int, ways: int) -> None:
        """Add the choice of `bits` bits from one of `ways` places by a number."""
        self.add(bits * _of_six(ways), 0, bits * min(ways - 1, 0.74 * ways))

    def drained(self, bits: int, ways: int) -> None:
        """Add `bits` flip-flops, each of which is loaded from one of `ways` other flip-flops."""
        if ways > 1:
            self.chosen(bits, ways)
            self.add(0, bits)


def _of_six(ways: int) -> float:
    """Return the LUTs of six inputs that choose a bit from one of `ways` places: one of four, and with the multiplexers
    beside them one of up to sixteen.
    """
    if ways <= 4:
        return float(ways > 1)
    return min(0.47 * ways - 0.8, 5.2 * -(-ways // 16))
