"""The cutting of an integer arrow into stages: each operation joins the stage of its only user, or begins one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Check,
    Clamp,
    Constant,
    Contract,
    Divide,
    IsNegative,
    Lookup,
    Maximum,
    Multiply,
    Reindex,
    ReLU,
    Scale,
    Select,
    Shift,
    SquareRoot,
    Subtract,
    Sum,
)
from circuitize.circuits.integers.language import corners
from circuitize.circuits.operation import Operation, Provenance
from circuitize.circuits.types import Fixed

from .graph import REDUCED, Graph, Node, Operand, Stage
from .reductions import argmax_table, contract_tables, sum_table
from .terms import At, Terms, elements, equal, indices, through

Indices = NDArray[np.int64]

ELEMENTWISE = (
    Add,
    Subtract,
    Scale,
    Multiply,
    ReLU,
    Shift,
    IsNegative,
    Lookup,
    Check,
    Select,
    Maximum,
    Clamp,
    Divide,
    SquareRoot,
)
RULES = frozenset({*ELEMENTWISE, Constant, Reindex, Contract, Sum, ArgMax})
"""The operations that stages are made of; the others are expanded into these."""


@dataclass
class _Use:
    cluster: int
    at: At
    fusable: bool


class _Cutter:
    """A walk through an arrow from its outputs, in which each operation joins the stage of its only user or begins a
    new stage.
    """

    def __init__(self, arrow: Arrow, copied: Sequence[bool]) -> None:
        self.arrow = arrow
        self.producer: dict[int, int] = {}
        for index, (_, _, targets, _) in enumerate(arrow.rows):
            self.producer.update(dict.fromkeys(targets, index))
        self.uses: dict[int, list[_Use]] = defaultdict(list)
        self.members: dict[int, list[int]] = {}
        self.at: dict[int, At] = {}
        self.cluster: dict[int, int] = {}
        self.reduction: dict[int, int] = {}
        self.stages: dict[int, Stage] = {}
        self.outputs: list[tuple[int, Indices]] = []
        self.copies: list[Stage] = []
        for place, wire in enumerate(arrow.outputs.tolist()):
            base, found = self.resolve(wire, np.arange(self.format(wire).size))
            at = elements(found)
            plain = np.array_equal(at, np.arange(self.format(base).size))
            self.uses[base].append(_Use(-1, at, False))
            if (copied[place] and not plain) or not self.is_computed(base) or (at < 0).all():
                self.outputs.append((arrow.wire_count + place, np.arange(at.size)))
                self.copies.append(self._copy(wire, arrow.wire_count + place, base, at))
            else:
                self.outputs.append((base, at))

    def format(self, wire: int) -> Fixed:
        return self.arrow.format(wire)

    def operation(self, wire: int) -> Operation | None:
        index = self.producer.get(wire)
        return None if index is None else self.arrow.operations[self.arrow.rows[index][0]]

    def constant(self, wire: int) -> Indices | None:
        operation = self.operation(wire)
        return operation.constant if isinstance(operation, Constant) else None

    def is_computed(self, wire: int) -> bool:
        return self.operation(wire) is not None and self.constant(wire) is None

    def base(self, wire: int) -> int:
        """Return the wire from which a chain of views reads."""
        return self.resolve(wire, np.zeros(1, np.int64))[0]

    def resolve(self, wire: int, at: At) -> tuple[int, At]:
        """Return the wire from which a chain of views reads, and the indices of the elements in that wire."""
        while True:
            operation = self.operation(wire)
            if isinstance(operation, Reindex):
                at = through(at, operation.view.at)
            elif not (isinstance(operation, Scale) and operation.factor == 1):
                return wire, at
            wire = self.arrow.rows[self.producer[wire]][1][0]

    def cut(self) -> Graph:
        for index in reversed(range(self.arrow.edge_count)):
            number, sources, (target,), _ = self.arrow.rows[index]
            operation = self.arrow.operations[number]
            if isinstance(operation, Constant | Reindex) or (isinstance(operation, Scale) and operation.factor == 1):
                if isinstance(operation, Reindex):
                    self._through(operation, sources[0], target)
                elif sources:
                    self.uses[sources[0]] += self.uses.pop(target, [])
                continue
            uses = self.uses.get(target, [])
            if not uses and not isinstance(operation, Check):
                continue
            cluster = self._join(target, operation, uses)
            self.members[cluster].append(index)
            self.cluster[target] = cluster
            self._spread(operation, sources, target, cluster)
        stages = [self._stage(cluster) for cluster in sorted(self.members)]
        return Graph([*stages, *self.copies], self.outputs)

    def _through(self, operation: Reindex, source: int, target: int) -> None:
        view = operation.view
        onto = view.fibres == (1, 1) and not view.reads_outside
        for use in self.uses.pop(target, []):
            self.uses[source].append(_Use(use.cluster, through(use.at, view.at), use.fusable and onto))

    def _join(self, wire: int, operation: Operation, uses: list[_Use]) -> int:
        """Return the cluster of a wire's only user, or a new cluster."""
        reduces = not isinstance(operation, ELEMENTWISE)
        first = uses[0] if uses else None
        if (
            first is not None
            and first.cluster >= 0
            and all(u.fusable and u.cluster == first.cluster and equal(u.at, first.at) for u in uses)
            and not (reduces and (isinstance(first.at, Terms) or first.cluster in self.reduction))
        ):
            self.at[wire] = first.at
            cluster = first.cluster
        else:
            self.at[wire] = np.arange(self.format(wire).size)
            cluster = self.producer[wire]
            self.members[cluster] = []
        return cluster

    def _spread(self, operation: Operation, sources: list[int], target: int, cluster: int) -> None:
        """Record which wires an edge reads, and at which indices."""
        at = self.at[target]
        formats = [self.format(wire) for wire in sources]
        if isinstance(operation, Contract):
            wide = [self.constant(self.base(w)) is None for w in sources]
            tables = contract_tables(operation, formats, 1 if wide == [False, True] else 0)
            for wire, (rows, terms) in zip(sources, tables, strict=True):
                self.uses[wire].append(_Use(cluster, _factor(rows[elements(at)], terms), False))
            if len(tables[0][1]) > 1:
                self.reduction[cluster] = target
        elif isinstance(operation, Sum | ArgMax):
            table, onto = _table(operation, formats[0])
            if table.shape[1] > 1:
                self.reduction[cluster] = target
            self.uses[sources[0]].append(_Use(cluster, _listed(table[elements(at)]), onto))
        else:
            for wire in sources:
                self.uses[wire].append(_Use(cluster, at, True))

    def _stage(self, cluster: int) -> Stage:
        """Return the stage that is made of a cluster of edges, in their order."""
        edges = sorted(self.members[cluster])
        wire = self.arrow.rows[cluster][2][0]
        stage = Stage(wire, self.format(wire), self.arrow.edge(cluster).provenance)
        for index in edges:
            edge = self.arrow.edge(index)
            self._write(stage, cluster, edge.operation, list(edge.sources), edge.targets[0], edge.provenance)
        stage.result = self._name(wire)
        return stage

    def _name(self, wire: int) -> str:
        return REDUCED if self.reduction.get(self.cluster[wire]) == wire else f"w{wire}"

    def _source(self, stage: Stage, cluster: int, wire: int, at: At) -> str:
        """Return the name of a source of an operation: a node of the stage, or an operand, which is added if the stage
        lacks it.
        """
        base, found = self.resolve(wire, at)
        if self.cluster.get(base) == cluster:
            return self._name(base)
        return operand(stage, base, found, self.format(base), self.format(wire), self.constant(base))

    def _write(
        self, stage: Stage, cluster: int, operation: Operation, sources: list[int], target: int, where: Provenance
    ) -> None:
        at, format = self.at[target], self.format(target)
        formats = [self.format(wire) for wire in sources]
        stage.operations.append(operation.name.removeprefix("integer."))
        if isinstance(operation, Contract):
            wide = [self.constant(self.base(w)) is None for w in sources]
            tables = contract_tables(operation, formats, 1 if wide == [False, True] else 0)
            tall = len(tables[0][1]) > 1
            names = []
            for wire, (rows, terms) in zip(sources, tables, strict=True):
                names.append(self._source(stage, cluster, wire, _factor(rows[elements(at)], terms)))
            name = f"w{target}_product" if tall else f"w{target}"
            stage.nodes.append(Node(name, Multiply(), (names[0], names[1]), *corners(*formats), tall, where))
            if tall:
                stage.reduction, stage.terms, stage.term = "sum", len(tables[0][1]), name
                stage.reduced = (format.low, format.high)
        elif isinstance(operation, Sum | ArgMax):
            table, _ = _table(operation, formats[0])
            source = self._source(stage, cluster, sources[0], _listed(table[elements(at)]))
            if table.shape[1] == 1 and isinstance(operation, Sum):
                stage.nodes.append(Node(f"w{target}", Scale(1, 0), (source,), format.low, format.high, False, where))
            elif table.shape[1] == 1:
                stage.nodes.append(Node(f"w{target}", Scale(0, 0), (source,), 0, 0, False, where))
            else:
                stage.reduction = "sum" if isinstance(operation, Sum) else "argmax"
                stage.term = source
                stage.terms, stage.reduced = table.shape[1], (format.low, format.high)
        else:
            names = [self._source(stage, cluster, wire, at) for wire in sources]
            stage.nodes.append(
                Node(f"w{target}", operation, tuple(names), format.low, format.high, isinstance(at, Terms), where)
            )

    def _copy(self, wire: int, fresh: int, base: int, at: Indices) -> Stage:
        """Return a stage that only moves elements."""
        format = self.format(wire)
        stage = Stage(fresh, format, Provenance(f"output {fresh - self.arrow.wire_count}"), operations=["copy"])
        stage.result = operand(stage, base, at, self.format(base), format, self.constant(base))
        return stage


def operand(stage: Stage, wire: int, at: At, base: Fixed, format: Fixed, amounts: Indices | None) -> str:
    """Return the name of an operand of a stage; the operand is added unless the stage has an equal one. One that reads
    nothing but zeros is a constant.
    """
    for known in stage.operands:
        if known.wire == wire and equal(known.at, at):
            return known.name
    name = f"x{len(stage.operands)}"
    if (indices(at) < 0).all():
        amounts = np.zeros(base.size, np.int64)
    flat = None if amounts is None else amounts.reshape(-1)
    stage.operands.append(Operand(name, wire, at, base, format.low, format.high, flat))
    return name


def _factor(starts: Indices, steps: Indices) -> At:
    """Return what a factor of a contraction reads, the sums of a number of each row and of each term."""
    return Terms.sums(starts, steps) if len(steps) > 1 else starts + steps


def _listed(table: Indices) -> At:
    """Return what a table [size, terms] lists."""
    return Terms.of(table) if table.shape[1] > 1 else table[:, 0]


def _table(operation: Sum | ArgMax, source: Fixed) -> tuple[Indices, bool]:
    """Return for each target element of a reduction the source elements that it is made of, and whether every source
    element is used once.
    """
    if isinstance(operation, Sum):
        return sum_table(operation)
    return argmax_table(source.shape, operation.axis), True


def cut(arrow: Arrow, copied: Sequence[bool]) -> Graph:
    """Return the stages of an integer arrow of core operations and of operations in KEPT.

    `copied` says for each output, in order, whether a stage must write it, as is the case for the next value of a
    state.
    """
    return _Cutter(arrow, copied).cut()
