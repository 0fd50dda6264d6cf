"""A group of operations that share tiles: its arrays, and the axes that these arrays have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Shape

from ..axes import HEXAGONS
from .labels import CUPS as CUPS
from .labels import Labels, labels

Axis = int
"""An axis of a group, which joins all axes of arrays that must be cut alike."""


class Wiring:
    """An arrow together with facts that are needed again and again: the labels of its operations, and the writers and
    readers of its wires.
    """

    def __init__(self, arrow: Arrow) -> None:
        self.arrow = arrow
        self.rows = arrow.rows
        self.operations = [arrow.operations[row[0]] for row in arrow.rows]
        self.shapes: list[Shape] = [arrow.type(wire).shape for wire in range(arrow.wire_count)]
        self.labels: list[Labels] = []
        self.writer = [-1] * arrow.wire_count
        self.readers: list[list[int]] = [[] for _ in range(arrow.wire_count)]
        self.outputs = frozenset(arrow.outputs.tolist())
        self.numbers: set[int] = set()
        """The wires of constants whose elements are one number, which no memory holds."""
        for edge, (_, sources, targets, _) in enumerate(self.rows):
            shapes = (tuple(self.shapes[wire] for wire in wires) for wires in (sources, targets))
            self.labels.append(labels(self.operations[edge], *shapes))
            for wire in targets:
                self.writer[wire] = edge
            for wire in dict.fromkeys(sources):
                self.readers[wire].append(edge)
            constant = self.operations[edge].constant
            if constant is not None and constant.size and np.all(constant == constant.flat[0]):
                self.numbers.update(targets)

    def computes(self, edge: int) -> bool:
        """Return whether an operation computes something, unlike constants, which are in memory, and movements, which
        only change addresses.
        """
        return bool(self.rows[edge][1]) and not isinstance(self.operations[edge], HEXAGONS)

    def products(self, edge: int) -> int:
        """Return the number of multiplications of an operation whose products are accumulated, which only contractions
        have.
        """
        if not isinstance(self.operations[edge], CUPS):
            return 0
        extents: dict[str, int] = {}
        for own, wire in zip(self.labels[edge].sources, self.rows[edge][1], strict=True):
            extents |= dict(zip(own, self.shapes[wire], strict=True))
        return math.prod(extents.values())


@dataclass(frozen=True, slots=True)
class Held:
    """An array of a group: its wire, or -1 for an array that a softmax keeps in addition to its result, and its
    axes.
    """

    wire: int
    axes: tuple[Axis, ...]


class Group:
    """A group of operations of an arrow that run together, tile by tile.

    Two axes of arrays in a group are the same axis if an operation of the group makes them equal. An array from outside
    the group that is read in two ways counts as two arrays of the group. The axes in the field `whole` of a group
    cannot be cut; an axis that occurs twice in one array is among them.
    """

    def __init__(self, wiring: Wiring, edges: Iterable[int]) -> None:
        self.wiring = wiring
        self.edges = sorted(edges)
        self.arrays: list[Held] = []
        self.extents: list[int] = []
        self.reads: dict[tuple[int, int], int] = {}
        self.writes: dict[tuple[int, int], int] = {}
        self.entering: set[int] = set()
        self.leaving: list[int] = []
        self.names: dict[int, str] = {}
        self._unite()

    def size(self, array: int) -> int:
        """Return the number of words that an array of the group has, where a single number counts as 0."""
        held = self.arrays[array]
        return 0 if held.wire in self.wiring.numbers else math.prod(self.extents[axis] for axis in held.axes)

    @cached_property
    def behind(self) -> dict[int, set[int]]:
        """Return, for each array that a movement of elements made, the arrays whose elements it shows: such an array
        takes no room in memory.
        """
        found: dict[int, set[int]] = {}
        for edge in self.edges:
            if isinstance(self.wiring.operations[edge], HEXAGONS):
                sources = [self.reads[edge, place] for place in range(len(self.wiring.rows[edge][1]))]
                shown = set(sources).union(*(found.get(source, set()) for source in sources))
                found[self.writes[edge, 0]] = shown
        return found

    def takes_room(self, array: int) -> bool:
        """Return whether an array of the group takes room in the small memory."""
        return array not in self.behind and self.arrays[array].wire not in self.wiring.numbers

    def _unite(self) -> None:
        wiring, inside = self.wiring, set(self.edges)
        parent: dict[tuple[int, str], tuple[int, str]] = {}

        def find(node: tuple[int, str]) -> tuple[int, str]:
            while (above := parent.setdefault(node, node)) != node:
                parent[node] = node = parent[above]
            return node

        for edge in self.edges:
            for place, wire in enumerate(wiring.rows[edge][1]):
                writer = wiring.writer[wire]
                if writer in inside:
                    at = wiring.rows[writer][2].index(wire)
                    pairs = zip(wiring.labels[writer].targets[at], wiring.labels[edge].sources[place], strict=True)
                    for one, other in pairs:
                        parent[find((writer, one))] = find((edge, other))
        numbered: dict[tuple[int, str], Axis] = {}
        self._axis = {
            (edge, label): numbered.setdefault(find((edge, label)), len(numbered))
            for edge in self.edges
            for own in (*wiring.labels[edge].sources, *wiring.labels[edge].targets)
            for label in own
        }
        self.extents = [0] * len(numbered)
        self._collect(inside)

    def _collect(self, inside: set[int]) -> None:
        wiring, known = self.wiring, dict[Held, int]()

        def array(edge: int, wire: int, own: Sequence[str]) -> int:
            held = Held(wire, tuple(self._axis[edge, label] for label in own))
            for axis, extent in zip(held.axes, wiring.shapes[wire], strict=True):
                self.extents[axis] = extent
            if held not in known:
                known[held] = len(self.arrays)
                self.arrays.append(held)
            return known[held]

        for edge in self.edges:
            for place, (wire, own) in enumerate(zip(wiring.rows[edge][1], wiring.labels[edge].sources, strict=True)):
                self.reads[edge, place] = array(edge, wire, own)
                if wiring.writer[wire] not in inside:
                    self.entering.add(self.reads[edge, place])
            for place, (wire, own) in enumerate(zip(wiring.rows[edge][2], wiring.labels[edge].targets, strict=True)):
                made = self.writes[edge, place] = array(edge, wire, own)
                if wire in wiring.outputs or not inside.issuperset(wiring.readers[wire]):
                    self.leaving.append(made)
            if isinstance(wiring.operations[edge], CUPS):
                for own in wiring.labels[edge].sources:
                    for letter in own:
                        self.names.setdefault(self._axis[edge, letter], letter)

    def axes(self, edge: int, own: Iterable[str]) -> set[Axis]:
        """Return the axes of the group to which the given labels of an operation correspond."""
        return {self._axis[edge, label] for label in own}

    @cached_property
    def summed(self) -> dict[int, set[Axis]]:
        """Return, for each operation, the axes over which it can sum in parts."""
        return {edge: self.axes(edge, self.wiring.labels[edge].summed) for edge in self.edges}

    @cached_property
    def softened(self) -> dict[int, set[Axis]]:
        """Return, for each operation that is a softmax, the axis of the softmax, and for each other operation no
        axis.
        """
        return {edge: self.axes(edge, self.wiring.labels[edge].softened) for edge in self.edges}

    @cached_property
    def whole(self) -> set[Axis]:
        """Return the axes of the group that cannot be cut, because an operation needs them whole or an array has them
        twice.
        """
        found: set[Axis] = set()
        for edge in self.edges:
            found |= self.axes(edge, self.wiring.labels[edge].whole)
        for held in self.arrays:
            found |= {axis for axis in held.axes if held.axes.count(axis) > 1}
        return found

    @property
    def apart(self) -> bool:
        """Return whether no array of the group has an axis twice."""
        return all(len(set(held.axes)) == len(held.axes) for held in self.arrays)

    @cached_property
    def cut(self) -> list[Axis]:
        """Return the axes that can be cut into tiles of the results: all arrays that leave the group have them, and no
        operation sums over them.
        """
        closed = self.whole.union(*self.summed.values(), *self.softened.values())
        return [
            axis
            for axis in range(len(self.extents))
            if axis not in closed and all(axis in self.arrays[array].axes for array in self.leaving)
        ]

    @cached_property
    def streamed(self) -> list[Axis]:
        """Return the axes of the group that can be walked part by part while the sums over them are kept."""
        found = set[Axis]().union(*self.summed.values()) - self.whole
        return sorted(axis for axis in found if self.extents[axis] > 1 and self._flows(axis))

    def _flows(self, axis: Axis) -> bool:
        """Return whether every softmax along an axis is read only by sums over this axis, which can be rescaled as they
        grow.
        """
        for edge, own in self.softened.items():
            if axis not in own:
                continue
            weights = self.writes[edge, 0]
            if weights in self.leaving:
                return False
            rows = {*self.arrays[weights].axes} - {axis}
            readers = [reader for (reader, _), array in self.reads.items() if array == weights]
            for reader in readers:
                if axis not in self.summed[reader] or not rows <= {*self.arrays[self.writes[reader, 0]].axes}:
                    return False
        return True
