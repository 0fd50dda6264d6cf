"""The choice of which memories of a channel are placed side by side in one wide memory, and which of them are block
RAM.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ..devices.family import ECP5, HALF
from .counter import BLOCK_WORDS, banked, in_block, start
from .layout import Layout

BYTE = 9
"""Bits that a block memory writes or leaves by themselves."""
WIDE = 36
"""Bits of the widest word of a block memory, which has 512 of them."""
FILLED = 2048
"""Bits that a block holds at least, of memories of BLOCK_WORDS words or more; blocks that hold fewer save LUTs."""
SAVED = 250
"""LUTs of four inputs that each block saves at least of memories side by side, if it holds fewer bits or words: the
devices of the ECP5 have some 400 LUTs for each block.
"""
DEEPEST = 1024
"""Words of the deepest memories that are placed side by side: a block with more words writes them whole, and to choose
one of several blocks with fewer words takes more LUTs than blocks are saved.
"""
BESIDE = 64
"""Memories that are placed side by side at most: Verilator unrolls no longer loops."""
SPARED = 50
"""LUTs of four inputs that each further block saves at least, where memories are made of slices."""
LUTS = 8
"""Bits of block RAM that a bit in LUTs is worth."""


@dataclass(frozen=True)
class Row:
    """A row of memories, given by number, that have one common address for writing and one for reading.

    Each memory of a row has `words` words; if `slice` is not 0, a memory that stands alone is made of slices of so many
    bits. `bank` address bits select the bank of a row's memories: the lowest address
    bits if `low` is true, else the highest. The memories of a row are in block RAM if `block` is true, else in LUTs.
    """

    places: tuple[int, ...]
    words: int
    bank: int
    low: bool
    block: bool
    wide: bool
    slice: int = 0

    def bits(self, width: int) -> int:
        """Return the number of bits that the memories of the row hold together."""
        return self.words * width * len(self.places)

    def slices(self, width: int) -> list[tuple[int, int]]:
        """Return the lowest bit and the number of bits of each slice of memories of so many bits."""
        step = self.slice or width
        return [(low, min(step, width - low)) for low in range(0, width, step)]


def alike(layouts: Sequence[Layout], number: int) -> list[list[int]]:
    """Return the memories of a copy, given by number, in groups whose memories are read and written at one address."""
    copy = layouts[0].copies[number]
    written = {writing.lane: writing.word.key for writing in copy.writings}
    groups: dict[tuple[Hashable, ...], list[int]] = {}
    for place, (_, lane) in enumerate(copy.stored):
        reads = [layout.copies[number].reads[place].key for layout in layouts]
        groups.setdefault((written[lane], *reads), []).append(place)
    return list(groups.values())


def rows(
    layouts: Sequence[Layout], number: int, width: int, banks: int, abreast: bool, sliced: bool = False
) -> list[Row]:
    """Return the memories of a copy in rows; unless `abreast` is true, each row has only one memory. If `sliced` is
    true, memories may be made of slices, each of which fits into one block.
    """
    copy = layouts[0].copies[number]
    if not abreast:
        words, bank, low = banked(banks, copy.depth, width)
        block = in_block(words, width)
        part = _slice(words, width) if sliced and block else 0
        return [Row((k,), words, bank, low, block, False, part) for k in range(len(copy.stored))]
    found = []
    for places in alike(layouts, number):
        words, bank, low = banked(banks, copy.depth, width, dense=True)
        most = BESIDE if words <= DEEPEST else 1
        groups = [tuple(places[start : start + most]) for start in range(0, len(places), most)]
        count = len(groups[0])
        taken = blocks(words, width, count)
        saved = count * in_luts(banked(banks, copy.depth, width)[0], width) if count > 1 else 0
        if _filled(words, words * width * count, taken) or saved >= SAVED * taken:
            part = _slice(words, width) if sliced and count == 1 else 0
            found += [Row(group, words, bank, low, True, True, part) for group in groups]
        else:
            words, bank, low = banked(banks, copy.depth, width)
            found += [Row((place,), words, bank, low, False, False) for place in places]
    return found


def _filled(words: int, bits: int, taken: int) -> bool:
    """Return whether so many bits, in memories of so many words, fill the blocks that they take."""
    return words >= BLOCK_WORDS and bits >= FILLED * taken


def in_luts(words: int, width: int) -> float:
    """Return the LUTs of four inputs that a memory takes: four of them hold 16 words of 4 bits, and further LUTs select
    one of several such groups.
    """
    rows = -(-words // 16)
    selects = rows / 2 + width * (rows - 1) * (1 if rows <= 4 else 0.85) if rows > 1 else 0
    return 4 * rows * -(-width // 4) + selects


def _slice(words: int, width: int) -> int:
    """Return the bits of slices of a memory so narrow that a block holds as many of its words as it can; 0 if slices
    take so many more blocks that it is better to choose one of several blocks for each bit that is read.
    """
    bits = max([wide for deep, wide in HALF if deep >= words], default=1)
    if bits >= width:
        return 0
    apart = ECP5.blocks(words, bits) * -(-width // bits)
    chosen = width * (choosing(ECP5.depth(words, width)) - choosing(ECP5.depth(words, bits)))
    return bits if (apart - ECP5.blocks(words, width)) * SPARED <= chosen else 0


def choosing(ways: int) -> float:
    """Return the LUTs of four inputs with which yosys chooses a bit of one of `ways` blocks one below the other."""
    return (ways - 1) * (1.05 if ways <= 8 else 1.75)


def blocks(words: int, width: int, count: int) -> int:
    """Return the block RAMs that `count` memories side by side take, if each is written separately in whole bytes of a
    word.
    """
    if count == 1:
        return min(-(-words // deep) * -(-width // wide) for deep, wide in HALF)
    return -(-words // 512) * -(-count * -(-width // BYTE) * BYTE // WIDE)


def worth(row: Row, width: int) -> int:
    """Return the cost of a row in bits of block RAM; a bit in LUTs, or in a block that is not filled, costs as much as
    several bits of block RAM.
    """
    filled = row.block and _filled(row.words, row.bits(width), blocks(row.words, width, len(row.places)))
    return row.bits(width) * (1 if filled else LUTS)


def wide_memory(initialised: bool) -> tuple[str, str]:
    """Return the name and the text of the module that holds memories side by side in block RAM.

    No word is read in the clock in which it is written, so no logic is needed that compares the two addresses.
    """
    name = "folded_state_row" if initialised else "folded_row"
    extra, load = start(initialised)
    text = f"""\
// Memories side by side: one address to write, at which each is written or not, and one to read, a clock later.
`default_nettype none
module {name} #(parameter WIDTH = 8, parameter COUNT = 1, parameter WORDS = 2, parameter ADDRESS = 1{extra}) (
  input wire clk,
  input wire [COUNT-1:0] write,
  input wire [ADDRESS-1:0] write_address,
  input wire [COUNT*WIDTH-1:0] write_data,
  input wire read,
  input wire [ADDRESS-1:0] read_address,
  output reg [COUNT*WIDTH-1:0] read_data
);
  (* ram_style = "block", no_rw_check *)
  reg [COUNT*WIDTH-1:0] words [0:WORDS-1];{load}
  integer k;
  always @(posedge clk) begin
    for (k = 0; k < COUNT; k = k + 1)
      if (write[k]) words[write_address][k*WIDTH +: WIDTH] <= write_data[k*WIDTH +: WIDTH];
    if (read) read_data <= words[read_address];
  end
endmodule
`default_nettype wire
"""
    return name, text
