"""Integer programs of one operation, with every input and output public unless asked otherwise."""

from __future__ import annotations

from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import IntegerOperation
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, Type


def integer_type(type: Type) -> Fixed:
    """The type, which is one of integers."""
    assert isinstance(type, Fixed)
    return type


def program(arrow: Arrow, visibility: Visibility = Visibility.PUBLIC) -> IntegerProgram:
    """An integer arrow with ports in0, in1, ..., out0, ..., and a public input `unit` where it has no input."""
    inputs = tuple(Port(f"in{i}", visibility, integer_type(type)) for i, type in enumerate(arrow.source))
    outputs = tuple(Port(f"out{i}", visibility, integer_type(type)) for i, type in enumerate(arrow.target))
    return IntegerProgram(arrow, inputs, outputs)


def single(operation: IntegerOperation, *sources: Fixed) -> IntegerProgram:
    """The program of one operation."""
    if sources:
        return program(generator(operation, *sources))
    builder = Builder()
    unit = builder.input(Fixed((), 0, 0, 1))
    return program(builder.build([builder.add(operation), unit]))


def chain(source: Fixed, *operations: IntegerOperation) -> IntegerProgram:
    """The program of operations of one source, one after the other."""
    builder = Builder()
    wire = builder.input(source)
    for operation in operations:
        wire = builder.add(operation, wire)
    return program(builder.build([wire]))
