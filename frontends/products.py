"""Products of tensors by numpy's `@`, and powers with exponents that are known while tracing: products, square roots
and reciprocals.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from circuitize.circuits import arrays

from .operands import broadcast_shape, named, real_of, unfit_product
from .provenance import refused

if TYPE_CHECKING:
    from .tensor import Tensor


def product(left: Tensor, right: Tensor) -> Tensor:
    """Return the product over the last two axes, where other axes broadcast, and a vector is a row as the left operand
    and a column as the right one.
    """
    if not left.ndim or not right.ndim:
        raise refused("expected at least one axis on both sides of @, found a scalar; use *")
    row, column = left.ndim == 1, right.ndim == 1
    if left.shape[-1] != right.shape[0 if column else -2]:
        raise refused(unfit_product(left.shape, right.shape))
    leading = max(left.ndim - 2, right.ndim - 2, 0)
    batch = "abcdefgh"[:leading]
    if leading and left.ndim > 2 and right.ndim > 2:
        shape = broadcast_shape(left.shape[:-2], right.shape[:-2])
        left, right = left.broadcast(shape + left.shape[-2:]), right.broadcast(shape + right.shape[-2:])
    a = (batch if left.ndim > 2 else "") + ("" if row else "x") + "y"
    b = (batch if right.ndim > 2 else "") + "y" + ("" if column else "z")
    return left.apply(arrays.Einsum(f"{a},{b}->{batch}{'' if row else 'x'}{'' if column else 'z'}"), right)


def power(x: Tensor, exponent: float) -> Tensor:
    """Return the power of a tensor whose exponent is a multiple of 1/2, by products, a square root and a reciprocal."""
    if isinstance(exponent, bool) or not isinstance(exponent, (int, float, np.number)):
        raise refused(f"expected an exponent known now, found {named(exponent)}; use exp(y * log(x)) for x above 0")
    twice = 2 * real_of(exponent)
    if not twice.is_integer():
        raise refused(
            f"expected an exponent that is a multiple of 1/2, found {exponent!r}; "
            f"use exp(log(x) * {exponent!r}) for x above 0"
        )
    if not twice:
        return x.constant(np.ones(x.shape))
    whole, half = divmod(abs(int(twice)), 2)
    if twice < 0:
        if half and not whole:
            return x.apply(arrays.ReciprocalSquareRoot())
        return x.apply(arrays.Reciprocal()) ** -exponent
    factors = [_multiplied(x, whole)] if whole else []
    factors += [x.apply(arrays.SquareRoot())] if half else []
    return factors[0] if len(factors) == 1 else factors[0] * factors[1]


def _multiplied(x: Tensor, exponent: int) -> Tensor:
    """Return the product of `exponent` copies of x, at least one, by repeated squaring."""
    if exponent == 1:
        return x
    half = _multiplied(x, exponent // 2)
    return half * half if exponent % 2 == 0 else half * half * x


def exponential(base: float, x: Tensor) -> Tensor:
    """Return a positive number to the power of a tensor."""
    if not isinstance(base, (int, float, np.number)) or not 0 < real_of(base) < math.inf:
        raise refused(f"expected a positive number to the power of a tensor, found {named(base)}; use exp and log")
    return (x if base == 2 else x * math.log2(base)).apply(arrays.Exp2())
