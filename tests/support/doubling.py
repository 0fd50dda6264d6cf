"""A program that doubles one number of a format, and the port through which the number enters."""

from __future__ import annotations

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Scale
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

RATE = Fixed((), 16, 0, 1 << 16)


def port(format: Fixed) -> Port[Fixed]:
    return Port("x", Visibility.PUBLIC, format)


def doubled(format: Fixed = RATE) -> IntegerProgram:
    builder = Builder()
    out = builder.add(Scale(2, 0), builder.input(format))
    made = builder.type(out)
    assert isinstance(made, Fixed)
    return IntegerProgram(builder.build([out]), (port(format),), (Port("y", Visibility.PUBLIC, made),))
