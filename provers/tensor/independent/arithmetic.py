"""The extension field as pairs of elements of a galois field: a + b X with X^2 = 7 modulo p = 2^64 - 2^32 + 1.

Arrays throughout, since galois takes as long for one element as for fifty: the last axis holds a and b, what is before
it is as many elements as there are. galois has extensions of its own, of which one product takes as long as ten of
these; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import galois
import numpy as np
from numpy.typing import NDArray

PRIME = 0xFFFFFFFF00000001
GENERATOR = 7
NONRESIDUE = 7

FIELD: Any = galois.GF(PRIME, primitive_element=GENERATOR, verify=False)
"""Without the generator and `verify=False`, galois would factor p - 1 and search."""

Numbers = Any
"""A galois array of elements of the base field."""
Elements = Any
"""A galois array whose last axis has extent 2."""
Integers = NDArray[np.int64]


def numbers(values: Any) -> Numbers:
    """Integers, of any sign and nesting, as elements of the base field."""
    return np.array(np.array(values, object) % PRIME, object).view(FIELD)


ZERO: Elements = numbers([0, 0])
ONE: Elements = numbers([1, 0])
HALF: Numbers = numbers((PRIME + 1) // 2)
_SWAPPED = [[0, 1], [1, 0]]
_WEIGHTS: Numbers = numbers([NONRESIDUE, 1])


def lift(values: Numbers) -> Elements:
    """Elements of the base field as elements of the extension."""
    made: Elements = FIELD.Zeros((*values.shape, 2))
    made[..., 0] = values
    return made


def multiply(x: Elements, y: Elements) -> Elements:
    """(a + b X)(c + d X) = a c + 7 b d + (a d + b c) X."""
    products = x[..., None, :] * y[..., _SWAPPED]
    return products[..., 0] + products[..., 1] * _WEIGHTS


def scale(x: Elements, factors: Numbers) -> Elements:
    """Elements of the extension times elements of the base field, one each."""
    return x * factors[..., None]


def total(x: Elements) -> Elements:
    """The sum along the first axis."""
    return np.add.reduce(x, axis=0)


def dot(x: Elements, y: Elements) -> Elements:
    return total(multiply(x, y))


def product(x: Elements) -> Elements:
    """The product along the first axis."""
    while len(x) > 1:
        rest = x[len(x) // 2 * 2 :]
        x = np.concatenate([multiply(x[: len(x) // 2], x[len(x) // 2 : len(x) // 2 * 2]), rest])
    return x[0] if len(x) else ONE + FIELD.Zeros(x.shape[1:])


def line(x: Elements, y: Elements, at: Elements) -> Elements:
    """The value at `at` of the line through (0, x) and (1, y)."""
    return x + multiply(y - x, at)


def same(x: Elements, y: Elements) -> bool:
    return bool(np.array_equal(x, y))


def powers(x: Elements, count: int) -> Elements:
    """x, x^2, ..., x^count."""
    made = x[None]
    while len(made) < count:
        made = np.concatenate([made, multiply(made, made[-1])])
    return made[:count]


@lru_cache
def _lagrange(degree: int) -> Numbers:
    """[j, k]: the coefficient of x^k of the polynomial that is 1 at j and 0 at the others of 0, ..., degree."""
    vandermonde = numbers([[j**k for k in range(degree + 1)] for j in range(degree + 1)])
    return np.linalg.inv(vandermonde).T


def interpolated(messages: Elements, claim: Elements, point: Elements) -> Elements:
    """The claim after rounds of a sumcheck: each h is given by its values at 0, 2, 3, ..., and h(0) + h(1) = claim.

    Messages and point have the rounds first. h(r) = sum_j L_j(r) h(j) = A + B claim, for all rounds at once; such maps
    are put together two by two.
    """
    degree = messages.shape[1]
    terms = [ONE + FIELD.Zeros(point.shape), point]
    while len(terms) <= degree:
        terms.append(multiply(terms[-1], point))
    at = np.add.reduce(_lagrange(degree)[:, :, None, None] * np.stack(terms)[None], axis=1)
    weights = np.stack([at[0] - at[1], *at[2:]], axis=1)
    fixed, factors = np.add.reduce(multiply(weights, messages), axis=1), at[1]
    while len(fixed) > 1:
        end = len(fixed) // 2 * 2
        first, second, after = fixed[:end:2], fixed[1:end:2], factors[1:end:2]
        both = multiply(np.stack([first, factors[:end:2]]), after[None])
        fixed, factors = (
            np.concatenate([second + both[0], fixed[end:]]),
            np.concatenate([both[1], factors[end:]]),
        )
    return fixed[0] + multiply(factors[0], claim)


def equality(point: Elements) -> Elements:
    """eq(point, b) for every b, coordinate 0 belonging to the lowest bit."""
    table = ONE[None]
    for r in point:
        high = multiply(table, r)
        table = np.concatenate([table - high, high])
    return table


def equality_at(point: Elements, places: Sequence[int]) -> Elements:
    """For each place eq(point, b) for the bits b of it."""
    bits = (np.array(places, np.int64)[None, :] >> np.arange(len(point))[:, None]) & 1
    chosen = np.where(bits[..., None] == 1, point[:, None], (ONE - point)[:, None])
    return product(chosen.view(FIELD))


def equality_of(x: Elements, y: Elements) -> Elements:
    """eq(x, y) = product of x y + (1 - x)(1 - y)."""
    return product(multiply(x, y) + multiply(ONE - x, ONE - y))
