"""The depth, the latency and the size of the operations of a datapath."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits.integers import Check, Clamp, Divide, IsNegative, Lookup, Multiply, Scale, Shift, SquareRoot
from circuitize.circuits.operation import Operation

from ..signals import Signal, signed_width


def quotient_bits(x: Signal) -> int:
    """Return the number of bits, at least 2, of the signed dividend x with which a divider computes."""
    return max(signed_width(x.low, x.high), 2)


def timing(operation: Operation, sources: Sequence[Signal]) -> tuple[int, int]:
    """Return how many levels of logic an operation counts as, and how many registers are inside it."""
    if isinstance(operation, Multiply):
        return (1, 0) if any(is_bit(s) for s in sources) else (0, 1)
    if isinstance(operation, Scale):
        size = abs(operation.factor)
        if size & (size - 1) == 0:
            return (1 if operation.factor < 0 else 0), 0
        return 0, 1
    if isinstance(operation, Lookup):
        return 0, 1
    if isinstance(operation, Divide):
        return 0, quotient_bits(sources[0])
    if isinstance(operation, SquareRoot):
        return 0, (sources[0].width + 1) // 2
    return (0 if isinstance(operation, Shift | IsNegative) else 1), 0


def is_bit(signal: Signal) -> bool:
    """Return whether a signal holds 0 and 1 only."""
    return signal.low >= 0 and signal.high <= 1


def is_power(signal: Signal) -> bool:
    """Return whether a signal is always the same power of two."""
    return signal.low == signal.high > 0 and signal.low & (signal.low - 1) == 0


def dsp_blocks(target: Signal, *sources: Signal) -> int:
    """Return the multiplier blocks of 25 x 18 bits that a product takes; 0 if it is so narrow that yosys
    prefers LUTs, or if a factor is a power of two.
    """
    x, y = sorted(signed_width(s.low, s.high) for s in sources)
    if x < 2 or target.width < 9 or any(map(is_power, sources)):
        return 0
    return min(-(-(x - 1) // 17) * -(-(y - 1) // 24), -(-(x - 1) // 24) * -(-(y - 1) // 17))


FACTORS = (25, 18)
"""Bits of the widest signed factors that one multiplier of the Xilinx 7 series takes."""
LONG, SHORT = FACTORS[0] - 1, FACTORS[1] - 1
"""Bits of the parts without a sign that a wide factor is cut into, for either side of a multiplier."""


def multiplied(operation: Operation, factors: Sequence[Signal]) -> bool:
    """Return whether an operation, a Multiply or a Scale, takes a multiplier for the product of its factors."""
    if isinstance(operation, Multiply):
        return not any(is_bit(factor) or is_power(factor) for factor in factors)
    return isinstance(operation, Scale) and abs(operation.factor) & (abs(operation.factor) - 1) != 0


def fits(factors: Sequence[Signal]) -> bool:
    """Return whether one multiplier takes the product of two factors."""
    x, y = (signed_width(factor.low, factor.high) for factor in factors)
    return bits_fit(x, y)


def bits_fit(x: int, y: int) -> bool:
    """Return whether one multiplier takes signed factors of so many bits."""
    return max(x, y) <= FACTORS[0] and min(x, y) <= FACTORS[1]


PART = 17
"""Bits of the lower parts of a factor that is multiplied in parts: with a sign, one multiplier of each family takes
them. A product that takes several multipliers in one clock is slow.
"""


def in_parts(operation: Operation, sources: Sequence[Signal]) -> bool:
    """Return whether a product takes several multipliers for its wide factor, so that it may take a clock more."""
    if not multiplied(operation, sources):
        return False
    if isinstance(operation, Scale):
        sources = [*sources, Signal(str(operation.factor), operation.factor, operation.factor)]
    short, wide = sorted(signed_width(s.low, s.high) for s in sources)
    return 1 < short <= FACTORS[1] and FACTORS[0] < wide <= 3 * PART + 1


def parts(bits: int) -> list[tuple[int, int]]:
    """Return the lowest bit of each part of a signed factor of so many bits, and the bits of the part as a signed
    number: all parts but the last are not negative.
    """
    lowest = range(0, bits - 1, PART)
    return [(low, PART + 1) for low in lowest[:-1]] + [(lowest[-1], bits - lowest[-1])]


def luts(operation: Operation, sources: Sequence[Signal], target: Signal) -> int:
    """Return a first estimate of the LUTs of six inputs that an operation takes."""
    if isinstance(operation, Shift | IsNegative):
        return 0
    if isinstance(operation, Scale):
        size = abs(operation.factor)
        return 0 if operation.factor > 0 and size & (size - 1) == 0 else target.width
    if isinstance(operation, Multiply):
        if any(is_bit(s) for s in sources):
            return target.width
        return 0 if dsp_blocks(target, *sources) or any(map(is_power, sources)) else sources[0].width * sources[1].width
    if isinstance(operation, Divide):
        return quotient_bits(sources[0]) * (sources[1].width + 2)
    if isinstance(operation, SquareRoot):
        return sources[0].width * sources[0].width // 3
    if isinstance(operation, Clamp):
        return target.width + sources[0].width // 2
    if isinstance(operation, Check):
        return max(1, (sources[0].width - target.width + 5) // 5)
    return target.width
