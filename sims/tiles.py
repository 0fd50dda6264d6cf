"""The execution of a group of operations tile by tile, in a small memory whose loaded, stored and held words are
counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from circuitize.backends.axes import ELEMENTWISE, HEXAGONS
from circuitize.backends.transfers.group import CUPS, Axis
from circuitize.backends.transfers.schedule import Act
from circuitize.backends.transfers.words import Partition
from circuitize.circuits import arrays
from circuitize.circuits.operation import Operation, Values

Ranges = Mapping[Axis, slice]


@dataclass
class Memory:
    """The small memory of an execution by tiles: its content by array, and the counts of words."""

    loaded: int = 0
    stored: int = 0
    peak: int = 0
    values: dict[int, Values] = field(default_factory=dict)
    free: set[int] = field(default_factory=set)
    """The arrays that take no words of memory: single numbers, and views of other arrays."""

    @property
    def moved(self) -> int:
        """Return the number of words loaded into the small memory and stored from it so far."""
        return self.loaded + self.stored

    def put(self, array: int, value: Values) -> None:
        """Put a value into the small memory under an array's number, in place of an earlier value, and count the words
        that the memory then holds.
        """
        self.values[array] = value
        self.peak = max(self.peak, sum(held.size for key, held in self.values.items() if key not in self.free))


class Tiles:
    """The execution of a partition on values of wires in a large memory, which counts the words that it moves."""

    def __init__(self, made: Partition, wires: Sequence[Values]) -> None:
        self.partition, self.wires = made, wires
        self.plan, self.group = made.schedule, made.schedule.group
        self.wiring = self.group.wiring
        own = range(len(self.group.arrays))
        self.numbers = {array for array in own if self.group.arrays[array].wire in self.wiring.numbers}
        self.memory = Memory(free={array for array in own if not self.group.takes_room(array)})
        self.results: dict[int, Values] = {}
        self.shown: dict[int, Sequence[int]] = {}
        """For each array that is a view of others, these others, which must be in the memory while it is read."""

    def run(self) -> dict[int, Values]:
        """Return the values of the wires that leave a group of operations, assembled from their tiles."""
        cut = {axis: tile for axis, tile in self.partition.tiles.items() if axis != self.plan.stream}
        for chosen in product(*(self._parts(axis, tile) for axis, tile in cut.items())):
            self._tile(dict(zip(cut, chosen, strict=True)))
            assert not self.memory.values, "a tile leaves nothing behind"
        return self.results

    def _parts(self, axis: Axis, tile: int) -> Iterator[slice]:
        extent = self.group.extents[axis]
        return (slice(start, min(start + tile, extent)) for start in range(0, extent, tile))

    def _tile(self, ranges: Ranges) -> None:
        stream = self.plan.stream
        for phase in self.plan.phases:
            self._do(phase.before, ranges)
            if phase.streams:
                assert stream is not None
                for part in self._parts(stream, self.partition.tiles[stream]):
                    self._do(phase.body, {**ranges, stream: part})
            else:
                self._do(phase.body, ranges)
            self._do(phase.after, ranges)

    def _do(self, acts: Sequence[Act], ranges: Ranges) -> None:
        for act in acts:
            getattr(self, f"_{act.kind.value}")(act, ranges)

    def _cut(self, array: int, ranges: Ranges) -> tuple[slice, ...]:
        return tuple(ranges.get(axis, slice(None)) for axis in self.plan.arrays[array].axes)

    def _load(self, act: Act, ranges: Ranges) -> None:
        value = self.wires[self.plan.arrays[act.array].wire][self._cut(act.array, ranges)].copy()
        self.memory.loaded += 0 if act.array in self.numbers else value.size
        self.memory.put(act.array, value)

    def _begin(self, act: Act, ranges: Ranges) -> None:
        held = self.plan.arrays[act.array]
        extents = [self.group.extents[axis] for axis in held.axes]
        cuts = zip(self._cut(act.array, ranges), extents, strict=True)
        shape = tuple(len(range(extent)[cut]) for cut, extent in cuts)
        start, kind = 0.0, np.result_type(*(value.dtype for value in self.memory.values.values()), np.int64)
        if act.array in self.plan.kept.values() or self._joins(act.array) == "maximum":
            start = -np.inf
        self.memory.put(act.array, np.full(shape, start, kind if start == 0 else np.float64))

    def _joins(self, array: int) -> str:
        own = (edge for (edge, _), made in self.group.writes.items() if made == array)
        return next((self.wiring.labels[edge].join for edge in own), "add")

    def _run(self, act: Act, ranges: Ranges) -> None:
        edge, group, values = act.edge, self.group, self.memory.values
        sources = [group.reads[edge, place] for place in range(len(self.wiring.rows[edge][1]))]
        targets = [group.writes[edge, place] for place in range(len(self.wiring.rows[edge][2]))]
        for array in sources:
            self._require(array)
        if isinstance(self.wiring.operations[edge], HEXAGONS):
            self.shown[targets[0]] = sources
        operands = [values[array] for array in sources]
        if edge in self.plan.kept:
            self._soften(edge, targets[0], operands[0])
            return
        made = self._computed(edge, sources, targets, operands, ranges)
        if self.plan.stream in group.summed[edge]:
            (target,) = targets
            join = np.maximum if self.wiring.labels[edge].join == "maximum" else np.add
            values[target] = join(values[target], made[0])
            return
        for target, value in zip(targets, made, strict=True):
            self.memory.put(target, value)

    def _require(self, array: int) -> None:
        """Raise AssertionError unless the small memory holds an array's elements, either as the array's own or as those
        of an array of which it is a view.
        """
        assert array in self.memory.values, "an operand lies in the small memory"
        for other in self.shown.get(array, ()):
            self._require(other)

    def _computed(
        self, edge: int, sources: Sequence[int], targets: Sequence[int], operands: Sequence[Values], ranges: Ranges
    ) -> Sequence[Values]:
        """Return the result of an operation on tiles of its operands. An operation whose parameters hold shapes is run
        on whole arrays that are zero outside the tile.
        """
        operation = self.wiring.operations[edge]
        if _is_of_any_shape(operation, operands):
            return operation.run(*operands)
        placed = []
        for array, tile in zip(sources, operands, strict=True):
            whole = np.zeros(self.wiring.shapes[self.plan.arrays[array].wire], tile.dtype)
            whole[self._cut(array, ranges)] = tile
            placed.append(whole)
        return [
            value[self._cut(array, ranges)].copy() for array, value in zip(targets, operation.run(*placed), strict=True)
        ]

    def _soften(self, edge: int, target: int, scores: Values) -> None:
        """Process a part of a row of a softmax: weights are relative to the greatest score so far, and sums of earlier
        weights are scaled accordingly.
        """
        values, first = self.memory.values, self.plan.kept[edge]
        axis = self.wiring.operations[edge].axis  # type: ignore[attr-defined]
        before, total = values[first], values[first + 1]
        greatest = np.maximum(before, scores.max(axis=axis))
        shrunk = np.exp(before - greatest)
        weights = np.exp(scores - np.expand_dims(greatest, axis))
        self.memory.put(target, weights)
        values[first] = greatest
        values[first + 1] = np.where(np.isinf(total), 0.0, total) * shrunk + weights.sum(axis=axis)
        for reader in self._weighing(target):
            sums = self.group.writes[reader, 0]
            values[sums] = values[sums] * self._spread(shrunk, first, sums)

    def _weighing(self, weights: int) -> list[int]:
        return [edge for (edge, _), array in self.group.reads.items() if array == weights]

    def _spread(self, rows: Values, array: int, onto: int) -> Values:
        """Return one number per row, as an array that broadcasts to another array."""
        axes, others = self.plan.arrays[array].axes, self.plan.arrays[onto].axes
        order = [axes.index(axis) for axis in others if axis in axes]
        shape = [rows.shape[axes.index(axis)] if axis in axes else 1 for axis in others]
        return rows.transpose(order).reshape(shape)

    def _finish(self, act: Act, ranges: Ranges) -> None:
        values, sums = self.memory.values, self.group.writes[act.edge, 0]
        for softmax, first in self.plan.kept.items():
            if self.group.writes[softmax, 0] in [a for (e, _), a in self.group.reads.items() if e == act.edge]:
                values[sums] = values[sums] / self._spread(values[first + 1], first + 1, sums)

    def _store(self, act: Act, ranges: Ranges) -> None:
        self._require(act.array)
        value, wire = self.memory.values[act.array], self.plan.arrays[act.array].wire
        place = self.results.setdefault(wire, np.full(self.wiring.shapes[wire], -77, value.dtype))
        place[self._cut(act.array, ranges)] = value
        self.memory.stored += value.size

    def _free(self, act: Act, ranges: Ranges) -> None:
        del self.memory.values[act.array]


def _is_of_any_shape(operation: Operation, operands: Sequence[Values]) -> bool:
    if isinstance(operation, (*CUPS, arrays.Sum, arrays.Max, arrays.Softmax)):
        return True
    pointwise = isinstance(operation, ELEMENTWISE) or getattr(operation, "pointwise", False)
    return bool(pointwise) and len({operand.shape for operand in operands}) == 1
