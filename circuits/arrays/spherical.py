"""The Euclidean norm along an axis, and sums weighted by scores over the norm of the scores: spherical attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers import View
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from . import expect
from .comparison import Greater, Select, zeros_like
from .composites import Maximum
from .confine import confine
from .constant import Constant
from .division import rounded_quotient
from .einsum import Einsum
from .elementwise import Multiply, Subtract
from .language import RealOperation, Rounding
from .layout import Broadcast, without
from .reciprocal import Reciprocal

LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Norm(RealOperation):
    """The square root of the sum of squares along one axis, which is removed. Its derivative at 0 is 0.

    Lowered to the correctly rounded result, from the exact sum of squares.
    """

    name = "real.norm"
    rounding = Rounding.VALUE

    axis: int

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        shape = sources[0].shape
        expect.axes_within([self.axis], len(shape))
        return (Array(without(shape, [self.axis])),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.sqrt((values[0] * values[0]).sum(axis=self.axis))),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        shape = builder.type(sources[0]).shape
        scaled = builder.add(Multiply(), cotangents[0], inverse_or_zero(builder, targets[0]))
        return [builder.add(Multiply(), sources[0], builder.add(Broadcast(shape, (self.axis,)), scaled))]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        builder, (x,) = lowering.builder, sources
        letters = LETTERS[: len(lowering.type(x).shape)]
        kept = letters.replace(letters[self.axis], "")
        squares = builder.add(integers.Contract(f"{letters},{letters}->{kept}"), x, x)
        bits = max(lowering.result.fraction_bits + 1, lowering.type(x).fraction_bits)
        return [confine(lowering, floor_root(lowering, squares, bits))]


@dataclass(frozen=True)
class SphericalAttention(RealOperation):
    """y[.., q, :] = sum over x of s[.., q, x] * v[.., x, :] / n[.., q], n the norm of row s[.., q], at least `floor`.

    Sources: scores s [.., q, x] and values v [.., x, e]. Softmax with the norm in place of the sum of exponentials: no
    multiple of a row changes the result, as long as its norm is above the floor (V. Abbott and G. Zardini, arXiv
    2412.03317). A row of zeros gives 0. The derivatives are dv = s^T (dz / n) and
    ds = (dz / n) v^T - s * <y, dz> / n^2, without the last term where the norm is at the floor or below.

    Lowered with two exact sums per row, N = sum of s^2 and A = sum of s * v, the floor r of the root of N, and the
    division of A by r, halves rounded up. r has as many fraction bits as keep quotient times divisor below 2^60, and
    as the result needs at most: then it is within 1 unit of the correctly rounded one. `tile` is how many positions x
    are added at a time, 0 for all of them: sums are exact, so the integers never depend on it.
    """

    name = "real.spherical_attention"
    rounding = Rounding.VALUE

    floor: float = 2.0**-6
    tile: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.floor) and self.floor > 0) or self.tile < 0:
            raise TypingError(
                f"expected a positive floor and a tile of at least 0, found {self.floor} and {self.tile}; correct them"
            )

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 2)
        scores, values = (source.shape for source in sources)
        if len(scores) < 2 or len(scores) != len(values) or (*scores[:-2], scores[-1]) != values[:-1]:
            found = f"{list(scores)} and {list(values)}"
            raise TypingError(f"expected scores [.., q, x] and values [.., x, e], found {found}; transpose one")
        return (Array((*scores[:-1], values[-1])),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        scores, of = values
        module = array_module(*values)
        norms = module.sqrt((scores * scores).sum(axis=-1, keepdims=True))
        return (module.asarray(scores @ of / module.maximum(norms, self.floor)),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        scores, values = sources
        shape, made = builder.type(scores).shape, builder.type(targets[0]).shape
        rank, batch = len(shape), LETTERS[: len(shape) - 2]
        norm = builder.add(Norm(rank - 1), scores)
        floor = builder.add(Constant.splat(self.floor, shape[:-1]))
        inverse = builder.add(Reciprocal(), builder.add(Maximum(), norm, floor))
        slope = builder.add(Multiply(), cotangents[0], builder.add(Broadcast(made, (rank - 1,)), inverse))
        along = builder.add(Einsum(f"{batch}qe,{batch}qe->{batch}q"), targets[0], slope)
        moving = builder.add(Multiply(), builder.add(Greater(), norm, floor), inverse)
        along = builder.add(Broadcast(shape, (rank - 1,)), builder.add(Multiply(), along, moving))
        of_values = builder.add(Einsum(f"{batch}qx,{batch}qe->{batch}xe"), scores, slope)
        through = builder.add(Einsum(f"{batch}qe,{batch}xe->{batch}qx"), slope, values)
        return [builder.add(Subtract(), through, builder.add(Multiply(), scores, along)), of_values]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        builder, result, (scores, values) = lowering.builder, lowering.result, sources
        batch = LETTERS[: len(lowering.type(scores).shape) - 2]
        squares = self._sums(lowering, f"{batch}qx,{batch}qx->{batch}q", scores, scores)
        sums = self._sums(lowering, f"{batch}qx,{batch}xe->{batch}qe", scores, values)
        spread = View.broadcast(lowering.type(sums).shape, (len(lowering.type(sums).shape) - 1,))
        divisor = builder.add(integers.Reindex(spread), self._divisor(lowering, squares, sums))
        return [confine(lowering, rounded_quotient(lowering, sums, divisor, result.fraction_bits))]

    def _divisor(self, lowering: Lowering, squares: int, sums: int) -> int:
        """The root of a row's squares, the floor at least; with f fraction bits it is below 2^(most + f)."""
        result, of = lowering.result, lowering.type(sums)
        found = lowering.type(squares)
        most = -(-found.high.bit_length() // 2) - found.fraction_bits // 2
        greatest = max(of.high, -of.low).bit_length() - of.fraction_bits
        down = max(math.ceil(-math.log2(self.floor)), 0)
        # |A| / floor with the result's fraction bits, times twice the divisor, is below 2^60.
        room = 59 - greatest - down - result.fraction_bits - most
        wanted = result.width + 1 + down
        bits = max(min(room, wanted, (61 - found.high.bit_length() + found.fraction_bits) // 2), 0)
        exact = found.fraction_bits // 2
        root = lowering.shift_to(floor_root(lowering, squares, max(bits, exact)), bits)
        least = max(math.ceil(self.floor * 2.0**bits), 1)
        return lowering.builder.add(integers.Maximum(), root, lowering.constant(least, lowering.type(root)))

    def _sums(self, lowering: Lowering, equation: str, x: int, y: int) -> int:
        """The contraction over the positions, `tile` of them at a time."""
        builder, contract = lowering.builder, integers.Contract(equation)
        length = lowering.type(x).shape[-1]
        tile, total = self.tile or length, -1
        for start in range(0, length, tile):
            cut = (start, min(start + tile, length))
            parts = [
                _range(lowering, wire, letters.index("x"), cut)
                for wire, letters in zip((x, y), contract.letters, strict=False)
            ]
            part = builder.add(contract, *parts)
            total = part if start == 0 else builder.add(integers.Add(), total, part)
        return total


def floor_root(lowering: Lowering, squares: int, fraction_bits: int) -> int:
    """The floor of the square root, with so many fraction bits, of a sum of squares."""
    found = lowering.type(squares)
    if found.low < 0:
        squares = lowering.builder.add(integers.Check(0, found.high), squares)
    return lowering.builder.add(integers.SquareRoot(), lowering.refine(squares, 2 * fraction_bits))


def inverse_or_zero(builder: Builder, norm: int) -> int:
    """1 / norm where it is positive, else 0."""
    zero = zeros_like(builder, norm)
    positive = builder.add(Greater(), norm, zero)
    one = builder.add(Constant.splat(1.0, builder.type(norm).shape))
    inverse = builder.add(Reciprocal(), builder.add(Select(), positive, norm, one))
    return builder.add(Select(), positive, inverse, zero)


def _range(lowering: Lowering, wire: int, axis: int, cut: tuple[int, int]) -> int:
    shape = lowering.type(wire).shape
    starts = [cut[0] if at == axis else 0 for at in range(len(shape))]
    stops = [cut[1] if at == axis else extent for at, extent in enumerate(shape)]
    return lowering.builder.add(integers.Reindex(View.slice(shape, starts, stops)), wire)
