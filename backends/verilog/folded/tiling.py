"""Tilings: the ways in which the loop nest of a stage is spread over lanes and clocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .counter import BLOCK_WORDS
from .graph import Operand, Stage
from .reads import NOTHING, Reads, distinct
from .terms import Terms

Indices = NDArray[np.int64]
Entry = TypeVar("Entry", bound=np.generic)

RAGGED = 1.0
"""How much dearer lanes are that do not divide an axis: addresses then often follow no counter, but a table."""


TABLES = 0.6
"""LUTs that a clock costs where shared lanes do not divide an axis: addresses are then read from tables, in blocks."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """The way in which a stage runs on hardware.

    A pass makes `lanes` target elements at once; each element takes `split` terms a clock, and in each clock `units`
    elements go through the operations on the result and are written. `order` [passes, lanes] holds the target elements,
    and NOTHING where a lane idles; `near` holds the nearest element there instead. `late` is the result of
    `Choice.late`.
    """

    lanes: int
    split: int
    units: int
    terms: int
    order: Indices
    near: Indices
    reduces: bool
    late: tuple[bool, bool]

    @property
    def passes(self) -> int:
        """Return the number of passes that make the whole target."""
        return len(self.order)

    @property
    def reading(self) -> int:
        """Return the number of clocks of a pass in which terms are read."""
        return -(-self.terms // self.split)

    @property
    def drain(self) -> int:
        """Return the number of clocks in which the results of a pass are written."""
        return -(-self.lanes // self.units)

    @property
    def clocks(self) -> int:
        """Return the number of clocks of a pass."""
        return max(self.reading, self.drain)

    @property
    def cycles(self) -> int:
        """Return the number of clocks that the stage takes for a frame."""
        return self.passes * self.clocks

    @property
    def spare(self) -> int:
        """Return how many terms of a result are lacking in the last clock of a pass."""
        return self.reading * self.split - self.terms

    def written(self) -> Indices:
        """Return the elements that the stage writes, as a table [steps, units]."""
        return self._drained(self.order, NOTHING).reshape(-1, self.units)

    def reads(self, operand: Operand) -> Reads:
        """Return what an operand reads; passes whose lanes read the same terms have their rows in common."""
        if not isinstance(operand.at, Terms):
            near = self._drained(self.near, None).reshape(-1, self.units)
            return Reads.of(operand.at[near], self.written() >= 0)
        rows = operand.at.row[self.near]
        first, kind = distinct(np.where(self.order >= 0, rows, -1 - rows))
        terms = np.arange(self.reading * self.split)
        at = operand.at.rows[rows[first][:, :, None], np.minimum(terms, self.terms - 1)]
        valid = (self.order[first] >= 0)[:, :, None] & (terms < self.terms)
        row = kind[:, None] * self.reading + np.arange(self.reading)
        return Reads(self._read(at), self._read(valid), row.reshape(-1))

    def _read(self, found: NDArray[Entry]) -> NDArray[Entry]:
        """Return a table of passes, lanes and terms as rows of what is read in a clock."""
        shape = (-1, self.lanes, self.reading, self.split)
        return found.reshape(shape).transpose(0, 2, 1, 3).reshape(-1, self.lanes * self.split)

    def _drained(self, order: Indices, fill: int | None) -> Indices:
        missing = self.drain * self.units - self.lanes
        if not missing:
            return order
        extra = np.repeat(order[:, -1:], missing, axis=1) if fill is None else np.full((len(order), missing), fill)
        return np.concatenate([order, extra], axis=1)


@dataclass(frozen=True)
class Choice:
    """The sizes of a tiling, which are chosen before its tables are made."""

    axis: int
    outside: int
    inner: int
    tile: int
    lanes: int
    passes: int
    split: int
    units: int
    cycles: int

    def late(self, stage: Stage) -> tuple[bool, bool]:
        """Return whether values from memory pass one more register, for lanes and for units.

        Values from memory pass one more register if some operand is likely to be in block memory, whose data come too
        late in a clock for a multiplier. Operands that are read in few clocks are kept in LUTs.
        """
        clocks = {True: self.passes * -(-stage.terms // self.split), False: -(-stage.size // self.units)}
        lies = {side: [o for o in stage.operands if o.in_reduction is side] for side in (True, False)}
        return _large(lies[True], clocks[True]), _large(lies[False], clocks[False])


def _large(operands: list[Operand], clocks: int) -> bool:
    sizes = [operand.format.size if operand.amounts is None else operand.amounts.size for operand in operands]
    return clocks > BLOCK_WORDS and max(sizes, default=0) > BLOCK_WORDS


def lane_axis(stage: Stage) -> int:
    """Return the axis that lanes spread over: the one along which the fewest operands in memory vary, and of such axes
    the one along which the fewest operands of all vary.
    """
    best, chosen = None, max(0, len(stage.shape) - 1)
    for axis, extent in enumerate(stage.shape):
        if extent == 1:
            continue
        varying = [o for o in stage.operands if o.in_reduction and varies(o, stage.shape, axis)]
        memory = sum(o.amounts is None for o in varying)
        key = (memory, len(varying), -extent, -axis)
        if best is None or key < best:
            best, chosen = key, axis
    return chosen


def varies(operand: Operand, shape: tuple[int, ...], axis: int) -> bool:
    """Return whether the elements of an operand differ along an axis of the stage's target."""
    at = (operand.at.row if isinstance(operand.at, Terms) else operand.at).reshape(shape)
    return bool((np.take(at, [0], axis) != at).any())


def choose(
    stage: Stage, budget: int, axis: int, widths: tuple[int, int, int], ordered: bool = False, whole: bool = False
) -> Choice:
    """Return the cheapest sizes with which a stage takes at most `budget` clocks a frame, or the fastest sizes if there
    are none.

    `widths` are the relative costs of a multiplier, of a lane, and of a unit. If `ordered` is true, the elements are
    written in row-major order, a power of two of them a clock or all at once, and lanes spread over the last axis. If
    `whole` is true, a stage without a reduction writes whole rows, or equal parts of a row, in each clock.
    """
    if not stage.reduction:
        units = min(stage.size, -(-stage.size // max(1, budget)))
        units = _even(stage.size, stage.size, units) if ordered else _rows(stage.shape, units) if whole else units
        passes = -(-stage.size // units)
        return Choice(max(0, len(stage.shape) - 1), 1, stage.size, 1, units, passes, 1, units, passes)
    best: tuple[tuple[int, float], Choice] | None = None
    for outside, inner, tile, lanes, passes in _tiles(stage.shape, axis):
        if ordered and passes * lanes != stage.size:
            continue
        room = max(1, budget // passes)
        least = 1 if stage.reduction == "argmax" else -(-stage.terms // room)
        for split in {least, divisor(stage.terms, least)}:
            reading = -(-stage.terms // split)
            fewest = -(-lanes // max(room, reading))
            for units in {_even(stage.size, lanes, fewest)} if ordered else {fewest, divisor(lanes, fewest)}:
                cycles = passes * max(reading, -(-lanes // units))
                ragged = (passes * lanes > stage.size) + (stage.terms % split > 0) + (lanes % units > 0)
                cost = (widths[0] + widths[1]) * lanes * split + (widths[2] + widths[1] * (split - 1)) * units
                key = (max(0, cycles - budget), cost * (1 + RAGGED * ragged) + cycles * 1e-6)
                if best is None or key < best[0]:
                    best = key, Choice(axis, outside, inner, tile, lanes, passes, split, units, cycles)
    assert best is not None
    return best[1]


FED = 10
"""What a lane of a shared pool costs a stage that takes it, in LUTs: memories, and what selects its factors."""


def choices_shared(
    stage: Stage,
    most: int,
    axis: int,
    widths: tuple[int, int, int],
    price: float,
    ordered: bool = False,
    whole: bool = False,
) -> list[tuple[float, Choice]]:
    """Return the sizes of a stage on at most `most` lanes of a pool, each with what it costs in clocks, if each LUT
    counts as `price` clocks; the cheapest come first.

    `widths` and `ordered` are as in `choose`. If `whole` is true, each lane makes an element in each pass. The number
    of units divides the number of lanes.
    """
    found: list[tuple[float, Choice]] = []
    for outside, inner, tile, lanes, passes in _tiles(stage.shape, axis, most):
        if (ordered or whole) and passes * lanes != stage.size:
            continue
        parts = min(most // lanes, stage.terms)
        even = {split for split in range(1, parts) if stage.terms % split == 0}
        for split in {-(-stage.terms // -(-stage.terms // parts)), *even}:
            reading = -(-stage.terms // split)
            fewest = divisor(lanes, -(-lanes // reading))
            for units in (k for k in range(1, fewest + 1) if lanes % k == 0):
                if ordered and units & (units - 1) and units != stage.size:
                    continue
                drain = lanes // units
                cycles = passes * max(reading, drain)
                ragged = (passes * lanes > stage.size) + (stage.terms % split > 0)
                luts = FED * lanes * split + (widths[2] + widths[1] * (split - 1)) * units
                key = cycles + drain + price * (luts + TABLES * ragged * cycles)
                found.append((key, Choice(axis, outside, inner, tile, lanes, passes, split, units, cycles)))
    return sorted(found, key=lambda one: one[0])


def _tiles(shape: tuple[int, ...], axis: int, most: int = 0) -> list[tuple[int, int, int, int, int]]:
    """Return (groups outside, elements inside, tile of the next axis, lanes, passes) for all tilings, with the axis of
    the lanes innermost.

    If `most` is not 0, only tilings of at most so many lanes are returned.
    """
    order = [n for i, n in enumerate(shape) if i != axis] + ([shape[axis]] if shape else [1])
    found, inner = [], 1
    for place in range(len(order) - 1, -1, -1):
        extent = order[place]
        outside = math.prod(order[:place])
        few = range(1, min(extent, most // inner) + 1)
        groups = {-(-extent // tile) for tile in few} if most else range(1, min(extent, 512) + 1)
        tiles = {-(-extent // count) for count in groups}
        found += [(outside, inner, tile, inner * tile, outside * -(-extent // tile)) for tile in sorted(tiles)]
        inner *= extent
    return found


def _rows(shape: tuple[int, ...], least: int) -> int:
    """Return the fewest elements, from `least` on, that make equal parts of a row, of a plane and so on; `least` if
    these are twice as many or more.
    """
    found, inner = [], 1
    for extent in reversed(shape):
        found += [inner * part for part in range(1, extent + 1) if extent % part == 0 and least <= inner * part]
        inner *= extent
    return min(found) if found and min(found) < 2 * least else least


def divisor(number: int, least: int) -> int:
    """Return the smallest divisor of a number that is at least `least`."""
    return next(k for k in range(least, number + 1) if number % k == 0)


def _even(size: int, lanes: int, least: int) -> int:
    """Return the fewest units, from `least` on, that divide the lanes and are a power of two or as many as all
    elements; if there are none, the greatest power of two that divides the lanes.
    """
    fits = [k for k in range(least, lanes + 1) if lanes % k == 0 and (k & (k - 1) == 0 or k == size)]
    return fits[0] if fits else max(k for k in range(1, lanes + 1) if lanes % k == 0 and k & (k - 1) == 0)


def tile(stage: Stage, choice: Choice) -> Tiling:
    """Return the tiling of the given sizes, with its tables."""
    flat = np.arange(stage.size, dtype=np.int64)
    if stage.shape:
        flat = np.moveaxis(flat.reshape(stage.shape), choice.axis, -1).reshape(-1)
    rows = flat.reshape(choice.outside, -1, choice.inner)
    places = np.arange(-(-rows.shape[1] // choice.tile) * choice.tile)
    near = rows[:, np.minimum(places, rows.shape[1] - 1)]
    if not stage.reduction:
        own = near.reshape(-1)
        missing = choice.passes * choice.units - stage.size
        order = np.concatenate([own, np.full(missing, NOTHING)]).reshape(choice.passes, choice.units)
        near = np.concatenate([own, np.full(missing, own[-1])]).reshape(choice.passes, choice.units)
        return Tiling(choice.units, 1, choice.units, 1, order, near, False, choice.late(stage))
    order = np.where((places < rows.shape[1])[None, :, None], near, NOTHING)
    shape = (choice.passes, choice.lanes)
    return Tiling(
        choice.lanes,
        choice.split,
        choice.units,
        stage.terms,
        order.reshape(shape),
        near.reshape(shape),
        True,
        choice.late(stage),
    )
