"""Operations that are defined by an arrow of simpler ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from inspect import signature
from typing import ClassVar

from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError, excerpt
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.types import Array

from . import expect
from .language import RealOperation, Rounding
from .reverse import reverse
from .term import Real


class Composite(RealOperation):
    """An operation whose meaning is its `definition`, an arrow of real operations, which may include other composites.

    A subclass of Composite must write `define`, and, if its sources differ in shape, `require`. The type, the value and
    the derivative of a composite follow from its definition. A subclass of Composite may override `derivative` with a
    better one: `expand_composites(arrow, keep_derivatives=True)` does not expand composites that have their own
    derivative. `quantize` expands all composites, so no composite is ever lowered.
    """

    rounding = Rounding.VALUE
    arity: ClassVar[int] = 1
    """How many sources `define` takes."""

    @abstractmethod
    def define(self, *sources: Real) -> Real | Sequence[Real]:
        """Return the formula of the operation's target, or of each of its targets."""

    def require(self, *sources: Array) -> None:
        """Raise TypingError if a composite's method `define` does not take the given sources: by default, if their
        shapes differ.
        """
        expect.one_shape(sources, self.arity)

    def definition(self, *sources: Array) -> Arrow:
        """Return the arrow from a composite's sources to its targets; raise TypingError if the sources do not fit."""
        self.require(*sources)
        builder = Builder()
        terms = [Real(builder, wire) for wire in builder.inputs(sources)]
        _require_parameters(self, terms)
        made = self.define(*terms)
        targets = [made] if isinstance(made, Real) else made
        if not isinstance(targets, (list, tuple)) or not all(isinstance(target, Real) for target in targets):
            raise TypingError(
                f"{self.name}: expected define to return a term, or a list of terms, found {excerpt(made)}; return the "
                "formula of each target"
            )
        return builder.build([target.wire for target in targets])

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        targets = _definition(self, sources).target
        expect.arrays(targets, len(targets))
        return tuple(target for target in targets if isinstance(target, Array))

    def run(self, *values: Values) -> tuple[Values, ...]:
        definition, module = _definition(self, tuple(Array(value.shape) for value in values)), array_module(*values)

        def run(index: int, operation: Operation, sources: list[Values]) -> Sequence[Values]:
            return operation.run(*sources) if sources else [module.asarray(constant) for constant in operation.run()]

        made = fold(definition, values, run)
        return tuple(made[wire] for wire in definition.outputs.tolist())

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        if _has_own_derivative(self):
            return super().reverse(builder, sources, targets, cotangents)
        derivative = reverse(_expanded(self, _types(builder, sources), True))
        return [*builder.splice(derivative, [*sources, *cotangents])]

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        raise AssertionError(f"{self.name} is differentiated by its definition")

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        raise AssertionError(f"quantize expands {self.name} before it lowers")


def expand_composites(arrow: Arrow, keep_derivatives: bool = False) -> Arrow:
    """Return an arrow of the same function, with every composite replaced by its definition, until none is left.

    With `keep_derivatives`, composites that state their own derivative are not expanded. The edges that replace a
    composite take the composite's provenance. Expanding composites takes linear time in the size of the result.
    """
    composites = [isinstance(operation, Composite) for operation in arrow.operations]
    if not any(composites):
        return arrow
    builder = Builder()
    wires = [0] * arrow.wire_count
    for wire, type in zip(arrow.inputs.tolist(), arrow.source, strict=True):
        wires[wire] = builder.input(type)
    for index, sources, targets, provenance in arrow.rows:
        builder.provenance = arrow.provenances[provenance]
        operation, outer = arrow.operations[index], [wires[wire] for wire in sources]
        if isinstance(operation, Composite) and not (keep_derivatives and _has_own_derivative(operation)):
            made = builder.splice(_expanded(operation, _types(builder, outer), keep_derivatives), outer)
        else:
            made = builder.apply(operation, *outer)
        for wire, target in zip(targets, made, strict=True):
            wires[wire] = target
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


def _require_parameters(composite: Composite, terms: Sequence[Real]) -> None:
    """Raise TypingError unless a composite's method `define` takes the given number of sources."""
    declared = signature(composite.define)
    try:
        declared.bind(*terms)
    except TypeError:
        raise TypingError(
            f"{composite.name}: expected define to take {len(terms)}, the class's arity, found {declared}; set arity "
            "to the number of sources"
        ) from None


def _has_own_derivative(composite: Composite) -> bool:
    return type(composite).derivative is not Composite.derivative


def _types(builder: Builder, wires: Sequence[int]) -> tuple[Array, ...]:
    types = [builder.type(wire) for wire in wires]
    expect.arrays(types, len(types))
    return tuple(type for type in types if isinstance(type, Array))


@lru_cache(maxsize=1024)
def _definition(composite: Composite, sources: tuple[Array, ...]) -> Arrow:
    return composite.definition(*sources)


@lru_cache(maxsize=1024)
def _expanded(composite: Composite, sources: tuple[Array, ...], keep_derivatives: bool) -> Arrow:
    return expand_composites(_definition(composite, sources), keep_derivatives)
