"""The independent verifier's extension fields against galois's own, and its polynomials against their definitions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import galois
import numpy as np
import pytest
from independent_verifier import arithmetic
from independent_verifier.arithmetic import FIELD, numbers, one

from circuitize.backends.tensor.forms import PRIME

AWKWARD = [0, 1, 2, 7, PRIME - 1, PRIME - 2, PRIME // 2, PRIME // 2 + 1, 2**32 - 1, 2**32, 2**63 + 1]


def minimal(degree: int) -> Any:
    """X^degree - 7."""
    return galois.Poly([1, *[0] * (degree - 1), PRIME - 7], field=FIELD)


@lru_cache
def extension(degree: int) -> Any:
    """galois's own extension: an element is the integer a + b p, or a + b p + c p^2."""
    return galois.GF(PRIME, degree, irreducible_poly=minimal(degree), primitive_element=PRIME, verify=False)


def encoded(x: Any) -> Any:
    degree = x.shape[-1]
    rows = np.asarray(x).reshape(-1, degree).tolist()
    return extension(degree)([sum(int(word) * PRIME**k for k, word in enumerate(row)) for row in rows])


def elements(random: np.random.Generator, count: int, degree: int) -> Any:
    shape = (count, degree)
    drawn = random.choice(np.array(AWKWARD, object), shape)
    return numbers(np.where(random.random(shape) < 0.5, drawn, random.integers(0, 2**63, shape).astype(object)))


@pytest.mark.parametrize("size", [2, 3])
def test_sums_and_products_are_those_of_galois(size: int) -> None:
    random = np.random.default_rng(0)
    x, y = elements(random, 60, size), elements(random, 60, size)
    a, b = encoded(x), encoded(y)
    assert np.array_equal(encoded(arithmetic.multiply(x, y)), a * b)
    assert np.array_equal(encoded(x + y), a + b)
    assert np.array_equal(encoded(x - y), a - b)
    assert encoded(arithmetic.product(x[:7]))[0] == np.multiply.reduce(a[:7])
    assert encoded(arithmetic.total(x))[0] == np.add.reduce(a)
    assert encoded(arithmetic.inverse(x[0]))[0] == a[0] ** -1
    assert np.array_equal(encoded(arithmetic.powers(x[0], 6)), [a[0] ** k for k in range(1, 7)])
    left, right = x[:, 0], y[:, 1]
    assert np.array_equal(arithmetic.times(left, right), left * right)
    assert np.array_equal(arithmetic.scale(x, right), x * right[:, None])
    assert np.array_equal(arithmetic.matrix_product(x.T, y), x.T @ y)


def test_seven_is_neither_square_nor_cube() -> None:
    """So X^2 - 7 and X^3 - 7 have no root, and are irreducible."""
    assert int(FIELD(7) ** ((PRIME - 1) // 2)) == PRIME - 1
    assert (PRIME - 1) % 3 == 0 and int(FIELD(7) ** ((PRIME - 1) // 3)) != 1
    assert minimal(2).is_irreducible() and minimal(3).is_irreducible()


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_rounds_of_a_sumcheck_are_polynomials_at_a_point(degree: int, rounds: int, size: int) -> None:
    """Each round's polynomial by galois's own interpolation, one round after the other."""
    random = np.random.default_rng(degree)
    messages = elements(random, rounds * degree, size).reshape(rounds, degree, size)
    point, first = elements(random, rounds, size), elements(random, 1, size)[0]
    claim = encoded(first)[0]
    for message, r in zip(messages, point, strict=True):
        at_zero = encoded(message[0])[0]
        values = [int(value) for value in (at_zero, claim - at_zero, *encoded(message[1:]))]
        h = galois.lagrange_poly(extension(size)(list(range(degree + 1))), extension(size)(values))
        claim = h(encoded(r)[0])
    assert encoded(arithmetic.interpolated(messages, first, point))[0] == claim


@pytest.mark.parametrize("size", [2, 3])
def test_eq_is_one_at_its_own_place(size: int) -> None:
    random = np.random.default_rng(4)
    point, upper = elements(random, 3, size), [0] * (size - 1)
    table = arithmetic.equality(point)
    assert arithmetic.same(arithmetic.total(table), one(size))
    assert arithmetic.same(table, arithmetic.equality_at(point, range(8)))
    corner = numbers([[1, *upper], [0, *upper], [1, *upper]])
    assert np.asarray(arithmetic.equality(corner)).tolist() == [[int(place == 5), *upper] for place in range(8)]
    assert arithmetic.same(arithmetic.equality_of(point, corner), table[5])
    assert arithmetic.same(arithmetic.product(point[:0]), one(size))
