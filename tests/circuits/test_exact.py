"""What a verifier writes is compared exactly: every text and every dtype against fractions, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.exact import exact_number, exact_numbers, shown, units, written
from circuitize.circuits.types import Fixed

LARGE = 2**62 - 1
FORMATS = [
    Fixed((), bits, low, high) for bits in (-70, -62, -9, -1, 0, 1, 12, 62, 70) for low, high in ((-9, 7), (0, LARGE))
]
NUMBERS: list[Any] = [
    *(np.array(number, kind) for number in (0, 1, 2, 3, 127) for kind in "bBhHiIlL?"),
    *(np.array(-number, kind) for number in (1, 2, 128) for kind in "bhil"),
    *(np.array(number, np.uint64) for number in (2**62 - 1, 2**62, 2**63, 2**64 - 1)),
    *(np.array(number, np.int64) for number in (-(2**63), 2**63 - 1, 2305843009213694000, 2305843009213693952)),
    *(np.array(number, kind) for number in (0.0, -0.0, 0.5, 0.1, 1.5, -8.5, 512.0) for kind in "efdg"),
    *(np.array(number) for number in (5e-324, 1e308, 2.0**-62, 2.0**-1074, 2.0**1023, 2.0**132, 2.0**61)),
    np.array(1, np.longdouble) + np.array(2, np.longdouble) ** -60,
]


def exactly(format: Fixed, number: Any) -> int | None:
    """The integer that a number is in a format, by fractions alone."""
    ratio = number.item() if number.dtype.kind in "biu?" else number[()]
    scaled = Fraction(*ratio.as_integer_ratio()) * Fraction(2) ** format.fraction_bits
    return int(scaled) if scaled.denominator == 1 and format.low <= scaled <= format.high else None


def test_every_dtype_against_fractions() -> None:
    taken = 0
    for format, number in product(FORMATS, NUMBERS):
        expected = exactly(format, number)
        if expected is not None:
            assert int(units("here", format, number)) == expected, (format, number, number.dtype)
            taken += 1
            continue
        with pytest.raises(CircuitizeError, match="here: expected a value of the format, found"):
            units("here", format, number)
    assert taken > 100


def test_numbers_that_are_none() -> None:
    for number in (np.nan, np.inf, -np.inf):
        with pytest.raises(CircuitizeError, match="give a finite number"):
            units("here", FORMATS[0], np.array(number))
    for array in (np.array(1j), np.array("1"), np.zeros((), "i4,i4")):
        with pytest.raises(CircuitizeError, match="expected numbers, found an array of"):
            units("here", FORMATS[0], array)


@pytest.mark.parametrize(
    ("text", "near"),
    [("0.5", "0 or 8"), ("9", "8 or 16"), ("-1", "-8 or 0"), ("1e3", "56"), ("-99/2", "-48"), ("5e-324", "0 or 8")],
)
def test_the_nearest_values_are_the_remedy(text: str, near: str) -> None:
    with pytest.raises(CircuitizeError, match=rf"the nearest: give {near}$"):
        units("here", Fixed((), -3, -6, 7), exact_numbers("here", text))


def test_what_is_written_is_read_again() -> None:
    for bits, integer in product((-70, -3, 0, 1, 12, 62, 70), (-9, -1, 0, 3, LARGE)):
        format = Fixed((2,), bits, -9, LARGE)
        text = f"[{written(integer, bits)}, {written(0, bits)}]"
        assert units("here", format, exact_numbers("here", text)).tolist() == [integer, 0]
        assert shown(integer, bits).startswith(written(integer, bits))
    assert units("here", Fixed((), 12, -9, 9), exact_numbers("here", "-9"), raw=True) == -9


def test_numbers_are_ascii() -> None:
    for text in ("\N{ARABIC-INDIC DIGIT THREE}", "1_0", " 1", "0x1", "1/2^-1", "1/0", "", "--1", "+1", "1.", ".5"):
        with pytest.raises(CircuitizeError, match="expected a number such as"):
            exact_number("here", text)
    assert exact_number("here", "1.5e+3") == 1500 and exact_number("here", "-3/2^100") == Fraction(-3, 2**100)
