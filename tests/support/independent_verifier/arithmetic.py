"""Extension fields by coordinates: polynomials in X with X^d = 7, d = 2 or 3, modulo 2^64 - 2^32 + 1.

Arrays throughout: the last axis holds the d coordinates, that of 1 first, and so says the degree; what is before it is
as many elements as there are. The tests compare all of it with galois.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import goldilocks
from .field import Field as Field
from .field import elements as elements
from .field import numbers as numbers
from .field import words as words
from .goldilocks import NONRESIDUE as NONRESIDUE
from .goldilocks import PRIME as PRIME

GENERATOR = 7

Numbers = Any
"""A `Field` of elements of the base field."""
Elements = Any
"""A `Field` whose last axis has the extent of the degree."""
Integers = NDArray[np.int64]

HALF: Numbers = numbers((PRIME + 1) // 2)


@lru_cache
def zero(degree: int) -> Elements:
    return Field.zeros(degree)


@lru_cache
def one(degree: int) -> Elements:
    return numbers([1] + [0] * (degree - 1))


def stack(parts: Sequence[Elements]) -> Elements:
    """Arrays of one shape as one, along a new first axis."""
    return elements(np.array([words(part) for part in parts]))


def lift(values: Numbers, degree: int) -> Elements:
    """Elements of the base field as elements of the extension."""
    made: Elements = Field.zeros((*values.shape, degree))
    made[..., 0] = values
    return made


def multiply(x: Elements, y: Elements) -> Elements:
    return elements(goldilocks.extension_times(words(x), words(y)))


def scale(x: Elements, factors: Numbers) -> Elements:
    """Elements of the extension times elements of the base field, one each."""
    return x * factors[..., None]


def powers_of(x: Numbers, exponents: Integers) -> Numbers:
    """A number to each power, of exponents from 0 on."""
    return elements(goldilocks.power(words(x), exponents.astype(np.uint64)))


def chosen(first: NDArray[np.bool_], x: Elements, y: Elements) -> Elements:
    """x where it is the first, else y."""
    return elements(np.where(first, words(x), words(y)))


def total(x: Elements, axis: int = 0) -> Elements:
    """The sum along an axis."""
    return elements(goldilocks.plus.reduce(words(x), axis=axis))


def add_at(sums: Elements, places: Integers, x: Elements) -> None:
    """Adds each row to the sum at its place, of which several may be the same."""
    assert x.shape == (len(places), *sums.shape[1:])
    goldilocks.add_at(words(sums), np.array(places, np.int64), np.array(words(x)))


def dot(x: Elements, y: Elements) -> Elements:
    return total(multiply(x, y))


FEW = 8
"""So many elements are multiplied in Python's integers sooner than numpy is called."""


def product(x: Elements) -> Elements:
    """The product along the first axis."""
    if x.ndim == 2 and 0 < len(x) <= FEW:
        first, *others = words(x).tolist()
        for other in others:
            first = [_coordinate(first, other, k) for k in range(len(first))]
        return elements(np.array(first, np.uint64))
    while len(x) > 1:
        rest = x[len(x) // 2 * 2 :]
        x = np.concatenate([multiply(x[: len(x) // 2], x[len(x) // 2 : len(x) // 2 * 2]), rest])
    return x[0] if len(x) else one(x.shape[-1]) + Field.zeros(x.shape[1:])


def _coordinate(x: list[int], y: list[int], k: int) -> int:
    """Of the product: the sum of x_i y_j over i + j = k, and of 7 x_i y_j over i + j = k + d."""
    degree, total = len(x), 0
    for i in range(degree):
        total += x[i] * y[k - i] if i <= k else NONRESIDUE * x[i] * y[k - i + degree]
    return total % PRIME


def line(x: Elements, y: Elements, at: Elements) -> Elements:
    """The value at `at` of the line through (0, x) and (1, y)."""
    return x + multiply(y - x, at)


def evaluated(coefficients: Elements, x: Numbers) -> Elements:
    """The polynomial at each number; coefficients have the constant one first."""
    return elements(goldilocks.horner(words(coefficients), words(x)))


def same(x: Elements, y: Elements) -> bool:
    return bool(np.array_equal(words(x), words(y)))


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
    others = product(stack([x * numbers([pow(root, i * k, PRIME) for k in range(degree)]) for i in range(1, degree)]))
    norm = multiply(x, others)
    assert not norm[1:].any()
    return others * numbers(pow(int(norm[0]), -1, PRIME))


def inverted(matrix: Numbers) -> Numbers:
    """The inverse of a matrix of few elements of the base field: by elimination, in Python's integers."""
    size = len(matrix)
    rows = [[*row, *(int(i == j) for j in range(size))] for i, row in enumerate(matrix.tolist())]
    for column in range(size):
        pivot = next(place for place in range(column, size) if rows[place][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        factor = pow(rows[column][column], -1, PRIME)
        rows[column] = [value * factor % PRIME for value in rows[column]]
        for place, row in enumerate(rows):
            if place != column:
                pairs = zip(row, rows[column], strict=True)
                rows[place] = [(value - row[column] * own) % PRIME for value, own in pairs]
    return numbers([row[size:] for row in rows])


@lru_cache
def _lagrange(degree: int) -> Numbers:
    """[j, k]: the coefficient of x^k of the polynomial that is 1 at j and 0 at the others of 0, ..., degree."""
    vandermonde = numbers([[j**k for k in range(degree + 1)] for j in range(degree + 1)])
    return inverted(vandermonde).T


def interpolation(point: Elements, degree: int) -> tuple[Elements, Elements]:
    """What counts how often in the claim after rounds of a sumcheck: each number that was sent, and the first claim.

    A round's h is given by its values at 0, 2, 3, ..., and h(0) + h(1) is the claim before it; so what it is at r,
    sum_j L_j(r) h(j), is linear in these. Numbers and point have the rounds first.
    """
    terms = [one(point.shape[-1]) + Field.zeros(point.shape), point]
    while len(terms) <= degree:
        terms.append(multiply(terms[-1], point))
    at = total(_lagrange(degree)[:, :, None, None] * stack(terms)[None], axis=1)
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
    return elements(goldilocks.equality(np.array(words(point))))


def equality_at(point: Elements, places: Sequence[int]) -> Elements:
    """For each place eq(point, b) for the bits b of it."""
    bits = (np.array(places, np.int64)[None, :] >> np.arange(len(point))[:, None]) & 1
    return product(chosen(bits[..., None] == 1, point[:, None], (one(point.shape[-1]) - point)[:, None]))


def equality_of(x: Elements, y: Elements) -> Elements:
    """eq(x, y) = product of x y + (1 - x)(1 - y)."""
    unit = one(x.shape[-1])
    return product(multiply(x, y) + multiply(unit - x, unit - y))
