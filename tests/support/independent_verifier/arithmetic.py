"""Extension fields by coordinates in a galois field: polynomials in X with X^d = 7, d = 2 or 3, modulo 2^64 - 2^32 + 1.

Arrays throughout, since galois takes as long for one element as for fifty: the last axis holds the d coordinates, that
of 1 first, and so says the degree; what is before it is as many elements as there are. galois has extensions of its
own, of which one product takes as long as ten of these; the tests compare the two.
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
"""A galois array whose last axis has the extent of the degree."""
Integers = NDArray[np.int64]


def numbers(values: Any) -> Numbers:
    """Integers, of any sign and nesting, as elements of the base field."""
    return np.array(np.array(values, object) % PRIME, object).view(FIELD)


HALF: Numbers = numbers((PRIME + 1) // 2)


@lru_cache
def zero(degree: int) -> Elements:
    return FIELD.Zeros(degree)


@lru_cache
def one(degree: int) -> Elements:
    return numbers([1] + [0] * (degree - 1))


def lift(values: Numbers, degree: int) -> Elements:
    """Elements of the base field as elements of the extension."""
    made: Elements = FIELD.Zeros((*values.shape, degree))
    made[..., 0] = values
    return made


@lru_cache
def _partners(degree: int) -> tuple[Integers, NDArray[Any]]:
    """[k, i]: the coordinate of y that goes with x_i into coordinate k of their product, and how often it counts."""
    coordinates = np.arange(degree)
    partner = coordinates[:, None] - coordinates[None, :]
    return partner % degree, np.where(partner < 0, NONRESIDUE, 1).astype(object)


def _plain(x: Numbers) -> NDArray[Any]:
    """The integers that stand for elements: products and sums of them are exact, and are reduced once."""
    found: NDArray[Any] = x.view(np.ndarray)
    return found


def _reduced(x: NDArray[Any]) -> Numbers:
    return (x % PRIME).view(FIELD)


def _products(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Coordinate k is the sum of x_i y_j over i + j = k, and of 7 x_i y_j over i + j = k + d."""
    partner, weights = _partners(x.shape[-1])
    found: NDArray[Any] = np.add.reduce(x[..., None, :] * y[..., partner] * weights, axis=-1)
    return found


def multiply(x: Elements, y: Elements) -> Elements:
    return _reduced(_products(_plain(x), _plain(y)))


def times(x: Numbers, y: Numbers) -> Numbers:
    """Products of elements of the base field."""
    return _reduced(_plain(x) * _plain(y))


def matrix_product(x: Numbers, y: Numbers) -> Numbers:
    """The product of matrices over the base field."""
    return _reduced(_plain(x) @ _plain(y))


def scale(x: Elements, factors: Numbers) -> Elements:
    """Elements of the extension times elements of the base field, one each."""
    return times(x, factors[..., None])


def total(x: Elements) -> Elements:
    """The sum along the first axis."""
    return _reduced(np.add.reduce(_plain(x), axis=0)) if len(x) else FIELD.Zeros(x.shape[1:])


def dot(x: Elements, y: Elements) -> Elements:
    return total(multiply(x, y))


def product(x: Elements) -> Elements:
    """The product along the first axis."""
    while len(x) > 1:
        rest = x[len(x) // 2 * 2 :]
        x = np.concatenate([multiply(x[: len(x) // 2], x[len(x) // 2 : len(x) // 2 * 2]), rest])
    return x[0] if len(x) else one(x.shape[-1]) + FIELD.Zeros(x.shape[1:])


def line(x: Elements, y: Elements, at: Elements) -> Elements:
    """The value at `at` of the line through (0, x) and (1, y)."""
    start, end = _plain(x), _plain(y)
    return _reduced(start + _products(end - start, _plain(at)))


def same(x: Elements, y: Elements) -> bool:
    return bool(np.array_equal(x, y))


def powers(x: Elements, count: int) -> Elements:
    """x, x^2, ..., x^count."""
    made = x[None]
    while len(made) < count:
        made = np.concatenate([made, multiply(made, made[-1])])
    return made[:count]


def inverse(x: Elements) -> Elements:
    """x times its conjugates, which take X to its multiples by roots of unity, is a number."""
    degree = len(x)
    root = pow(NONRESIDUE, (PRIME - 1) // degree, PRIME)
    others = product(
        np.stack([x * numbers([pow(root, i * k, PRIME) for k in range(degree)]) for i in range(1, degree)])
    )
    norm, *rest = multiply(x, others)
    assert not any(rest)
    return others * numbers(pow(int(norm), -1, PRIME))


@lru_cache
def _lagrange(degree: int) -> Numbers:
    """[j, k]: the coefficient of x^k of the polynomial that is 1 at j and 0 at the others of 0, ..., degree."""
    vandermonde = numbers([[j**k for k in range(degree + 1)] for j in range(degree + 1)])
    return np.linalg.inv(vandermonde).T


def interpolation(point: Elements, degree: int) -> tuple[Elements, Elements]:
    """What counts how often in the claim after rounds of a sumcheck: each number that was sent, and the first claim.

    A round's h is given by its values at 0, 2, 3, ..., and h(0) + h(1) is the claim before it; so what it is at r,
    sum_j L_j(r) h(j), is linear in these. Numbers and point have the rounds first.
    """
    terms = [one(point.shape[-1]) + FIELD.Zeros(point.shape), point]
    while len(terms) <= degree:
        terms.append(multiply(terms[-1], point))
    at = np.add.reduce(_lagrange(degree)[:, :, None, None] * np.stack(terms)[None], axis=1)
    weights, after, step = np.stack([at[0] - at[1], *at[2:]], axis=1), at[1], 1
    while step < len(after):
        after = np.concatenate([multiply(after[:-step], after[step:]), after[-step:]])
        step *= 2
    return np.concatenate([multiply(weights[:-1], after[1:, None]), weights[-1:]]), after[0]


def interpolated(messages: Elements, claim: Elements, point: Elements) -> Elements:
    """The claim after rounds of a sumcheck whose messages have the rounds first."""
    weights, factor = interpolation(point, messages.shape[1])
    return total(total(multiply(weights, messages))) + multiply(factor, claim)


def equality(point: Elements) -> Elements:
    """eq(point, b) for every b, coordinate 0 belonging to the lowest bit."""
    table = one(point.shape[-1])[None]
    for r in point:
        high = multiply(table, r)
        table = np.concatenate([_reduced(_plain(table) - _plain(high)), high])
    return table


def equality_at(point: Elements, places: Sequence[int]) -> Elements:
    """For each place eq(point, b) for the bits b of it."""
    bits = (np.array(places, np.int64)[None, :] >> np.arange(len(point))[:, None]) & 1
    chosen = np.where(bits[..., None] == 1, point[:, None], (one(point.shape[-1]) - point)[:, None])
    return product(chosen.view(FIELD))


def equality_of(x: Elements, y: Elements) -> Elements:
    """eq(x, y) = product of x y + (1 - x)(1 - y)."""
    unit = one(x.shape[-1])
    return product(multiply(x, y) + multiply(unit - x, unit - y))
