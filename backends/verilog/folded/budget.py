"""The sizes of all stages and streams of a folded design within a budget, and the timing that follows from the
sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..design import Stream
from ..devices.family import SEVEN
from ..modes import Mode
from . import model
from .beats import least_beat, sending, stream_lanes
from .folding import Exit, Fold
from .lane_text import lane_bits
from .order import in_turns
from .pool import READ, Pool, depth, held, last_read, multipliers, pooled, works
from .prices import BESIDE_UNIT, price_of, priced, readers_of
from .tiling import Choice, choose, choose_shared

UNDER_WAY = 4
"""Frames of a program that may be under way at once in a design with modes."""


@dataclass
class Reader:
    """A reader of a wire: its actor, its operand (None for a sender), the clock of its last read, and whether each term
    reads the wire.
    """

    wire: int
    actor: int
    operand: str | None
    reads: int
    inside: bool = False


@dataclass
class Sizes:
    """The sizes that are chosen for a budget, the model of their timing, and the lanes and multipliers that they take.

    `longest` is the interval that must not be exceeded if the budget is a number of clocks. Each tuple of `together`
    has the numbers of readers that share a memory, in the order of their turns; readers of one actor read at the same
    time.
    """

    fold: Fold
    target: int
    choices: list[Choice]
    in_lanes: list[int]
    out_lanes: list[int]
    actors: list[model.Actor]
    unbanked: list[model.Link]
    readers: list[Reader]
    lanes: int
    dsp: int
    shared: dict[int, int] = field(default_factory=dict)
    modes: list[frozenset[Mode]] = field(default_factory=list)
    longest: int | None = None
    together: tuple[tuple[int, ...], ...] = ()
    pool: Pool | None = None
    orders: Mapping[Mode | None, Sequence[int]] = field(default_factory=dict)

    @cached_property
    def links(self) -> list[model.Link]:
        """Return the channels of the design, each with as many banks as keep its writer busy."""
        if self.fold.modal is None:
            counts = model.banks(self.actors, self.unbanked, self.turns, self.orders.get(None))
        else:
            counts = [2 if link.state else 1 for link in self.unbanked]
            for mode in self.fold.modal.programs:
                kept, actors, links = self.within(mode, self.unbanked)
                own = model.banks(actors, links, self.lanes_turns(mode), self.orders.get(mode))
                for number, count in zip(kept, own, strict=True):
                    counts[number] = max(counts[number], min(count, UNDER_WAY))
        status = len(self.actors) - 1
        counts = [
            1 if link.reader == status and link.writer in self.updating else count
            for link, count in zip(self.unbanked, counts, strict=True)
        ]
        for group in self.together:
            queued = [k for k in group if not self.unbanked[k].state and self.unbanked[k].banks is None]
            most = max((counts[k] for k in queued), default=0)
            counts = [most if k in queued else count for k, count in enumerate(counts)]
        return [replace(link, banks=count) for link, count in zip(self.unbanked, counts, strict=True)]

    @property
    def turns(self) -> list[model.Turns]:
        """Return the actors that take turns at each memory with several readers, and those that take turns at the
        shared lanes.
        """
        found = [{self.unbanked[k].reader: self.unbanked[k].reads for k in group} for group in self.together]
        turns: list[model.Turns] = [tuple(actors.items()) for actors in found if len(actors) > 1]
        return [*turns, *self.lanes_turns(None)]

    def lanes_turns(self, mode: Mode | None) -> list[model.Turns]:
        """Return the stages that share lanes in frames of a mode, by their numbers among the actors of this mode, each
        with the clock in which it gives up the lanes.
        """
        if self.pool is None:
            return []
        number, first = self.actors_in(mode), len(self.fold.entries)
        ends = {k: last_read(self.choices[k], self.fold.stages[k].terms) + hold for k, hold in self.pool.holds.items()}
        return [tuple((number.index(first + k), ends[k]) for k in self.pool.orders[mode])]

    def actors_in(self, mode: Mode | None) -> list[int]:
        """Return the numbers of the actors that run in frames of a mode; those of all actors if the mode is None."""
        return [k for k in range(len(self.actors)) if mode is None or mode in self.modes[k]]

    @cached_property
    def updating(self) -> set[int]:
        """Return the numbers of the actors that are stages which write state.

        Only one frame at a time is under way in a stage that writes state, even if the stage reads no state: the next
        frame would overwrite the bank that a frame filled if it wrote before the status of this frame is taken.
        """
        first, written = len(self.fold.entries), set(self.fold.states.values())
        return {first + k for k, stage in enumerate(self.fold.stages) if stage.wire in written}

    def within(self, mode: Mode, links: list[model.Link]) -> tuple[list[int], list[model.Actor], list[model.Link]]:
        """Return three things about a mode: the numbers of the links that it uses, its actors, and these links between
        its actors.

        The state that a prediction reads does not change, so a prediction waits for no status.
        """
        number = {k: n for n, k in enumerate(self.actors_in(mode))}
        kept = [
            k
            for k, link in enumerate(links)
            if {link.writer, link.reader} <= number.keys() and (not link.state or mode == Mode.TRAIN)
        ]
        own = [replace(links[k], writer=number[links[k].writer], reader=number[links[k].reader]) for k in kept]
        return kept, [self.actors[k] for k in number], own

    @cached_property
    def programs(self) -> list[tuple[list[model.Actor], list[model.Link], list[model.Turns], Sequence[int] | None]]:
        """Return for each program that the design runs, the training step first, its actors, channels, turns and order
        of turns.
        """
        if self.fold.modal is None:
            return [(self.actors, self.links, self.turns, self.orders.get(None))]
        return [
            (*self.within(mode, self.links)[1:], self.lanes_turns(mode), self.orders.get(mode))
            for mode in self.fold.modal.programs
        ]

    @cached_property
    def interval(self) -> int:
        """Return the number of clocks from one frame to the next."""
        return model.interval(*self.programs[0])

    @property
    def latency(self) -> int:
        """Return the number of clocks from the first beat of a frame in to its last beat out."""
        return model.latency(*self.programs[0])


def sizes(
    fold: Fold, target: int, halved: Mapping[int, int] = MappingProxyType({}), pool_size: int | None = None
) -> Sizes:
    """Return the cheapest sizes with which each stage takes at most `target` clocks a frame, if there are such sizes.

    The stages of a program with state run one after another. The sum of the clocks of such stages is least if the lanes
    of each stage are in proportion to the square root of its work: `target` is the target of the stage with the most
    work, and the target of any other stage is smaller in proportion to the square root of its work. Stages that share
    lanes count as one stage here; the pool has `pool_size` lanes or, if this is None, as many as keep to the target.
    `halved` says for some stages how often their targets are halved.
    """
    stages = fold.stages
    products = sum(works(fold).values())
    shared_lanes = min(pool_size or -(-products // target), products)
    price = price_of(fold, shared_lanes)
    choices, dsp, lanes = [], 0, 0
    actors: list[model.Actor] = []
    lane_of = {
        entry.stream: stream_lanes(entry.passage.format.size, target, fold.elements_per_beat) for entry in fold.entries
    }
    writer = {entry.wire: k for k, entry in enumerate(fold.entries)}
    first = len(fold.entries)
    spans: list[tuple[int, int]] = []
    most = max([products, *(stage.size * stage.terms for stage in stages)])
    for number, stage in enumerate(stages):
        path = fold.paths(number, 1)[0]
        bits = lane_bits(stage, 1) if stage.reduction else 0
        share = math.sqrt(stage.size * stage.terms / most) if fold.updates else 1.0
        beside = BESIDE_UNIT * readers_of(fold, stage.wire) if number in fold.members else 0
        widths = (20, bits, 40 + path.lut + path.ff // 2 + 20 * path.dsp + beside)
        ordered = bool(fold.modal) and stage.wire in fold.states.values()
        choice = (
            choose_shared(stage, shared_lanes, fold.axes[number], widths, price, ordered)
            if number in fold.members
            else choose(
                stage,
                priced(stage, widths, path.dsp, price)
                if fold.members
                else max(1, round(target * share) >> halved.get(number, 0)),
                fold.axes[number],
                widths,
                ordered,
                fold.updates and fold.modal is None,
            )
        )
        choices.append(choice)
        writer[stage.wire] = first + number
        path, after, inner, before = fold.paths(number, choice.split)
        late_terms, late_results = choice.late(stage)
        dsp += choice.units * path.dsp
        if number in fold.members:
            last, drain = last_read(choice, stage.terms), held(choice)
            result = last + READ + 1 + depth(fold, number, choice) + drain - 1
        elif inner is not None:
            lanes, dsp = lanes + choice.lanes * choice.split, dsp + choice.lanes * choice.split * inner.dsp
            reading, drain = -(-stage.terms // choice.split), -(-choice.lanes // choice.units)
            clocks = max(reading, drain)
            last = (choice.passes - 1) * clocks + reading
            result = last + late_terms + before + 2 + (drain > 1) + drain - 1
        else:
            last = result = choice.passes
        spans.append((last, result))
        actors.append(model.Actor(stage.name, choice.cycles, result + 1 + late_results + after))
    units = {stage.wire: choice.units for stage, choice in zip(stages, choices, strict=True)}
    mapped = {stage.wire: units[stage.wire] for stage in stages if not stage.reduction}
    for wire, load in fold.loads.items():
        name = next(entry.stream for entry in fold.entries if entry.wire == load)
        lane_of[name] = units.get(fold.states[wire], stream_lanes(1, 1, fold.elements_per_beat))
    in_lanes = [lane_of[entry.stream] for entry in fold.entries]
    counts = [-(-e.passage.format.size // width) for e, width in zip(fold.entries, in_lanes, strict=True)]
    actors = [model.Actor(f"in{e.wire}", count, count) for e, count in zip(fold.entries, counts, strict=True)] + actors
    loaded = {wire: in_lanes[writer[load]] for wire, load in fold.loads.items()}
    out_lanes = [
        loaded[exit.wire]
        if exit.passage.modes == {Mode.READ}
        else stream_lanes(exit.at.size, sending(fold, exit, target, mapped.get(exit.wire, 1)), least_beat(fold, exit))
        for exit in fold.exits
    ]
    readers = []
    for number, stage in enumerate(stages):
        for operand in stage.operands:
            if operand.amounts is None:
                reads = spans[number][0 if operand.in_reduction else 1]
                readers.append(Reader(operand.wire, writer[stage.wire], operand.name, reads, operand.in_reduction))
    shared: dict[int, int] = {}
    for exit, width in zip(fold.exits, out_lanes, strict=True):
        beats = -(-exit.at.size // width)
        found = _read_in_order(fold, choices, readers, first, exit, width)
        if found is None:
            readers.append(Reader(exit.wire, len(actors), None, beats))
        else:
            shared[len(actors)] = found
        actors.append(model.Actor(f"out{exit.wire}", beats, 0, beats + 1))
    status = len(actors)
    actors.append(model.Actor("status", 1, 0, 0))
    state = {wire: writer[new] for wire, new in fold.states.items()}
    links = [
        model.Link(state.get(r.wire, writer.get(r.wire, 0)), r.actor, r.reads, None, r.wire in state) for r in readers
    ]
    links += [model.Link(k, status, 0) for k in range(first)]
    links += [model.Link(writer[stages[k].wire], status, 0) for k in fold.flagged]
    if fold.modal is None:
        links += [model.Link(0, actor, 0) for actor in _untriggered(fold, writer, links)]
        return _with_pool(Sizes(fold, target, choices, in_lanes, out_lanes, actors, links, readers, lanes, dsp))
    modes = [entry.passage.modes for entry in fold.entries] + fold.stage_modes
    modes += [*(exit.passage.modes for exit in fold.exits), frozenset(fold.modal.modes)]
    read_back = [first + len(stages) + k for k, exit in enumerate(fold.exits) if exit.wire in fold.states]
    links += [model.Link(k, status, 0) for k in read_back]
    admitted = [*range(1, first), *_untriggered(fold, writer, links), *read_back]
    links += [model.Link(0, actor, 0) for actor in admitted]
    made = Sizes(fold, target, choices, in_lanes, out_lanes, actors, links, readers, lanes, dsp, shared, modes)
    return _with_pool(made)


def _with_pool(made: Sizes) -> Sizes:
    """Return the given sizes with a pool of shared lanes, which has as many lanes as its largest user takes, and with
    the order of turns in each mode.
    """
    fold, first = made.fold, len(made.fold.entries)
    if not fold.members:
        return made
    orders, turns = {}, {}
    lasts = {first + k: last_read(made.choices[k], fold.stages[k].terms) + 1 for k in fold.members}
    for mode in fold.modal.programs if fold.modal is not None else (None,):
        actors, links = (made.actors, made.unbanked) if mode is None else made.within(mode, made.unbanked)[1:]
        own = made.actors_in(mode)
        orders[mode] = in_turns(actors, links, {k: lasts[actor] for k, actor in enumerate(own) if actor in lasts})
        turns[mode] = tuple(own[k] - first for k in orders[mode] if own[k] in lasts)
    taken = max(made.choices[number].lanes * made.choices[number].split for number in fold.members)
    pool = pooled(fold, taken, made.choices, turns)
    dsp = made.dsp + taken * multipliers(fold, SEVEN)
    return replace(made, pool=pool, orders=orders, lanes=made.lanes + taken, dsp=dsp)


def _read_in_order(
    fold: Fold, choices: list[Choice], readers: list[Reader], first: int, exit: Exit, width: int
) -> int | None:
    """Return the number of a reader that reads the elements of a state in order, `width` of them a clock, or None.

    An output that reads a state back in the same order can use the memory of such a reader.
    """
    if exit.passage.modes != {Mode.READ}:
        return None
    for number, reader in enumerate(readers):
        if reader.wire != exit.wire or reader.operand is None:
            continue
        stage, choice = fold.stages[reader.actor - first], choices[reader.actor - first]
        (operand,) = [operand for operand in stage.operands if operand.name == reader.operand]
        inside = operand.in_reduction or stage.wire not in fold.states.values()
        if not inside and choice.units == width and np.array_equal(operand.at, exit.at):
            return number
    return None


def _untriggered(fold: Fold, writer: Mapping[int, int], links: list[model.Link]) -> list[int]:
    """Return the actors that are stages which read only constants and state; they start when a frame of the first input
    starts.
    """
    fed = {link.reader for link in links if not link.state}
    return [writer[stage.wire] for stage in fold.stages if writer[stage.wire] not in fed]


def streams(sizes: Sizes) -> tuple[list[Stream], list[Stream]]:
    """Return the input streams and the output streams of a design, without the status."""
    fold = sizes.fold
    ins = [
        Stream(e.stream, e.passage.port, False, e.passage.format, width, user=True)
        for e, width in zip(fold.entries, sizes.in_lanes, strict=True)
    ]
    outs = [
        Stream(e.stream, e.passage.port, True, e.passage.format, width)
        for e, width in zip(fold.exits, sizes.out_lanes, strict=True)
    ]
    return ins, outs


def least_cycles(fold: Fold) -> int:
    """Return the number of clocks that the longest stage takes if nothing is done in parallel."""
    longest = [stage.size * stage.terms for stage in fold.stages]
    return max([*longest, *(entry.passage.format.size for entry in fold.entries), 1])
