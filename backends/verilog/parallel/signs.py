"""Sums with known numbers of which only the sign is read: comparisons of a number with a known number."""

from __future__ import annotations

import numpy as np

from ...verilog.netlist import Integers, Kind, Netlist, widths
from .pipeline import Pipeline

GATES = 8
"""The most bits of a comparison that is made of gates: more bits take fewer LUTs as gates, too, but are slower than a
carry chain.
"""


def compared(net: Netlist, pipe: Pipeline) -> Integers:
    """Return the number of bits that each sum with a known number compares, if nothing reads more than the sum's sign
    and no register holds the sum; 0 for all other nodes.

    Bits below the lowest 1 of an added number do not decide the sign, nor do those below the lowest 0 of a number from
    which is subtracted.
    """
    first, second = np.maximum(net.a, 0), np.maximum(net.b, 0)
    known_first, known_second = net.kind[first] == Kind.CONSTANT, net.kind[second] == Kind.CONSTANT
    only_sign = (net.kind == Kind.ADD) & (pipe.delay == 0) & (net.m == 0) & (known_first | known_second)
    for column in (net.a, net.b, net.c):
        read = pipe.live & (column >= 0) & (net.kind != Kind.NEGATIVE)
        only_sign[column[read]] = False
    bits = widths(net.low, net.high)
    amount = np.where(known_first, net.low[first], net.low[second]).astype(np.int64)
    amount = np.where(known_first & (net.n == 1), ~amount, amount)
    undecided = widths(np.zeros(net.count, np.int64), amount & -amount) - 1
    found = np.maximum(np.where(known_first, bits[second], bits[first]) - undecided, 1)
    return np.where(only_sign, found, 0)
