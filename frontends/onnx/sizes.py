"""A builder of arrows that refuses tensors of too many elements before anything of their size exists."""

from __future__ import annotations

import math

from circuitize.circuits.arrays import Transpose
from circuitize.circuits.builder import Builder
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Array, Shape

from .model import MOST
from .whole import bounded


class Bounded(Builder):
    """A builder of arrows whose wires each have at most `most` elements. Raise TypingError for a wire with more than
    `most` elements.
    """

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self.most = most
        self.largest = 0
        self.turned: dict[int, tuple[int, tuple[int, ...]]] = {}
        """For each wire that is another one with its axes in another order, that wire and the order."""
        self.masks: dict[str, int] = {}
        """The inputs that the graph does not name, for the numbers that operators would draw."""

    def mask(self, name: str, shape: Shape) -> int:
        """Return an input of truth values that an operator would draw, under a name that no other input has."""
        while name in self.masks:
            name += "'"
        self.masks[name] = self.input(Array(shape))
        return self.masks[name]

    def apply(self, operation: Operation, *sources: int) -> list[int]:
        targets = super().apply(operation, *sources)
        for wire in targets:
            size = math.prod(self.type(wire).shape)
            self.largest = max(self.largest, size)
            bounded(size, self.most, f"the result of {operation.name.removeprefix('real.')}")
        if isinstance(operation, Transpose):
            self.turned[targets[0]] = sources[0], operation.axes
        return targets
