"""The independent verifier's extension field against galois's own, and its polynomials against their definitions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import galois
import numpy as np
import pytest

from circuitize.provers.tensor.config import PRIME
from circuitize.provers.tensor.independent import arithmetic
from circuitize.provers.tensor.independent.arithmetic import FIELD, ONE, numbers

AWKWARD = [0, 1, 2, 7, PRIME - 1, PRIME - 2, PRIME // 2, PRIME // 2 + 1, 2**32 - 1, 2**32, 2**63 + 1]


@lru_cache
def extension() -> Any:
    """galois's own quadratic extension: an element is the integer a + b p."""
    return galois.GF(
        PRIME, 2, irreducible_poly=galois.Poly([1, 0, PRIME - 7], field=FIELD), primitive_element=PRIME, verify=False
    )


def encoded(x: Any) -> Any:
    pairs = np.asarray(x).reshape(-1, 2)
    return extension()([int(a) + PRIME * int(b) for a, b in pairs.tolist()])


def elements(random: np.random.Generator, count: int) -> Any:
    drawn = random.choice(np.array(AWKWARD, object), (count, 2))
    mixed = np.where(random.random((count, 2)) < 0.5, drawn, random.integers(0, 2**63, (count, 2)).astype(object))
    return numbers(mixed)


def test_sums_and_products_are_those_of_galois() -> None:
    random = np.random.default_rng(0)
    x, y = elements(random, 60), elements(random, 60)
    a, b = encoded(x), encoded(y)
    assert np.array_equal(encoded(arithmetic.multiply(x, y)), a * b)
    assert np.array_equal(encoded(x + y), a + b)
    assert np.array_equal(encoded(x - y), a - b)
    assert encoded(arithmetic.product(x[:7]))[0] == np.multiply.reduce(a[:7])
    assert encoded(arithmetic.total(x))[0] == np.add.reduce(a)
    assert np.array_equal(encoded(arithmetic.powers(x[0], 6)), [a[0] ** k for k in range(1, 7)])


def test_seven_is_no_square() -> None:
    assert int(FIELD(7) ** ((PRIME - 1) // 2)) == PRIME - 1


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_rounds_of_a_sumcheck_are_polynomials_at_a_point(degree: int, rounds: int) -> None:
    """Each round's polynomial by galois's own interpolation, one round after the other."""
    random = np.random.default_rng(degree)
    messages = elements(random, rounds * degree).reshape(rounds, degree, 2)
    point, first = elements(random, rounds), elements(random, 1)[0]
    claim = encoded(first)[0]
    for message, r in zip(messages, point, strict=True):
        at_zero = encoded(message[0])[0]
        values = [int(value) for value in (at_zero, claim - at_zero, *encoded(message[1:]))]
        h = galois.lagrange_poly(extension()(list(range(degree + 1))), extension()(values))
        claim = h(encoded(r)[0])
    assert encoded(arithmetic.interpolated(messages, first, point))[0] == claim


def test_eq_is_one_at_its_own_place() -> None:
    random = np.random.default_rng(4)
    point = elements(random, 3)
    table = arithmetic.equality(point)
    assert arithmetic.same(arithmetic.total(table), ONE)
    assert arithmetic.same(table, arithmetic.equality_at(point, range(8)))
    corner = numbers([[1, 0], [0, 0], [1, 0]])
    assert np.asarray(arithmetic.equality(corner)).tolist() == [[int(place == 5), 0] for place in range(8)]
    assert arithmetic.same(arithmetic.equality_of(point, corner), table[5])
    assert arithmetic.same(arithmetic.product(point[:0]), ONE)
