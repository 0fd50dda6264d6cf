"""The order in which a group works on a tile: what is loaded, computed, stored and freed, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from .group import Axis, Group, Held


class Kind(Enum):
    """The kinds of acts of a schedule, by what they do with the small memory."""

    LOAD = "load"
    """The act that loads a tile of an array from the large memory."""
    BEGIN = "begin"
    """The act that reserves a place for a sum before its first part is added."""
    RUN = "run"
    """The act that runs an operation on tiles; places are reserved for targets that have none yet."""
    FINISH = "finish"
    """The act that divides sums weighed by a softmax by the sum of the softmax's weights."""
    STORE = "store"
    """The act that stores a tile to the large memory."""
    FREE = "free"
    """The act that frees the place of an array in the small memory."""


@dataclass(frozen=True, slots=True)
class Act:
    """One act of a schedule, either on an array or by an operation, whose number it has in `array` or in `edge`; the
    other of these fields is -1.
    """

    kind: Kind
    array: int = -1
    edge: int = -1


@dataclass(slots=True)
class Phase:
    """A phase of a schedule: the acts before a loop over the streamed axis, those in each round of the loop, and those
    after it; without a streamed axis, only `body` has acts.
    """

    streams: bool
    number: int
    before: list[Act] = field(default_factory=list)
    body: list[Act] = field(default_factory=list)
    after: list[Act] = field(default_factory=list)

    @property
    def acts(self) -> list[Act]:
        """Return all acts of the phase, with the acts of the loop's body listed once."""
        return [*self.before, *self.body, *self.after]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The schedule of a group: the phases in which one tile of the results is computed, and the streamed axis, if there
    is one.
    """

    group: Group
    stream: Axis | None
    phases: Sequence[Phase]
    arrays: Sequence[Held]
    """The arrays of the group, followed by the arrays that streamed softmaxes keep: for each softmax a maximum and a
    sum of weights.
    """
    kept: dict[int, int]
    """For each streamed softmax, the number of the array of its maximum; the array of the sum of its weights comes
    next.
    """
    columns: Sequence[tuple[int, ...]]
    """The arrays that the small memory holds at once, after each time that one was added."""

    @property
    def moved(self) -> list[int]:
        """Return the arrays that are loaded or stored, each as often as it is moved for a tile of the results."""
        acts = [act for phase in self.phases for act in phase.acts]
        return [act.array for act in acts if act.kind in (Kind.LOAD, Kind.STORE)]


def schedule(group: Group, stream: Axis | None) -> Schedule | None:
    """Return the schedule by which a group computes a tile, with the given streamed axis or with none.

    An operation that depends, along the streamed axis, on a sum over this axis waits for the next pass, for which
    everything that it needs along the axis is loaded and computed again: for example, the maximum, the sum and the
    weights of a softmax take three passes. Making a schedule takes time linear in the number of operations and passes.
    Return None if a kept softmax would be needed in two passes.
    """
    return _Scheduling(group, stream).made()


class _Scheduling:
    def __init__(self, group: Group, stream: Axis | None) -> None:
        self.group, self.stream = group, stream
        self.arrays = list(group.arrays)
        self.sources = {
            edge: [group.reads[edge, place] for place in range(len(group.wiring.rows[edge][1]))] for edge in group.edges
        }
        self.targets = {
            edge: [group.writes[edge, place] for place in range(len(group.wiring.rows[edge][2]))]
            for edge in group.edges
        }
        self.along = [stream is not None and stream in held.axes for held in self.arrays]
        self.sums = {edge for edge in group.edges if stream in group.summed[edge]}
        self.kept: dict[int, int] = {}
        for edge in group.edges:
            if stream in group.softened[edge]:
                self.kept[edge] = len(self.arrays)
                rows = tuple(axis for axis in self.arrays[self.targets[edge][0]].axes if axis != stream)
                self.arrays += [Held(-1, rows)] * 2
        self.along += [False] * (len(self.arrays) - len(self.along))
        self._rank()

    def _rank(self) -> None:
        """Determine the pass in which each operation is computed, and each array along the streamed axis."""
        self.level = [0] * len(self.arrays)
        self.of: dict[int, int] = {}
        for edge in self.group.edges:
            own = self.of[edge] = max((self.level[array] for array in self.sources[edge]), default=0)
            for array in self.targets[edge]:
                self.level[array] = own + (edge in self.sums)

    def made(self) -> Schedule | None:
        group = self.group
        still = [edge for edge in group.edges if not self._flowing(edge)]
        ends = [self.of[edge] for edge in self.sums]
        ends += [self.level[array] for array in group.leaving if self.along[array]]
        count = 1 + max(ends, default=-1)
        order: list[tuple[Phase, list[int]]] = []
        for number in range(count):
            order.append((Phase(False, number), [edge for edge in still if self.of[edge] == number]))
            order.append((Phase(True, number), self._needed(number)))
        order.append((Phase(False, count), [edge for edge in still if self.of[edge] >= count]))
        order = [(phase, edges) for phase, edges in order if edges]
        if any(sum(edge in edges for _, edges in order) > 1 for edge in self.kept):
            return None
        self._act(order)
        phases = [phase for phase, _ in order]
        return Schedule(group, self.stream, phases, self.arrays, self.kept, _columns(phases, self.targets))

    def _flowing(self, edge: int) -> bool:
        return any(self.along[array] for array in (*self.sources[edge], *self.targets[edge]))

    def _needed(self, number: int) -> list[int]:
        """Return the operations along the streamed axis that a pass runs, because the sums and results of the pass are
        computed from them.
        """
        wanted: set[int] = set()
        found = []
        for edge in reversed(self.group.edges):
            if not self._flowing(edge) or self.of[edge] > number:
                continue
            ends = self.of[edge] == number and (
                edge in self.sums or any(a in self.group.leaving and self.along[a] for a in self.targets[edge])
            )
            if ends or (edge not in self.sums and any(array in wanted for array in self.targets[edge])):
                found.append(edge)
                wanted.update(array for array in self.sources[edge] if self.along[array])
        return found[::-1]

    def _act(self, order: Sequence[tuple[Phase, list[int]]]) -> None:
        """Fill the phases of the schedule: each array is loaded before its first reader and freed after its last
        reader.
        """
        last = {}
        for place, (_, edges) in enumerate(order):
            for at, edge in enumerate(edges):
                for array in self._touched(edge):
                    last[array] = place, at
        there: set[int] = set()
        for place, (phase, edges) in enumerate(order):
            self._fill(phase, place, edges, there, last)

    def _touched(self, edge: int) -> list[int]:
        """Return the arrays that the small memory must hold while an operation runs, including arrays of which others
        are views.
        """
        own = (*self.sources[edge], *self.targets[edge], *self._beside(edge))
        behind = self.group.behind
        return list(dict.fromkeys((*own, *(shown for array in own for shown in sorted(behind.get(array, ()))))))

    def _beside(self, edge: int) -> tuple[int, ...]:
        """Return the arrays that streamed softmaxes keep for an operation, which is such a softmax or a sum that reads
        it.
        """
        softmaxes = [edge] if edge in self.kept else self.weighed(edge)
        return tuple(self.kept[one] + k for one in softmaxes for k in (0, 1))

    def weighed(self, edge: int) -> list[int]:
        """Return the streamed softmaxes whose results a sum reads."""
        if edge not in self.sums:
            return []
        return [one for one in self.kept if self.targets[one][0] in self.sources[edge]]

    def _fill(
        self, phase: Phase, place: int, edges: Sequence[int], there: set[int], last: dict[int, tuple[int, int]]
    ) -> None:
        inner = {array: at for at, edge in enumerate(edges) for array in self._touched(edge)}
        gone: list[Act] = []
        finished: list[Act] = []
        for at, edge in enumerate(edges):
            self._enter(phase, edge, there)
            phase.body.append(Act(Kind.RUN, edge=edge))
            if self.weighed(edge):
                finished.append(Act(Kind.FINISH, edge=edge))
            for array in dict.fromkeys(self.targets[edge]):
                if array in self.group.leaving and (not self.along[array] or self.of[edge] == phase.number):
                    (phase.after if edge in self.sums else phase.body).append(Act(Kind.STORE, array))
            for array in self._touched(edge):
                if self.along[array]:
                    phase.body += [Act(Kind.FREE, array)] if inner[array] == at else []
                elif last[array] == (place, at):
                    (gone if phase.streams else phase.body).append(Act(Kind.FREE, array))
        there.difference_update(array for array in inner if self.along[array])
        phase.after[:0] = finished
        phase.after += gone

    def _enter(self, phase: Phase, edge: int, there: set[int]) -> None:
        """Load the arrays that an operation reads, those along the streamed axis in each round, and begin the sums to
        which it adds.
        """
        for array in dict.fromkeys(self.sources[edge]):
            if array in self.group.entering and array not in there:
                (phase.body if self.along[array] or not phase.streams else phase.before).append(Act(Kind.LOAD, array))
                there.add(array)
        for array in (*self._beside(edge), *(self.targets[edge] if edge in self.sums else ())):
            if array not in there:
                phase.before.append(Act(Kind.BEGIN, array))
                there.add(array)


def _columns(phases: Sequence[Phase], targets: dict[int, list[int]]) -> list[tuple[int, ...]]:
    held: set[int] = set()
    found: dict[tuple[int, ...], None] = {}
    for act in (act for phase in phases for act in phase.acts):
        if act.kind is Kind.FREE:
            held.discard(act.array)
        elif act.kind in (Kind.LOAD, Kind.BEGIN, Kind.RUN):
            held.update(targets[act.edge] if act.kind is Kind.RUN else [act.array])
            found[tuple(sorted(held))] = None
    return list(found)
