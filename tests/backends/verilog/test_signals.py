"""Widths, signs, literals and slices of signals are those of two's complement, checked value by value."""

from __future__ import annotations

import re

import numpy as np
import pytest
from every_case import every_case

from circuitize.backends.verilog.netlist import Kind, Netlist, widths
from circuitize.backends.verilog.signals import Literal, Signal, declared, literal, signed_width, width

INTERVALS = [(low, high) for low in range(-9, 10) for high in range(low, 10)]


def holds(bits: int, signed: bool, value: int) -> bool:
    return -(1 << (bits - 1)) <= value < 1 << (bits - 1) if signed else 0 <= value < 1 << bits


@every_case(INTERVALS)
def test_widths_are_the_narrowest(low: int, high: int) -> None:
    bits, signed = width(low, high), low < 0
    assert holds(bits, signed, low) and holds(bits, signed, high)
    assert bits == 1 or not (holds(bits - 1, signed, low) and holds(bits - 1, signed, high))
    assert signed_width(low, high) == next(k for k in range(1, 9) if holds(k, True, low) and holds(k, True, high))
    assert declared(bits, signed) == Signal("x", low, high).declared


def test_widths_of_arrays_are_those_of_numbers() -> None:
    ends = [0, 1, -1, *(s * (1 << k) + d for k in range(1, 62) for s in (1, -1) for d in (-1, 0, 1))]
    low, high = (np.array(c) for c in zip(*[(a, b) for a in ends for b in ends if a <= b], strict=True))
    assert widths(low, high).tolist() == [width(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def read(text: str, value: int, bits: int) -> tuple[int, int]:
    """A slice of the signal x of so many bits as Verilog reads it, and how many bits it has."""
    total = size = 0
    for times, repeated, single in re.findall(r"(\d+)\{([^}]*)\}|(x(?:\[[\d:]*\])?|1'b0)", text):
        part = repeated or single
        high, _, low = part[2:-1].partition(":") if "[" in part else (str(bits - 1), ":", "0")
        count = 1 if part == "1'b0" else int(high) - int(low or high) + 1
        found = 0 if part == "1'b0" else (value >> int(low or high)) & ((1 << count) - 1)
        for _ in range(int(times or 1)):
            total, size = total << count | found, size + count
    return total, size


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 5), (-1, 0), (-8, 3), (-2, 100), (3, 9)])
def test_slices_are_bits_of_the_value(low: int, high: int) -> None:
    signal = Signal("x", low, high)
    for start in range(signal.width):
        for count in range(1, 9):
            text = signal.slice(start, count)
            for value in range(low, high + 1):
                wanted = (value >> start) & ((1 << count) - 1)
                assert Literal(value).slice(start, count) == f"{count}'d{wanted}"
                assert read(text, value & ((1 << signal.width) - 1), signal.width) == (wanted, count)


@pytest.mark.parametrize("bits", range(1, 6))
def test_literals_hold_the_value(bits: int) -> None:
    for value in range(-(1 << (bits - 1)), 1 << (bits - 1)):
        text = literal(value, bits)
        sign, _, rest = text.partition(f"{bits}'s")
        amount = int(rest[1:], 2 if rest[0] == "b" else 10)
        found = -amount if sign == "-" else amount
        assert (found - value) % (1 << bits) == 0


def test_a_netlist_keeps_equal_nodes_once() -> None:
    net = Netlist()
    x = net.append(Kind.INPUT, -8, 7, n=0, m=np.arange(4))
    twice = net.append(Kind.NEGATIVE, 0, 1, np.concatenate([x, x]))
    assert twice.tolist() == [*twice[:4], *twice[:4]] and len(set(twice.tolist())) == 4
    assert net.constant([5, 0, 5]).tolist()[1] == 0
    known = net.append(Kind.ADD, 3, 3, x, x)
    assert set(known.tolist()) == {int(net.constant(3))}
    assert net.live(twice[:1]).sum() == 2
    assert net.level[twice].tolist() == [1] * 8
