"""The rules by which integer operations become nodes of a netlist, one for each class of operations; an operation
without a rule is expanded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Expansion, View
from circuitize.circuits.operation import Edge, Operation
from circuitize.circuits.types import Fixed

from ...verilog.netlist import Integers, Kind, Netlist
from . import elementary
from .contraction import contract
from .elements import Elements, add, bounds, concatenate, constants, multiply, narrow, plain, scale, total, where
from .intervals import ends
from .matrices import Optimiser


class Lowering:
    """The lowering of the integer operations of an arrow to nodes of a netlist; `failures` has the nodes that are 1
    where a Check fails.
    """

    def __init__(self, net: Netlist, arrow: Arrow, adders: bool, optimise: Optimiser) -> None:
        self.net = net
        self.arrow = arrow
        self.adders = adders
        self.optimise = optimise
        self.failures: list[Integers] = []

    def edge(self, edge: Edge, sources: list[Elements]) -> Elements:
        """Return the tensor that an edge of the arrow computes."""
        types = [self.arrow.format(wire) for wire in edge.sources]
        return self.apply(edge.operation, sources, types, self.arrow.format(edge.targets[0]))

    def output(self, wire: int, x: Integers, least: int, greatest: int) -> Integers:
        """Return the nodes of a Check of what a wire brings out of the arrow."""
        return self.require(x, least, greatest)

    def apply(self, operation: Operation, sources: list[Elements], types: list[Fixed], target: Fixed) -> Elements:
        """Return the tensor that an operation computes, in the shape of its target."""
        rule = RULES.get(type(operation))
        if rule is not None:
            return rule(self, operation, sources, target)
        assert isinstance(operation, Expansion), operation
        arrow = operation.definition(*types)

        def inside(index: int, step: Operation, values: list[Elements]) -> list[Elements]:
            edge = arrow.edge(index)
            read = [arrow.format(wire) for wire in edge.sources]
            return [self.apply(step, values, read, arrow.format(edge.targets[0]))]

        made = fold(arrow, sources, inside)[int(arrow.outputs[0])]
        assert made is not None
        return made

    def require(self, x: Integers, least: int, greatest: int) -> Integers:
        """Return the nodes of a Check, which are unchanged inside the interval; a value outside is recorded as a
        failure.
        """
        failed = elementary.outside(self.net, x, least, greatest).reshape(-1)
        self.failures.append(failed[failed != 0])
        return narrow(self.net, x, least, greatest)


def reindex(x: Elements, view: View) -> Elements:
    """Return a tensor read through a view, with 0 for places outside the tensor."""
    places = view.indices()
    found = x.reshape((-1,))[np.maximum(places, 0)]
    return where(places >= 0, found, Elements.of(np.zeros(places.shape, np.int64)))


def _sum(by: Lowering, operation: integers.Sum, sources: list[Elements], target: Fixed) -> Elements:
    places, terms = operation.view.indices().reshape(-1), sources[0].reshape((-1,))
    read = places >= 0
    return total(by.net, terms[read], places[read], target.size).reshape(target.shape)


def _multiply(by: Lowering, operation: integers.Multiply, sources: list[Elements], target: Fixed) -> Elements:
    return multiply(by.net, sources[0], sources[1], by.adders)


def _check(by: Lowering, operation: integers.Check, sources: list[Elements], target: Fixed) -> Elements:
    (x,) = sources
    x = x.reshape((-1,))
    low, high = bounds(by.net, x)
    at = np.flatnonzero((low < operation.low) | (high > operation.high))
    made = Elements(x.node.copy(), x.shift.copy(), x.negative.copy())
    if len(at):
        node = plain(by.net, x[at])
        made.node[at] = by.require(narrow(by.net, node, *ends(by.net, node)), operation.low, operation.high)
        made.shift[at], made.negative[at] = 0, False
    return made.reshape(target.shape)


def _select(by: Lowering, operation: integers.Select, sources: list[Elements], target: Fixed) -> Elements:
    condition, x, y = sources
    return elementary.select(by.net, plain(by.net, condition), x, y)


def _moved(x: Elements, axis: int) -> Elements:
    return x.moved(lambda part: np.moveaxis(part, axis, -1))


def _arg_max(by: Lowering, operation: integers.ArgMax, sources: list[Elements], target: Fixed) -> Elements:
    return Elements.of(elementary.arg_max(by.net, _moved(sources[0], operation.axis)))


def _one_hot(by: Lowering, operation: integers.ArgMaxOneHot, sources: list[Elements], target: Fixed) -> Elements:
    index = elementary.arg_max(by.net, _moved(sources[0], operation.axis))
    extent = target.shape[operation.axis]
    hot = elementary.equals(by.net, index[..., None], np.arange(extent))
    return Elements.of(np.moveaxis(hot, -1, operation.axis))


def _gather(by: Lowering, operation: integers.Gather, sources: list[Elements], target: Fixed) -> Elements:
    x, index = sources
    extent = x.shape[operation.axis]
    places = by.require(plain(by.net, index).reshape(-1), 0, extent - 1)
    before, after = math.prod(x.shape[: operation.axis]), math.prod(x.shape[operation.axis + 1 :])
    rows = _moved(x.reshape((before, extent, after)), 1)
    shape = (before, len(places), after)
    spread = rows.moved(lambda part: np.broadcast_to(part[:, None], (*shape, extent)))
    made = elementary.pick(by.net, spread, np.broadcast_to(places[:, None], shape))
    return made.reshape(target.shape)


def _scatter_add(by: Lowering, operation: integers.ScatterAdd, sources: list[Elements], target: Fixed) -> Elements:
    updates, index = sources
    places = by.require(plain(by.net, index).reshape(-1), 0, operation.size - 1)
    before = math.prod(updates.shape[: operation.axis])
    terms = updates.reshape((before, len(places), -1))
    after, size = terms.shape[2], operation.size
    shape = (before, size, after, len(places))
    hot = elementary.equals(by.net, places, np.arange(size)[:, None])[None, :, None, :]
    spread = terms.moved(lambda part: np.broadcast_to(part.swapaxes(1, 2)[:, None], shape)).reshape((-1,))
    zero = Elements.of(np.zeros(spread.shape, np.int64))
    masked = elementary.select(by.net, np.broadcast_to(hot, shape).reshape(-1), spread, zero)
    count = target.size
    return total(by.net, masked, np.repeat(np.arange(count), len(places)), count).reshape(target.shape)


def _lookup(by: Lowering, operation: integers.Lookup, sources: list[Elements], target: Fixed) -> Elements:
    return elementary.lookup(by.net, sources[0], operation.low, np.asarray(operation.table, np.int64))


def _square_root(by: Lowering, operation: integers.SquareRoot, sources: list[Elements], target: Fixed) -> Elements:
    low, high = bounds(by.net, sources[0])
    ends = (np.array([math.isqrt(v) for v in end.reshape(-1).tolist()], np.int64) for end in (low, high))
    return elementary.square_root(by.net, sources[0], *ends)


Rule = Callable[[Lowering, Any, list[Elements], Fixed], Elements]

RULES: dict[type[Operation], Rule] = {
    integers.Constant: lambda by, op, x, target: constants(by.net, op.constant),
    integers.Reindex: lambda by, op, x, target: reindex(x[0], op.view),
    integers.Sum: _sum,
    integers.Add: lambda by, op, x, target: add(by.net, x[0], x[1]),
    integers.Subtract: lambda by, op, x, target: add(by.net, x[0], x[1].times(0, True)),
    integers.Scale: lambda by, op, x, target: scale(by.net, x[0], np.array(op.factor), by.adders),
    integers.Multiply: _multiply,
    integers.ReLU: lambda by, op, x, target: elementary.clamp(by.net, x[0], 0, 1 << 62),
    integers.Clamp: lambda by, op, x, target: elementary.clamp(by.net, x[0], op.low, op.high),
    integers.Wrap: lambda by, op, x, target: elementary.wrap(by.net, x[0], op),
    integers.Shift: lambda by, op, x, target: elementary.shift(by.net, x[0], op.bits),
    integers.IsNegative: lambda by, op, x, target: elementary.is_negative(by.net, x[0]),
    integers.Divide: lambda by, op, x, target: elementary.divide(by.net, x[0], x[1]),
    integers.SquareRoot: _square_root,
    integers.Lookup: _lookup,
    integers.Check: _check,
    integers.Contract: lambda by, op, x, target: contract(by.net, op, x[0], x[1], by.adders, by.optimise),
    integers.Concatenate: lambda by, op, x, target: concatenate(x, op.axis),
    integers.Select: _select,
    integers.Maximum: lambda by, op, x, target: elementary.maximum(by.net, x[0], x[1]),
    integers.ArgMax: _arg_max,
    integers.ArgMaxOneHot: _one_hot,
    integers.Gather: _gather,
    integers.ScatterAdd: _scatter_add,
}
"""Integer operations without a rule are replaced by their definitions."""


def any_of(net: Netlist, failures: list[Integers]) -> int:
    """Return a node that is 1 where any of the given nodes is 1, made by a balanced tree."""
    nodes = np.unique(np.concatenate([np.zeros(0, np.int64), *failures]))
    nodes = nodes[nodes != 0]
    if (net.low[nodes] == 1).any():
        return int(net.constant(1))
    while len(nodes) > 1:
        even = len(nodes) - len(nodes) % 2
        paired = net.append(Kind.OR, 0, 1, nodes[0:even:2], nodes[1:even:2])
        nodes = np.concatenate([paired, nodes[even:]])
    return int(nodes[0]) if len(nodes) else 0
