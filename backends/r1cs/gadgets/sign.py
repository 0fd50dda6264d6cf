"""Signs and zeros: whether an integer is negative, and the rectified linear unit."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.types import Fixed

from ...forms import LinearForms, constant, wires, zeros
from ...values import Affine, Inverse, NonZero, Value
from .assembly import Assembly, Handle, ones
from .bits import decompose, signed
from .products import Products, multiply


def negative(assembly: Assembly, x: Handle) -> LinearForms:
    """Return a form that is 1 where x < 0, else 0; the rows are emitted once per handle.

    The sign is free if the interval decides it, if x's two's complement bits are known, or if x is in [-1, 0];
    otherwise it takes the cheaper of a zero test (three rows, if the interval has only one value on one side) and a
    decomposition of x into bits.

    The sign is sound as `nonzero` or `decompose` is: x + 2^(k-1) = n in [0, 2^k) has top bit 1 exactly where x >= 0.
    """
    if x.negative is None:
        x.negative = _negative(assembly, x)
    return x.negative


def _negative(assembly: Assembly, x: Handle) -> LinearForms:
    low, high, count = x.type.low, x.type.high, len(x.forms)
    if low >= 0:
        return zeros(count)
    if high < 0:
        return ones(count)
    if x.bits is not None and x.bits.signed:
        return x.bits.negative()
    if (low, high) == (-1, 0):
        return x.forms.scale(-1)
    width = x.type.width
    if width > 3 and high == 0:
        return nonzero(assembly, x.forms, x.value, max(-low, high))
    if width > 3 and low == -1:
        return ones(count) - nonzero(assembly, x.forms.plus(1), Affine(x.value, 1, 1), high + 1)
    assembly.no_wrap(1 << width)
    if assembly.tables is not None:
        return signed(assembly, x.forms, x.value, width, "sign")
    x.bits = decompose(assembly, x.forms, x.value, -(1 << (width - 1)), width, "sign")
    return x.bits.negative()


def nonzero(assembly: Assembly, forms: LinearForms, value: Value, magnitude: int) -> LinearForms:
    """Return a wire that is 1 where the form is not 0, else 0, with three rows and two wires each.

    Soundness: the rows are x * inverse = m, x * (1 - m) = 0, inverse * (1 - m) = 0. In a zero test, if x = 0 modulo p
    (so x = 0, being below p/2), then m = 0 by the row x * inverse = m, and inverse = 0 by the row inverse * (1 - m) =
    0. In a zero test, if x is not 0, then m = 1 by the row x * (1 - m) = 0, and inverse = 1/x by the row x * inverse =
    m. A zero test has exactly one witness, whether x is 0 or not.
    """
    assembly.no_wrap(magnitude)
    count = len(forms)
    flag = wires(assembly.wires(NonZero(value), count, "nonzero"), count)
    inverse = wires(assembly.wires(Inverse(value), count, "inverse"), count)
    unset = ones(count) - flag
    assembly.rows(forms, inverse, flag, "nonzero")
    assembly.rows(forms, unset, zeros(count), "nonzero")
    assembly.rows(inverse, unset, zeros(count), "inverse")
    return flag


def relu(assembly: Assembly, x: Handle, type: Fixed, value: Value) -> Handle:
    """Return the rectifier max(x, 0), with one row besides the sign. The argument `type` is the type of the rectified
    value.

    Soundness: for the rectifier, the row x * (1 - negative) = y determines the result y.
    """
    if x.type.low >= 0:
        return Handle(x.forms, value, x.type, x.bits, x.negative)
    if x.type.high <= 0:
        return Handle(constant(np.zeros(len(x.forms), np.int64)), value, type)
    kept = ones(len(x.forms)) - negative(assembly, x)
    forms = multiply(assembly, x.forms, kept, Products(value, "relu", type.shape))
    return Handle(forms, value, type)
