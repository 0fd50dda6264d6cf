"""Ranges of integers in an R1CS circuit: exact interval checks, and shifts whose quotient is checked at no extra
cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from circuitize.circuits.types import Fixed

from ...forms import LinearForms, constant, wires
from ...values import Affine, Sum, Value
from ...windows import Window, meet, quotients, window
from .assembly import Assembly, Handle, Site
from .bits import at_most, decompose, signed
from .bounds import Bound


@dataclass(frozen=True, slots=True)
class Quotient:
    """A quotient floor(x / 2^by) that must lie in a window: the window, the quotient's type in it, its value, whether
    its sign is needed, and the role of its rows.
    """

    x: Handle
    by: int
    chosen: Window
    type: Fixed
    value: Value
    sign: bool
    role: str


def check(
    assembly: Assembly, x: Handle, interval: tuple[int, int], value: Value, sign: bool, role: str = "range"
) -> Handle:
    """Return x if x lies in the interval, including its ends, and leave no witness otherwise. The range check takes no
    rows if x's own interval implies it.

    Soundness: `decompose` enforces the window of a range check, and `at_most` its upper end, either at once or, for
    wires, at the end as far as nothing else implies it (`Bounds`); `window` shows that what the two accept, among the
    values that x's type allows, is exactly the interval.
    """
    type = x.type
    low, high = meet(type, *interval)
    narrow = Fixed(type.shape, type.fraction_bits, low, high)
    if (low, high) == (type.low, type.high):
        return Handle(x.forms, value, narrow, x.bits, x.negative)
    chosen = window(low, high, type.low, type.high, sign)
    return _windowed(assembly, Quotient(x, 0, chosen, narrow, value, sign, role))


def shift(site: Site, x: Handle, by: int) -> Handle:
    """Return floor(x / 2^by) if this passes the Check that reads it, and leave no witness otherwise.

    A shift by `by` bits takes by + k rows per element, where k is the number of bits of the quotient's window, or none
    if x's bits are known and the interval needs no check.

    Soundness: for a shift of x, `decompose` shows that x - low * 2^by is the sum of 2^i b_i over i < by + k: the low
    `by` bits are the remainder in [0, 2^by), and the others are quotient - low. Division with remainder is unique over
    the integers, and both sides of the equation x = 2^by * q + r stay below p/2. The exact interval of the quotient is
    enforced on its bits in the same way as by `check`.
    """
    assembly, type, value, sign = site.assembly, site.type, site.value, site.sign
    interval = site.check or (type.low, type.high)
    if by == 0:
        return check(assembly, x, interval, value, sign, "shift")
    every = (x.type.low >> by, x.type.high >> by)
    low, high, chosen = quotients(x.type, by, *interval, sign)
    narrow = type.with_interval(low, high)
    if x.bits is not None and by < x.bits.count and x.bits.low % (1 << by) == 0 and (low, high) == every:
        bits = x.bits.drop(by)
        return Handle(bits.weighted(), value, narrow, bits, bits.negative() if bits.signed else None)
    return _windowed(assembly, Quotient(x, by, chosen, narrow, value, sign, "shift"))


def _windowed(assembly: Assembly, made: Quotient) -> Handle:
    x, by, chosen, type, role = made.x, made.by, made.chosen, made.type, made.role
    offset = chosen.low << by
    total = chosen.bits + by
    assembly.no_wrap(1 << total, abs(x.type.low - offset), abs(x.type.high - offset))
    if assembly.tables is not None:
        return _looked_up(assembly, made)
    bits = decompose(assembly, x.forms, x.value, offset, total, role).drop(by)
    if chosen.bound is not None:
        wait = by == 0 and x.forms.is_single_wires and assembly.postpones
        bound = Bound(x.forms.wires, type.high, bits, x.value, f"{role} bound", assembly.edge) if wait else None
        if bound is None or not assembly.bounds.postpone(bound):
            at_most(assembly, bits, made.value, chosen.bound, f"{role} bound")
    forms = bits.weighted() if by else x.forms
    if type.low == type.high:
        forms = constant(np.full(len(forms), type.low))
    return Handle(forms, made.value, type, bits, bits.negative() if bits.signed else None)


def _looked_up(assembly: Assembly, made: Quotient) -> Handle:
    """Return the same quotient as `_windowed`, computed by lookups in tables: the quotient has a wire, and the
    remainder is x - 2^by * quotient.

    Soundness: `Tables.within` shows that the quotient q is in the window and the remainder in [0, 2^by), so that the
    right side of x = 2^by * q + r is an integer below p/2, whatever values x's wires have; division with remainder is
    unique.
    """
    assert assembly.tables is not None
    x, by, chosen, type, value, role = made.x, made.by, made.chosen, made.type, made.value, made.role
    forms = x.forms
    if by:
        forms = wires(assembly.wires(value, len(forms), role, type.shape), len(forms))
        remainder = Sum(x.value, value, other=-(1 << by))
        assembly.tables.within(assembly, x.forms - forms.scale(1 << by), remainder, 1 << by, f"{role} remainder")
    if made.sign and chosen.bound is None and chosen.bits and chosen.low == -(1 << (chosen.bits - 1)):
        negative = signed(assembly, forms, value, chosen.bits, role)
    else:
        negative = None
        size = 1 << chosen.bits if chosen.bound is None else chosen.bound + 1
        assembly.tables.within(assembly, forms.plus(-chosen.low), Affine(value, 1, -chosen.low), size, role)
    if type.low == type.high:
        forms = constant(np.full(len(forms), type.low))
    return Handle(forms, value, type, None, negative)


def entering(assembly: Assembly, forms: LinearForms, value: Value, type: Fixed, role: str) -> Handle:
    """Return wires that the prover may choose freely in exactly the interval of `type`.

    Soundness: `decompose` writes each wire as low + sum of 2^i b_i modulo p, which is an integer in the window, and
    `at_most` restricts the window to the interval, unless other range checks of the wire do (`Bounds`); different
    integers of the window differ modulo p, since both ends and 2^k are below p/2.
    """
    chosen = window(type.low, type.high, type.low - 1, type.high + 1, False)
    return _windowed(assembly, Quotient(Handle(forms, value, type), 0, chosen, type, value, False, role))
