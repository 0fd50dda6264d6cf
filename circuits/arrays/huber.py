"""Huber's loss: quadratic near 0, linear beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array

from . import expect
from .clip import Clip
from .composite import Composite
from .composites import Mean
from .elementwise import Multiply, Negate, Scale, Subtract
from .layout import Broadcast


@dataclass(frozen=True)
class Huber(Composite):
    """The mean of c * (r - c / 2), r = x - y and c = r kept in +-delta. The derivative is c * dz / count, and -that.

    The terms are r^2 / 2 where |r| <= delta, else delta * (|r| - delta / 2).
    """

    name = "real.huber"

    delta: float = 1.0

    def __post_init__(self) -> None:
        if not (self.delta > 0 and math.isfinite(self.delta)):
            raise TypingError(f"expected a positive delta, found {self.delta}; it is where the loss becomes linear")

    def definition(self, *sources: Array) -> Arrow:
        shape = expect.one_shape(sources, 2).shape
        builder = Builder()
        difference, clipped = self._parts(builder, builder.inputs(sources))
        rest = builder.add(Subtract(), difference, builder.add(Scale(0.5), clipped))
        return builder.build([builder.add(Mean(tuple(range(len(shape)))), builder.add(Multiply(), clipped, rest))])

    def _parts(self, builder: Builder, sources: Sequence[int]) -> tuple[int, int]:
        difference = builder.add(Subtract(), *sources)
        return difference, builder.add(Clip(-self.delta, self.delta), difference)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        _, clipped = self._parts(builder, sources)
        shape = builder.type(clipped).shape
        share = builder.add(Scale(1 / math.prod(shape)), cotangents[0])
        slope = builder.add(Multiply(), clipped, builder.add(Broadcast(shape, tuple(range(len(shape)))), share))
        return [slope, builder.add(Negate(), slope)]
