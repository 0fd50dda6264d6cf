"""Multiples that no calibrated format rounds: the scales of quantized tensors, and accumulators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .constant import Constant

SPARE = 61
"""The most bits that a product's magnitude may have."""
FINEST = 40
"""No factor has bits that are finer than the greatest factor by more than 2^FINEST."""


@dataclass(frozen=True, eq=False)
class Rescale(RealOperation):
    """x times a factor, or divided by it; with several factors, each place along an axis has its own factor.

    The `factors` of Rescale are finite and not 0: one number, or an array of the axis's extent. Rescale reads its
    operand unrounded, and its result is not rounded again: a factor of 1 keeps an accumulator as it was accumulated.
    Rescale is lowered as a product with the coefficients, each of at most `coefficient_bits` bits: exact for dyadic
    factors, else with a relative error of at most 2^-coefficient_bits. If the product of an operand and a factor could
    pass 2^62, the operand is first rounded half up to the bits that fit.
    """

    name = "real.rescale"
    rounding = Rounding.FORMAT

    factors: NDArray[np.float64]
    axis: int = 0
    divides: bool = False

    def __post_init__(self) -> None:
        factors = np.array(self.factors, np.float64)
        with np.errstate(all="ignore"):
            usable = factors.ndim <= 1 and factors.size and np.isfinite([factors, 1 / factors]).all()
        if not usable or self.axis < 0:
            raise TypingError(
                f"expected finite factors other than 0, one or a list along an axis from 0 on, found {self.factors!r} "
                f"along {self.axis}; correct them"
            )
        if factors.ndim and (factors == factors[0]).all():
            factors = np.array(factors[0])
        factors.setflags(write=False)
        object.__setattr__(self, "factors", factors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rescale) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[tuple[int, ...], bytes, int, bool]:
        return self.factors.shape, self.factors.tobytes(), self.axis, self.divides

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        (shape,) = (expect.one_shape(sources, 1).shape,)
        if self.factors.ndim and (self.axis >= len(shape) or shape[self.axis] != self.factors.size):
            raise TypingError(
                f"expected {self.factors.size} places along axis {self.axis}, found shape {list(shape)}; "
                "give a factor for each"
            )
        return (Array(shape),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        module = array_module(x)
        factors = module.asarray(self._along(x.ndim))
        return (module.asarray(x / factors if self.divides else x * factors),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        """Return the derivative of Rescale is a plain product, because a cotangent has no format that the program
        states.
        """
        factors = 1.0 / self.factors if self.divides else self.factors
        if not self.factors.ndim:
            return [dz * float(factors)]
        wide = np.broadcast_to(factors.reshape(self._extents(dz.ndim)), dz.shape)
        return [dz * Real(dz.builder, dz.builder.add(Constant.of(wide)))]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        factors = 1.0 / self.factors if self.divides else self.factors
        found = [lowering.precision.coefficient(factor) for factor in factors.reshape(-1).tolist()]
        most = min(max(k for _, k in found), FINEST - math.frexp(float(np.abs(factors).max()))[1])
        whole = [round(m * Fraction(2) ** (most - k)) for m, k in found]
        surplus = max(abs(m) for m in whole).bit_length() + max(-x.type.low, x.type.high).bit_length() - SPARE
        if surplus > 0:
            x = x.shift_to(x.fraction_bits - surplus)
        if not self.factors.ndim:
            return integers.Scale(whole[0], most)(x)
        row = integers.Constant.of(np.array(whole, np.int64), most)
        wide = integers.Reindex(integers.View.broadcast(x.shape, [a for a in range(x.ndim) if a != self.axis]))
        return x * wide(Integer(lowering.builder, lowering.builder.add(row)))

    def _extents(self, rank: int) -> list[int]:
        return [self.factors.size if axis == self.axis else 1 for axis in range(rank)]

    def _along(self, rank: int) -> NDArray[np.float64]:
        """Return the factors of Rescale as an array with as many axes as x."""
        return self.factors.reshape(self._extents(rank)) if self.factors.ndim else self.factors
