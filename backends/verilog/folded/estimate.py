"""Estimates of the size of a plan on an FPGA of a given family, which are made before any Verilog is written."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from ..devices.family import SEVEN, Family
from ..signals import element
from . import steering
from .arithmetic import lane, unit
from .blocks import rows
from .borrowing import borrowed_products
from .budget import streams as in_streams
from .channel import WAYS
from .cost import Cost
from .counter import bits_of
from .folding import Fold
from .lane_text import any_term_check, lane_bits
from .layout import Layout
from .lending import Sent, sent_by
from .operators import carries
from .plan import Plan, operand_widths
from .pool import multipliers, use, widths
from .pool_text import member, selections
from .sizes import Sizes


def computing(cost: Cost, fold: Fold, number: int, lanes: int, split: int, units: int, late: tuple[bool, bool]) -> int:
    """Add the parts with which a stage computes, and return the number of their multipliers.

    The parts of a stage are its lanes, `split` of which make each of the `lanes` results that are made at once, its
    units, and the registers between lanes and units; `late` is the result of `Choice.late`.
    """
    stage, drain, (before, behind) = fold.stages[number], -(-lanes // units), late
    outer, _, inner, _ = fold.paths(number, split)
    made = unit(stage, outer, split, cost.family, behind + (drain > 1), behind)
    cost.add(made.lut * units, (outer.ff - made.absorbed) * units, made.lut * units)
    for table in made.tables:
        cost.table(table, units)
    bits = lane_bits(stage, split) * split * units if stage.reduction else 0
    cost.add(0, bits * behind)
    if inner is None or number in fold.members:
        return made.dsp * units
    term = lane(stage, inner, split, cost.family, before)
    held: float = inner.ff - term.absorbed
    if term.dsp and cost.family.accumulates:
        held *= 0.05
    count = lanes * split
    cost.add(term.lut * count, (held + lane_bits(stage, split)) * count, term.lut * count)
    for table in term.tables:
        cost.table(table, count)
    cost.drained(bits, drain)
    return made.dsp * units + term.dsp * count


def steered(cost: Cost, sizes: Sizes, number: int, late: tuple[bool, bool]) -> None:
    """Add the logic that starts a stage, counts its passes and clocks, and says when sums and results are ready; `late`
    is the result of `Choice.late`.

    Signals that are equal, since a frame has one pass or a pass one clock, share their registers.
    """
    choice, fold = sizes.choices[number], sizes.fold
    stage, (_, after, _, before) = fold.stages[number], fold.paths(number, choice.split)
    parts = [steering.counting(choice.passes), steering.RUNS, steering.delays(bool(fold.members))]
    parts.append(steering.delays(*[1 + after + late[1]] * 2))
    if stage.reduction:
        reading, drain, several = -(-stage.terms // choice.split), -(-choice.lanes // choice.units), choice.passes > 1
        clocks, spare = max(reading, drain), reading * choice.split > stage.terms
        parts += [steering.counting(clocks), steering.draining(drain)]
        if sizes.pool is not None and number in fold.members:
            used = use(fold, sizes.pool, number, choice)
            first = 3 + used.depth
            parts.append(steering.delays(first + 1, first, first + 2, max(used.hold, 1), (first + 2) * several))
        else:
            first = 1 + before + late[0]
            parts.append(steering.delays(first, first * (clocks > 1), first + 1, (first + 1) * several))
        parts.append(steering.delays(first * spare))
        parts.append(steering.FAILS if any_term_check(stage) else steering.NONE)
    parts.append(steering.FAILS if number in fold.flagged else steering.NONE)
    for part in parts:
        cost.put(part)


def pooling(cost: Cost, sizes: Sizes) -> int:
    """Add the shared lanes, if there are any, without the logic that selects their factors, and return the number of
    multipliers.
    """
    if sizes.pool is None:
        return 0
    lanes = widths(sizes.fold, sizes.choices, sizes.pool.borrowers.values())
    for x, y, total in lanes:
        own = 0 if cost.family.accumulates else x + y + total
        cost.add(total, 2 * total + own, carries(total) + total)
    turns = len(sizes.pool.holds) + len(sizes.pool.borrowers)
    cost.add(4 * turns, bits_of(turns) + 3)
    return multipliers(lanes, cost.family)


def selecting(cost: Cost, plan: Plan) -> None:
    """Add the logic that selects the factors of shared lanes: registers for the factors of each stage, and for those of
    each lane.
    """
    pool, fold = plan.sizes.pool, plan.sizes.fold
    if pool is None:
        return
    members = [
        member(fold.stages[k], plan.tilings[k], fold.members[k], plan.slots(k), plan.late(k)) for k in pool.stages
    ]
    for one in members:
        for feed, made in zip(one.feeds, one.made, strict=True):
            cost.add(feed.path.lut * len(made), (feed.path.ff + feed.bits) * len(made))
    multiplied = borrowed_products(fold, plan.sizes.choices, pool)
    leaving(cost, plan.sizes, pool.borrowers)
    found = widths(fold, plan.sizes.choices, pool.borrowers.values())
    for side, lanes in enumerate(selections(members, pool.size, multiplied)):
        for pairs, bits in {pairs: own[side] for pairs, own in zip(lanes, found, strict=True)}.items():
            held = 0 if cost.family.accumulates and len(set(lanes)) == len(lanes) else bits
            cost.add(bits * -(-(len(pairs) - 1) // 5), held, bits * -(-(len(pairs) - 1) // 3))


def lent(cost: Cost, sizes: Sizes) -> int:
    """Add what selects the factors of the multipliers that units and lanes use in turns, with the registers of the
    factors of each stage, and return the number of these multipliers.
    """
    dsp = 0
    for loan in sizes.loans:
        each = cost.family.multipliers(*loan.bits)
        dsp += loan.size * each
        sent = leaving(cost, sizes, loan.order)
        for slot in range(loan.size):
            ways = sum(slot < len(one.bits) for one in sent)
            bits = sum(loan.bits)
            held = 0 if cost.family.accumulates else 2 * bits
            cost.add(bits * -(-(ways - 1) // 5), held, bits * -(-(ways - 1) // 3))
        cost.add(4 * len(sent), bits_of(len(sent)) + 3)
    return dsp


def leaving(cost: Cost, sizes: Sizes, stages: Iterable[int]) -> list[Sent]:
    """Add the registers through which the factors of stages leave, and what clears them; return the products."""
    sent = [sent_by(sizes.fold, k, sizes.choices[k]) for k in stages]
    cost.add(0, sum(sum(bits) for one in sent for bits in one.bits))
    cost.put(steering.delays(*(one.cycles for one in sent)))
    return sent


def framing(cost: Cost, sizes: Sizes) -> None:
    """Add the parts around the stages: the flags that make the status, the receivers and the senders, and what selects
    between new and loaded state.
    """
    for link in sizes.links[len(sizes.readers) :]:
        cost.put(steering.flags(link.banks or 1))
    waits = bool(sizes.fold.members)
    cost.add(1.5 * len(sizes.actors), waits * len(sizes.actors))
    for wire, load in sizes.fold.loads.items():
        if load != sizes.fold.states[wire]:
            lanes = sizes.in_lanes[[entry.wire for entry in sizes.fold.entries].index(load)]
            bits = lanes * element(sizes.fold.format(wire)).width
            cost.add(bits, bits + 1, bits)
    ins, outs = in_streams(sizes)
    for stream in ins:
        signal = element(stream.format)
        ends = (signal.low, signal.high)
        compared = sum(end != held for end, held in zip(ends, signal.held, strict=True)) * stream.lanes
        cost.put(steering.receiver(stream.beats, compared, signal.width))
        cost.add(0, stream.data_bits)
    for actor, stream in enumerate(outs, len(ins) + len(sizes.fold.stages)):
        cost.put(steering.sender(stream.beats, stream.data_bits, waits, actor in sizes.late))


def estimate(plan: Plan, family: Family = SEVEN) -> dict[str, int]:
    """Return the estimates `lut`, `ff`, `dsp`, `bram_bits` and `blocks` of a plan for a family; `lut` includes LUTs
    that serve as memory.
    """
    cost, fold, dsp = Cost(family, apart=bool(plan.sizes.fold.members)), plan.sizes.fold, 0
    for number, tiling in enumerate(plan.tilings):
        dsp += computing(cost, fold, number, tiling.lanes, tiling.split, tiling.units, tiling.late)
        steered(cost, plan.sizes, number, tiling.late)
    for number, operand, columns in _columns(plan):
        stage, tiling = fold.stages[number], plan.tilings[number]
        (found,) = [o for o in stage.operands if o.name == operand]
        inner = fold.paths(number, tiling.split)[2] if found.in_reduction else None
        absorbed = family.accumulates and inner is not None and inner.dsp
        if tiling.late[0 if found.in_reduction else 1] and not absorbed:
            cost.add(0, sum(operand_widths(stage, operand, columns)))
    for memory, parted in zip(plan.memories, plan.parted, strict=True):
        first = memory.readers[0]
        wire, link, turns = plan.sizes.readers[first].wire, plan.sizes.links[first], len(memory.clients) - memory.own
        banks = link.banks or 1
        if wire in fold.states:
            cost.put(steering.fronts(turns - memory.shows, memory.shows))
        else:
            cost.put(steering.tokens(banks, turns, link.ahead))
        layouts, width = [client.layout for client in memory.clients], element(fold.format(wire)).width
        _channel(cost, layouts, width, banks, plan.sizes.sliced)
        for client, chosen in zip(memory.clients, parted, strict=True):
            instead = plan.sizes.readers[client.readers[0]].operand is not None  # of a register of the stage
            for column in chosen:
                sources = len(client.layout.columns[column].sources)
                cost.add(0, (-(-sources // WAYS) - instead) * width + bits_of(sources - 1) - bits_of(WAYS - 1))
    together: set[tuple[int, Hashable]] = set()
    for (number, operand), rom in plan.roms.items():
        cost.constants(rom.words, operand_widths(fold.stages[number], operand, rom.words.shape[1]))
        if (number, rom.read.key) not in together:  # Synthesis merges counters that step together.
            together.add((number, rom.read.key))
            cost.sequence(rom.read)
    framing(cost, plan.sizes)
    dsp += pooling(cost, plan.sizes)
    selecting(cost, plan)
    dsp += lent(cost, plan.sizes)
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


def _channel(cost: Cost, layouts: Sequence[Layout], width: int, banks: int, sliced: bool) -> None:
    """Add the memories and counters of a channel, and the logic that selects the address of the reader whose turn it
    is; `sliced` is that of `rows`.
    """
    bank, readers = bits_of(banks - 1) if banks > 1 else 0, len(layouts)
    for number, copy in enumerate(layouts[0].copies):
        for row in rows(layouts, number, width, banks, cost.apart, sliced):
            for _, bits in row.slices(width):
                if row.wide:
                    cost.row(row.words, bits, len(row.places))
                else:
                    cost.memory(row.words, bits, row.block)
        counted: set[tuple[int, Hashable]] = set()
        sequences = [(k, read) for k, layout in enumerate(layouts) for read in layout.copies[number].reads]
        sequences += [(-1, s) for w in copy.writings for s in (w.word, w.bank, w.enable) if s is not None]
        for side, sequence in sequences:
            key = (side * (readers > 1), sequence.key)
            if key not in counted:
                counted.add(key)
                cost.sequence(sequence)
        cost.add(len(copy.stored) if len(copy.stored) > 1 else 0, 0)
        addresses = max(len({read.key for read in layout.copies[number].reads}) for layout in layouts)
        cost.add((bits_of(copy.depth - 1) + bank) * (readers - 1) * addresses / 2, 0)
    for layout in layouts:
        shared: set[Hashable] = set()
        for column in layout.columns:
            for found in (column.select, column.mask):
                if found is not None and found.key not in shared:
                    shared.add(found.key)
                    cost.sequence(found)
                    cost.add(0, found.bits)
            if column.select is not None:
                cost.chosen(width, len(column.sources))
