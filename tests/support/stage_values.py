"""Stages of elementwise operations: random ones, and what they make of numbers, operation by operation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.folded.graph import Graph, Node, Operand, Stage
from circuitize.backends.verilog.folded.terms import At, elements
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check, ReLU, Scale, Shift
from circuitize.circuits.operation import Operation, Provenance
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]

INPUT, SIZE = 0, 24
"""The wire and the elements of what random stages read first."""
HIGH = 40
"""The end of the interval of the input, and of each Check."""
FAR = 1 << 20
"""The end of the interval of all that no Check bounds."""


def results(graph: Graph, start: Mapping[int, Integers]) -> list[Integers] | None:
    """The outputs of stages, or None if a Check fails."""
    wires = dict(start)
    try:
        for stage in graph.stages:
            wires[stage.wire] = _made(stage, wires)
    except CircuitizeError:
        return None
    return [wires[wire][at] for wire, at in graph.outputs]


def _made(stage: Stage, wires: Mapping[int, Integers]) -> Integers:
    values = {}
    for operand in stage.operands:
        held = wires[operand.wire] if operand.amounts is None else operand.amounts
        at = elements(operand.at)
        values[operand.name] = np.where(at >= 0, held[np.maximum(at, 0)], 0)
    for node in stage.nodes:
        (values[node.name],) = node.operation.run(*(values[name] for name in node.sources))
        assert (values[node.name] >= node.low).all() and (values[node.name] <= node.high).all(), node
    return values[stage.result]


def elementwise(wire: int, operands: list[Operand], *operations: Operation, size: int = SIZE) -> Stage:
    """A stage that adds up its operands, and applies operations to the sum one after the other."""
    nodes, last = [], operands[0].name
    steps: list[tuple[Operation, tuple[str, ...]]] = [(Add(), (o.name,)) for o in operands[1:]]
    for number, (operation, more) in enumerate([*steps, *((operation, ()) for operation in operations)]):
        ends = (operation.low, operation.high) if isinstance(operation, Check) else (-FAR, FAR)
        nodes.append(Node(f"w{wire}_{number}", operation, (last, *more), *ends))
        last = nodes[-1].name
    return Stage(wire, Fixed((size,), 0, -FAR, FAR), Provenance(), result=last, operands=operands, nodes=nodes)


def reading(name: str, wire: int, at: At, bounds: tuple[int, int] = (-FAR, FAR)) -> Operand:
    """An operand that reads elements of a tensor of SIZE elements."""
    return Operand(name, wire, at, Fixed((SIZE,), 0, *bounds), *bounds)


def constant(name: str, amounts: Integers, at: Integers) -> Operand:
    """An operand whose elements are known."""
    low, high = int(amounts.min()), int(amounts.max())
    return Operand(name, 900 + int(name[1:]), at, Fixed(amounts.shape, 0, low, high), low, high, amounts)


def random_graph(seed: int) -> Graph:
    """Six stages, each of which reads the input, constants, and stages before it, shuffled, in part or padded."""
    draw, stages = np.random.default_rng(seed), list[Stage]()
    for wire in range(1, 7):
        operands = []
        for number in range(int(draw.integers(1, 4))):
            read = int(draw.integers(max(INPUT, wire - 3), wire))
            at = draw.permutation(SIZE) if draw.random() < 0.5 else draw.integers(0, SIZE, SIZE)
            at = np.where(draw.random(SIZE) < draw.choice([0, 0, 0.5]), -1, at)
            operands.append(reading(f"x{number}", read, at, (-HIGH, HIGH) if read == INPUT else (-FAR, FAR)))
        if draw.random() < 0.5:
            amounts = draw.integers(-4, 5, SIZE) if draw.random() < 0.5 else np.full(SIZE, draw.integers(-2, 3))
            operands.append(constant(f"x{len(operands)}", amounts, np.arange(SIZE)))
        after = [Scale(-1, 0), ReLU(), Shift(1), Check(-3 * HIGH, 3 * HIGH), Check(-5 * HIGH, 5 * HIGH)]
        chosen = [after[k] for k in draw.choice(len(after), int(draw.integers(1, 3)))]
        stages.append(elementwise(wire, operands, *chosen))
    read_later = {operand.wire for stage in stages for operand in stage.operands}
    return Graph(stages, [(stage.wire, np.arange(SIZE)) for stage in stages if stage.wire not in read_later])
