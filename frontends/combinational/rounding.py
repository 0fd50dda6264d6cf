"""Sums of combinational logic, rounded down to the bits of instructions; values that need more bits wrap."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from circuitize.circuits.integers import ReLU, Scale, Shift, Wrap

from .logic import Integers, Logic, Reals
from .numbers import Numbers, Rows


def fitted(
    rows: Rows,
    logic: Logic,
    at: Integers,
    matrix: sparse.csr_array,
    constant: Reals,
    units: Integers,
    rectified: bool = False,
) -> Numbers:
    """Return sums, whose last bits are given, rounded down to the bits of their instructions, which are all signed or
    all unsigned.
    """
    wanted = -logic.fraction[at]
    dropped = int(np.maximum(wanted - units, 0).max())
    (sums,) = rows.sums([(matrix, constant, wanted - dropped)])
    return fit(rows, logic, at, rectify(rows, sums) if rectified else sums, dropped)


def rectify(rows: Rows, x: Numbers) -> Numbers:
    """Return x, or 0 where x is negative."""
    if (x.low >= 0).all():
        return x
    return Numbers(rows.builder.add(ReLU(), x.wire), x.unit, np.maximum(x.low, 0), np.maximum(x.high, 0))


def fit(rows: Rows, logic: Logic, at: Integers, x: Numbers, dropped: int) -> Numbers:
    """Return x, whose elements have `dropped` bits more than their instructions, rounded down to the instructions'
    bits, which wrap; the instructions are all signed or all unsigned.

    In rounding, elements of fewer bits than others are shifted up first, so that all elements of a row wrap at the same
    bit.
    """
    builder, wire = rows.builder, x.wire
    low, high, unit = x.low >> dropped, x.high >> dropped, x.unit + dropped
    if dropped:
        wire = builder.add(Shift(dropped), wire)
        wire = builder.add(Scale(1, dropped), wire)
    bits, signed = logic.bits[at], bool(logic.signed[at[0]])
    least = np.where(signed & (bits > 0), -(np.int64(1) << np.maximum(bits - 1, 0)), 0)
    most = least + (np.int64(1) << bits) - 1
    outside = (low < least) | (high > most)
    if outside.any():
        widest = int(max(bits.max(), signed))
        up = np.where(bits > 0, widest - bits, widest)
        wire = builder.add(Wrap(widest, signed), rows.times(wire, np.int64(1) << up))
        low, high = np.where(outside, least, low) << up, np.where(outside, most, high) << up
        unit = unit - up
    return rows.narrowed(Numbers(wire, unit, low, high))
