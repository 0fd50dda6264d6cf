"""Intervals, quotients and signs in Plonkish circuits: range checks by limbs, combined with the Shift or the sign that
needs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from circuitize.circuits.types import Fixed

from ..forms import Integers, LinearForms, constant
from ..values import Trace, Value
from ..windows import Window, meet, quotients, window
from .assembly import Assembly, Handle, Site, single_forms

NARROW = 12
"""The most bits of a sign or a rectified value that may have a table of its own."""


@dataclass(frozen=True, slots=True)
class NotNegative(Value):
    """Values that are 1 where a given value is not negative, and 0 elsewhere, as the entries of a table."""

    value: Value

    def read(self, trace: Trace) -> Integers:
        return np.greater_equal(self.value.read(trace), 0).astype(np.int64)


def confine(assembly: Assembly, x: Handle, chosen: Window, sign: bool, role: str) -> LinearForms | None:
    """Constrain x to a window; if a sign is wanted and the window is one of signed numbers, return variables that are 1
    where x >= 0.

    Soundness: `Assembly.within` constrains x to the window; for a signed window, `natural` checks the two halves of
    which it consists.
    """
    if sign and chosen.bound is None and chosen.bits > 1 and chosen.low == -(1 << (chosen.bits - 1)):
        return _halves(assembly, x, 1 << (chosen.bits - 1), role)
    size = 1 << chosen.bits if chosen.bound is None else chosen.bound + 1
    assembly.within(x.forms.plus(-chosen.low), size, role)
    return None


def natural(assembly: Assembly, x: Handle) -> LinearForms:
    """Return forms that are 1 where x >= 0 and 0 elsewhere; only the first call for a handle costs rows.

    The sign of an element is free if its interval decides it or is [-1, 0]; it takes one lookup if there is room for a
    table of the interval; otherwise it takes the checks of `_halves`.
    """
    if x.natural is None:
        low, high, count = x.type.low, x.type.high, len(x.forms)
        if low >= 0:
            x.natural = constant(np.ones(count, np.int64))
        elif high < 0:
            x.natural = constant(np.zeros(count, np.int64))
        elif (low, high) == (-1, 0):
            x.natural = x.forms.plus(1)
        elif x.type.width <= NARROW and count >= 1 << x.type.width >> 2 and assembly.has_room(high - low + 1):
            found = assembly.look_up(x, low, (np.arange(low, high + 1) >= 0).astype(np.int64), "sign")
            x.natural = single_forms(found)
        else:
            x.natural = _halves(assembly, x, 1 << (max(-low - 1, high)).bit_length(), "sign")
    return x.natural


def _halves(assembly: Assembly, x: Handle, half: int, role: str) -> LinearForms:
    """Return variables that are 1 where x >= 0 and 0 elsewhere, and check that x is in [-half, half); each element
    takes a variable, its square and a range check.

    Soundness: the sign n is 0 or 1, and x + half - half * n is in [0, half). If the sign n of x is 1, x is in [0, half)
    modulo p; if n is 0, x is in [-half, 0). The ranges [0, half) and [-half, 0) have no integer in common modulo p,
    since 2 half is below p, so that x determines the sign n.
    """
    found = assembly.hint(NotNegative(x.value), len(x.forms))
    assembly.boolean(found, role)
    chosen = single_forms(found)
    assembly.within(assembly.shorten(x.forms, role) - chosen.scale(half).plus(-half), half, role)
    return chosen


def relu(assembly: Assembly, x: Handle, type: Fixed, value: Value) -> Handle:
    """Return max(x, 0): by one lookup if there is room for a table of the interval and the sign of x is not known yet,
    and otherwise by a product.

    Soundness: y = n x is determined, where n is 1 if x >= 0 and 0 otherwise; if a lookup is used, it determines y by
    `look_up`.
    """
    if x.type.low >= 0:
        return Handle(x.forms, value, x.type, x.natural)
    if x.type.high <= 0:
        return Handle(constant(np.zeros(len(x.forms), np.int64)), value, type)
    low, high = x.type.low, x.type.high
    narrow = x.type.width <= NARROW and len(x.forms) >= 1 << x.type.width >> 2
    if x.natural is None and narrow and assembly.has_room(high - low + 1):
        found = assembly.look_up(x, low, np.maximum(np.arange(low, high + 1), 0), "relu")
        return Handle(single_forms(found), value, type)
    sign = Handle(natural(assembly, x), NotNegative(x.value), Fixed(x.type.shape, 0, 0, 1))
    return Handle(assembly.multiply(sign, x, "relu"), value, type)


def check(assembly: Assembly, x: Handle, interval: tuple[int, int], value: Value, sign: bool) -> Handle:
    """Return x if x lies in the interval, including its ends, and leave no witness otherwise; the check is free if x's
    own interval implies it.

    Soundness: the window, restricted to what x's type allows, is exactly the interval (`window`).
    """
    low, high = meet(x.type, *interval)
    narrow = Fixed(x.type.shape, x.type.fraction_bits, low, high)
    if (low, high) == (x.type.low, x.type.high):
        return Handle(x.forms, value, narrow, x.natural)
    found = confine(assembly, x, window(low, high, x.type.low, x.type.high, sign), sign, "range")
    return Handle(_settled(x.forms, narrow), value, narrow, found or x.natural)


def shift(site: Site, x: Handle, by: int) -> Handle:
    """Return floor(x / 2^by) if this passes the Check that reads it, and leave no witness otherwise; each element takes
    a variable and two range checks.

    Soundness: the quotient q is in a window and x - 2^by q is in [0, 2^by), both by limbs and therefore as integers
    below p/2 (`Assembly.within`): division with remainder is unique.
    """
    assembly, type, value, sign = site.assembly, site.type, site.value, site.sign
    interval = site.check or (type.low, type.high)
    if by == 0:
        return check(assembly, x, interval, value, sign)
    low, high, chosen = quotients(x.type, by, *interval, sign)
    narrow = type.with_interval(low, high)
    made = assembly.hint(value, type.size)
    quotient = Handle(single_forms(made), value, narrow)
    assembly.within(assembly.shorten(x.forms, "shift") - quotient.forms.scale(1 << by), 1 << by, "remainder")
    quotient.natural = confine(assembly, quotient, chosen, sign, "shift")
    return Handle(_settled(quotient.forms, narrow), value, narrow, quotient.natural)


def _settled(forms: LinearForms, type: Fixed) -> LinearForms:
    """Return the forms, or a constant if the type leaves only one value."""
    return constant(np.full(type.size, type.low)) if type.low == type.high else forms


def entering(assembly: Assembly, forms: LinearForms, value: Value, type: Fixed, role: str) -> Handle:
    """Return a handle of variables that the prover may choose freely, and constrain them to exactly the interval of the
    type.
    """
    assembly.within(forms.plus(-type.low), type.high - type.low + 1, role)
    return Handle(forms, value, type)


def divide(assembly: Assembly, x: Handle, y: Handle, type: Fixed, value: Value) -> Handle:
    """Return floor(x / y) for y >= 1; each element takes a variable, its product with y, and three range checks.

    Soundness: for q = floor(x / y), q is checked to be in a window, and both r = x - q y and y - 1 - r to be in [0,
    2^m). All values in the equation of division are integers far below p/2 (types are below 2^62), so that x = q y + r
    and 0 <= r < y hold over the integers, which a single pair (q, r) satisfies.
    """
    made = assembly.hint(value, type.size)
    quotient = Handle(single_forms(made), value, type)
    bits = (type.high - type.low).bit_length()
    assembly.within(quotient.forms.plus(-type.low), 1 << bits, "quotient")
    product = assembly.single(assembly.multiply(quotient, y, "divide"))
    size = 1 << (y.type.high - 1).bit_length()
    remainder = assembly.shorten(x.forms, "divide") - single_forms(product)
    assembly.within(remainder, size, "remainder")
    divisor = assembly.shorten(y.forms, "divide")
    assembly.within((divisor - remainder).plus(-1), size, "remainder")
    return Handle(quotient.forms, value, type)


def square_root(assembly: Assembly, x: Handle, type: Fixed, value: Value) -> Handle:
    """Return floor(sqrt(x)) for x >= 0; each element takes a variable, its square, and three range checks.

    Soundness: q is in [0, 2^k), and x - q^2 and (q + 1)^2 - 1 - x are in [0, 2^m), all of them integers far below p/2:
    therefore q^2 <= x < (q + 1)^2, which a single q >= 0 satisfies. For the square root q of x, both x - q^2 and (q +
    1)^2 - 1 - x are at most 2q.
    """
    greatest = isqrt(x.type.high)
    made = assembly.hint(value, type.size)
    root = Handle(single_forms(made), value, type.with_interval(0, greatest))
    assembly.within(root.forms, 1 << greatest.bit_length(), "root")
    square = single_forms(assembly.single(assembly.multiply(root, root, "square")))
    size = 1 << (2 * greatest).bit_length()
    below = assembly.shorten(x.forms, "root") - square
    assembly.within(below, size, "below")
    assembly.within(root.forms.scale(2) - below, size, "above")
    return Handle(root.forms, value, type)
