"""Lowering an integer arrow to linear forms over Plonkish variables, and to tasks that constrain these variables."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.operation import Operation

from .. import lowering
from ..forms import constant
from .assembly import Assembly, Handle, Site, single_forms
from .operations import RULES

LINEAR_TERMS = 8
"""The average length of forms above which a linear result that is read more than once gets a variable per element."""


class Lowering(lowering.Lowering[Assembly, Handle]):
    """The lowering of an arrow to Plonkish columns."""

    rules = RULES

    def lower(self, site: Site, operation: Operation, sources: list[Handle]) -> Handle:
        """Return the handle of an operation's target, for an operation that has a lowering rule.

        An element for which the type leaves only one value becomes a constant, and a linear result that has many terms
        and readers gets its own variables.
        """
        handle = RULES[type(operation)](site, operation, sources)
        if handle.type.low == handle.type.high:
            return Handle(constant(np.full(handle.type.size, handle.type.low)), handle.value, handle.type)
        if site.readers > 1 and handle.forms.terms > LINEAR_TERMS * len(handle.forms):
            handle.forms = single_forms(self.assembly.single(handle.forms))
        return handle
