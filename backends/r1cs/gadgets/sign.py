"""Signs and zeros in an R1CS circuit: whether an integer is negative, whether it is zero, and the rectified linear
unit.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.types import Fixed

from ...forms import LinearForms, constant, wires, zeros
from ...values import Affine, Inverse, NonZero, Value
from .assembly import Assembly, Handle, ones
from .bits import decompose, signed
from .products import Products, multiply


def negative(assembly: Assembly, x: Handle) -> LinearForms:
    """Return forms that are 1 where x < 0 and 0 elsewhere; their rows are emitted only once per handle.

    The sign of x takes no rows if the interval decides it, if x's two's complement bits are known, or if x is in [-1,
    0]; otherwise it takes the cheaper of a zero test (three rows, if the interval has a single value on one side of
    zero) and a decomposition of x into bits.

    The soundness of the sign is that of `nonzero` or of `decompose`: if x + 2^(k-1) = n is in [0, 2^k), the top bit of
    n is 1 exactly where x >= 0.
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
    """Return wires that are 1 where the form is not 0 and 0 elsewhere; each element takes three rows and two wires.

    Soundness: the rows of a zero test of x are x * inverse = m, x * (1 - m) = 0 and inverse * (1 - m) = 0. If x = 0
    modulo p, so that x = 0 since it is below p/2, then m = 0 by the row x * inverse = m, and inverse = 0 by the row
    inverse * (1 - m) = 0. If x is not 0, then m = 1 by the row x * (1 - m) = 0, and inverse = 1/x by the row x *
    inverse = m. A zero test of x therefore has exactly one witness, whether x is 0 or not.
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
    """Return the rectifier max(x, 0), which takes one row in addition to those of the sign. The argument `type` is the
    type of the rectified value.

    Soundness: the row x * (1 - negative) = y determines the rectified value y.
    """
    if x.type.low >= 0:
        return Handle(x.forms, value, x.type, x.bits, x.negative)
    if x.type.high <= 0:
        return Handle(constant(np.zeros(len(x.forms), np.int64)), value, type)
    kept = ones(len(x.forms)) - negative(assembly, x)
    forms = multiply(assembly, x.forms, kept, Products(value, "relu", type.shape))
    return Handle(forms, value, type)
