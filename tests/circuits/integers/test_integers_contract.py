"""Contractions are exact however wide the operands, though floating-point matrix products do the work."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import TIER, examples

from circuitize.circuits.integers import Contract, contraction
from circuitize.circuits.integers.contraction import FEW, contract, multiply_matrices

LETTERS = "abcd"


@st.composite
def equations(draw: st.DrawFn) -> tuple[str, str, str]:
    """Any equation: batches, outer products, sums over one operand alone, transposed targets."""
    x, y = (draw(st.permutations(draw(st.lists(st.sampled_from(LETTERS), unique=True)))) for _ in range(2))
    kept = draw(st.lists(st.sampled_from([*x, *y]), unique=True)) if x or y else []
    return "".join(x), "".join(y), "".join(kept)


@settings(max_examples=examples(80, deep=10000), deadline=None)
@given(equations(), st.integers(0, 2**32), st.sampled_from([4, 20, 25, 28]))
def test_contractions_equal_numpy_on_python_integers(letters: tuple[str, str, str], seed: int, bits: int) -> None:
    random = np.random.default_rng(seed)
    extents = dict(zip(LETTERS, (2, 3, 1, 4), strict=True))
    shapes = [tuple(extents[c] for c in own) for own in letters[:2]]
    x, y = (random.integers(-(1 << bits), 1 << bits, shape) for shape in shapes)
    expected = np.einsum("{},{}->{}".format(*letters), x.astype(object), y.astype(object), optimize=False)
    found = contract(letters, np.asarray(x), np.asarray(y))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.asarray(expected, object).astype(np.int64))


WIDTHS = [
    (wide, narrow, terms)
    for wide, narrow, terms in product([3, 25, 31, 40, 51], [1, 5, 20, 30], [1, 2, 513])
    if terms << (wide + narrow) < 1 << 62
]


@every_case((*widths, swap) for widths in WIDTHS for swap in (False, True))
def test_matrix_products_are_exact_to_the_last_bit(
    wide: int, narrow: int, terms: int, swap: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ends of the interval everywhere, so that partial sums are as large as they can be; then random signs."""
    monkeypatch.setattr(contraction, "FEW", 0)
    random = np.random.default_rng(terms)
    sizes = (narrow, wide) if swap else (wide, narrow)
    for signs in ([1], [-1], [1, -1]):
        x, y = (
            (random.choice(signs, shape) << bits) - random.integers(0, 2, shape)
            for bits, shape in zip(sizes, ((1, 3, terms), (1, terms, 2)), strict=True)
        )
        expected = [[sum(int(x[0, i, k]) * int(y[0, k, j]) for k in range(terms)) for j in range(2)] for i in range(3)]
        assert multiply_matrices(x, y)[0].tolist() == expected


def ends(terms: int, product: int) -> list[tuple[int, int]]:
    """Pairs (a, b) with terms * a * b just below, at and just above a power of two."""
    narrow = 1 << max((product - terms.bit_length() + 1) // 3, 1)
    wide = (1 << product) // (terms * narrow)
    return [(wide - 1, narrow), (wide, narrow - 1), (wide, narrow), (wide + 1, narrow)]


SWAPS = [False, True] if TIER == "deep" else [False]
"""Which operand is the wide one: a product and its transpose are both tried."""


@every_case(product([2, 64, 1000], [10, 23, 24, 25, 45, 52, 53, 54, 57, 60, 61], SWAPS))
def test_every_split_is_exact_at_the_ends_of_its_interval(terms: int, product: int, swap: bool) -> None:
    """Around each bound where the arithmetic changes, in matrices large enough to reach it: least, greatest, mixed."""
    random = np.random.default_rng(product)
    rows, columns = 96, 2 * FEW // (96 * terms) + 1
    assert rows * terms * columns > FEW
    for wide, narrow in ends(terms, product):
        assert terms * wide * narrow < 1 << 62
        sizes = (narrow, wide) if swap else (wide, narrow)
        for choices in ([1], [-1], [1, -1], [1, 0, -1]):
            x = random.choice(choices, (rows, terms)) * sizes[0]
            y = random.choice(choices, (terms, columns)) * sizes[1]
            x[0], x[1] = sizes[0], -sizes[0]
            y[:, 0] = sizes[1] - (np.arange(terms) & 1) * (sizes[1] > 1)
            expected = x @ y  # None of its sums passes 2^62, so that numpy computes them as they are.
            for left, right, wanted in ((x, y, expected), (y.T, x.T, expected.T)):
                found = multiply_matrices(left[np.newaxis], right[np.newaxis])[0]
                assert found.dtype == np.int64
                np.testing.assert_array_equal(found, wanted)


def test_every_arithmetic_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """float32 below 2^24, float64 below 2^53, limbs beyond, int64 for few products: each by a matrix at its end."""
    used: list[str] = []

    class Watched(np.ndarray[Any, np.dtype[Any]]):
        def __matmul__(self, other: Any) -> Any:
            used.append(self.dtype.name)
            return np.asarray(self) @ np.asarray(other)

    def arithmetic(size: int, other: int, rows: int = 64) -> list[str]:
        used.clear()
        x, y = np.full((1, rows, 64), size), np.full((1, 64, 64), other)
        found = multiply_matrices(x.view(Watched), y)
        assert (np.asarray(found) == 64 * size * other).all()
        return list(used)

    monkeypatch.setattr(contraction, "array_module", lambda *values: np)  # Watched is of this file
    assert arithmetic(1 << 50, 1 << 5, rows=1) == ["int64"]
    assert arithmetic((1 << 9) - 1, 1 << 9) == ["float32"]
    assert arithmetic(1 << 9, 1 << 9) == ["float64"]
    assert arithmetic((1 << 27) - 1, 1 << 20) == ["float64"]
    assert arithmetic(1 << 27, 1 << 20) == ["float64", "float64"]


def test_the_least_integer_survives() -> None:
    x = np.array([[[-(1 << 61), 1 << 60]]])
    assert multiply_matrices(x, np.array([[[1], [1]]])).tolist() == [[[-(1 << 60)]]]


def test_a_layer_at_training_size_is_exact() -> None:
    random = np.random.default_rng(5)
    x, w = random.integers(0, 1 << 16, (64, 784)), random.integers(-(1 << 17), 1 << 17, (784, 128))
    (found,) = Contract("bi,ij->bj").run(x, w)
    np.testing.assert_array_equal(found, x @ w)
    (back,) = Contract("bi,bj->ij").run(x, found >> 12)
    np.testing.assert_array_equal(back, x.T @ (found >> 12))
