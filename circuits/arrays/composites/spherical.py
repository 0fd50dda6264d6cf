"""The Euclidean norm along an axis, and spherical attention: sums weighted by scores, divided by the norm of the
scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers import View
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array, Fixed

from .. import expect
from ..arithmetic.division import rounded_quotient
from ..arithmetic.einsum import Einsum
from ..curves.into_format import into_format
from ..curves.reciprocal import Reciprocal
from ..language import RealOperation, Rounding
from ..layout.movement import Broadcast, without
from ..piecewise.comparison import Select
from ..piecewise.extrema import Maximum
from ..term import Real

LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Norm(RealOperation):
    """The square root of the sum of squares along one axis, which the result lacks. The derivative of Norm at a norm of
    0 is 0.

    Norm is lowered to the correctly rounded result, from the exact sum of squares.
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

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [x * Broadcast(x.shape, (self.axis,))(dz * inverse_or_zero(z))]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        letters = LETTERS[: x.ndim]
        kept = letters.replace(letters[self.axis], "")
        squares = integers.Contract(f"{letters},{letters}->{kept}")(x, x)
        return into_format(lowering, floor_root(squares, max(lowering.result.fraction_bits + 1, x.fraction_bits)))


@dataclass(frozen=True)
class SphericalAttention(RealOperation):
    """Spherical attention y[.., q, :] = sum over x of s[.., q, x] * v[.., x, :] / n[.., q], where n is the norm of row
    s[.., q], at least `floor`.

    The sources of SphericalAttention are scores s [.., q, x] and values v [.., x, e]. Spherical attention is softmax
    attention with the norm in place of the sum of exponentials: no multiple of a row changes the result, as long as the
    row's norm is above the floor (Abbott and Zardini, arXiv 2412.03317). In spherical attention a row of zero scores
    gives 0. The derivatives of SphericalAttention are dv = s^T (dz / n) and ds = (dz / n) v^T - s * <y, dz> / n^2,
    without the last term if the norm is at most the floor.

    SphericalAttention is lowered with two exact sums per row, N = sum of s^2 and A = sum of s * v, the floor r of the
    root of N, and the division of A by r, halves rounded up; r has as many fraction bits as keep quotient times divisor
    below 2^60, but no more than bring the result to within 1 unit of the correctly rounded one. The field `tile` is how
    many positions x spherical attention adds at a time, 0 for all of them: sums are exact, so the integers never depend
    on `tile`.
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

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        scores, values = sources
        shape = scores.shape
        rank, batch = len(shape), LETTERS[: len(shape) - 2]
        norm = Norm(rank - 1)(scores)
        floor = norm.constant(self.floor)
        inverse = Reciprocal()(Maximum()(norm, floor))
        slope = dz * Broadcast(z.shape, (rank - 1,))(inverse)
        along = Einsum(f"{batch}qe,{batch}qe->{batch}q")(z, slope)
        moving = (norm > floor) * inverse
        along = Broadcast(shape, (rank - 1,))(along * moving)
        of_values = Einsum(f"{batch}qx,{batch}qe->{batch}xe")(scores, slope)
        through = Einsum(f"{batch}qe,{batch}xe->{batch}qx")(slope, values)
        return [through - scores * along, of_values]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        scores, values = sources
        batch = LETTERS[: scores.ndim - 2]
        squares = self._sums(f"{batch}qx,{batch}qx->{batch}q", scores, scores)
        sums = self._sums(f"{batch}qx,{batch}xe->{batch}qe", scores, values)
        spread = integers.Reindex(View.broadcast(sums.shape, (sums.ndim - 1,)))
        divisor = spread(self._divisor(lowering.result, squares, sums.type))
        return into_format(lowering, rounded_quotient(sums, divisor, lowering.result.fraction_bits))

    def _divisor(self, result: Fixed, squares: Integer, of: Fixed) -> Integer:
        """Return the root of the sum of a row's squares, or the floor if that is greater; if the root has f fraction
        bits, its integers are below 2^(most + f).
        """
        found = squares.type
        most = -(-found.high.bit_length() // 2) - found.fraction_bits // 2
        greatest = max(of.high, -of.low).bit_length() - of.fraction_bits
        down = max(math.ceil(-math.log2(self.floor)), 0)
        # |A| / floor with the result's fraction bits, times twice the divisor, is below 2^60.
        room = 59 - greatest - down - result.fraction_bits - most
        wanted = result.width + 1 + down
        bits = max(min(room, wanted, (61 - found.high.bit_length() + found.fraction_bits) // 2), 0)
        exact = found.fraction_bits // 2
        root = floor_root(squares, max(bits, exact)).shift_to(bits)
        least = max(math.ceil(self.floor * 2.0**bits), 1)
        return integers.Maximum()(root, root.constant(least))

    def _sums(self, equation: str, x: Integer, y: Integer) -> Integer:
        """Return the contraction of scores and values over the positions, computed `tile` positions at a time."""
        contract, length = integers.Contract(equation), x.shape[-1]
        total: Integer | None = None
        for start in range(0, length, self.tile or length):
            cut = (start, min(start + (self.tile or length), length))
            operands = zip((x, y), contract.letters, strict=False)
            part = contract(*[_range(term, letters.index("x"), cut) for term, letters in operands])
            total = part if total is None else total + part
        assert total is not None
        return total


def floor_root(squares: Integer, fraction_bits: int) -> Integer:
    """Return the floor of the square root of a sum of squares, with the given number of fraction bits."""
    found = squares.type
    nonnegative = integers.Check(0, found.high)(squares) if found.low < 0 else squares
    return integers.SquareRoot()(nonnegative.refine(2 * fraction_bits))


def inverse_or_zero(norm: Real) -> Real:
    """Return 1 / norm where the norm is positive, else 0."""
    zero = norm.constant(0.0)
    positive = norm > zero
    one = norm.constant(1.0)
    return Select()(positive, Reciprocal()(Select()(positive, norm, one)), zero)


def _range(x: Integer, axis: int, cut: tuple[int, int]) -> Integer:
    starts = [cut[0] if at == axis else 0 for at in range(x.ndim)]
    stops = [cut[1] if at == axis else extent for at, extent in enumerate(x.shape)]
    return integers.Reindex(View.slice(x.shape, starts, stops))(x)
