"""A view that moved along an axis of extent 1 and another at once was taken for the identity, and lost its zeros."""

import numpy as np
import pytest

from circuitize.circuits.integers import Affine
from circuitize.circuits.integers.view import View


@pytest.mark.parametrize(
    ("source", "step", "expected"),
    [
        ((2, 1), Affine((2, 1), (0, 0), ((1, 0), (1, 0))), [[0], [-1]]),
        ((2, 1), Affine((2,), (0, 0), ((1,), (1,))), [0, -1]),
        ((1, 3), Affine((1, 3), (0, 0), ((0, -1), (0, 1))), [[0, -1, -1]]),
    ],
)
def test_outside_along_an_axis_of_extent_1_reads_zero(source: tuple[int, ...], step: Affine, expected: object) -> None:
    view, values = View(source, (step,)), np.arange(1, 1 + int(np.prod(source))).reshape(source)
    at = np.array(expected)
    np.testing.assert_array_equal(view.indices(), at)
    np.testing.assert_array_equal(view.gather(values), np.where(at < 0, 0, values.reshape(-1)[at]))
    assert view.scatter(np.ones(at.shape, np.int64)).sum() == (at >= 0).sum() and view.reads_outside
