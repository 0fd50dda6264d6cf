"""The LUTs that an operation takes in a family of FPGAs, and the registers inside dividers and square roots.

The formulas follow small modules with one operation each (`benchmarks/verilog_devices.py modules`).
"""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits.integers import (
    Add,
    Check,
    Clamp,
    Divide,
    IsNegative,
    Lookup,
    Maximum,
    Multiply,
    ReLU,
    Scale,
    Shift,
    SquareRoot,
    Subtract,
)
from circuitize.circuits.operation import Operation

from ..devices.family import Family
from ..signals import Signal
from .size import is_bit, quotient_bits


def carries(bits: int) -> int:
    """Return the LUTs of an adder of `bits` bits: a carry cell counts as two LUTs and adds two bits."""
    return 2 * -(-bits // 2)


def luts(
    operation: Operation, sources: Sequence[Signal], target: Signal, family: Family, passed: int = 0, kept: int = 0
) -> float:
    """Return the LUTs that an operation takes, without those of products in LUTs of six inputs.

    A sum passes its lowest `passed` bits on unchanged. Of a ReLU that only a Clamp reads, `kept` bits, those above the
    shifts between the two, take LUTs of six inputs; the Clamp's LUTs of four inputs do the work of the ReLU.
    """
    narrow, made = family.inputs == 4, target.width
    bits = sources[0].width if sources else 0
    if isinstance(operation, Shift | IsNegative | Lookup):
        return 0
    if isinstance(operation, Add | Subtract):
        return carries(made - passed) if narrow else _sum(operation, sources, made - passed)
    if isinstance(operation, Scale):
        return (carries(made) if narrow else made) if operation.factor < 0 else 0
    if isinstance(operation, Multiply):
        return made if any(map(is_bit, sources)) else 0
    if isinstance(operation, ReLU):
        return (0 if narrow else kept) if kept else made
    if isinstance(operation, Maximum):
        return 2 * made + 2 if narrow else 1.7 * made
    if isinstance(operation, Clamp):
        return (_narrow_clamp if narrow else _clamp)(sources[0], operation.low, operation.high, made)
    if isinstance(operation, Check):
        ends = (sources[0].low < operation.low) + (sources[0].high > operation.high)
        return ends * carries(max(bits - made, 1)) if narrow else max(1, (bits - made + 5) // 5)
    if isinstance(operation, Divide):
        return _divider(quotient_bits(sources[0]) - 1, sources[1].width, narrow)
    if isinstance(operation, SquareRoot):
        half = (bits + 1) // 2
        return half * (2.03 * half + 2.25) if narrow else half * (2.05 * half + 0.9)
    return made


def _sum(operation: Operation, sources: Sequence[Signal], bits: int) -> int:
    """Return the LUTs of six inputs of a sum: with a known number, only the inverters of the bits that are 1, since the
    carry chain passes a bit without a LUT.
    """
    x, y = sources
    known = y if y.low == y.high else x
    if known.low < known.high:
        return bits
    if isinstance(operation, Subtract) and known is x:
        return bits
    amount = -known.low if isinstance(operation, Subtract) else known.low
    return min(bits, (amount & ((1 << y.width + x.width) - 1)).bit_count())


def _clamp(x: Signal, low: int, high: int, made: int) -> float:
    """Return the LUTs of six inputs of a Clamp: those that compare, and those that select the result; a register after
    the Clamp that is set where the value is too high needs none to select it.
    """
    if x.high > high and not x.signed and high & (high + 1) == 0:
        return 1 + (x.width - made) // 5
    above = x.width - made
    return made + 1 if above <= 4 else made + 2 + 0.8 * above


def _narrow_clamp(x: Signal, low: int, high: int, made: int) -> int:
    """Return the LUTs of four inputs of a Clamp: carry cells that compare with each end that the value can pass, and
    LUTs that select the result.
    """
    above, below = x.high > high, x.low < low
    if above and not x.signed and high & (high + 1) == 0:
        return made + (x.width - made) // 3
    compared = (x.width - 2 if above else 0) + (x.width - made if below and low < 0 else 0)
    return made + compared + 1 + (below and low < 0)


def _divider(places: int, divisor: int, narrow: bool) -> float:
    """Return the LUTs of a divider: for each bit of the quotient a subtraction and the choice of the remainder; where
    LUTs are shift registers, two a bit carry the dividend to its place and the quotient to the end.
    """
    return places * (carries(divisor + 2) + divisor + 1.6 if narrow else 2 * divisor + 4.5)


def inside(operation: Operation, sources: Sequence[Signal], target: Signal, family: Family) -> int:
    """Return the registers inside a divider or a square root; 0 for all other operations.

    Each step of a divider has the divisor, what is left, the bits of the dividend to come, unless they are known, and
    those bits of the quotient so far that are read; each step of a square root what is left, the root so far and the
    bits to come. Bits that only wait are in LUTs that are shift registers, in families that have these, except for the
    last two steps of their way.
    """
    if isinstance(operation, Divide):
        places, divisor = quotient_bits(sources[0]) - 1, sources[1].width
        bits = min(places, target.width)
        waiting = bits * (bits + 1) // 2
        waiting += 0 if sources[0].low == sources[0].high else (places + 1) * (places + 2) // 2
        return divisor * (2 * places - 1) + (6 if family.shifts else waiting)
    if isinstance(operation, SquareRoot):
        half = (sources[0].width + 1) // 2
        waiting = 6 if family.shifts else half * (half - 1)
        return half * (half - 1) + half * (half + 1) // 2 + waiting
    return 0
