"""The result of a budget: the sizes of all stages and streams, and the model of their timing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..modes import Mode
from . import model
from .folding import Fold
from .lending import Loan
from .pool import Pool, last_read
from .prices import Pace
from .tiling import Choice

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

    `longest` is the interval that must not be exceeded if the budget is a number of clocks, and `pace` the pace of
    steps if it was asked for. `joins` says whether the readers of a state share a memory in a design with modes. Each
    tuple of `together` has the numbers of readers that share a memory, in the order of their turns; readers of one
    actor read at the same time. `late` has the actors that are senders of which the words come a clock later from their
    memory, since they are chosen in two clocks.
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
    loans: tuple[Loan, ...] = ()
    pace: Pace | None = None
    joins: bool = False
    late: frozenset[int] = frozenset()

    @property
    def sliced(self) -> bool:
        """Return whether deep memories may be made of slices: they may not where slices would keep the readers of a
        state from sharing a memory.
        """
        return self.pace is not None or not self.fold.members

    @cached_property
    def links(self) -> list[model.Link]:
        """Return the channels of the design, each with as many banks as keep its writer busy."""
        if self.fold.modal is None:
            counts = model.banks(self.actors, self.unbanked, self.turns_in(None), self.orders.get(None))
        else:
            counts = [2 if link.state else 1 for link in self.unbanked]
            for mode in self.fold.modal.programs:
                kept, actors, links = self.within(mode, self.unbanked)
                own = model.banks(actors, links, self.turns_in(mode), self.orders.get(mode))
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

    def turns_in(self, mode: Mode | None) -> list[model.Turns]:
        """Return the turns that actors take in frames of a mode: those of the actors that read one memory, those of
        the stages that share lanes, and those of the stages that use the same multipliers.
        """
        number = {k: n for n, k in enumerate(self.actors_in(mode))}
        found = [{self.unbanked[k].reader: self.unbanked[k].reads for k in group} for group in self.together]
        memories: list[model.Turns] = [
            tuple((number[actor], reads) for actor, reads in actors.items())
            for actors in found
            if len(actors) > 1 and actors.keys() <= number.keys()
        ]
        own, first = self.actors_in(mode), len(self.fold.entries)
        lent = [tuple((own.index(first + k), loan.ends[k]) for k in loan.order) for loan in self.loans]
        return [*memories, *self._lanes_turns(mode), *lent]

    def _lanes_turns(self, mode: Mode | None) -> list[model.Turns]:
        """Return the turns at the shared lanes in frames of a mode: each stage, by its number among the actors of the
        mode, and how many clocks after its start the stage gives up the lanes.
        """
        if self.pool is None:
            return []
        number, first = self.actors_in(mode), len(self.fold.entries)
        ends = {k: last_read(self.choices[k], self.fold.stages[k].terms) + hold for k, hold in self.pool.holds.items()}
        ends |= {k: one.end for k, one in self.pool.borrowers.items()}
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

    def within(
        self, mode: Mode | None, links: list[model.Link]
    ) -> tuple[list[int], list[model.Actor], list[model.Link]]:
        """Return three things about a mode: the numbers of the links that it uses, its actors, and these links between
        its actors; those of the whole design if the mode is None.

        The state that a prediction reads does not change, so a prediction waits for no status.
        """
        if mode is None:
            return [*range(len(links))], self.actors, links
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
            return [(self.actors, self.links, self.turns_in(None), self.orders.get(None))]
        return [
            (*self.within(mode, self.links)[1:], self.turns_in(mode), self.orders.get(mode))
            for mode in self.fold.modal.programs
        ]

    @cached_property
    def interval(self) -> int:
        """Return the number of clocks from one frame to the next."""
        return model.interval(*self.programs[0])

    @property
    def latency(self) -> int:
        """Return the number of clocks from the first beat of a frame in to its last beat out."""
        return model.latency(*self.programs[0], rounds=self.fold.round_count)
