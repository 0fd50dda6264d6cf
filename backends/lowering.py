"""Lowering an integer arrow edge by edge: by the rules of one target, and by their definitions for operations without a
rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Protocol, TypeVar

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, OverflowRisk, TypingError
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Expansion
from circuitize.circuits.operation import Edge, Operation
from circuitize.circuits.types import Fixed

from .forms import LinearForms
from .values import Value, WireValue


@dataclass(slots=True, eq=False)
class Handle:
    """An integer array inside a circuit: for each element a linear form, with the array's interval and the way in which
    a prover finds its values.

    In every satisfying assignment each form equals, modulo the prime, the integer that the executor computes from the
    inputs; every lowering of an operation relies on this and keeps it.
    """

    forms: LinearForms
    value: Value
    type: Fixed

    @property
    def magnitude(self) -> int:
        """Return the greatest absolute value in the interval of the array."""
        return max(-self.type.low, self.type.high)


@dataclass(frozen=True, slots=True)
class Scope:
    """An arrow to which an operation was expanded; the arrow's inputs are wires of the parent scope."""

    parent: int
    arrow: Arrow
    sources: tuple[int, ...]


class Assembling(Protocol):
    """The assembly in which a target collects the parts of its circuit. The field `edge` of an assembly is the index of
    the operation that is being lowered, or -1 for the program's own ports.
    """

    edge: int
    scopes: list[Scope]


A = TypeVar("A", bound=Assembling)
H = TypeVar("H", bound=Handle)


@dataclass(slots=True)
class Site(Generic[A]):
    """The facts that a lowering rule gets about the edge that it lowers: the type and value of the edge's target, and
    which edges read that target.

    The field `check` is the interval of a Check that is the only reader of the target, if there is one; `sign` says
    whether some reader of the target (or of that Check) needs signs; `readers` is the number of readers.
    """

    assembly: A
    type: Fixed
    value: WireValue
    check: tuple[int, int] | None
    sign: bool
    readers: int


class Lowering(ABC, Generic[A, H]):
    """The lowering of an arrow into an assembly; `scope` says where the prover finds the values of the arrow's wires.

    The field `readers` has the number of readers of each wire; `checks` has, for each wire that only a Check reads,
    that Check and its target; `signs` has the wires whose sign some edge needs.
    """

    rules: ClassVar[Collection[type[Operation]]]
    """The operations that `lower` takes; every other operation must be an Expansion."""

    def __init__(self, assembly: A, arrow: Arrow, scope: int = 0) -> None:
        self.assembly, self.arrow, self.scope = assembly, arrow, scope
        self.readers: list[int] = arrow.readers().tolist()
        self.checks: dict[int, tuple[integers.Check, int]] = {}
        self.signs: set[int] = set()
        for number, sources, targets, _ in arrow.rows:
            operation = arrow.operations[number]
            if isinstance(operation, integers.Check) and self.readers[sources[0]] == 1:
                self.checks[sources[0]] = (operation, targets[0])
            elif isinstance(operation, integers.IsNegative | integers.ReLU):
                self.signs.add(sources[0])

    @abstractmethod
    def lower(self, site: Site[A], operation: Operation, sources: list[H]) -> H:
        """Return the handle of an operation's target, for an operation that has a lowering rule."""

    def run(self, inputs: list[H]) -> list[H]:
        """Lower all edges of an arrow, and return the handles of its outputs.

        Raise CircuitizeError for an operation that is not of the integer language, and OverflowRisk if a constraint
        could wrap around the prime.
        """
        outer = self.assembly.edge
        handles = fold(self.arrow, inputs, self._run)
        self.assembly.edge = outer
        outputs = [handles[wire] for wire in self.arrow.outputs.tolist()]
        return [handle for handle in outputs if handle is not None]

    def _run(self, index: int, operation: Operation, sources: list[H]) -> list[H]:
        edge = self.arrow.edge(index)
        (target,) = edge.targets
        type_ = self.arrow.type(target)
        ruled = type(operation) in self.rules
        if not (ruled or isinstance(operation, Expansion)) or not isinstance(type_, Fixed):
            raise CircuitizeError(
                f"expected an operation of the integer language, found {operation.name} at {edge.provenance}; "
                "quantize the program first"
            )
        if self.scope == 0:
            self.assembly.edge = index
        try:
            if ruled:
                return [self.lower(self._site(target, type_), operation, sources)]
            assert isinstance(operation, Expansion)
            return [self._expand(edge, operation, sources, type_)]
        except (OverflowRisk, TypingError) as error:
            if self.scope:
                raise
            raise error.__class__(f"{error}; in {operation.name}, {edge.provenance}") from None

    def _site(self, target: int, type: Fixed) -> Site[A]:
        check = self.checks.get(target)
        interval = None if check is None else (check[0].low, check[0].high)
        sign = target in self.signs or (check is not None and check[1] in self.signs)
        return Site(self.assembly, type, WireValue(self.scope, target), interval, sign, self.readers[target])

    def _expand(self, edge: Edge, operation: Expansion, sources: list[H], type_: Fixed) -> H:
        """Lower an operation by its definition, an arrow whose wires have their own scope.

        If the interval computed for the definition is wider than the operation's own interval, the latter holds without
        a check: by the contract of Expansion, the definition has the same value as the operation.
        """
        builder = Builder()
        inner = operation.define(builder, *builder.inputs([source.type for source in sources]))
        arrow = builder.build([inner])
        scopes = self.assembly.scopes
        scopes.append(Scope(self.scope, arrow, tuple(edge.sources)))
        (handle,) = type(self)(self.assembly, arrow, len(scopes)).run(sources)
        return replace(handle, value=WireValue(self.scope, edge.targets[0]), type=type_)
