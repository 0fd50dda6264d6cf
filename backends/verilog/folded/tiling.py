"""Tilings: how the loop nest of a stage is spread over lanes and clocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .counter import BLOCK_WORDS
from .graph import Operand, Stage
from .layout import NOTHING

Indices = NDArray[np.int64]

RAGGED = 1.0
"""How much dearer lanes are that do not divide an axis: addresses then often follow no counter, but a table."""


TABLES = 0.6
"""LUTs that a clock costs where shared lanes do not divide an axis: addresses are then read from tables, in blocks."""


@dataclass(frozen=True, eq=False)
class Tiling:
    """A stage on hardware.

    In a pass, `lanes` target elements are made at once; each of their lanes takes `split` terms a clock, `units` of
    them a clock go through the result's operations and are written. `order` [passes, lanes] are the target elements,
    NOTHING where a lane idles; `near` is the same with the nearest element in those places. `late` is `Choice.late`.
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
        """Return how many passes make the whole target."""
        return len(self.order)

    @property
    def reading(self) -> int:
        """Clocks of a pass in which terms are read."""
        return -(-self.terms // self.split)

    @property
    def drain(self) -> int:
        """Clocks in which the results of a pass are written."""
        return -(-self.lanes // self.units)

    @property
    def clocks(self) -> int:
        """Clocks of a pass."""
        return max(self.reading, self.drain)

    @property
    def cycles(self) -> int:
        """Clocks of a frame."""
        return self.passes * self.clocks

    @property
    def spare(self) -> int:
        """Terms of the last clock of a pass that do not exist."""
        return self.reading * self.split - self.terms

    def written(self) -> Indices:
        """The elements written, [steps, units]."""
        return self._drained(self.order, NOTHING).reshape(-1, self.units)

    def reads(self, operand: Operand) -> tuple[Indices, NDArray[np.bool_]]:
        """The elements an operand reads, [steps, places], and which of them matter."""
        if not operand.in_reduction:
            near = self._drained(self.near, None).reshape(-1, self.units)
            return operand.at[near], self.written() >= 0
        terms = np.arange(self.reading * self.split)
        real = terms < self.terms
        at = operand.at[self.near[:, :, None], np.minimum(terms, self.terms - 1)[None, None, :]]
        valid = (self.order >= 0)[:, :, None] & real[None, None, :]
        shape = (self.passes, self.lanes, self.reading, self.split)
        places = self.lanes * self.split
        return (
            at.reshape(shape).transpose(0, 2, 1, 3).reshape(-1, places),
            np.broadcast_to(valid, at.shape).reshape(shape).transpose(0, 2, 1, 3).reshape(-1, places),
        )

    def _drained(self, order: Indices, fill: int | None) -> Indices:
        missing = self.drain * self.units - self.lanes
        if not missing:
            return order
        extra = np.repeat(order[:, -1:], missing, axis=1) if fill is None else np.full((len(order), missing), fill)
        return np.concatenate([order, extra], axis=1)


@dataclass(frozen=True)
class Choice:
    """Sizes of a tiling, before its tables are made."""

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
        """Whether what is read from memory takes a register more, in lanes and in units.

        That is so where some operand is likely to lie in block memory, whose data are late in a clock: too late for a
        multiplier. LUTs hold what is read in few clocks.
        """
        clocks = {True: self.passes * -(-stage.terms // self.split), False: -(-stage.size // self.units)}
        lies = {side: [o for o in stage.operands if o.in_reduction is side] for side in (True, False)}
        return _large(lies[True], clocks[True]), _large(lies[False], clocks[False])


def _large(operands: list[Operand], clocks: int) -> bool:
    sizes = [operand.format.size if operand.amounts is None else operand.amounts.size for operand in operands]
    return clocks > BLOCK_WORDS and max(sizes, default=0) > BLOCK_WORDS


def lane_axis(stage: Stage) -> int:
    """The axis that lanes spread over: that along which the fewest operands in memory, then the fewest of all, vary."""
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
    """Return whether an operand's elements differ along an axis of what is made."""
    at = operand.at.reshape(*shape, -1)
    return bool((np.take(at, [0], axis) != at).any())


def choose(
    stage: Stage, budget: int, axis: int, widths: tuple[int, int, int], ordered: bool = False, whole: bool = False
) -> Choice:
    """The cheapest sizes with which a frame takes at most `budget` clocks, or the quickest if none do.

    `widths` are relative costs: of a multiplier, of a lane, of a unit for the result's operations. With `ordered` the
    elements are written in row-major order, a power of two of them a clock or all at once, and lanes spread over the
    last axis. With `whole`, where nothing is reduced, as many elements a clock as make whole rows, or parts of one.
    """
    if not stage.reduction:
        units = min(stage.size, -(-stage.size // max(1, budget)))
        units = _even(stage.size, stage.size, units) if ordered else _rows(stage.shape, units) if whole else units
        passes = -(-stage.size // units)
        return Choice(axis, 1, stage.size, 1, units, passes, 1, units, passes)
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


def choose_shared(
    stage: Stage, most: int, axis: int, widths: tuple[int, int, int], price: float, ordered: bool = False
) -> Choice:
    """The sizes on at most so many lanes of a pool that cost least: clocks, and LUTs at a price of so many clocks each.

    `widths` and `ordered` are as those of `choose`. Units divide the lanes.
    """
    best: tuple[float, Choice] | None = None
    for outside, inner, tile, lanes, passes in _tiles(stage.shape, axis, most):
        if ordered and passes * lanes != stage.size:
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
                if best is None or key < best[0]:
                    best = key, Choice(axis, outside, inner, tile, lanes, passes, split, units, cycles)
    assert best is not None
    return best[1]


def _tiles(shape: tuple[int, ...], axis: int, most: int = 0) -> list[tuple[int, int, int, int, int]]:
    """(groups outside, elements inside, tile of the next axis, lanes, passes) of all tilings, lane axis innermost.

    With `most`, those of at most so many lanes.
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
    """The fewest elements from `least` on that are equal parts of a row, of a plane and so on; fewer than twice."""
    found, inner = [], 1
    for extent in reversed(shape):
        found += [inner * part for part in range(1, extent + 1) if extent % part == 0 and least <= inner * part]
        inner *= extent
    return min(found) if found and min(found) < 2 * least else least


def divisor(number: int, least: int) -> int:
    """The smallest divisor from `least` on."""
    return next(k for k in range(least, number + 1) if number % k == 0)


def _even(size: int, lanes: int, least: int) -> int:
    """The fewest units from `least` on that are a power of two and divide the lanes; all elements where none does."""
    fits = [k for k in range(least, lanes + 1) if lanes % k == 0 and (k & (k - 1) == 0 or k == size)]
    return fits[0] if fits else max(k for k in range(1, lanes + 1) if lanes % k == 0 and k & (k - 1) == 0)


def tile(stage: Stage, choice: Choice) -> Tiling:
    """The tables of a choice."""
    flat = np.arange(stage.size, dtype=np.int64)
    if not stage.reduction:
        missing = choice.passes * choice.units - stage.size
        order = np.concatenate([flat, np.full(missing, NOTHING)]).reshape(choice.passes, choice.units)
        near = np.concatenate([flat, np.full(missing, stage.size - 1)]).reshape(choice.passes, choice.units)
        return Tiling(choice.units, 1, choice.units, 1, order, near, False, choice.late(stage))
    if stage.shape:
        flat = np.moveaxis(flat.reshape(stage.shape), choice.axis, -1).reshape(-1)
    rows = flat.reshape(choice.outside, -1, choice.inner)
    places = np.arange(-(-rows.shape[1] // choice.tile) * choice.tile)
    near = rows[:, np.minimum(places, rows.shape[1] - 1)]
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
