"""Division and square root in an R1CS circuit: the result is a wire that the prover chooses, and a range check of the
remainder determines it.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from circuitize.circuits.types import Fixed

from ...forms import LinearForms, constant, uniform, wires
from ...values import BitTable, Product, Sum, Value
from ..system import Order
from .assembly import Assembly, Handle
from .bits import confine
from .products import Products, multiply


def divide(assembly: Assembly, x: Handle, y: Handle, type: Fixed, value: Value) -> Handle:
    """Return the quotient floor(x / y) for y >= 1; it takes a row per bit of the quotient, one for the product, and two
    per bit of y - 1. The argument `type` is the type of the quotient.

    Soundness: the quotient q is in a window of 2^k values by its bits, and r = x - q * y and y - 1 - r are in [0, 2^m)
    by their bits. For any quotient q in the window, |x| + |q| * y, y and 2^m are below p/2 (checked), so that x = q * y
    + r and 0 <= r < y hold over the integers, which a single pair (q, r) satisfies. The window of the quotient may be
    any window that contains the quotient's interval; it is wider than the interval at both ends, so that it does not
    bound x or y a second time.
    """
    bits = (type.high - type.low).bit_length()
    remainder_bits = (y.type.high - 1).bit_length()
    slack = (1 << bits) - 1 - (type.high - type.low)
    low = 0 if type.low >= 0 and type.high < 1 << bits else type.low - slack // 2
    farthest = max(abs(low), abs(low + (1 << bits) - 1))
    assembly.no_wrap(x.magnitude + (farthest + 1) * y.type.high, 1 << bits, (1 << remainder_bits) + y.type.high)
    quotient = natural(assembly, value, low, bits, "quotient", type)
    product_value = Product(value, y.value)
    product = multiply(assembly, quotient, y.forms, Products(product_value, "divide", type.shape))
    remainder, remainder_value = x.forms - product, Sum(x.value, product_value, other=-1)
    confine(assembly, remainder, remainder_value, 0, remainder_bits, "remainder")
    rest, rest_value = y.forms - remainder, Sum(y.value, remainder_value, other=-1)
    confine(assembly, rest, rest_value, 1, remainder_bits, "remainder")
    return Handle(quotient, value, type)


def square_root(assembly: Assembly, x: Handle, type: Fixed, value: Value) -> Handle:
    """Return the root floor(sqrt(x)) for x >= 0; it takes a row per bit of the root, one for its square, and two per
    bit of twice the greatest root.

    Soundness: the square root q is in [0, 2^k) by its bits, and x - q^2 and (q + 1)^2 - 1 - x are in [0, 2^m) by their
    bits. For any root q that passes the range checks, the differences x - q^2 and (q + 1)^2 - 1 - x are below p/2 in
    magnitude (checked), so that q^2 <= x < (q + 1)^2 holds over the integers, which a single q >= 0 satisfies. For the
    square root q of x, both x - q^2 and (q + 1)^2 - 1 - x are at most 2q, so that m bits, enough for twice the greatest
    root, exclude no root.
    """
    greatest = isqrt(x.type.high)
    bits, difference_bits = greatest.bit_length(), (2 * greatest).bit_length()
    assembly.no_wrap(x.magnitude + (1 << 2 * bits), 1 << difference_bits)
    root = natural(assembly, value, 0, bits, "root", type)
    square_value = Product(value, value)
    square = multiply(assembly, root, root, Products(square_value, "square", type.shape))
    below, below_value = x.forms - square, Sum(x.value, square_value, other=-1)
    confine(assembly, below, below_value, 0, difference_bits, "below")
    confine(assembly, root.scale(2) - below, Sum(value, below_value, other=-1, factor=2), 0, difference_bits, "above")
    return Handle(root, value, type)


def natural(assembly: Assembly, value: Value, low: int, bits: int, role: str, type: Fixed) -> LinearForms:
    """Return an integer in [low, low + 2^bits) that the prover chooses: it takes one wire and one row per bit, or one
    wire that is looked up in a table.

    Soundness: each bit b of the window has the row b * b = b, so that the combination of the bits takes each value of
    the window exactly once.
    """
    count = type.size
    if bits == 0:
        return constant(np.full(count, low, np.int64))
    if assembly.tables is not None:
        whole = wires(assembly.wires(value, count, role, type.shape), count)
        confine(assembly, whole, value, low, bits, role)
        return whole
    first = assembly.wires(BitTable(value, -low, 0, bits), count * bits, role, (count, bits))
    each = wires(first, count * bits)
    assembly.rows(each, each, each, role, Order(count, bits))
    weights = np.left_shift(np.int64(1), np.arange(bits, dtype=np.int64))
    table = np.arange(first, first + count * bits, dtype=np.int32).reshape(count, bits)
    return uniform(table, weights).plus(low)
