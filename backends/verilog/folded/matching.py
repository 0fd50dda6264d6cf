"""Sizes of stages with which tensors lie in few memories: what a stage writes in one clock is, as far as possible, what
a reader reads in one clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..signals import element
from .budget import sizes, widths_of
from .folding import Fold
from .following import followed
from .graph import Operand
from .lending import away, sent_by
from .prices import LANE, WHOLE_LANE, price_of
from .rematerialization import BITS
from .sizes import Sizes
from .tiling import Choice, Tiling, choices_shared, choose, tile

TRIED = 8
"""Sizes of a stage that are tried."""
ROUNDS = 2
"""How often all stages are gone through."""
INPUT = -1
"""The number of the writer of what is no stage's."""
DEEP = 64
"""Words from which on memories are in blocks."""
UNITS = (1, 2, 4, 8, 16)
"""Numbers of units that are tried of stages that do not share lanes."""


class Matching:
    """The search for sizes that match, in designs of one program with shared lanes.

    Each stage in turn takes those of its sizes that cost least beside the present sizes of the stages that write what
    it reads, and of those that read what it writes. A LUT counts as the clocks that one lane more would save, divided
    by WHOLE_LANE.
    """

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        writers = {stage.wire: number for number, stage in enumerate(self.fold.stages)}
        self._beside: dict[int, list[tuple[int, int, Operand]]] = {k: [] for k in range(len(self.fold.stages))}
        for number, stage in enumerate(self.fold.stages):
            for operand in stage.operands:
                writer = writers.get(self.fold.states.get(operand.wire, operand.wire), INPUT)
                if operand.amounts is None:
                    for k in {writer, number} - {INPUT}:
                        self._beside[k].append((writer, number, operand))
        self._followers: dict[int, list[int]] = {}
        for follower, leader in self.fold.leaders.items():
            self._followers.setdefault(leader, []).append(follower)
        self._known_candidates: dict[int, list[list[tuple[float, Choice, int]]]] = {}
        self._tilings: dict[tuple[int, Choice], Tiling] = {}
        self._known: dict[tuple[int, Choice | None, int, Choice, str], float] = {}

    def sizes(self, found: Sizes, most: int, borrows: bool = False) -> Sizes:
        """Return the sizes that are found from given ones, with as many shared lanes, if no stage makes more than
        `most` products outside in a clock, or as few as it can; `borrows` is that of `with_turns`.
        """
        assert found.pool is not None
        given, price = dict(enumerate(found.choices)), self._price(found.pool.size)
        for _ in range(ROUNDS):
            for number, candidates in enumerate(self.candidates(found.pool.size)):
                if self._follows(given, number):
                    continue
                least = max(most, min(sent for _, _, sent in candidates))
                allowed = [(cost, one) for cost, one, sent in candidates if sent <= least]
                if number in self.fold.members:
                    allowed = _different(allowed)
                tried = [(cost, self._led(number, choice, most)) for cost, choice in allowed]
                costs = [cost + price * self._memories({**given, **made}, made) for cost, made in tried]
                given |= tried[int(np.argmin(costs))][1]
        return sizes(self.fold, found.target, pool_size=found.pool.size, given=given, borrows=borrows)

    def candidates(self, size: int) -> list[list[tuple[float, Choice, int]]]:
        """Return sizes of each stage of a design with `size` shared lanes, each with its clocks and what its lanes and
        units cost in clocks, and with the products that it makes outside in a clock.
        """
        if size not in self._known_candidates:
            self._known_candidates[size] = [list(self._sizes_of(k, size)) for k in range(len(self.fold.stages))]
        return self._known_candidates[size]

    def _price(self, size: int) -> float:
        return price_of(self.fold, size) * LANE / WHOLE_LANE

    def _sizes_of(self, number: int, size: int) -> Iterator[tuple[float, Choice, int]]:
        """Yield the candidates of a stage; of a stage on shared lanes, the cheapest come first."""
        fold, stage, widths, price = (
            self.fold,
            self.fold.stages[number],
            widths_of(self.fold, number),
            self._price(size),
        )
        if number not in fold.members:
            for units in UNITS:
                budget = -(-stage.size * stage.terms // units)
                choice = choose(stage, budget, fold.axes[number], widths, False, True)
                cost = choice.cycles + price * (widths[2] * choice.units + widths[1] * choice.lanes)
                yield cost, choice, len(sent_by(fold, number, choice).bits)
            return
        ordered = stage.wire in fold.states.values()
        axes = [fold.axes[number]] if ordered else range(max(1, len(stage.shape)))
        every = [
            one
            for axis in axes
            for one in choices_shared(stage, size, axis, widths, price, whole=number in self._followers)
        ]
        for cost, choice in sorted(every, key=lambda one: one[0]):
            yield cost, choice, len(sent_by(fold, number, choice).bits)

    def _follows(self, given: Mapping[int, Choice], number: int) -> bool:
        """Return whether a stage has the sizes with which it follows another one."""
        leader = self.fold.leaders.get(number)
        return leader is not None and followed(self.fold.stages[number], given[leader]) is not None

    def _led(self, number: int, choice: Choice, most: int) -> dict[int, Choice]:
        """Return the sizes of a stage, and those of all stages that follow it then and make at most `most` products
        outside in a clock, or as few as they can.
        """
        found = {number: choice}
        for follower in self._followers.get(number, ()):
            products = len(away(self.fold, follower, 1)[1])
            own = followed(self.fold.stages[follower], choice, max(1, most // products) if products else None)
            found |= self._led(follower, own, most) if own is not None else {}
        return found

    def _memories(self, given: Mapping[int, Choice], changed: Iterable[int]) -> float:
        """Return the LUTs of the memories that given stages read and write."""
        found = {
            (writer, reader, operand.name): operand for k in changed for writer, reader, operand in self._beside[k]
        }
        return sum(self._lut(given, writer, reader, operand) for (writer, reader, _), operand in found.items())

    def _lut(self, given: Mapping[int, Choice], writer: int, reader: int, operand: Operand) -> float:
        key = writer, given.get(writer), reader, given[reader], operand.name
        if key not in self._known:
            self._known[key] = self.fold.spread(reader, given[reader])[operand.name] / BITS
            if writer != INPUT:
                written, read = self._tiling(writer, given[writer]), self._tiling(reader, given[reader])
                self._known[key] += scattered(written, read, operand, element(operand.format).width)
        return self._known[key]

    def _tiling(self, number: int, choice: Choice) -> Tiling:
        if (number, choice) not in self._tilings:
            self._tilings[number, choice] = tile(self.fold.stages[number], choice)
        return self._tilings[number, choice]


def _different(allowed: list[tuple[float, Choice]]) -> list[tuple[float, Choice]]:
    """Return the first sizes of each axis and each number of terms a clock, TRIED at most."""
    best: dict[tuple[int, int], tuple[float, Choice]] = {}
    for cost, choice in allowed:
        best.setdefault((choice.axis, choice.split), (cost, choice))
    return list(best.values())[:TRIED]


def scattered(written: Tiling, read: Tiling, operand: Operand, width: int) -> float:
    """Return an estimate of the LUTs of the memories in which an operand lies: those of memories of few words, and
    those that select a memory for each column.
    """
    columns, _ = read.reads(operand).columns
    lane, steps = np.zeros(operand.format.size, np.int64), written.written()
    at, lanes = np.nonzero(steps >= 0)
    lane[steps[at, lanes]] = lanes
    rows, places = np.nonzero(columns >= 0)
    pairs = np.unique(places * written.units + lane[columns[rows, places]])
    ways = np.bincount(pairs // written.units)
    words = -(-operand.format.size // len(pairs))
    held = 0.0 if words >= DEEP else len(pairs) * width * 0.67 * -(-words // 32)
    return held + width * float((0.47 * ways - 0.8).clip(0)[ways > 1].sum())
