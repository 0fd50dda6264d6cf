"""Concatenate took a single number beside a vector for one of its rows, and failed with an IndexError."""

import pytest

from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers import Concatenate
from circuitize.circuits.types import Fixed


@pytest.mark.parametrize("shapes", [((3,), ()), ((2,), (2, 1)), ((2, 2), (2,))])
def test_arrays_of_different_ranks_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(TypingError, match="expected shapes equal but for axis 0"):
        Concatenate(0).target_types(*[Fixed(shape, 0, 0, 1) for shape in shapes])
