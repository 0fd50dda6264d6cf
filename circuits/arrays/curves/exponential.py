"""The exponential function: in integers, a product of table entries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require
from circuitize.circuits.types import LIMIT, Array, Fixed

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .into_format import into_format

TABLE_BITS = 12
"""Tables of the exponential have at most 2^12 entries, or 12 bits of index."""


@dataclass(frozen=True)
class Exp(RealOperation):
    """The exponential e^x of each element. Exp is undefined where the result leaves float64 (x > 709.78); a lowered Exp
    is undefined where its result leaves the calibrated format.

    Exp is lowered to within 1 unit of the last bit of the correctly rounded result; the result is correctly rounded if
    the operand's interval has at most 2^12 integers. An operand of Exp with more than 2^12 integers is split into
    digits, x = sum of d_i, and e^x is the product of the table entries e^(d_i) (Tang, "Table-driven implementation of
    the exponential function in IEEE floating-point arithmetic", 1989, without its polynomial). Tables of the
    exponential are computed in decimal arithmetic, so that they do not depend on the machine.
    """

    name = "real.exp"
    rounding = Rounding.VALUE
    rate: ClassVar[float] = 1.0
    """The natural logarithm of the base of the exponential."""

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        with np.errstate(over="ignore"):
            result = (module.exp if self.rate == 1.0 else module.exp2)(values[0])
        most = f"at most {709.78 / self.rate:.2f}"
        require(f"overflow in {self.name[5:]}", module.isfinite(result), values[0], most, "rescale it")
        return (module.asarray(result),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * z]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return into_format(lowering, exponential(x, lowering.result, self.rate))

    def proved_error(self, operand: Fixed, result: Fixed) -> float:
        """Return the greatest distance between the lowered exponential and the exact value, in units of the result's
        last bit.

        If factors F_i are known to within d_i, their product is known to within prod(F_i + d_i) - prod(F_i), which is
        greatest for the greatest F_i. If the exponential is one table of correctly rounded entries, its only error is
        the half unit of that rounding.
        """
        builder = Builder()
        near = _confined(Integer(builder, builder.input(operand)), result, self.rate)
        digits = [digit.type for digit in _digits(near)]
        if len(digits) == 1:
            return 0.5
        sizes, bits, kept = _precisions(digits, result, self.rate)
        product, error = 1.0, 0.0
        for position, size in enumerate(sizes):
            if position > 1:
                error += 2.0 ** -(kept[position] + 1)
            off = 2.0 ** -(bits[position] + 1)
            product, error = product * 2.0**size, (product + error) * (2.0**size + off) - product * 2.0**size
        units = error * 2.0**result.fraction_bits
        # Below the least operand that is told apart both values are less than a quarter unit, and so is their distance.
        clamped = near.type.low > operand.low
        return 0.5 + units + 0.25 * (clamped and units >= 0.25)


@dataclass(frozen=True)
class Exp2(Exp):
    """The power 2^x of each element, lowered as `Exp` is. The derivative of Exp2 is dz * log 2 * z."""

    name = "real.exp2"
    rate = math.log(2)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [self.rate * (dz * z)]


def exponential(x: Integer, result: Fixed, rate: float = 1.0) -> Integer:
    """Return e^x, or 2^x if the rate is log 2, within half a unit of the result's last bit before the result is rounded
    to that bit.

    An exponential above the result's interval is capped just outside that interval, or is undefined. The term that
    `exponential` returns cannot be negative.
    """
    digits = _digits(_confined(x, result, rate))
    kinds = [digit.type for digit in digits]
    _, bits, kept = _precisions(kinds, result, rate)
    product: Integer | None = None
    for position, (digit, kind) in enumerate(zip(digits, kinds, strict=True)):
        fraction_bits, cap = bits[position], LIMIT
        if position == 0:
            cap = (result.high + 2 << fraction_bits >> result.fraction_bits) + 1
        table = exponential_table(kind.low, kind.high, kind.fraction_bits, fraction_bits, cap, rate != 1.0)
        factor = integers.Lookup(kind.low, table, fraction_bits)(digit)
        if product is None:
            product = factor
            continue
        if position > 1:
            product = product.shift_to(min(kept[position], product.fraction_bits))
        product = product * factor
    assert product is not None
    return product


def _precisions(kinds: Sequence[Fixed], result: Fixed, rate: float) -> tuple[list[float], list[int], list[int]]:
    """Return for each digit of the exponent: log2 of the digit's greatest factor, the fraction bits of its table, and
    the fraction bits of the product that the factor multiplies.

    The first factor of an exponential's product is capped just outside the result's format. In an exponential's
    product, an error of 2^-(p + 1) in factor i causes an error of 2^-(p + 1) times the product of the other factors: n
    factors together are off by at most a quarter unit, the n - 2 roundings in between by less than another quarter.
    """
    sizes = [kind.high * 2.0**-kind.fraction_bits * rate * math.log2(math.e) for kind in kinds]
    sizes[0] = min(sizes[0], math.log2(result.high + 2) - result.fraction_bits)
    if len(kinds) == 1:
        return sizes, [result.fraction_bits], [0]
    share = result.fraction_bits + 1 + math.log2(len(kinds))
    bits = [max(math.ceil(share + sum(sizes) - size), 0) for size in sizes]
    return sizes, bits, [max(math.ceil(share + sum(sizes[position:])), 0) for position in range(len(sizes))]


def _confined(x: Integer, result: Fixed, rate: float) -> Integer:
    """Return x confined to where e^x is neither less than a quarter unit nor outside the result's interval, if that is
    much narrower than the interval of x.

    A value of x below the interval to which x is confined becomes the interval's least number, and above the interval
    the result is undefined: narrower digits make smaller tables.
    """
    found = x.type
    unit = 2.0**found.fraction_bits / rate
    least = math.floor(-(result.fraction_bits + 2) * math.log(2) * unit)
    most = math.ceil((math.log(result.high + 2) - result.fraction_bits * math.log(2)) * unit) + 1
    low, high = max(found.low, least), min(found.high, most)
    if low > high or 4 * (high - low) > found.high - found.low:
        return x
    if found.low < low:
        x = integers.Clamp(low, found.high)(x)
    return x if found.high <= high else integers.Check(low, high)(x)


def _digits(x: Integer) -> list[Integer]:
    """Return terms that add up to x, the most significant first, each with at most 2^TABLE_BITS integers."""
    kind = x.type

    def spread(shift: int) -> int:
        return (kind.high >> shift) - (kind.low >> shift) + 1

    count = 1
    while spread((count - 1) * TABLE_BITS) > 1 << TABLE_BITS:
        count += 1
    step = TABLE_BITS
    while step > 1 and spread((count - 1) * (step - 1)) <= 1 << (step - 1):
        step -= 1  # equal digits make the smallest tables
    digits = []
    for shift in range((count - 1) * step, 0, -step):
        digit = integers.Shift(shift)(x)
        digits.append(digit)
        rest = x - integers.Scale(1 << shift, shift)(digit)
        x = integers.Check(0, (1 << shift) - 1)(rest)  # Always inside; the types alone cannot see it.
    return [*digits, x]


@lru_cache(maxsize=256)
def exponential_table(
    low: int, high: int, of_bits: int, fraction_bits: int, cap: int, binary: bool = False
) -> NDArray[np.int64]:
    """Return the table of min(e^(q * 2^-of_bits) * 2^fraction_bits rounded half up, cap) for q from low to high; with
    `binary`, of powers of 2 instead of e.
    """
    context = Context(prec=50, rounding=ROUND_HALF_UP)
    unit, one = context.power(Decimal(2), Decimal(-of_bits)), Decimal(1 << fraction_bits)
    table = np.full(high - low + 1, cap, np.int64)
    for index in range(high - low + 1):
        argument = context.multiply(Decimal(low + index), unit)
        if argument > 62:  # past 2^62, and so are the rest
            break
        power = context.power(Decimal(2), argument) if binary else context.exp(argument)
        value = context.multiply(power, one).to_integral_value(context=context)
        table[index] = min(int(value), cap)
    table.setflags(write=False)
    return table
