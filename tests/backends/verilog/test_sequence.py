"""Sequences of addresses: loops that give the numbers again, and keys that tell sequences apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from circuitize.backends.verilog.folded.sequence import DEEPEST, Sequence


def looped(first: int, *loops: tuple[int, int]) -> NDArray[np.int64]:
    """The numbers of nested loops, innermost first, of a count and a stride each."""
    made = np.full(1, first, np.int64)
    for count, stride in reversed(loops):
        made = np.add.outer(made, stride * np.arange(count)).reshape(-1)
    return made


SIX = tuple((2, 3**k) for k in (5, 0, 4, 1, 3, 2))
NUMBERS = {
    "one number": looped(7),
    "the same number": looped(7, (5, 0)),
    "down": looped(20, (6, -3)),
    "down, then up": looped(20, (4, -3), (5, 11)),
    "a row again and again": looped(0, (8, 1), (3, 0), (2, 8)),
    "six loops": looped(0, *SIX),
    "no loops": np.array([3, 1, 4, 1, 5, 9, 2, 6]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_sequence_gives_its_numbers_again(name: str) -> None:
    numbers = NUMBERS[name]
    made = Sequence.of(numbers)
    np.testing.assert_array_equal(made.values, numbers)
    assert (made.first, made.steps) == (numbers[0], len(numbers))
    assert made.bits == max(1, int(numbers.max()).bit_length())
    assert (made.table is None) == (made.loops is not None) == (name not in ("six loops", "no loops"))


def test_keys_are_the_same_for_the_same_numbers_alone() -> None:
    """Also if one sequence is a table and the other one has more loops."""
    table, loops = Sequence.of(NUMBERS["six loops"]), Sequence.of(NUMBERS["six loops"], DEEPEST + 1)
    assert table.loops is None and loops.loops is not None and table.key == loops.key
    assert Sequence.of(NUMBERS["no loops"].copy()).key == Sequence.of(NUMBERS["no loops"]).key
    every = [*NUMBERS.values(), looped(8, (5, 0)), looped(7, (6, 0)), looped(20, (6, -2)), NUMBERS["no loops"][::-1]]
    assert len({Sequence.of(np.ascontiguousarray(numbers)).key for numbers in every}) == len(every)
