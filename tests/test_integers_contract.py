"""Contractions are exact however wide the operands, though floating-point matrix products do the work."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from circuitize.circuits.integers import Contract
from circuitize.circuits.integers.contraction import contract, multiply_matrices

LETTERS = "abcd"


@st.composite
def equations(draw: st.DrawFn) -> tuple[str, str, str]:
    """Any equation: batches, outer products, sums over one operand alone, transposed targets."""
    x, y = (draw(st.permutations(draw(st.lists(st.sampled_from(LETTERS), unique=True)))) for _ in range(2))
    kept = draw(st.lists(st.sampled_from([*x, *y]), unique=True)) if x or y else []
    return "".join(x), "".join(y), "".join(kept)


@settings(max_examples=200, deadline=None)
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


@pytest.mark.parametrize("wide, narrow, terms", WIDTHS)
@pytest.mark.parametrize("swap", [False, True])
def test_matrix_products_are_exact_to_the_last_bit(wide: int, narrow: int, terms: int, swap: bool) -> None:
    """Ends of the interval everywhere, so that partial sums are as large as they can be; then random signs."""
    random = np.random.default_rng(terms)
    sizes = (narrow, wide) if swap else (wide, narrow)
    for signs in ([1], [-1], [1, -1]):
        x, y = (
            (random.choice(signs, shape) << bits) - random.integers(0, 2, shape)
            for bits, shape in zip(sizes, ((1, 3, terms), (1, terms, 2)), strict=True)
        )
        expected = [[sum(int(x[0, i, k]) * int(y[0, k, j]) for k in range(terms)) for j in range(2)] for i in range(3)]
        assert multiply_matrices(x, y)[0].tolist() == expected


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
