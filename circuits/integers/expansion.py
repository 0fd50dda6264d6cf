"""The contract of operations that are defined by other operations: a target may implement them directly, or use their
definitions.
"""

from __future__ import annotations

from abc import abstractmethod

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Fixed

from .check import Check
from .language import IntegerOperation


class Expansion(IntegerOperation):
    """An operation that is defined by others; a target may implement it directly, or `expand` it.

    The definition of an expansion has the same values and the same type as the operation, and is undefined in the same
    places. If the intervals that follow from an expansion's definition are wider than the operation's interval, the
    definition ends in a Check that always passes.
    """

    @abstractmethod
    def define(self, builder: Builder, *wires: int) -> int:
        """Write the operation into the builder in terms of other operations; the interval of the result may be too
        wide.
        """

    def definition(self, *sources: Fixed) -> Arrow:
        """Return the definition of the operation: an arrow of other operations from its sources to its target.

        Raise OverflowRisk if a step of the definition could pass 2^62, even if the operation itself could not.
        """
        (target,) = self.target_types(*sources)
        builder = Builder()
        wire = self.define(builder, *builder.inputs(sources))
        return builder.build([narrow(builder, wire, target)])


def narrow(builder: Builder, wire: int, target: Fixed) -> int:
    """Return a wire whose interval is the target's: the given wire itself, or a Check of it if its type is wider."""
    return wire if builder.type(wire) == target else builder.add(Check(target.low, target.high), wire)
