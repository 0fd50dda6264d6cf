"""The contract of operations that other operations define: a target may implement them directly, or use the
definition.
"""

from __future__ import annotations

from abc import abstractmethod

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Fixed

from .check import Check
from .language import IntegerOperation


class Expansion(IntegerOperation):
    """An operation that other operations define; a target may implement it directly, or `expand` it.

    The definition of an expansion has the same value, is undefined in the same places and has the same type as the
    operation. If static intervals alone would come out wider than the interval of an expanded operation, the definition
    ends in a Check that always passes.
    """

    @abstractmethod
    def define(self, builder: Builder, *wires: int) -> int:
        """Write the operation into the builder in terms of other operations; the interval may be too wide."""

    def definition(self, *sources: Fixed) -> Arrow:
        """The operation as an arrow of other operations: sources -> its target.

        Raise OverflowRisk if a step of the definition could pass 2^62, even if the operation itself does not.
        """
        (target,) = self.target_types(*sources)
        builder = Builder()
        wire = self.define(builder, *builder.inputs(sources))
        return builder.build([narrow(builder, wire, target)])


def narrow(builder: Builder, wire: int, target: Fixed) -> int:
    """A wire in the target's interval, by a Check unless its type is the target's already."""
    return wire if builder.type(wire) == target else builder.add(Check(target.low, target.high), wire)
