"""Exact numbers that a verifier writes: as fractions, and as the integers of a format if the format has these
values.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from .errors import CircuitizeError, excerpt
from .operation import Values
from .types import LIMIT, Fixed

NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d{1,3})?|(-?\d+)/(?:2\^(\d{1,4})|(\d+))", re.ASCII)
ENTRY = re.compile(r"[^][,\s]+")

Numbers = Values
"""An array of fractions, or of a dtype of whole or of floating numbers."""

Integers = NDArray[np.int64]
Refused = NDArray[np.bool_]

RAW = "raw:"
"""The prefix of a value that is given as integers of the format, not as real numbers."""


def exact_number(where: str, value: str) -> Fraction:
    """Return a number such as 0.25, 3/8 or 1024/2^12 as a fraction. Raise CircuitizeError for a text that is not a
    number in one of these forms: 0.25, 3/8, 1024/2^12.
    """
    try:
        return _number(value)
    except (ValueError, ZeroDivisionError):
        raise CircuitizeError(f"{where}: expected a number such as 0.25 or 1/10, found {excerpt(value)}") from None


def exact_numbers(where: str, value: str) -> Numbers:
    """Return a number, or lists of numbers as JSON nests them, as fractions. Raise CircuitizeError for a text that is
    neither a number nor nested lists of numbers.
    """
    try:
        if not value.startswith("["):
            return np.array(_number(value), dtype=object)
        nested = json.loads(ENTRY.sub(lambda entry: json.dumps(entry[0]), value))
        leaves = [_number(leaf) for leaf in _leaves(nested)]
        made = np.empty(len(leaves), dtype=object)
        made[:] = leaves
        return made.reshape(np.shape(nested))
    except (ValueError, TypeError, ZeroDivisionError, RecursionError):
        raise CircuitizeError(
            f"{where}: expected a number such as 0.25 or 1024/2^12, or a list of them, found {excerpt(value)}"
        ) from None


def units(where: str, format: Fixed, numbers: Numbers, raw: bool = False) -> Integers:
    """Return the integers of a format that represent the given real numbers or, with `raw`, that are the given
    integers. Numbers that a verifier writes are never rounded to a format.

    Raise CircuitizeError if the numbers have another shape than the format, or if a number is no value of the format;
    the message names the nearest values.
    """
    if numbers.shape != format.shape:
        raise CircuitizeError(
            f"{where}: expected a value of shape {list(format.shape)}, found {list(numbers.shape)}; nest lists so"
        )
    bits = 0 if raw else format.fraction_bits
    kind = numbers.dtype.kind
    if kind == "O":
        found, bad = _of_fractions(numbers, bits)
    elif kind in "biu":
        found, bad = _of_whole(numbers, bits)
    elif kind == "f" and not raw:
        found, bad = _of_floats(numbers, bits)
    else:
        wanted = "whole numbers, since raw units are asked for" if raw else "numbers"
        raise CircuitizeError(f"{where}: expected {wanted}, found an array of {numbers.dtype}; convert it")
    bad |= (found < format.low) | (found > format.high)
    if bad.any():
        at = tuple(int(place) for place in np.argwhere(bad)[0])
        element = f" at element {list(at)}" if at else ""
        number = int(numbers[at]) if kind in "biu" else numbers[at]
        raise CircuitizeError(f"{where}: {_no_value(format, number, bits, element, raw)}")
    return found


def written(integer: int, fraction_bits: int) -> str:
    """Return the exact number that an integer of a format stands for, in the notation that the command line takes."""
    return f"{integer}/2^{fraction_bits}" if fraction_bits > 0 else str(integer << -fraction_bits)


def shown(integer: int, fraction_bits: int) -> str:
    """Return the exact number that an integer of a format stands for, with its decimal notation added."""
    exact = written(integer, fraction_bits)
    return f"{exact} ({float(Fraction(integer, 1 << fraction_bits)):.9g})" if fraction_bits > 0 else exact


def _no_value(format: Fixed, number: int | Fraction | np.floating, bits: int, element: str, raw: bool) -> str:
    """Return the message that a number is no value of the format, and which values of the format are nearest."""
    what = "raw units" if raw else "a value"
    try:
        exact = Fraction(*number.as_integer_ratio())
    except (ValueError, OverflowError):
        return f"expected {what} of the format, found {number}{element}; give a finite number"
    below = floor(exact * Fraction(2) ** bits)
    near = sorted({min(max(one, format.low), format.high) for one in (below, below + 1)})
    told = " or ".join(f"{RAW}{one}" if raw else written(one, bits) for one in near)
    return f"expected {what} of the format, found {excerpt(str(exact))}{element}; the nearest: give {told}"


def _of_fractions(numbers: Numbers, bits: int) -> tuple[Integers, Refused]:
    scaled = [number * Fraction(2) ** bits for number in numbers.reshape(-1).tolist()]
    whole = [one.denominator == 1 and abs(one) < LIMIT for one in scaled]
    found = [int(one) if good else 0 for one, good in zip(scaled, whole, strict=True)]
    return np.array(found, np.int64).reshape(numbers.shape), ~np.array(whole, np.bool_).reshape(numbers.shape)


def _of_whole(numbers: Numbers, bits: int) -> tuple[Integers, Refused]:
    """Return the integers of a format for an array of an integer dtype, by shifts if these lose nothing."""
    wide = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64)
    if bits < -63:
        return np.zeros(wide.shape, np.int64), wide != 0
    if bits < 0:
        found = wide >> wide.dtype.type(-bits)
        return found.astype(np.int64), found << wide.dtype.type(-bits) != wide
    most = (LIMIT - 1) >> bits
    bad = (wide > wide.dtype.type(most)) | ((wide < -most) if wide.dtype.kind == "i" else False)
    return np.where(bad, 0, wide).astype(np.int64) << min(bits, 62), bad


def _of_floats(numbers: Numbers, bits: int) -> tuple[Integers, Refused]:
    """Return the integers of a format for an array of floats, scaled by a power of two, which is exact unless a product
    overflows or becomes zero.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        doubles = numbers.astype(np.float64)
        scaled = np.ldexp(doubles, bits)
        good = np.isfinite(scaled) & (doubles == numbers) & (scaled == np.rint(scaled)) & (np.abs(scaled) < LIMIT)
        good &= (scaled != 0) | (doubles == 0)
    return np.where(good, scaled, 0).astype(np.int64), ~good


def _leaves(nested: object) -> list[object]:
    return [leaf for entry in nested for leaf in _leaves(entry)] if isinstance(nested, list) else [nested]


def _number(text: object) -> Fraction:
    if not isinstance(text, str) or not NUMBER.fullmatch(text):
        raise ValueError(text)
    numerator, slash, denominator = text.partition("/")
    if denominator.startswith("2^"):
        return Fraction(int(numerator), 1 << int(denominator[2:]))
    return Fraction(numerator) / Fraction(denominator) if slash else Fraction(numerator)
