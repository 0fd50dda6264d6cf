"""Small random cases of every real operation: what it is applied to, and how far its lowering may be off.

`cases()` serves every test that walks over the language; a class without a case fails `test_arrays_run.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.builder import generator
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Array, Fixed, Shape

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Source:
    """One source: real values in [low, high] with |x| >= gap, multiples of 2^-fraction_bits; an index is whole."""

    shape: Shape
    low: float = -2.0
    high: float = 2.0
    fraction_bits: int = 10
    gap: float = 0.0
    index: bool = False

    @property
    def array(self) -> Array:
        return Array(self.shape)

    @property
    def fixed(self) -> Fixed:
        unit = 2.0**self.fraction_bits
        return Fixed(self.shape, self.fraction_bits, math.ceil(self.low * unit), math.floor(self.high * unit))

    def awkward(self, random: np.random.Generator) -> Integers:
        """Integers of the source's type: ends of the interval, 0, 1 and -1 where allowed, and many repeated values."""
        fixed, gap = self.fixed, math.ceil(self.gap * 2.0**self.fraction_bits)

        def allowed(values: Integers) -> Integers:
            inside = np.clip(values, fixed.low, fixed.high)
            return np.where(np.abs(inside) < gap, np.where(inside < 0, -gap, gap), inside)

        any_at_all = allowed(random.integers(fixed.low, fixed.high + 1, self.shape))
        corners = allowed(random.choice([fixed.low, fixed.high, -1, 0, 1], self.shape))
        few = allowed(random.choice(random.integers(fixed.low, fixed.high + 1, 3), self.shape))
        return np.asarray(np.choose(random.integers(3, size=self.shape), [any_at_all, corners, few]), np.int64)

    def real(self, integers: Integers) -> Floats:
        return np.asarray(np.ldexp(integers.astype(np.float64), -self.fraction_bits))


@dataclass(frozen=True)
class Case:
    """An operation with its sources. Its lowering is within `units`, and half a one for rounding, of the exact."""

    operation: arrays.RealOperation
    sources: tuple[Source, ...]
    units: float = 0

    def __str__(self) -> str:
        return f"{self.operation} on {', '.join(str(list(s.shape)) for s in self.sources)}"

    @property
    def arrow(self) -> Arrow:
        return generator(self.operation, *(source.array for source in self.sources))

    @property
    def target(self) -> Array:
        (target,) = self.operation.target_types(*(source.array for source in self.sources))
        return target

    def awkward(self, random: np.random.Generator) -> list[Integers]:
        """Integers of the sources' types, with ties within and across sources."""
        return [source.awkward(random) for source in self.sources]

    def reals(self, integers: list[Integers]) -> list[Floats]:
        return [source.real(values) for source, values in zip(self.sources, integers, strict=True)]

    def smooth(self, random: np.random.Generator) -> list[Floats]:
        """Real values within the sources' bounds, 2^-12 from 0 and from each other at least: no kink is nearby.

        They are odd multiples of 2^-12, drawn without repetition. A source of one single value keeps it, an index
        is whole.
        """
        chosen: list[Floats] = []
        taken: set[int] = set()
        for source in self.sources:
            if source.index:
                drawn = random.integers(int(source.low), int(source.high) + 1, source.shape)
                chosen.append(np.asarray(drawn, np.float64))
                continue
            least, greatest = math.ceil(source.low * 2048), math.floor(source.high * 2048) - 1
            candidates = 2 * np.arange(least, greatest + 1) + 1
            candidates = candidates[np.abs(candidates) >= source.gap * 4096]
            candidates = candidates[~np.isin(candidates, list(taken))]
            if len(candidates):
                drawn = np.asarray(random.choice(candidates, source.shape, replace=False))
                taken.update(drawn.reshape(-1).tolist())
                chosen.append(np.asarray(np.ldexp(np.float64(drawn), -12)))
            else:
                chosen.append(np.full(source.shape, source.low))
        return chosen


def language() -> list[type[arrays.RealOperation]]:
    """Every class of the real language, from the registry."""
    return [
        kind
        for kind in Operation.registry.values()
        if issubclass(kind, arrays.RealOperation) and kind.__module__.startswith(arrays.__name__)
    ]


def cases() -> list[Case]:
    """At least one case of every class of the real language."""
    return [
        *_linear(),
        *_products(),
        *_comparisons(),
        *_indices(),
        *_values(),
        *_functions(),
        *_smooth(),
        *_attention(),
        *_whole(),
        *_along(),
        *_composites(),
    ]


def _on(*shapes: Shape, **keywords: Any) -> tuple[Source, ...]:
    """Sources of different fraction bits, so that lowering must align them."""
    return tuple(Source(shape, fraction_bits=10 - position, **keywords) for position, shape in enumerate(shapes))


def _linear() -> list[Case]:
    return [
        Case(arrays.Add(), _on((3, 4), (3, 4))),
        Case(arrays.Add(), _on((), ())),
        Case(arrays.Subtract(), _on((3, 4), (3, 4))),
        Case(arrays.Negate(), _on((5,))),
        Case(arrays.Negate(), (Source((5,), 0.0, 1.0),)),
        Case(arrays.Scale(0.375), _on((2, 3))),
        Case(arrays.Scale(-48.0), _on((2, 3))),
        Case(arrays.Scale(0.0), _on((4,))),
        Case(arrays.Scale(0.1), _on((4,)), units=1),
        Case(arrays.Reshape((2, 6)), _on((3, 4))),
        Case(arrays.Reshape(()), _on((1, 1))),
        Case(arrays.Transpose((2, 0, 1)), _on((2, 3, 4))),
        Case(arrays.Transpose((1, 0)), _on((2, 3))),
        Case(arrays.Broadcast((4, 2, 3), (0,)), _on((2, 3))),
        Case(arrays.Broadcast((2, 4, 3, 5), (1, 3)), _on((2, 3))),
        Case(arrays.Broadcast((3,), (0,)), _on(())),
        Case(arrays.Sum((0,)), _on((4, 3))),
        Case(arrays.Sum((0, 2)), _on((2, 3, 4))),
        Case(arrays.Sum((0, 1)), _on((2, 3))),
        Case(arrays.Slice((1, 0), (3, 2)), _on((4, 3))),
        Case(arrays.Pad((1, 0), (2, 3)), _on((2, 3))),
        Case(arrays.Flip((0,)), _on((3, 2))),
        Case(arrays.Flip((0, 2)), _on((2, 2, 3))),
        Case(arrays.Pad((2,), (0,)), (Source((3,), 0.5, 2.0),)),
        Case(arrays.Concatenate(0), _on((2, 3), (1, 3), (4, 3))),
        Case(arrays.Concatenate(1), _on((2, 3), (2, 2))),
        Case(arrays.Window((1, 2), (2, 3), (1, 1)), _on((2, 4, 5, 2))),
        Case(arrays.Window((0,), (3,), (2,)), _on((6, 2))),
        Case(arrays.Window((0, 1), (2, 2), (1, 2), (3, 2)), _on((5, 6))),
        Case(arrays.OverlapAdd((7,), (0,), (3,), (1,), (2,)), _on((3, 3))),
        Case(arrays.OverlapAdd((2, 4, 5), (1, 2), (2, 2), (1, 2)), _on((2, 3, 2, 2, 2))),
        Case(arrays.OverlapAdd((5,), (0,), (2,), (3,)), _on((2, 2))),
    ]


def _products() -> list[Case]:
    return [
        Case(arrays.Multiply(), _on((3, 4), (3, 4))),
        Case(arrays.Multiply(), (Source((6,), 0.0, 1.0), Source((6,), -1.0, 0.0))),
        Case(arrays.Einsum("bi,ij->bj"), _on((3, 4), (4, 2))),
        Case(arrays.Einsum("bi,bj->ij"), _on((3, 4), (3, 2))),
        Case(arrays.Einsum("bj,ij->bi"), _on((3, 4), (2, 4))),
        Case(arrays.Einsum("abi,abij->jab"), _on((2, 3, 4), (2, 3, 4, 2))),
        Case(arrays.Einsum("i,j->ji"), _on((3,), (4,))),
        Case(arrays.Einsum("i,i->"), _on((5,), (5,))),
        Case(arrays.Einsum("ij,ij->ij"), _on((2, 3), (2, 3))),
    ]


def _comparisons() -> list[Case]:
    zero_one = Source((3, 4), 0.0, 1.0, fraction_bits=0)
    return [
        Case(arrays.Greater(), _on((3, 4), (3, 4))),
        Case(arrays.Greater(), (Source((8,), 0.0, 1.0), Source((8,), 0.0, 0.0))),
        Case(arrays.Select(), (zero_one, *_on((3, 4), (3, 4)))),
        Case(arrays.Select(), _on((7,), (7,), (7,))),
        Case(arrays.ReLU(), _on((4, 5))),
        Case(arrays.ReLU(), (Source((5,), -2.0, -1.0),)),
        Case(arrays.Max(1), _on((3, 5))),
        Case(arrays.Max(0), _on((4, 2, 2))),
        Case(arrays.Max(0), _on((1,))),
        Case(arrays.ArgMaxOneHot(1), _on((3, 5))),
        Case(arrays.ArgMaxOneHot(0), _on((4, 2))),
    ]


def _indices() -> list[Case]:
    def among(size: int, *shape: int) -> Source:
        return Source(shape, 0.0, size - 1.0, fraction_bits=0, index=True)

    return [
        Case(arrays.Gather(0), (*_on((5, 3)), among(5, 4))),
        Case(arrays.Gather(1), (*_on((2, 4, 2)), among(4, 3, 2))),
        Case(arrays.Gather(0), (*_on((3,)), among(3))),
        Case(arrays.OneHot(5), (among(5, 2, 3),)),
        Case(arrays.OneHot(1), (among(1, 2),)),
        Case(arrays.ScatterAdd(0, 5), (*_on((4, 3)), among(5, 4))),
        Case(arrays.ScatterAdd(1, 3), (*_on((2, 2, 3, 2)), among(3, 2, 3))),
    ]


def _values() -> list[Case]:
    return [
        Case(arrays.Constant.of([[0.5, -1.25], [3.0, 0.0]]), ()),
        Case(arrays.Constant.of([0.1, -0.7, 1 / 3]), ()),
        Case(arrays.Constant.splat(0.3, (2, 3)), ()),
        Case(arrays.Constant.zeros((4,)), ()),
        Case(arrays.Exp(), (Source((4, 3), -2.0, 1.5, fraction_bits=9),)),
        Case(arrays.Exp(), (Source((64,), -8.0, 4.0, fraction_bits=12),), units=1),
        Case(arrays.Exp(), (Source((64,), -16.0, 0.0, fraction_bits=16),), units=1),
        Case(arrays.Exp(), (Source((64,), -1.0, 1.0, fraction_bits=24),), units=1),
        Case(arrays.Reciprocal(), (Source((16,), 0.5, 16.0),)),
        Case(arrays.Reciprocal(), (Source((16,), -4.0, -0.25),)),
        Case(arrays.Reciprocal(), (Source((4, 4), -4.0, 4.0, gap=0.125),)),
    ]


def _functions() -> list[Case]:
    return [
        Case(arrays.Divide(), (Source((16,), -2.0, 2.0, 10), Source((16,), 0.25, 4.0, 8))),
        Case(arrays.Divide(), (Source((4, 4), -2.0, 2.0, 4), Source((4, 4), -4.0, 4.0, 12, gap=0.125))),
        Case(arrays.Divide(), (Source((6,), 0.0, 2.0, 16), Source((6,), -4.0, -0.5, 2))),
        Case(arrays.Log(), (Source((32,), 0.25, 4.0, 9),)),
        Case(arrays.Log(), (Source((64,), 2.0**-12, 16.0, 12),), units=1),
        Case(arrays.Log(), (Source((64,), 0.25, 2.0, 24),), units=1),
        Case(arrays.SquareRoot(), (Source((32,), 0.015625, 4.0, 10),)),
        Case(arrays.SquareRoot(), (Source((32,), 0.015625, 2.0, 27),)),
        Case(arrays.Sigmoid(), (Source((32,), -2.0, 1.5, 10),)),
        Case(arrays.Sigmoid(), (Source((64,), -16.0, 16.0, 12),), units=1),
        Case(arrays.Sigmoid(), (Source((16,), -40.0, 40.0, 4),)),
        Case(arrays.Tanh(), (Source((32,), -1.5, 2.0, 10),)),
        Case(arrays.Tanh(), (Source((64,), -8.0, 8.0, 12),), units=1),
    ]


def _smooth() -> list[Case]:
    """Both lowerings: one table, and polynomials on segments, with operands beyond the function's reach."""
    found = [
        Case(arrays.ReciprocalSquareRoot(), (Source((16,), 0.25, 16.0, 10),)),
        Case(arrays.ReciprocalSquareRoot(), (Source((16,), 2.0**-8, 2.0, 20),)),
    ]
    smooth = (arrays.Erf(), arrays.GELU(), arrays.GELUSlope(), arrays.TanhGELU(), arrays.TanhGELUSlope())
    for operation in (*smooth, arrays.Softplus(), arrays.Sin(), arrays.Cos()):
        found.append(Case(operation, (Source((16,), -2.0, 1.75, 10),)))
        found.append(Case(operation, (Source((16,), -8.0, 8.0, 12),), units=1))
    return [
        *found,
        Case(arrays.Exp2(), (Source((6,), -2.0, 1.5, fraction_bits=9),)),
        Case(arrays.Exp2(), (Source((8,), -8.0, 4.0, fraction_bits=12),), units=1),
        Case(arrays.Log2(), (Source((6,), 0.25, 4.0, 9),)),
        Case(arrays.Log2(), (Source((8,), 2.0**-12, 16.0, 12),), units=1),
    ]


def _whole() -> list[Case]:
    found = []
    for operation in (arrays.Floor(), arrays.Ceil(), arrays.Round()):
        found += [Case(operation, (Source((6,), fraction_bits=2),)), Case(operation, (Source((4,), fraction_bits=0),))]
    return [
        *found,
        Case(arrays.Clip(-1.0, 1.5), (Source((12,)),)),
        Case(arrays.Clip(0.0, 6.0), (Source((6,), -8.0, 8.0, 6),)),
        Case(arrays.Clip(-0.5, 0.5), (Source((4,), 0.5, 2.0, 6),)),
        Case(arrays.Abs(), (Source((8,)),)),
        Case(arrays.Sign(), (Source((8,), fraction_bits=2),)),
        Case(arrays.Minimum(), _on((3, 2), (3, 2))),
        Case(arrays.ELU(), (Source((6,)),)),
        Case(arrays.ELU(0.5), (Source((6,), -8.0, 2.0, 12),), units=0.5),
        Case(arrays.Power(0), (Source((3,)),)),
        Case(arrays.Power(3), (Source((4,)),), units=1),
        Case(arrays.Power(-2), (Source((4,), 0.5, 2.0),), units=2),
    ]


def _along() -> list[Case]:
    return [
        Case(arrays.Min(1), _on((2, 3))),
        Case(arrays.Product(0), _on((5, 2)), units=9),
        Case(arrays.CumulativeSum(0), _on((4, 2))),
        Case(arrays.CumulativeSum(1, exclusive=True), _on((2, 3))),
        Case(arrays.CumulativeSum(0, backward=True), _on((3,))),
        Case(arrays.CumulativeSum(0, exclusive=True, backward=True), _on((4,))),
        Case(arrays.TopKOneHot(2, 1), _on((2, 4))),
        Case(arrays.TopKOneHot(3, 0), _on((3,))),
    ]


def _attention() -> list[Case]:
    return [
        Case(arrays.Norm(1), (Source((4, 5), -2.0, 2.0, 10),)),
        Case(arrays.Norm(0), (Source((3, 2, 2), -2.0, 2.0, 14),)),
        Case(arrays.SphericalAttention(), (Source((2, 3, 4), -2.0, 2.0, 10), Source((2, 4, 2), -2.0, 2.0, 9)), units=1),
        Case(arrays.SphericalAttention(2.0), (Source((2, 3), -2.0, 2.0, 8), Source((3, 2), -2.0, 2.0, 9)), units=1),
        Case(
            arrays.SphericalAttention(tile=2),
            (Source((3, 5), fraction_bits=12), Source((5, 2), fraction_bits=12)),
            units=1,
        ),
    ]


def _composites() -> list[Case]:
    one_hot = Source((3, 4), 0.0, 1.0, fraction_bits=0)
    return [
        Case(arrays.Square(), _on((2, 3))),
        Case(arrays.Maximum(), _on((3, 4), (3, 4))),
        Case(arrays.Mean((0,)), _on((4, 3))),
        Case(arrays.Mean((0, 1)), _on((3, 5))),
        Case(arrays.Softmax(1), _on((3, 4), low=-6.0, high=6.0)),
        Case(arrays.Softmax(0), _on((5,))),
        Case(arrays.LogSumExp(1), _on((3, 4), low=-6.0, high=6.0), units=2),
        Case(arrays.LogSoftmax(1), _on((3, 4), low=-6.0, high=6.0), units=2),
        Case(arrays.LogSoftmax(0), _on((5,)), units=2),
        Case(arrays.CrossEntropy(), (*_on((3, 4), low=-6.0, high=6.0), one_hot), units=2),
        Case(arrays.BinaryCrossEntropy(), (*_on((3, 4), low=-6.0, high=6.0), one_hot), units=1),
        Case(arrays.Huber(), _on((2, 3), (2, 3)), units=0.25),
        Case(arrays.Huber(0.5), _on((4,), (4,))),
        Case(arrays.Variance((0,)), _on((4, 2))),
        Case(arrays.Variance((0, 1), 1), _on((2, 3)), units=0.25),
        Case(arrays.Normalize((1,), 2.0**-6), _on((3, 5))),
        Case(arrays.RootMeanSquareNormalize((0,), 2.0**-6), _on((5, 2))),
    ]
