"""A converter between arrows and objects of the package open-hypergraphs: wires are labelled by types, edges by
operations.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from heapq import heappop, heappush
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, offsets_of
from circuitize.circuits.operation import NOWHERE, Operation, Values
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array, Fixed
from circuitize.circuits.validate import validate

from .installed import require
from .objects import FiniteFunction, IndexedCoproduct, OpenHypergraph

VERSION = "0.1.3"


@cache
def package() -> ModuleType:
    """Import the package open-hypergraphs. Raise CircuitizeError unless open-hypergraphs is installed with the known
    version.
    """
    require("open-hypergraphs", VERSION)
    return importlib.import_module("open_hypergraphs")


def hypergraph(given: Arrow | Program) -> Any:
    """Return the `OpenHypergraph` of an arrow, or of a program's arrow: its wires and edges, each with its label.

    The label of a wire is its type, the label of an edge its operation. In the `OpenHypergraph`, as in the arrow, a
    wire that is copied has several readers, and a wire that is discarded has none; `diagram`, in contrast, makes copies
    and discards operations, as in catgrad.
    """
    arrow = given.arrow if isinstance(given, Program) else given
    if not isinstance(arrow, Arrow):
        raise CircuitizeError(f"expected an Arrow or a Program, found {type(given).__name__}; give program.arrow")
    return assembled(
        [arrow.types[index] for index in arrow.wire_types.tolist()],
        [arrow.operations[index] for index in arrow.edge_operations.tolist()],
        [sources for _, sources, _, _ in arrow.rows],
        [targets for _, _, targets, _ in arrow.rows],
        arrow.inputs.tolist(),
        arrow.outputs.tolist(),
    )


def assembled(
    wires: Sequence[object],
    edges: Sequence[object],
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    inputs: Sequence[int],
    outputs: Sequence[int],
) -> OpenHypergraph:
    """Return an `OpenHypergraph` with the given labels, ends of edges, and interface."""
    of = package()
    count = len(wires)

    def numbers(values: Sequence[int], target: int | None) -> FiniteFunction:
        made: FiniteFunction = of.FiniteFunction(target, np.array(values, of.FiniteFunction.Dtype))
        return made

    def labels(values: Sequence[object]) -> FiniteFunction:
        table = np.empty(len(values), object)
        table[:] = values
        made: FiniteFunction = of.FiniteFunction(None, table)
        return made

    def family(segments: Sequence[Sequence[int]]) -> IndexedCoproduct:
        flat = [wire for segment in segments for wire in segment]
        counts = numbers([len(segment) for segment in segments], None)
        made: IndexedCoproduct = of.IndexedCoproduct(counts, numbers(flat, count))
        return made

    inner = of.Hypergraph(family(sources), family(targets), labels(wires), labels(edges))
    made: OpenHypergraph = of.OpenHypergraph(numbers(inputs, count), numbers(outputs, count), inner)
    return made


def arrow_of(hypergraph: object) -> Arrow:
    """Return the arrow of an `OpenHypergraph` whose labels are circuitize's types and operations.

    The edges of an `OpenHypergraph` may be in any order. Raise CircuitizeError for labels that are no types or
    operations of circuitize, for a wire that is not written once, for a cycle, and for types that an operation does not
    take.
    """
    if not isinstance(hypergraph, package().OpenHypergraph):
        raise CircuitizeError(f"expected an OpenHypergraph, found {type(hypergraph).__name__}; see hypergraph")
    inner = hypergraph.H
    wires, edges = list(inner.w.table), list(inner.x.table)
    for what, labels, ours in (("wires", wires, (Array, Fixed)), ("edges", edges, (Operation,))):
        other = next((label for label in labels if not isinstance(label, ours)), None)
        if other is not None:
            raise CircuitizeError(
                f"expected {what} with labels of ours, found {type(other).__name__}; a diagram of catgrad's is read by "
                "circuitize.frontends.catgrad.arrow"
            )
    (arity, sources), (coarity, targets) = (_ends(family) for family in (inner.s, inner.t))
    order = _order(len(wires), arity, sources, coarity, targets)
    types, operations = list(dict.fromkeys(wires)), list(dict.fromkeys(edges))
    places, kinds = {type: at for at, type in enumerate(types)}, {edge: at for at, edge in enumerate(operations)}
    made = Arrow(
        tuple(operations),
        tuple(types),
        (NOWHERE,),
        _whole([places[wire] for wire in wires]),
        _whole([kinds[edges[at]] for at in order]),
        np.zeros(len(edges), np.int32),
        offsets_of(arity[order]),
        _whole(_chosen(arity, sources, order)),
        offsets_of(coarity[order]),
        _whole(_chosen(coarity, targets, order)),
        _whole(hypergraph.s.table),
        _whole(hypergraph.t.table),
    )
    validate(made)
    return made


def _ends(family: IndexedCoproduct) -> tuple[Values, Values]:
    """Return how many wires each edge has on one side, and these wires edge by edge."""
    return np.asarray(family.sources.table, np.int64), np.asarray(family.values.table, np.int64)


def _whole(numbers: ArrayLike) -> NDArray[np.int32]:
    return np.asarray(numbers, np.int32)


def _chosen(counts: Values, ends: Values, order: Sequence[int]) -> list[int]:
    """Return the wires of each edge, edge by edge, in another order of edges."""
    starts = offsets_of(counts).tolist()
    flat = ends.tolist()
    return [wire for edge in order for wire in flat[starts[edge] : starts[edge + 1]]]


def _order(wires: int, arity: Values, sources: Values, coarity: Values, targets: Values) -> list[int]:
    """Return Kahn's order of the edges, which takes the lowest number where it can choose: edges that are already in
    such an order keep it.

    Raise CircuitizeError if the edges form a cycle. Sorting n edges and their ends in Kahn's order takes time O(n log
    n).
    """
    edges = len(arity)
    writer = np.full(wires, -1, np.int64)
    writer[targets] = np.repeat(np.arange(edges), coarity)
    before = writer[sources]
    after = np.repeat(np.arange(edges), arity)[before >= 0]
    before = before[before >= 0]
    missing = np.bincount(after, minlength=edges).tolist()
    by_writer = np.argsort(before, kind="stable")
    readers, starts = after[by_writer].tolist(), offsets_of(np.bincount(before, minlength=edges)).tolist()
    ready = [edge for edge, count in enumerate(missing) if not count]
    order = []
    while ready:
        order.append(heappop(ready))
        for reader in readers[starts[order[-1]] : starts[order[-1] + 1]]:
            missing[reader] -= 1
            if not missing[reader]:
                heappush(ready, reader)
    if len(order) < edges:
        stuck = next(edge for edge, count in enumerate(missing) if count)
        raise CircuitizeError(f"expected no cycle, found edge {stuck} reading what follows from it; cut it")
    return order
