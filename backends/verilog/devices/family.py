"""Families of FPGAs: the kinds of their look-up tables, multipliers and memory blocks, and the sizes of their
memories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.reading import Json

Shape = tuple[int, int]
"""The number of words and the bits of each word that a memory block has in one of its modes."""


@dataclass(frozen=True)
class Family:
    """A family of FPGAs, with the properties of its cells. The field `inputs` is the number of inputs of the family's
    look-up tables.

    The field `multiplier` gives the bits of the two signed operands of the family's multiplier; `accumulates` says
    whether the multiplier also contains the adder and the register of a sum of products and the registers of its
    operands; `plain` whether it multiplies two numbers without signs that have all of these bits; yosys makes products
    of fewer than `least_product` bits from LUTs. The field `joined` says how many more inputs than a LUT a function may
    have that multiplexers beside the LUTs make of several LUTs, and `shifts` whether a LUT can be a shift register. The
    field `block` is the name of the unit in which memory blocks are counted, `shapes` has the shapes of one unit, and
    `double` has those of a block that counts as two units; yosys puts a table into blocks if it has more than
    `rom_bits` bits for each of them.
    """

    name: str
    title: str
    inputs: int
    multiplier: tuple[int, int]
    accumulates: bool
    plain: bool
    least_product: int
    joined: int
    shifts: bool
    block: str
    rom_bits: int
    shapes: tuple[Shape, ...]
    double: tuple[Shape, ...] = ()

    def blocks(self, words: int, bits: int) -> int:
        """Return the number of units of memory blocks that a memory of this many words takes, with one port to write
        and one to read.

        All blocks of a memory have the same shape, and stand side by side for more bits and one below the other for
        more words; the shape is the one that takes the fewest units.
        """
        single = min(-(-words // deep) * -(-bits // wide) for deep, wide in self.shapes)
        return min([single, *(2 * -(-words // deep) * -(-bits // wide) for deep, wide in self.double)])

    def depth(self, words: int, bits: int) -> int:
        """Return the number of blocks one below the other in a memory of this many words, of which one is chosen when
        it is read: the fewest with which the memory takes the fewest units.
        """
        single = [(-(-words // deep) * -(-bits // wide), -(-words // deep)) for deep, wide in self.shapes]
        double = [(2 * -(-words // deep) * -(-bits // wide), -(-words // deep)) for deep, wide in self.double]
        return min([*single, *double])[1]

    def holds_table(self, words: int, bits: int) -> bool:
        """Return whether yosys puts a table that asks for nothing into memory blocks."""
        return words * bits > self.rom_bits * self.blocks(words, bits)

    def multipliers(self, *bits: int, plain: bool = False) -> int:
        """Return the number of multipliers that the product of two signed numbers of the given widths takes; `plain`
        says that neither can be negative, so that the highest bit of both is 0.
        """
        short, long = sorted(bits)
        least, most = sorted(self.multiplier)
        if plain and self.plain:
            short, long = short - 1, long - 1
        if long <= most and short <= least:
            return 1
        return min(
            -(-(short - 1) // (least - 1)) * -(-(long - 1) // (most - 1)),
            -(-(short - 1) // (most - 1)) * -(-(long - 1) // (least - 1)),
        )


HALF = ((16384, 1), (8192, 2), (4096, 4), (2048, 9), (1024, 18), (512, 36))
WHOLE = ((32768, 1), (16384, 2), (8192, 4), (4096, 9), (2048, 18), (1024, 36), (512, 72))

SEVEN = Family("xc7", "Xilinx 7 series", 6, (25, 18), True, False, 9, 2, True, "RAMB18", 8256, HALF, WHOLE)
ULTRASCALE = Family("xcup", "Xilinx UltraScale+", 6, (27, 18), True, False, 9, 2, True, "RAMB18", 8256, HALF, WHOLE)
ECP5 = Family("ecp5", "Lattice ECP5", 4, (18, 18), False, True, 2, 2, False, "DP16KD", 2048, HALF)

FAMILIES = {family.name: family for family in (SEVEN, ULTRASCALE, ECP5)}


def family_named(name: str) -> Family:
    """Return the FPGA family with the given name. Raise CircuitizeError if no FPGA family has the given name."""
    if name not in FAMILIES:
        raise CircuitizeError(f"--family: expected one of {', '.join(FAMILIES)}, found {name!r}; correct it")
    return FAMILIES[name]


COUNTED = ("lut", "ff", "dsp", "blocks")
"""The fields of a design's report that depend on the FPGA family."""


def by_family(estimate: Callable[[Family], dict[str, int]]) -> Json:
    """Return a design's estimate for the Xilinx 7 series, with the entry `families` for the sizes that differ between
    families.
    """
    found = {name: estimate(family) for name, family in FAMILIES.items()}
    plain = {name: value for name, value in found[SEVEN.name].items() if name != "blocks"}
    return {**plain, "families": {name: {key: made[key] for key in COUNTED} for name, made in found.items()}}
