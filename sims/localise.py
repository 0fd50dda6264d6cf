"""The search for the operation that causes a difference: each operation is tried alone, on the values that it had in
the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Edge, Operation
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, Type, fixed

Integers = NDArray[np.int64]
Differs = Callable[[IntegerProgram, Sequence[Integers]], bool]


def first_that_differs(arrow: Arrow, trace: Sequence[Integers], differs: Differs) -> Edge | None:
    """Return the first operation that differs from the run as a separate program, given the value of each wire; None if
    no operation does.

    The function `differs` says whether a target of a program differs from the program's run. The search for the
    operation at fault costs at most one more emission of the arrow; an operation that is at fault only together with
    its neighbours is not found.
    """
    for index in range(arrow.edge_count):
        edge = arrow.edge(index)
        program = alone(edge.operation, [arrow.type(wire) for wire in edge.sources])
        values = [trace[wire] for wire in edge.sources] or [np.zeros((), np.int64)]
        if differs(program, [*values, *(trace[wire] for wire in edge.targets)]):
            return edge
    return None


def alone(operation: Operation, sources: Sequence[Type]) -> IntegerProgram:
    """Return the program of one operation, with all ports public; an operation without sources gets an input that it
    ignores.
    """
    builder = Builder()
    wires = builder.inputs(sources)
    if not wires:
        builder.input(Fixed((), 0, 0, 1))
    arrow = builder.build(builder.apply(operation, *wires))
    return IntegerProgram(arrow, _ports("in", arrow.source), _ports("out", arrow.target))


def _ports(name: str, types: Sequence[Type]) -> tuple[Port[Fixed], ...]:
    return tuple(Port(f"{name}{i}", Visibility.PUBLIC, fixed(type)) for i, type in enumerate(types))
