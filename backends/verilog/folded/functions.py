"""The LUTs that hold the words of a table: one for each different function of a few address bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..devices.family import Family

Indices = NDArray[np.int64]

Known = tuple[int, int]
"""The values of a function at all addresses, one bit each, and at which addresses it matters."""


class Functions:
    """The LUTs of functions of an address, in the cells of a family; equal functions of the same bits are counted once.

    A function of more bits than a LUT has inputs is two functions of one bit less and a LUT that chooses, or, where
    that takes no more, LUTs of its own, a power of two of them, that multiplexers beside the LUTs join: their parts
    serve no other function. `registers` is the number of bits of the tables that are neither constant nor equal to
    another bit.
    """

    def __init__(self, family: Family) -> None:
        self.family = family
        self.luts = 0
        self._columns: set[Known] = set()
        self._made: dict[Known, None] = {}

    @property
    def registers(self) -> int:
        """Return the number of different bits that are not constant."""
        return len(self._columns)

    def add(self, words: Indices, bits: int) -> None:
        """Add the lowest bits of the words of a table."""
        address, matters = max(1, (len(words) - 1).bit_length()), (1 << len(words)) - 1
        for place in range(bits):
            column = (words >> place & 1).astype(np.uint8)
            if column.min() < column.max():
                known = int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little"), matters
                self._columns.add(known)
                self.luts += self._luts(known, address)

    def _luts(self, known: Known, address: int) -> int:
        """Return the LUTs of a function and of those parts of it that nothing before has made."""
        known, address = _narrow(known, address)
        if not address or known in self._made or _bit(known, address):
            return 0
        before, more = len(self._made), address - self.family.inputs
        luts = 1
        if more > 0:
            luts += sum(self._luts(half, address - 1) for half in _halves(known, address))
        if 0 < more <= self.family.joined and luts >= 1 << more:
            luts = 1 << more
            while len(self._made) > before:
                self._made.popitem()
        self._made[known] = None
        return luts


def _narrow(known: Known, address: int) -> tuple[Known, int]:
    """Return a function without the highest address bits that it does not depend on, and how many are left."""
    while address:
        low, high = _halves(known, address)
        if not _agree(low, high):
            break
        known, address = (low[0] | high[0], low[1] | high[1]), address - 1
    return known, address


def _halves(known: Known, address: int) -> tuple[Known, Known]:
    values, matters = known
    half = 1 << (address - 1)
    mask = (1 << half) - 1
    return (values & matters & mask, matters & mask), ((values & matters) >> half, matters >> half)


def _agree(low: Known, high: Known) -> bool:
    """Return whether the two halves of a function are equal wherever both matter."""
    return not (low[0] ^ high[0]) & low[1] & high[1]


def _bit(known: Known, address: int) -> bool:
    """Return whether a function is one bit of its address, which takes no LUT."""
    values, matters = known
    for place in range(address):
        run = ((1 << (1 << place)) - 1) << (1 << place)
        whole = sum(run << at for at in range(0, 1 << address, 2 << place))
        if values & matters == whole & matters:
            return True
    return False
