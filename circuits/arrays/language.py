"""The contract of a real array operation: its type, its float meaning, its derivative and its integer lowering."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from circuitize.circuits.builder import Builder
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Array


class Rounding(Enum):
    """Where rounding happens around an operation; all but that of a VALUE is a Shift that `quantize` places."""

    LINEAR = "exact on unrounded operands; its result is unrounded if an operand is"
    PRODUCT = "takes rounded operands; its result is an exact product or accumulation, not yet rounded"
    VALUE = "takes rounded operands; its result is final, in the calibrated format or as exact as its operands"


class RealOperation(Operation):
    """A real array operation. Adding one is adding one subclass: no pass and no target names it."""

    rounding: ClassVar[Rounding]

    @abstractmethod
    def target_types(self, *sources: Array) -> tuple[Array, ...]: ...

    @abstractmethod
    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        """Add the edges of the reverse derivative; returns each source's cotangent, None where it is zero.

        `sources` and `targets` are the operation's own wires in the same builder, `cotangents` one wire per target.
        """

    @abstractmethod
    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        """Add the integer edges that mean this operation; returns one wire per target.

        Sources are Fixed wires of any fraction bits. Only a VALUE operation may ask for `lowering.result`.
        """


class LinearOperation(RealOperation):
    """An operation that is linear in all its sources together: its reverse derivative is its dagger."""

    rounding = Rounding.LINEAR

    @abstractmethod
    def dagger(self, builder: Builder, sources: Sequence[Array], cotangents: Sequence[int]) -> list[int | None]:
        """The adjoint, applied to cotangents; needs only the sources' types."""

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        types = [builder.type(wire) for wire in sources]
        assert all(isinstance(type, Array) for type in types)
        return self.dagger(builder, [type for type in types if isinstance(type, Array)], cotangents)
