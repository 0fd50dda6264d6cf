"""The plan of a folded design, made before any text: the stages, tiled for a budget, and the memories between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Fixed

from ..signals import element
from .beats import least_beat, with_beat
from .choosing import Columns, in_two_clocks
from .early import early
from .feeding import plain
from .graph import Stage
from .in_place import in_place
from .lane_text import interval_of, literal_operand
from .layout import Rom, rom
from .reads import NOTHING, Reads
from .sharing import Memory, Table, shared
from .sizes import Sizes
from .tiling import Tiling, tile

Indices = NDArray[np.int64]

BLOCK = 18 * 1024
"""Bits of a block memory."""


@dataclass
class Plan:
    """Everything that is emitted as Verilog: tilings, memories, constants by stage and operand, and the elements that
    each wire's writer writes at each step. `parted` has for each client of each memory the columns that are chosen in
    two clocks.
    """

    sizes: Sizes
    tilings: list[Tiling]
    memories: list[Memory]
    roms: dict[tuple[int, str], Rom]
    written: dict[int, Indices]
    parted: tuple[Columns, ...]

    def slots(self, number: int) -> dict[str, tuple[int, ...]]:
        """Return for each operand that a stage reads the column of each place of the operand's table."""
        actor = len(self.sizes.in_lanes) + number
        found = {name: rom.slots for (stage, name), rom in self.roms.items() if stage == number}
        for memory in self.memories:
            for client in memory.clients:
                for place, slots in zip(client.readers, client.slots, strict=True):
                    reader = self.sizes.readers[place]
                    if reader.actor == actor and reader.operand is not None:
                        found[reader.operand] = slots
        return found

    def late(self, number: int) -> dict[str, frozenset[int]]:
        """Return for operands that a stage reads the columns that come a clock later from their memory."""
        actor, found = len(self.sizes.in_lanes) + number, {}
        for memory, parted in zip(self.memories, self.parted, strict=True):
            for client, chosen in zip(memory.clients, parted, strict=True):
                for place, columns in zip(client.readers, client.columns, strict=True):
                    reader = self.sizes.readers[place]
                    if chosen and reader.actor == actor and reader.operand is not None:
                        found[reader.operand] = frozenset(k for k, column in enumerate(columns) if column in chosen)
        return found


def plan(sizes: Sizes) -> Plan:
    """Return the plan of a design of the given sizes: the tables of all stages and memories, and what the readers of
    each memory wait for. The sizes of the plan may have narrower beats.

    New state that would be kept a second time for its beats leaves in beats of half as many elements, or of a quarter
    and so on, if it can then be read from the memory of the state, and frames take no more clocks.
    """
    given, made = sizes, _planned(sizes)
    for place, width in enumerate(sizes.out_lanes):
        while _sends_copy(made, place) and width > _narrowest(sizes, place):
            width //= 2
            narrower = with_beat(given, place, width)
            tried = _planned(narrower)
            if not _sends_copy(tried, place) and tried.sizes.interval <= made.sizes.interval:
                given, made = narrower, tried
    return made


def narrowest(sizes: Sizes) -> Sizes:
    """Return sizes with the narrowest beats that a plan of them may have."""
    for place in range(len(sizes.out_lanes)):
        sizes = with_beat(sizes, place, _narrowest(sizes, place))
    return sizes


def _narrowest(sizes: Sizes, place: int) -> int:
    """Return the fewest elements that a beat of an output may have: fewer than in the sizes only for new state of BLOCK
    bits or more.
    """
    exit = sizes.fold.exits[place]
    width = element(sizes.fold.format(exit.wire)).width
    new = sizes.fold.modal is None and exit.wire in sizes.fold.states.values()
    if new and exit.at.size * width >= BLOCK:
        return min(sizes.out_lanes[place], max(1, least_beat(sizes.fold, exit)))
    return sizes.out_lanes[place]


def _sends_copy(made: Plan, place: int) -> bool:
    """Return whether an output has a memory of its own."""
    actor = len(made.sizes.fold.entries) + len(made.sizes.fold.stages) + place
    return any([made.sizes.readers[k].actor for k in memory.readers] == [actor] for memory in made.memories)


def _planned(sizes: Sizes) -> Plan:
    fold = sizes.fold
    tilings = [tile(stage, choice) for stage, choice in zip(fold.stages, sizes.choices, strict=True)]
    for number, feeds in fold.members.items():
        if plain(feeds):
            tilings[number] = replace(tilings[number], late=(False, tilings[number].late[1]))
    written: dict[int, Indices] = {}
    for entry, width in zip(fold.entries, sizes.in_lanes, strict=True):
        written[entry.wire] = _beats(entry.passage.format.size, width)
    for stage, tiling in zip(fold.stages, tilings, strict=True):
        written[stage.wire] = tiling.written()
    for wire, load in fold.loads.items():
        assert np.array_equal(written[load], written[fold.states[wire]]), "memory is loaded as it is updated"
    tables: list[Table] = []
    roms: dict[tuple[int, str], Rom] = {}

    def read(wire: int, reads: Reads) -> None:
        tables.append(Table(reads, written[fold.states.get(wire, wire)], fold.format(wire).size))

    for number, (stage, tiling) in enumerate(zip(fold.stages, tilings, strict=True)):
        for operand in stage.operands:
            if literal_operand(operand) is not None:
                continue
            reads = tiling.reads(operand)
            if operand.in_reduction and any(
                n.in_reduction and n.operation.name == "integer.check" for n in stage.nodes
            ):
                reads = reads.all_valid()
            if operand.amounts is not None:
                roms[number, operand.name] = rom(reads, operand.amounts)
            else:
                read(operand.wire, reads)
    for number, (exit, width) in enumerate(zip(fold.exits, sizes.out_lanes, strict=True)):
        if number + len(fold.entries) + len(fold.stages) in sizes.shared:
            continue
        places = _beats(exit.at.size, width)
        table = np.where(places >= 0, exit.at[np.maximum(places, 0)], -1)
        read(exit.wire, Reads.of(table))
    memories, chosen = in_place(*shared(sizes, tables), tables)
    parted, chosen = in_two_clocks(chosen, memories, tilings)
    return Plan(early(chosen, memories, tilings), tilings, memories, roms, written, parted)


def _beats(size: int, lanes: int) -> Indices:
    flat = np.arange(size, dtype=np.int64)
    missing = -size % lanes
    return np.concatenate([flat, np.full(missing, NOTHING)]).reshape(-1, lanes)


def operand_widths(stage: Stage, name: str, columns: int) -> tuple[int, ...]:
    """Return the number of bits of each column of an operand."""
    (found,) = [operand for operand in stage.operands if operand.name == name]
    low, high = interval_of(found) if found.amounts is not None else (0, 0)
    kind = element(found.format).width if found.amounts is None else element(Fixed((), 0, low, high)).width
    return (kind,) * columns
