"""An operation whose value is its operand, and whose derivative is zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True)
class Detach(RealOperation):
    """The value x unchanged, with a derivative of zero everywhere. Detach is lowered exactly, and adds no operation.

    A reverse derivative stops at a Detach, as at JAX's stop_gradient.
    """

    name = "real.detach"
    rounding = Rounding.LINEAR

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (values[0],)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return sources[0]
