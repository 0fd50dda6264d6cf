"""Estimates of what a plan takes on an FPGA with LUTs of six inputs: made before any text is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..signals import element
from .budget import streams as in_streams
from .counter import banked, bits_of, in_block, rom_in_block
from .lane_text import lane_bits
from .layout import Layout
from .plan import Plan, operand_widths
from .sequence import Sequence as Numbers


@dataclass
class Cost:
    """A sum of estimates."""

    lut: float = 0
    ff: float = 0
    bram_bits: int = 0

    def add(self, lut: float, ff: float) -> None:
        """Add lookup tables and flip-flops."""
        self.lut, self.ff = self.lut + lut, self.ff + ff

    def sequence(self, sequence: Numbers | None) -> None:
        """Add what a sequence takes: its counters, and its table in block RAM or in LUTs; nothing for None."""
        if sequence is None:
            return
        self.add(*sequence.counters)
        if sequence.loops is None and rom_in_block(sequence.steps, sequence.bits):
            self.bram_bits += sequence.steps * sequence.bits
        elif sequence.loops is None:
            self.lut += sequence.steps * sequence.bits / 20

    def memory(self, words: int, width: int, copies: int = 1) -> None:
        """A memory read into a register: in LUTs, four of which hold 32 words of 6 bits or 64 of 3, or in a block."""
        if in_block(words, width):
            self.bram_bits += words * width * copies
            return
        luts = -(-width // 6) * 4 if words <= 32 else -(-width // 3) * 4 * -(-words // 64)
        self.add(copies * (luts + (width * -(-words // 128) // 2 if words > 64 else 0)), copies * width)

    def constants(self, words: int, width: int) -> None:
        """Constants read into a register: a LUT holds 64 bits at the most, fewer with what selects among several."""
        if rom_in_block(words, width):
            self.bram_bits += words * width
        else:
            self.add(width * words / 17, width * min(1.0, words / 22))


def estimate(plan: Plan) -> dict[str, int]:
    """lut, ff and bram_bits of a plan. LUTs that serve as memory are counted."""
    cost, fold = Cost(), plan.sizes.fold
    for number, tiling in enumerate(plan.tilings):
        stage = fold.stages[number]
        outer, after, inner, before = fold.paths(number, tiling.split)
        units = tiling.units
        cost.add(outer.lut * units, outer.ff * units)
        if outer.rom_bits:
            cost.add(outer.rom_bits * units / 48, 0)
        control = bits_of(tiling.passes) + bits_of(tiling.clocks) + bits_of(tiling.drain)
        cost.add(12 + control, 8 + control + (before > 4) * 4 + after)
        if inner is not None:
            lanes, bits = tiling.lanes * tiling.split, lane_bits(stage, tiling.split)
            cost.add(inner.lut * lanes + inner.rom_bits * lanes / 48, inner.ff * lanes * (0.05 if inner.dsp else 1))
            shown = bits * tiling.split * units
            cost.add(
                shown * (tiling.drain - 1) * (0.3 if tiling.drain <= 8 else 0.44),
                bits * lanes + (shown if tiling.drain > 1 else 0),
            )
    for number, operand, columns in _columns(plan):
        stage = fold.stages[number]
        (found,) = [o for o in stage.operands if o.name == operand]
        if plan.tilings[number].late[0 if found.in_reduction else 1]:
            cost.add(0, sum(operand_widths(stage, operand, columns)))
    for memory in plan.memories:
        first = memory.readers[0]
        width, banks = element(fold.format(plan.sizes.readers[first].wire)).width, plan.sizes.links[first].banks
        _channel(cost, [client.layout for client in memory.clients], width, banks or 1)
    for (number, operand), rom in plan.roms.items():
        words, columns = rom.words.shape
        cost.constants(words, sum(operand_widths(fold.stages[number], operand, columns)))
        cost.sequence(rom.read)
    for link in plan.sizes.links[len(plan.sizes.readers) :]:
        cost.add(4 + (link.banks or 1), (link.banks or 1) + 2 * bits_of(link.banks or 1))
    streams = len(plan.sizes.in_lanes) + len(plan.sizes.out_lanes)
    cost.add(streams * 8, streams * 7)
    for stream in in_streams(plan.sizes)[0]:
        signal = element(stream.format)
        ends = (signal.low, signal.high)
        compared = sum(end != held for end, held in zip(ends, signal.held, strict=True)) * stream.lanes
        cost.add(3 + compared * signal.width / 4, (3 if stream.beats > 1 else 1) + 3 + stream.data_bits)
    return {"lut": round(cost.lut), "ff": round(cost.ff), "bram_bits": cost.bram_bits}


def _columns(plan: Plan) -> Iterator[tuple[int, str, int]]:
    """Stage, operand, and how many elements of it are read in a clock."""
    for (number, operand), rom in plan.roms.items():
        yield number, operand, rom.words.shape[1]
    first = len(plan.sizes.in_lanes)
    for memory in plan.memories:
        for client in memory.clients:
            for number, columns in zip(client.readers, client.columns, strict=True):
                reader = plan.sizes.readers[number]
                if reader.operand is not None:
                    yield reader.actor - first, reader.operand, len(columns)


def _channel(cost: Cost, layouts: Sequence[Layout], width: int, banks: int) -> None:
    """The memories, counters and tokens of a channel, and what selects the address of the reader whose turn it is."""
    bank, readers = bits_of(banks - 1) if banks > 1 else 0, len(layouts)
    cost.add(5 + bank, 2 * bits_of(banks) + 2 * bank)
    cost.add(4 * (readers - 1), (1 + bits_of(readers - 1)) if readers > 1 else 0)
    for number, copy in enumerate(layouts[0].copies):
        words, _, _ = banked(banks, copy.depth, width)
        cost.memory(words, width, len(copy.stored))
        counted: set[tuple[int, bytes]] = set()
        sequences = [(k, read) for k, layout in enumerate(layouts) for read in layout.copies[number].reads]
        sequences += [(-1, s) for w in copy.writings for s in (w.word, w.bank, w.enable) if s is not None]
        for side, sequence in sequences:
            key = (side * (readers > 1), sequence.values.tobytes())
            if key not in counted:
                counted.add(key)
                cost.sequence(sequence)
        cost.add(len(copy.stored) if len(copy.stored) > 1 else 0, 0)
        addresses = max(len({read.values.tobytes() for read in layout.copies[number].reads}) for layout in layouts)
        cost.add((bits_of(copy.depth - 1) + bank) * (readers - 1) * addresses / 2, 0)
    for layout in layouts:
        for column in layout.columns:
            cost.sequence(column.select)
            cost.sequence(column.mask)
            if column.select is not None:
                cost.add(width * (len(column.sources) - 1) / 2, column.select.bits)
