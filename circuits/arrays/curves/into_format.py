"""Results of nonlinear operations, kept inside the formats that were calibrated for them."""

from __future__ import annotations

from circuitize.circuits.integers import Check
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering


def into_format(lowering: Lowering, x: Integer) -> Integer:
    """Return the term rounded to the result's fraction bits, with a Check if the term's interval is not within the
    result's.

    If the term that is rounded cannot be negative, the interval of its Check is [0, high].
    """
    result = lowering.result
    rounded = x.shift_to(result.fraction_bits)
    found = rounded.type
    if result.low <= found.low and found.high <= result.high:
        return rounded
    return Check(0 if found.low >= 0 else result.low, result.high)(rounded)
