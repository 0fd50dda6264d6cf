"""Lowering an integer arrow to linear forms over the wires of an R1CS circuit, and to rows that constrain these
wires.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation

from .. import lowering
from ..forms import constant
from ..values import WireValue
from .accumulators import pins
from .gadgets.assembly import Assembly, Handle, Site
from .operations import RULES

LINEAR = (integers.Add, integers.Subtract, integers.Sum, integers.Contract, integers.Multiply)
LINEAR_TERMS = 32
"""The average length of forms above which a linear result that is read more than once gets a wire per element."""


class Lowering(lowering.Lowering[Assembly, Handle]):
    """The lowering of an arrow to rows of an R1CS circuit, which first determines what Shifts say about the sums of
    contractions.
    """

    rules = RULES

    def __init__(self, assembly: Assembly, arrow: Arrow, scope: int = 0) -> None:
        super().__init__(assembly, arrow, scope)
        bound = assembly.challenges.bound if assembly.challenges is not None and scope == 0 else frozenset[int]()
        found = pins(arrow, self.checks, self.signs, bound)
        assembly.pins.update({WireValue(scope, wire): pin for wire, pin in found.items()})

    def lower(self, site: Site, operation: Operation, sources: list[Handle]) -> Handle:
        """Return the handle of an operation's target, for an operation that has a lowering rule.

        An element for which the type leaves only one value becomes a constant, and a linear result that has many terms
        and readers gets its own wires.
        """
        handle = RULES[type(operation)](site, operation, sources)
        if handle.type.low == handle.type.high:
            return Handle(constant(np.full(handle.type.size, handle.type.low)), handle.value, handle.type)
        if isinstance(operation, LINEAR) and site.readers > 1 and handle.forms.terms > LINEAR_TERMS * len(handle.forms):
            self.assembly.materialise(handle)
        return handle
