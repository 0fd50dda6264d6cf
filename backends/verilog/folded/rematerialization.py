"""Rematerialization: results that readers compute again, in place of block memory that keeps them.

An elementwise stage whose result a few stages read may be left out, if each of these makes the same operations before
its own. What the stage reads is in memory in any case, and its readers read it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Divide, Lookup, Multiply, Scale, SquareRoot
from circuitize.circuits.operation import Operation

from ..signals import Signal, element
from .graph import Graph, Node, Operand, Stage
from .lane_text import literal_operand
from .size import luts, multiplied
from .terms import elements, equal, indices

Indices = NDArray[np.int64]

BITS = 64
"""Bits of block memory that a LUT is worth: devices have 40 to 80 of them for each LUT."""
LEAST = 4 * 1024
"""Bits that a result has at least that is left out."""
UNITS = 16
"""Units of a stage of many elements, each of which takes the LUTs of its operations."""
COSTLY = (Divide, Lookup, SquareRoot)
"""Operations that are never made twice, beside products that take a multiplier."""


@dataclass(frozen=True)
class _Use:
    """An operand of a stage that reads the result of another one."""

    stage: Stage
    operand: Operand


def rematerialized(graph: Graph) -> Graph:
    """Return stages with the same outputs, of which each computes again what it reads from elementwise stages, where
    LUTs for this are worth less than the block memory that keeps it.

    The stages are gone through from first to last. A Check that is made again fails in the same frames as before: each
    element is still made somewhere, and where a reader reads 0 in place of an element, no Check fails.
    """
    stages = [replace(stage, operands=list(stage.operands), nodes=list(stage.nodes)) for stage in graph.stages]
    kept = {wire for wire, _ in graph.outputs}
    for stage in list(stages):
        uses = [_Use(other, operand) for other in stages for operand in other.operands if operand.wire == stage.wire]
        if uses and stage.wire not in kept and _worthwhile(stage, uses) and _possible(stage, uses):
            for use in uses:
                _inline(stage, use)
            stages.remove(stage)
    return replace(graph, stages=stages)


def _worthwhile(stage: Stage, uses: Sequence[_Use]) -> bool:
    bits = stage.size * element(stage.format).width
    more = UNITS * (len(uses) - 1) * sum(luts(*_typed(stage, node)) for node in stage.nodes)
    return bits >= max(LEAST, BITS * more)


def _typed(stage: Stage, node: Node) -> tuple[Operation, list[Signal], Signal]:
    sources = [Signal(name, *stage.interval(name)) for name in node.sources]
    return node.operation, sources, Signal(node.name, node.low, node.high)


def _possible(stage: Stage, uses: Sequence[_Use]) -> bool:
    """Return whether the readers of a stage can make its operations, each with one element of its own."""
    if stage.reduction or not stage.nodes or any(use.operand.in_reduction for use in uses):
        return False
    if any(use.operand.amounts is not None or _loses(stage, use.operand) for use in uses):
        return False
    if any(_takes_much(*_typed(stage, node)) for node in stage.nodes):
        return False
    read = np.concatenate([elements(use.operand.at) for use in uses])
    if stage.checks and not np.isin(np.arange(stage.size), read).all():
        return False
    return bool((read >= 0).all()) or keeps_zero(stage, stage.result)


def _loses(stage: Stage, read: Operand) -> bool:
    """Return whether a reader would read nothing but zeros of something that a stage reads, for which there would be no
    memory, or only one number of a constant with several.
    """
    made = [(operand, replace(operand, at=_composed(operand, read))) for operand in stage.operands]
    return any(
        (indices(own.at) < 0).all() if operand.amounts is None else literal_operand(own) is not None
        for operand, own in made
        if literal_operand(operand) is None
    )


def _takes_much(operation: Operation, sources: list[Signal], target: Signal) -> bool:
    if isinstance(operation, Scale):
        sources = [*sources, Signal("", operation.factor, operation.factor)]
    return isinstance(operation, COSTLY) or (isinstance(operation, Multiply | Scale) and multiplied(operation, sources))


def keeps_zero(stage: Stage, name: str) -> bool:
    """Return whether the value of a name in a stage is 0 where the stage reads 0 from memory, with each value on the
    way in its interval.
    """
    values: dict[str, Indices] = {}
    for operand in stage.operands:
        number = literal_operand(operand)
        if number is None and not operand.low <= 0 <= operand.high:
            return False
        values[operand.name] = np.full(1, number or 0, np.int64)
    for node in stage.nodes:
        try:
            (values[node.name],) = node.operation.run(*(values[name] for name in node.sources))
        except CircuitizeError:
            return False
        if not node.low <= int(values[node.name][0]) <= node.high:
            return False
    return int(values[name][0]) == 0


def _inline(stage: Stage, use: _Use) -> None:
    """Put the operations of a stage in place of an operand that reads its result."""
    other, read = use.stage, use.operand
    other.operands.remove(read)
    names = {operand.name: _operand(other, operand, read) for operand in stage.operands}
    made = []
    for node in stage.nodes:
        names[node.name] = f"{node.name}_{read.name}"
        made.append(replace(node, name=names[node.name], sources=tuple(names[name] for name in node.sources)))
    own = {read.name: names[stage.result]}
    other.nodes = made + [replace(n, sources=tuple(own.get(name, name) for name in n.sources)) for n in other.nodes]
    other.result = own.get(other.result, other.result)
    other.operations = [*stage.operations, *other.operations]


def _operand(stage: Stage, operand: Operand, read: Operand) -> str:
    """Return the name of an operand of `stage` with which it reads what `operand` reads for the elements that `read`
    reads; the operand is added unless there is an equal one.
    """
    at = _composed(operand, read)
    for known in stage.operands:
        if known.wire == operand.wire and equal(known.at, at):
            return known.name
    used = [int(known.name[1:]) for known in [*stage.operands, read]]
    stage.operands.append(replace(operand, name=f"x{max(used) + 1}", at=at))
    return stage.operands[-1].name


def _composed(operand: Operand, read: Operand) -> Indices:
    """Return what an operand of a stage reads for the elements of the result that `read` reads. A number stays the same
    number everywhere.
    """
    places = elements(read.at)
    at = elements(operand.at)[np.maximum(places, 0)]
    return at if literal_operand(operand) is not None else np.where(places < 0, -1, at)
