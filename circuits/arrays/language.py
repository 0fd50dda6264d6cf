"""The contract of a real array operation: its type, its float meaning, its derivative and its integer lowering."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError, excerpt
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Array

from .term import Real


class Rounding(Enum):
    """Where rounding happens around an operation: the result of an operation of kind VALUE or FORMAT is rounded within
    the operation, and `quantize` decides where the others are rounded.
    """

    LINEAR = "exact on unrounded operands; its result is unrounded if an operand is"
    PRODUCT = "takes rounded operands; its result is an exact product or accumulation, not yet rounded"
    VALUE = "takes rounded operands; its result is final, in the calibrated format or as exact as its operands"
    FORMAT = "takes operands as they are, unrounded too; its result is final, in the format that it states itself"


class RealOperation(Operation):
    """An operation of the real array language. To add an operation to the real language, add one subclass of
    RealOperation: no pass and no target names operations.
    """

    rounding: ClassVar[Rounding]
    exact: ClassVar[bool] = False
    """Whether a VALUE is lowered exactly on operands of any fraction bits, even unrounded ones."""

    @abstractmethod
    def target_types(self, *sources: Array) -> tuple[Array, ...]: ...

    @property
    def folds(self) -> bool:
        return self.rounding is not Rounding.FORMAT

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        """Add the edges of the reverse derivative; return each source's cotangent, or None if it is zero.

        The arguments `sources` and `targets` are the operation's wires in the builder, and `cotangents` has one wire
        for each target.
        """
        (z,), (dz,) = targets, cotangents
        made = self.derivative(Real(builder, dz), Real(builder, z), *(Real(builder, wire) for wire in sources))
        return _cotangents(self, builder, sources, made)

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        """Add the integer edges that compute this operation; return one wire per target."""
        return [self.in_integers(lowering, *(Integer(lowering.builder, wire) for wire in sources)).wire]

    @abstractmethod
    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        """Return the reverse derivative as a formula: each source's cotangent, or None if it is zero.

        The argument `z` is the operation's target and `dz` the cotangent of `z`; edges are added in the order in which
        Python evaluates the formula.
        """

    @abstractmethod
    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        """Return the operation as a formula of integers with any number of fraction bits.

        Only an operation whose rounding is VALUE may ask for `lowering.result`.
        """


class LinearOperation(RealOperation):
    """An operation that is linear in all its sources together: its reverse derivative is its adjoint."""

    rounding = Rounding.LINEAR

    def dagger(self, builder: Builder, sources: Sequence[Array], cotangents: Sequence[int]) -> list[int | None]:
        """Add the edges of the adjoint, applied to cotangents; the sources are given by their types only."""
        (dz,) = cotangents
        return [term.wire for term in self.adjoint(Real(builder, dz), *sources)]

    @abstractmethod
    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        """Return the adjoint as a formula, for sources of the given types."""

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return self.adjoint(dz, *(Array(source.shape) for source in sources))


def _cotangents(operation: RealOperation, builder: Builder, sources: Sequence[int], made: object) -> list[int | None]:
    """Return the wires of an operation's derivative. Raise TypingError unless an operation's derivative gives, for each
    source, None or a term of the source's shape.
    """
    terms = list(made) if isinstance(made, (list, tuple)) else []
    if len(terms) != len(sources) or not all(term is None or isinstance(term, Real) for term in terms):
        raise TypingError(
            f"{operation.name}: expected derivative to return a list of {len(sources)}, a term or None for each "
            f"source, found {excerpt(made)}; return each source's cotangent"
        )
    for source, term in zip(sources, terms, strict=True):
        if term is not None and builder.type_key(term.wire) != builder.type_key(source):
            raise TypingError(
                f"{operation.name}: expected derivative to return cotangents of their sources' shapes, found "
                f"{list(term.shape)} for a source of shape {list(Real(builder, source).shape)}; sum or broadcast it"
            )
    return [None if term is None else term.wire for term in terms]
