"""The time at which each bit of a signal is known after the clock edge, and how gates and adders delay it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .delays import Delays

Times = NDArray[np.float64]
NEVER = -1e6
"""The time of a bit that no register changes: a constant, or an input of the design, whose time is not known here."""

LATE, WHOLE = 0.03, 0.02
"""The part of a table's level that an input takes at least that comes after all others, so that it takes a whole table
where no other gate follows; and the part of a level that is no table of its own.
"""


@dataclass(frozen=True, slots=True)
class Bits:
    """For each bit of a signal, the lowest first, the time at which it reaches its readers, and the time at which the
    last cell before it that is no look-up table was done; between the two lie gates, which tables share.
    """

    time: Times
    solid: Times

    @property
    def width(self) -> int:
        """Return the number of bits."""
        return len(self.time)

    def part(self, low: int, width: int) -> Bits:
        """Return some of the bits."""
        return Bits(self.time[low : low + width], self.solid[low : low + width])

    def wide(self, width: int) -> Bits:
        """Return the bits, extended by copies of the highest, or cut, to a width."""
        if width <= self.width:
            return self.part(0, width)
        at = np.minimum(np.arange(width), self.width - 1)
        return Bits(self.time[at], self.solid[at])

    def later(self, delay: float | Times) -> Bits:
        """Return the bits at the ends of longer wires."""
        return Bits(self.time + delay, self.solid + delay)


def steady(width: int, time: float = NEVER) -> Bits:
    """Return bits that are all known at one time."""
    times = np.full(width, time)
    return Bits(times, times)


def joined(parts: Sequence[Bits]) -> Bits:
    """Return the bits of several signals side by side, the lowest first."""
    return Bits(np.concatenate([part.time for part in parts]), np.concatenate([part.solid for part in parts]))


class Cells:
    """The cells of a family, as functions from the times of their inputs to that of their output's readers."""

    def __init__(self, delays: Delays) -> None:
        self.delays = delays
        self.unit = delays.gate * delays.level

    def gates(self, operands: Sequence[Bits], width: int) -> Bits:
        """Return a gate of several inputs for each bit: a tree in which the last operands pass the fewest gates, which
        a sum of powers of two approximates.
        """
        if len(operands) == 1:
            return operands[0].wide(width)
        made = [operand.wide(width) for operand in operands]
        times, solid = np.stack([part.time for part in made]), np.stack([part.solid for part in made])
        return self._tree(times, solid)

    def reduced(self, operand: Bits) -> Bits:
        """Return a gate of one bit with all bits of an operand as inputs."""
        return self._tree(operand.time[:, None], operand.solid[:, None])

    def _tree(self, times: Times, solid: Times) -> Bits:
        latest = times.max(axis=0)
        summed = np.exp2(np.maximum((times - latest) / self.unit, -60.0)).sum(axis=0)
        first = np.take_along_axis(solid, times.argmax(axis=0)[None], axis=0)[0]
        several = (times > NEVER / 2).sum(axis=0) > 1
        least = np.where(several, LATE * self.delays.level, 0.0)
        return Bits(latest + np.maximum(self.unit * np.log2(summed), least), first)

    def settled(self, operand: Bits) -> Times:
        """Return when the bits are known to a cell that is no table: the tables before it are whole ones."""
        levels = np.ceil((operand.time - operand.solid) / self.delays.level - WHOLE)
        return operand.solid + np.maximum(levels, 0) * self.delays.level

    def added(self, left: Bits, right: Bits, width: int) -> Bits:
        """Return a sum: the carry comes from all lower bits."""
        delays = self.delays
        first = np.maximum(self.settled(left.wide(width)), self.settled(right.wide(width)))
        place = delays.carry * np.arange(width)
        carry = np.maximum.accumulate(first + delays.carry_in - place) + place + delays.carry_out
        times = first + delays.same_bit
        times[1:] = np.maximum(times[1:], carry[:-1])
        return self.after(times)

    def compared(self, left: Bits, right: Bits, signed: bool) -> Bits:
        """Return the comparison of two numbers, which is the last carry of their difference.

        If the numbers are signed, the carry into the last bit is needed as well: it leaves the chain and enters it
        again.
        """
        width, delays = max(left.width, right.width), self.delays
        first = np.maximum(self.settled(left.wide(width)), self.settled(right.wide(width)))
        chain = first + delays.carry_in + delays.carry * np.arange(width, 0, -1) + delays.carry_out
        again = delays.wire + delays.carry_in + delays.carry_out if signed else 0.0
        return self.after(chain.max(keepdims=True) + again)

    def multiplied(self, left: Bits, right: Bits, width: int, cells: int, part: int) -> Bits:
        """Return a product of several multipliers of parts of so many bits, whose results are added: the lowest part of
        the product needs no sum.
        """
        first = max(self.settled(left).max(), self.settled(right).max())
        made = self.after(np.full(width, first + self.delays.multiplier + 2 * self.delays.column))
        for _ in range((cells - 1).bit_length()):
            made = self.added(made, made, max(width - part, 1)).wide(width)
        return made

    def word(self, address: Bits, entries: int, width: int) -> Bits:
        """Return a word of a memory in tables: a table for four bits of the address, and multiplexers for more."""
        latest = int(address.time.argmax())
        more = self.unit * max((entries - 1).bit_length() - 4, 0)
        time = float(address.time[latest]) + self.delays.level + more
        return Bits(np.full(width, time), np.full(width, address.solid[latest]))

    def after(self, times: Times) -> Bits:
        """Return the bits that a cell gives at certain times, at the end of a wire."""
        made = times + self.delays.wire
        return Bits(made, made)
