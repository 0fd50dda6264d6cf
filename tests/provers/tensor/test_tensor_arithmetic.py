"""The independent verifier's fields against Python's integers and galois's, its polynomials by their definitions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import galois
import numpy as np
import pytest
from every_case import every_case
from independent_verifier import arithmetic, goldilocks
from independent_verifier.arithmetic import Field, numbers, one, words

from circuitize.backends.tensor.forms import PRIME

GALOIS: Any = galois.GF(PRIME, primitive_element=7, verify=False)
"""Without the generator and `verify=False`, galois would factor p - 1 and search."""

HALVES = [0, 1, 2, 7, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1]
AWKWARD = sorted(
    {high << 32 | low for high in HALVES for low in HALVES if high << 32 | low < PRIME}
    | {2**32 + 1, 2**33, 2**63 - 1, PRIME // 2, PRIME // 2 + 1, 2**64 - 2**33, PRIME - 2**32, PRIME - 2, PRIME - 1}
    | {pow(7, -1, PRIME), pow(2, -1, PRIME), pow(2**32, -1, PRIME), pow(7, (PRIME - 1) // 3, PRIME)}
)


def minimal(degree: int) -> Any:
    """X^degree - 7."""
    return galois.Poly([1, *[0] * (degree - 1), PRIME - 7], field=GALOIS)


@lru_cache
def extension(degree: int) -> Any:
    """galois's own extension: an element is the integer a + b p, or a + b p + c p^2."""
    return galois.GF(PRIME, degree, irreducible_poly=minimal(degree), primitive_element=PRIME, verify=False)


def encoded(x: Any) -> Any:
    degree = x.shape[-1]
    rows = np.asarray(x).reshape(-1, degree).tolist()
    return extension(degree)([sum(int(word) * PRIME**k for k, word in enumerate(row)) for row in rows])


def plain(x: Any) -> Any:
    """The same elements in galois's base field."""
    return GALOIS(words(x).astype(object))


def elements(random: np.random.Generator, count: int, degree: int) -> Any:
    shape = (count, degree)
    drawn = random.choice(np.array(AWKWARD, object), shape)
    return numbers(np.where(random.random(shape) < 0.5, drawn, random.integers(0, PRIME, shape, np.uint64)))


@lru_cache
def pairs() -> tuple[Any, Any]:
    """Each two awkward words; random ones; and ones whose product is a little more or less than a multiple of p."""
    random = np.random.default_rng(1)
    x, y = [list(own) for own in zip(*((a, b) for a in AWKWARD for b in AWKWARD), strict=True)]
    x += random.integers(0, PRIME, 4000, np.uint64).tolist()
    y += random.integers(0, PRIME, 4000, np.uint64).tolist()
    for own in random.integers(1, PRIME, 200, np.uint64).tolist():
        for product in (1, 2, 2**32 - 1, 2**32, 2**32 + 1, 2**63, PRIME - 2**32, PRIME - 2, PRIME - 1):
            x.append(own)
            y.append(product * pow(own, -1, PRIME) % PRIME)
    return np.array(x, object), np.array(y, object)


@pytest.mark.parametrize("function", [operator.add, operator.sub, operator.mul])
def test_words_are_what_python_computes(function: Callable[[Any, Any], Any]) -> None:
    x, y = pairs()
    assert np.array_equal(np.asarray(function(numbers(x), numbers(y))), function(x, y) % PRIME)


def test_words_to_a_power_are_what_python_computes() -> None:
    x, y = pairs()
    found = np.asarray(arithmetic.powers_of(numbers(x[::7]), y[::7] % 2**63)).tolist()
    assert found == [pow(a, b % 2**63, PRIME) for a, b in zip(x[::7], y[::7], strict=True)]
    assert np.asarray(arithmetic.powers_of(numbers(0), np.array([0, 1]))).tolist() == [1, 0]


@pytest.mark.parametrize("size", [2, 3])
def test_products_of_awkward_coordinates_are_what_python_computes(size: int) -> None:
    """Coordinates of the largest words, too, of which sums of products would wrap."""
    random = np.random.default_rng(size)
    largest = numbers([[PRIME - 1] * size] * 2)
    x, y = (np.concatenate([elements(random, 2000, size), largest]) for _ in range(2))
    expected = []
    for a, b in zip(np.asarray(x).tolist(), np.asarray(y).tolist(), strict=True):
        row = [0] * size
        for i in range(size):
            for j in range(size):
                row[(i + j) % size] += a[i] * b[j] * (7 if i + j >= size else 1)
        expected.append([value % PRIME for value in row])
    assert np.asarray(arithmetic.multiply(x, y)).tolist() == expected


def test_sums_of_many_of_the_largest_words_do_not_wrap() -> None:
    many = numbers([[PRIME - 1] * 3] * 1000)
    assert np.asarray(arithmetic.total(many)).tolist() == [PRIME - 1000] * 3
    assert np.asarray(arithmetic.total(many, axis=1)).tolist() == [PRIME - 3] * 1000
    assert np.asarray(many.T @ many).tolist() == [[1000] * 3] * 3
    assert np.asarray(many[:, 0] @ many).tolist() == [1000] * 3
    assert arithmetic.total(many[:0]).tolist() == [0] * 3
    sums = many[:2].copy()
    arithmetic.add_at(sums, np.array([1, 1, 0]), many[:3])
    assert sums.tolist() == [[PRIME - 2] * 3, [PRIME - 3] * 3]
    with pytest.raises(IndexError):
        arithmetic.add_at(sums, np.array([2]), many[:1])


@pytest.mark.parametrize("size", [2, 3])
def test_sums_and_products_are_those_of_galois(size: int) -> None:
    random = np.random.default_rng(0)
    x, y = elements(random, 60, size), elements(random, 60, size)
    a, b = encoded(x), encoded(y)
    assert np.array_equal(encoded(arithmetic.multiply(x, y)), a * b)
    assert np.array_equal(encoded(x + y), a + b)
    assert np.array_equal(encoded(x - y), a - b)
    assert np.array_equal(encoded(-x), -a)
    for count in (1, 2, arithmetic.FEW, arithmetic.FEW + 1, 19):
        assert encoded(arithmetic.product(x[:count]))[0] == np.multiply.reduce(a[:count])
    assert encoded(arithmetic.total(x))[0] == np.add.reduce(a)
    assert encoded(arithmetic.dot(x, y))[0] == np.add.reduce(a * b)
    assert np.array_equal(encoded(arithmetic.line(x, y, x[3])), a + (b - a) * a[3])
    assert encoded(arithmetic.inverse(x[0]))[0] == a[0] ** -1
    assert np.array_equal(encoded(arithmetic.powers(x[0], 6)), [a[0] ** k for k in range(1, 7)])
    left, right = plain(x[:, 0]), plain(y[:, 1])
    assert np.array_equal(plain(x[:, 0] * y[:, 1]), left * right)
    assert np.array_equal(plain(arithmetic.scale(x, y[:, 1])), plain(x) * right[:, None])
    assert np.array_equal(plain(x.T @ y), plain(x).T @ plain(y))
    assert np.array_equal(plain(arithmetic.inverted(x[:size])), np.linalg.inv(plain(x[:size])))
    assert np.array_equal(plain(arithmetic.total(x, axis=1)), np.add.reduce(plain(x), axis=1))
    shown = arithmetic.evaluated(x, y[:, 1])
    for k in range(size):
        assert np.array_equal(plain(shown[:, k]), galois.Poly(plain(x[::-1, k]))(right))


def test_a_matrix_whose_pivot_is_zero_has_its_inverse() -> None:
    matrix = numbers([[0, 1, 2], [3, 0, 1], [PRIME - 1, 5, 0]])
    assert (matrix @ arithmetic.inverted(matrix)).tolist() == np.eye(3, dtype=int).tolist()


@pytest.mark.parametrize(
    "values",
    [
        -1,
        [[0, -(2**63)], [2**63 - 1, 5]],
        [PRIME, PRIME + 1, 2**64 - 1, 2**64, -(2**200), 2**200],
        np.array([0, 1, -1, -5, 2**32, -(2**63), 2**63 - 1]),
        np.array([0, 1, PRIME - 1, PRIME, PRIME + 1, 2**64 - 1], np.uint64),
        np.array([[-1, 127]], np.int8),
        np.array(-(2**63)),
        np.array([-1, 2**100], object),
    ],
)
def test_integers_of_any_size_are_elements(values: Any) -> None:
    given = np.array(values, object)
    assert numbers(values).shape == given.shape
    assert np.asarray(numbers(values)).reshape(-1).tolist() == [int(value) % PRIME for value in given.reshape(-1)]


@pytest.mark.parametrize("values", [0.5, [1.0], np.array([2.0]), [None]])
def test_what_is_no_integer_is_no_element(values: Any) -> None:
    with pytest.raises(TypeError):
        numbers(values)


def test_one_element_stays_an_element() -> None:
    x = numbers([PRIME - 1, PRIME - 2])
    ones = [x[0], *x, x[np.int64(1)], numbers(5), x[0] + x[1], -x[0], arithmetic.total(x), numbers([[3]])[0, 0]]
    assert all(isinstance(found, Field) and found.shape == () for found in ones)
    assert int(x[0] + x[1]) == PRIME - 3 and int(x[0] * x[1]) == 2
    assert all(isinstance(found, Field) for found in (x[:1], np.stack([x, x]), np.concatenate([x, x]), x.reshape(1, 2)))
    first, second = x
    assert (first == second, first != second) == (False, True)


WRAPS: dict[str, Callable[[Any], Any]] = {
    "an integer": lambda x: x + 1,
    "an integer before": lambda x: 2 * x,
    "an ordinary array": lambda x: x + np.ones(3, np.uint64),
    "an ordinary array before": lambda x: np.ones(3, np.uint64) * x,
    "a number of numpy's": lambda x: x - np.uint64(1),
    "in place": lambda x: x.__iadd__(x),
    "a function": lambda x: np.add(x, x),
    "into an array": lambda x: np.multiply(np.ones(3, np.uint64), 3, out=x),
    "sums": lambda x: np.add.reduce(x),
    "sums at places": lambda x: np.add.at(x, [0], 1),
    "a sum": np.sum,
    "its own sum": lambda x: x.sum(),
    "its own product": lambda x: x.prod(),
    "its own running sum": lambda x: x.cumsum(),
    "its own dot": lambda x: x.dot(x),
    "its own trace": lambda x: x.reshape(1, 3).trace(),
    "its own mean": lambda x: x.mean(),
    "its greatest": lambda x: x.max(),
    "a dot": lambda x: np.dot(x, x),
    "an inner product": lambda x: np.inner(x, x),
    "an outer product": lambda x: np.outer(x, x),
    "a sum of products": lambda x: np.einsum("i,i", x, x),
    "an ordinary matrix": lambda x: np.eye(3) @ x,
    "a matrix of floats": lambda x: np.linalg.inv(x[:, None] @ x[None]),
    "a remainder": lambda x: x % 5,
    "a power": lambda x: x**2,
    "a shift": lambda x: x >> 1,
    "an order": lambda x: x < x,
    "an assigned integer": lambda x: operator.setitem(x, 0, PRIME),
    "an assigned array": lambda x: operator.setitem(x, slice(3), np.ones(3, np.uint64)),
    "a comparison with an integer": lambda x: x == 0,
    "a product of the extension": lambda x: arithmetic.multiply(x, np.ones(3, np.uint64)),
    "floats": lambda x: goldilocks.plus(words(x), np.ones(3)),
    "signed words": lambda x: goldilocks.times(words(x), np.ones(3, np.int64)),
}


@every_case(WRAPS.items())
def test_numpy_computes_nothing_of_elements(_: str, wraps: Callable[[Any], Any]) -> None:
    """What would wrap, round or compare other numbers is refused, and changes nothing."""
    x = numbers([PRIME - 1, 2**63, 5])
    with pytest.raises(TypeError):
        wraps(x)
    assert x.tolist() == [PRIME - 1, 2**63, 5]


def test_seven_is_neither_square_nor_cube() -> None:
    """So X^2 - 7 and X^3 - 7 have no root, and are irreducible."""
    assert pow(7, (PRIME - 1) // 2, PRIME) == PRIME - 1
    assert (PRIME - 1) % 3 == 0 and pow(7, (PRIME - 1) // 3, PRIME) != 1
    assert minimal(2).is_irreducible() and minimal(3).is_irreducible()


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize(
    "rounds", [1, pytest.param(2, marks=pytest.mark.deep), 3, pytest.param(5, marks=pytest.mark.deep)]
)
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
def test_what_differs_in_one_coordinate_is_not_the_same(size: int) -> None:
    x = elements(np.random.default_rng(6), 3, size)
    assert arithmetic.same(x, x.copy())
    for place in np.ndindex(x.shape):
        other = x.copy()
        other[place] = other[place] + numbers(1)
        assert not arithmetic.same(x, other) and not arithmetic.same(other, x), place


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
    assert arithmetic.same(arithmetic.equality(point[:0]), one(size)[None])


@pytest.mark.parametrize("size", [2, 3])
def test_eq_is_a_product_of_coordinates_and_what_they_lack_of_one(size: int) -> None:
    """In galois's own extension; and of a point whose words may not be written to."""
    sent = np.frombuffer(words(elements(np.random.default_rng(5), 4, size)).tobytes(), np.uint64)
    point = arithmetic.elements(sent).reshape(4, size)
    own = encoded(point)
    chosen = [[r if place >> bit & 1 else extension(size)(1) - r for bit, r in enumerate(own)] for place in range(16)]
    expected = [np.multiply.reduce(extension(size)([int(value) for value in row])) for row in chosen]
    assert np.array_equal(encoded(arithmetic.equality(point)), expected)
