"""Ranges: wires by width of interval, and the proof that no wire's interval can be left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from operations.integer import TOP, fixed

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.errors import CircuitizeError, OverflowRisk, TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Provenance
from circuitize.circuits.ranges import prove, report
from circuitize.circuits.types import Array, Type


def square_then_shift() -> Arrow:
    builder = Builder()
    x = builder.input(fixed((2,), -100, 100, 4))
    builder.provenance = Provenance("square", "model.py", 8)
    product = builder.add(integers.Multiply(), x, x)
    builder.provenance = Provenance("round", "model.py", 9)
    return builder.build([builder.add(integers.Shift(4), product)])


def declare(arrow: Arrow, wire: int, type: Type) -> Arrow:
    """The same arrow with another declared type for one wire."""
    wire_types = arrow.wire_types.copy()
    wire_types[wire] = len(arrow.types)
    return replace(arrow, types=(*arrow.types, type), wire_types=wire_types)


def test_the_report_starts_with_the_widest() -> None:
    rows = report(square_then_shift())
    assert [(wire, type.low, type.high) for wire, type, _ in rows] == [
        (1, -10000, 10000),
        (2, -625, 625),
        (0, -100, 100),
    ]
    assert [str(provenance) for _, _, provenance in rows] == ["square (model.py:8)", "round (model.py:9)", "input 0"]


def test_what_builders_make_is_proved() -> None:
    prove(square_then_shift())
    prove(integers.expand(integers.ArgMaxOneHot(1).definition(fixed((3, 5), -9, 9))))


def test_wider_declarations_are_proved_on_from_what_they_declare() -> None:
    wider = declare(square_then_shift(), 1, fixed((2,), -10000, 10001, 8))
    prove(wider)
    much_wider = declare(square_then_shift(), 1, fixed((2,), -10000, 99999, 8))
    with pytest.raises(
        OverflowRisk, match=r"wire 2 in its declared interval \[-625, 625\].*\[-625, 6249\].*model\.py:9"
    ):
        prove(much_wider)


@pytest.mark.parametrize("low, high", [(-9999, 10000), (-10000, 9999), (0, 0)])
def test_narrower_declarations_are_refused(low: int, high: int) -> None:
    narrower = declare(square_then_shift(), 1, fixed((2,), low, high, 8))
    with pytest.raises(OverflowRisk, match=r"integer\.multiply.*square \(model\.py:8\).*add a Check") as error:
        prove(narrower)
    assert "\n" not in str(error.value)


def test_an_overflow_on_declared_intervals_is_named() -> None:
    arrow = declare(square_then_shift(), 0, fixed((2,), -TOP, TOP, 4))
    with pytest.raises(OverflowRisk, match=r"2\^62.*integer\.multiply.*square \(model\.py:8\)"):
        prove(arrow)


def test_other_types_are_refused() -> None:
    with pytest.raises(TypingError, match="wire 1"):
        prove(declare(square_then_shift(), 1, fixed((2,), -10000, 10000, 7)))
    with pytest.raises(CircuitizeError, match="quantize"):
        prove(declare(square_then_shift(), 0, Array((2,))))


def test_proving_types_once_per_kind_of_edge() -> None:
    """A chain of 20,000 equal edges is proved by typing one; a wrong declaration at its end is still found."""
    builder = Builder()
    wire = builder.input(fixed((1,), 0, 9))
    for _ in range(20_000):
        wire = builder.add(integers.Check(0, 9), wire)
    arrow = builder.build([wire])
    prove(arrow)
    with pytest.raises(OverflowRisk, match="edge 19999"):
        prove(declare(arrow, wire, fixed((1,), 0, 8)))


def test_a_constant_in_its_declared_interval() -> None:
    arrow = generator(integers.Constant.of(np.array([1, 5])))
    prove(declare(arrow, 0, fixed((2,), 0, 9)))
    with pytest.raises(OverflowRisk):
        prove(declare(arrow, 0, fixed((2,), 1, 4)))
