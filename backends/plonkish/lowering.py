"""Lowers an integer arrow into an assembly, edge by edge; operations without a rule by their definitions."""

from __future__ import annotations

from circuitize.backends.gadgets.assembly import Scope
from circuitize.backends.gadgets.values import WireValue
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, OverflowRisk, TypingError
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Expansion
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Fixed

from .assembly import Assembly, Handle
from .operations import RULES, Site, lower


def lower_arrow(assembly: Assembly, arrow: Arrow, inputs: list[Handle], scope: int = 0) -> list[Handle]:
    """The handles of the outputs. `scope` says where the prover finds the values of the arrow's wires.

    Raises CircuitizeError for an operation that is not of the integer language, OverflowRisk where a range check could
    wrap.
    """
    readers = arrow.readers().tolist()
    checks, signs = single_checks(arrow, readers), sign_wires(arrow)
    outer = assembly.edge

    def interpret(index: int, operation: Operation, sources: list[Handle]) -> list[Handle]:
        edge = arrow.edge(index)
        (target,) = edge.targets
        type_ = arrow.type(target)
        if not (type(operation) in RULES or isinstance(operation, Expansion)) or not isinstance(type_, Fixed):
            raise CircuitizeError(
                f"expected an operation of the integer language, found {operation.name} at {edge.provenance}; "
                "quantize the program first"
            )
        if scope == 0:
            assembly.edge = index
        try:
            if type(operation) in RULES:
                check = checks.get(target)
                interval = None if check is None else (check[0].low, check[0].high)
                sign = target in signs or (check is not None and check[1] in signs)
                site = Site(assembly, type_, WireValue(scope, target), interval, sign, readers[target])
                return [lower(site, operation, sources)]
            assert isinstance(operation, Expansion)
            return [_expand(assembly, operation, sources, scope, list(edge.sources), target, type_)]
        except (OverflowRisk, TypingError) as error:
            if scope:
                raise
            raise error.__class__(f"{error}; in {operation.name}, {edge.provenance}") from None

    handles = fold(arrow, inputs, interpret)
    assembly.edge = outer
    outputs = [handles[wire] for wire in arrow.outputs.tolist()]
    return [handle for handle in outputs if handle is not None]


def _expand(
    assembly: Assembly,
    operation: Expansion,
    sources: list[Handle],
    scope: int,
    wires: list[int],
    target: int,
    type: Fixed,
) -> Handle:
    """An operation by its definition, whose wires get a scope of their own.

    Where the definition's static interval is wider than the operation's own, the latter holds without a check: the
    contract of Expansion says that both have the same value.
    """
    builder = Builder()
    inner = operation.define(builder, *builder.inputs([source.type for source in sources]))
    arrow = builder.build([inner])
    assembly.scopes.append(Scope(scope, arrow, tuple(wires)))
    (handle,) = lower_arrow(assembly, arrow, sources, len(assembly.scopes))
    return Handle(handle.forms, WireValue(scope, target), type, handle.natural)


def single_checks(arrow: Arrow, readers: list[int]) -> dict[int, tuple[integers.Check, int]]:
    """For each wire that one Check reads and nothing else: that Check and its target."""
    checks = {}
    operations = arrow.operations
    for operation, sources, targets, _ in arrow.rows:
        found = operations[operation]
        if isinstance(found, integers.Check) and readers[sources[0]] == 1:
            checks[sources[0]] = (found, targets[0])
    return checks


def sign_wires(arrow: Arrow) -> set[int]:
    """The wires whose sign some edge asks for."""
    asks = [isinstance(operation, integers.IsNegative | integers.ReLU) for operation in arrow.operations]
    return {sources[0] for operation, sources, _, _ in arrow.rows if asks[operation]}
