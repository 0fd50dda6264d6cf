"""What a budget comes to: sizes of every stage and stream, and the model of their timing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..modes import Mode
from . import model
from .folding import Fold
from .pool import Pool, last_read
from .tiling import Choice

UNDER_WAY = 4
"""Frames of a program that may be under way at once in a design with modes."""


@dataclass
class Reader:
    """Who reads a wire, as which operand (None for a sender), when its last read is, and whether each term reads it."""

    wire: int
    actor: int
    operand: str | None
    reads: int
    inside: bool = False


@dataclass
class Sizes:
    """A budget's choices: sizes of every stage and stream, the model of their timing, and what they come to.

    `longest` is the interval that is not to be exceeded, where the budget is one of clocks. `together` are the numbers
    of readers that share a memory, in the order of their turns; readers of one actor read at once.
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
        """The channels, with as many banks as keep every writer busy."""
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
        """The actors of frames of a mode that read each memory of several readers, and those that share lanes."""
        number = {k: n for n, k in enumerate(self.actors_in(mode))}
        found = [{self.unbanked[k].reader: self.unbanked[k].reads for k in group} for group in self.together]
        memories: list[model.Turns] = [
            tuple((number[actor], reads) for actor, reads in actors.items())
            for actors in found
            if len(actors) > 1 and actors.keys() <= number.keys()
        ]
        return [*memories, *self._lanes_turns(mode)]

    def _lanes_turns(self, mode: Mode | None) -> list[model.Turns]:
        """The stages that share lanes in frames of a mode, as actors of it, and when each gives them up."""
        if self.pool is None:
            return []
        number, first = self.actors_in(mode), len(self.fold.entries)
        ends = {k: last_read(self.choices[k], self.fold.stages[k].terms) + hold for k, hold in self.pool.holds.items()}
        return [tuple((number.index(first + k), ends[k]) for k in self.pool.orders[mode])]

    def actors_in(self, mode: Mode | None) -> list[int]:
        """The actors of frames of a mode; of all frames, where they are alike."""
        return [k for k in range(len(self.actors)) if mode is None or mode in self.modes[k]]

    @cached_property
    def updating(self) -> set[int]:
        """The stages that write state, as actors.

        One frame of such a stage is under way at a time: it writes the bank that the last frame filled as soon as that
        frame's status is taken, and not before, even where nothing that it reads is state.
        """
        first, written = len(self.fold.entries), set(self.fold.states.values())
        return {first + k for k, stage in enumerate(self.fold.stages) if stage.wire in written}

    def within(
        self, mode: Mode | None, links: list[model.Link]
    ) -> tuple[list[int], list[model.Actor], list[model.Link]]:
        """The links that are used in a mode, by number; its actors; these links between them.

        What a prediction reads stays the same, so it waits for no status. Without modes all are used.
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
        """Actors, channels, turns and their order in frames of each program that the design runs, the step first."""
        if self.fold.modal is None:
            return [(self.actors, self.links, self.turns_in(None), self.orders.get(None))]
        return [
            (*self.within(mode, self.links)[1:], self.turns_in(mode), self.orders.get(mode))
            for mode in self.fold.modal.programs
        ]

    @cached_property
    def interval(self) -> int:
        """Clocks from frame to frame."""
        return model.interval(*self.programs[0])

    @property
    def latency(self) -> int:
        """Clocks of a frame."""
        return model.latency(*self.programs[0])
