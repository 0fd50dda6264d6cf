"""Composites of comparisons: magnitude and sign, the lesser of two, and the exponential linear unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array

from . import expect
from .comparison import Greater, ReLU, Select, zeros_like
from .composite import Composite
from .constant import Constant
from .elementwise import Add, Multiply, Negate, Scale, Subtract
from .exponential import Exp


@dataclass(frozen=True)
class Sign(Composite):
    """1 where x > 0, -1 where x < 0, 0 at 0. Its derivative is zero everywhere."""

    name = "real.sign"

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        x = builder.input(sources[0])
        zero = zeros_like(builder, x)
        above, below = builder.add(Greater(), x, zero), builder.add(Greater(), zero, x)
        return builder.build([builder.add(Subtract(), above, below)])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        return [None]


@dataclass(frozen=True)
class Abs(Composite):
    """The magnitude: 2 max(x, 0) - x. The derivative is dz * sign(x), 0 at 0."""

    name = "real.abs"

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        x = builder.input(sources[0])
        return builder.build([builder.add(Subtract(), builder.add(Scale(2.0), builder.add(ReLU(), x)), x)])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        return [builder.add(Multiply(), builder.add(Sign(), sources[0]), cotangents[0])]


@dataclass(frozen=True)
class Minimum(Composite):
    """The lesser of x and y, of one shape: x - max(x - y, 0). At a tie the cotangent goes to x."""

    name = "real.minimum"

    def definition(self, *sources: Array) -> Arrow:
        expect.one_shape(sources, 2)
        builder = Builder()
        x, y = builder.inputs(sources)
        return builder.build([builder.add(Subtract(), x, builder.add(ReLU(), builder.add(Subtract(), x, y)))])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        (x, y), (cotangent,) = sources, cotangents
        above = builder.add(ReLU(), builder.add(Subtract(), x, y))
        of_y = builder.add(Multiply(), builder.add(Greater(), above, zeros_like(builder, x)), cotangent)
        return [builder.add(Subtract(), cotangent, of_y), of_y]


@dataclass(frozen=True)
class ELU(Composite):
    """x where x > 0, else alpha * (e^x - 1). The derivative is dz where x > 0, else dz * (z + alpha).

    So it needs no other exponential; the slope at 0 is alpha. Clevert et al., arXiv 1511.07289.
    """

    name = "real.elu"

    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.alpha):
            raise TypingError(f"expected a finite alpha, found {self.alpha}; give a real number")

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        x = builder.input(sources[0])
        below = builder.add(Negate(), builder.add(ReLU(), builder.add(Negate(), x)))
        one = builder.add(Constant.splat(1.0, sources[0].shape))
        bend = builder.add(Scale(self.alpha), builder.add(Subtract(), builder.add(Exp(), below), one))
        return builder.build([builder.add(Add(), builder.add(ReLU(), x), bend)])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        (x,), (z,), (cotangent,) = sources, targets, cotangents
        positive = builder.add(Greater(), builder.add(ReLU(), x), zeros_like(builder, x))
        raised = builder.add(Add(), z, builder.add(Constant.splat(self.alpha, builder.type(z).shape)))
        return [builder.add(Select(), positive, cotangent, builder.add(Multiply(), cotangent, raised))]
