"""Results of nonlinear operations, kept inside the format that was calibrated for them."""

from __future__ import annotations

from circuitize.circuits.integers import Check
from circuitize.circuits.lowering import Lowering


def confine(lowering: Lowering, wire: int) -> int:
    """The wire rounded to the result's fraction bits, with a Check where its interval leaves the result's.

    Of a wire that cannot be negative the Check is of [0, high].
    """
    result = lowering.result
    rounded = lowering.shift_to(wire, result.fraction_bits)
    found = lowering.type(rounded)
    if result.low <= found.low and found.high <= result.high:
        return rounded
    return lowering.builder.add(Check(0 if found.low >= 0 else result.low, result.high), rounded)
