"""Estimates of the size of a plan on an FPGA of a given family, which are made before any Verilog is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..devices.family import SEVEN, Family
from ..signals import element
from .arithmetic import carries, lane, unit
from .blocks import BYTE, rows
from .budget import streams as in_streams
from .counter import bits_of, in_block, rom_in_block
from .folding import Fold
from .lane_text import lane_bits
from .layout import Layout
from .plan import Plan, operand_widths
from .pool import multipliers, widths
from .pool_text import member, selections
from .sequence import Sequence as Numbers
from .sizes import Sizes
from .tiling import Choice

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

    def block(self, words: int, width: int, copies: int = 1) -> None:
        """Add `copies` equal memories in block RAM."""
        self.bram_bits += words * width * copies
        self.blocks += self.family.blocks(words, width) * copies

    def row(self, words: int, width: int, count: int) -> None:
        """Add `count` memories side by side in block RAM, each of which is written separately in whole bytes of
        a word.
        """
        self.bram_bits += words * width * count
        self.blocks += self.family.blocks(words, width if count == 1 else -(-width // BYTE) * BYTE * count)

    def sequence(self, sequence: Numbers | None) -> None:
        """Add the cost of a sequence: its counters, and its table in block RAM or in LUTs; a sequence of None adds no
        cost.
        """
        if sequence is None:
            return
        self.add(*sequence.counters)
        if sequence.loops is None and rom_in_block(sequence.steps, sequence.bits):
            self.block(sequence.steps, sequence.bits)
            self.add(0, sequence.bits if self.apart else 0)
        elif sequence.loops is None:
            bits = sequence.steps * sequence.bits
            self.add(bits / 13.5, 0, bits / 7)

    def memory(self, words: int, width: int, copies: int = 1) -> None:
        """Add memories that are read into a register, either in block RAM or in LUTs.

        Four LUTs of six inputs hold 32 words of 6 bits or 64 words of 3 bits, and four LUTs of four inputs hold 16
        words of 4 bits; further LUTs select one of several such groups.
        """
        if in_block(words, width):
            self.block(words, width, copies)
            return
        pairs, whole = -(-words // 32), -(-words // 64)
        luts, groups = min((4 * pairs * -(-width // 6), pairs), (4 * whole * -(-width // 3), whole))
        luts += width * -(-groups // 4) + groups if groups > 1 else 0
        rows = -(-words // 16)
        selects = rows / 2 + width * (rows - 1) * (1 if rows <= 4 else 0.85) if rows > 1 else 0
        narrow = 4 * rows * -(-width // 4) + selects
        self.add(copies * luts, copies * width, copies * narrow)

    def constants(self, words: int, width: int) -> None:
        """Add constants that are read into a register.

        A LUT holds as many words as its inputs can distinguish; if there are few words, many of their bits are equal
        and share LUTs.
        """
        if rom_in_block(words, width):
            self.block(words, width)
        else:
            wide, narrow = (max(1.0, words / (1 << inputs)) for inputs in (6, 4))
            distinct = width * min(1.0, words / 22)
            self.add(distinct * wide, distinct, distinct * narrow)

    def table(self, words: int, width: int, copies: int) -> None:
        """Add the tables that Lookup operations read; their functions are smooth, so that a LUT holds more entries."""
        if words * width >= self.family.rom_bits:
            self.block(words, width, copies)
        else:
            self.add(words * width * copies / 48, 0, words * width * copies / 18)

    def drained(self, bits: int, ways: int) -> None:
        """Add `bits` flip-flops, each of which is loaded from one of `ways` other flip-flops."""
        if ways > 1:
            wide = 1.0 if ways <= 4 else 0.47 * ways - 0.8
            self.add(bits * wide, bits, bits * min(ways - 1, 0.74 * ways))


def computing(cost: Cost, fold: Fold, number: int, lanes: int, split: int, units: int) -> int:
    """Add the parts with which a stage computes, and return the number of their multipliers.

    The parts of a stage are its lanes, of which `split` share a sum, its units, the registers between lanes and units,
    and the logic that starts them.
    """
    cost.add(8, 8)
    stage = fold.stages[number]
    outer, _, inner, _ = fold.paths(number, split)
    made = unit(stage, outer, split, cost.family)
    cost.add((outer.lut - made.spared) * units, (outer.ff - made.absorbed) * units, made.lut * units)
    for words, width in made.tables:
        cost.table(words, width, units)
    if inner is None or number in fold.members:
        return made.dsp * units
    bits, term = lane_bits(stage, split), lane(stage, inner, split, cost.family)
    held = inner.ff * (0.05 if inner.dsp and cost.family.accumulates else 1)
    cost.add((inner.lut - term.spared) * lanes, (held + bits) * lanes, term.lut * lanes)
    for words, width in term.tables:
        cost.table(words, width, lanes)
    cost.drained(bits * split * units, -(-lanes // (split * units)))
    return made.dsp * units + term.dsp * lanes


def pooling(cost: Cost, fold: Fold, size: int, choices: Sequence[Choice]) -> int:
    """Add the shared lanes without the logic that selects their factors, and return the number of multipliers."""
    if not size:
        return 0
    x, y, total = widths(fold, choices)
    own = 0 if cost.family.accumulates else x + y + total
    cost.add(size * total, size * (2 * total + own), size * (carries(total) + total))
    cost.add(4 * len(fold.members), bits_of(len(fold.members)) + 3)
    return size * multipliers(fold, cost.family)


def selecting(cost: Cost, plan: Plan) -> None:
    """Add the logic that selects the factors of shared lanes: registers for the factors of each stage, and for those of
    each lane.
    """
    pool, fold = plan.sizes.pool, plan.sizes.fold
    if pool is None:
        return
    members = [member(fold.stages[k], plan.tilings[k], fold.members[k], plan.slots(k)) for k in pool.stages]
    for one in members:
        for feed, made in zip(one.feeds, one.made, strict=True):
            cost.add(feed.path.lut * len(made), (feed.path.ff + feed.bits) * len(made))
    for bits, lanes in zip(widths(fold, plan.sizes.choices), selections(members, pool.size), strict=False):
        for pairs in set(lanes):
            held = 0 if cost.family.accumulates and len(set(lanes)) == len(lanes) else bits
            cost.add(bits * -(-(len(pairs) - 1) // 5), held, bits * -(-(len(pairs) - 1) // 3))


def framing(cost: Cost, sizes: Sizes) -> None:
    """Add the parts around the stages: the flags that make the status, the receivers and the senders, and what selects
    between new and loaded state.
    """
    for link in sizes.links[len(sizes.readers) :]:
        cost.add(4 + (link.banks or 1), (link.banks or 1) + 2 * bits_of(link.banks or 1))
    if sizes.fold.members:
        cost.add(len(sizes.actors), len(sizes.actors) + sum(stream.data_bits for stream in in_streams(sizes)[1]))
    for wire, load in sizes.fold.loads.items():
        if load != sizes.fold.states[wire]:
            lanes = sizes.in_lanes[[entry.wire for entry in sizes.fold.entries].index(load)]
            bits = lanes * element(sizes.fold.format(wire)).width
            cost.add(bits, bits + 1, bits)
    streams = len(sizes.in_lanes) + len(sizes.out_lanes)
    cost.add(streams * 8, streams * 7)
    for stream in in_streams(sizes)[0]:
        signal = element(stream.format)
        ends = (signal.low, signal.high)
        compared = sum(end != held for end, held in zip(ends, signal.held, strict=True)) * stream.lanes
        cost.add(3 + compared * signal.width / 4, (3 if stream.beats > 1 else 1) + 3 + stream.data_bits)


def estimate(plan: Plan, family: Family = SEVEN) -> dict[str, int]:
    """Return the estimates `lut`, `ff`, `dsp`, `bram_bits` and `blocks` of a plan for a family; `lut` includes LUTs
    that serve as memory.
    """
    cost, fold, dsp = Cost(family, apart=bool(plan.sizes.fold.members)), plan.sizes.fold, 0
    for number, tiling in enumerate(plan.tilings):
        _, after, _, before = fold.paths(number, tiling.split)
        dsp += computing(cost, fold, number, tiling.lanes * tiling.split, tiling.split, tiling.units)
        control = bits_of(tiling.passes) + bits_of(tiling.clocks) + bits_of(tiling.drain)
        cost.add(control, control + (before > 4) * 4 + after)
    for number, operand, columns in _columns(plan):
        stage = fold.stages[number]
        (found,) = [o for o in stage.operands if o.name == operand]
        inner = fold.paths(number, plan.tilings[number].split)[2] if found.in_reduction else None
        absorbed = family.accumulates and inner is not None and inner.dsp
        if plan.tilings[number].late[0 if found.in_reduction else 1] and not absorbed:
            cost.add(0, sum(operand_widths(stage, operand, columns)))
    for memory in plan.memories:
        first = memory.readers[0]
        width, banks = element(fold.format(plan.sizes.readers[first].wire)).width, plan.sizes.links[first].banks
        _channel(cost, [client.layout for client in memory.clients], width, banks or 1, bool(fold.members))
    for (number, operand), rom in plan.roms.items():
        words, columns = rom.words.shape
        cost.constants(words, sum(operand_widths(fold.stages[number], operand, columns)))
        cost.sequence(rom.read)
    framing(cost, plan.sizes)
    dsp += pooling(cost, fold, plan.sizes.pool.size if plan.sizes.pool else 0, plan.sizes.choices)
    selecting(cost, plan)
    counts = {"lut": round(cost.lut), "ff": round(cost.ff), "dsp": dsp}
    return {**counts, "bram_bits": cost.bram_bits, "blocks": cost.blocks}


def _columns(plan: Plan) -> Iterator[tuple[int, str, int]]:
    """Yield each operand that is read from a memory: its stage, its name, and how many of its elements are read in a
    clock.
    """
    for (number, operand), rom in plan.roms.items():
        yield number, operand, rom.words.shape[1]
    first = len(plan.sizes.in_lanes)
    for memory in plan.memories:
        for client in memory.clients:
            for number, columns in zip(client.readers, client.columns, strict=True):
                reader = plan.sizes.readers[number]
                if reader.operand is not None:
                    yield reader.actor - first, reader.operand, len(columns)


def _channel(cost: Cost, layouts: Sequence[Layout], width: int, banks: int, abreast: bool) -> None:
    """Add the memories, counters and tokens of a channel, and the logic that selects the address of the reader whose
    turn it is.
    """
    bank, readers = bits_of(banks - 1) if banks > 1 else 0, len(layouts)
    cost.add(5 + bank, 2 * bits_of(banks) + 2 * bank)
    cost.add(4 * (readers - 1), (1 + bits_of(readers - 1)) if readers > 1 else 0)
    for number, copy in enumerate(layouts[0].copies):
        for row in rows(layouts, number, width, banks, abreast):
            if row.wide:
                cost.row(row.words, width, len(row.places))
            else:
                cost.memory(row.words, width)
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
