"""The assembly into which R1CS gadgets put wires and rows: a builder, the operation that is being lowered, and a record
of where each wire's value comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from circuitize.circuits.errors import OverflowRisk

from ... import lowering
from ...field import SMALL, Field
from ...forms import LinearForms, check_wires, wires
from ...lowering import Scope
from ...values import Elements, Value, WireValue
from ..builder import CountingBuilder, Kind
from ..system import Order, Rows
from .bits import Bits
from .bounds import Bounds

if TYPE_CHECKING:
    from .accumulation import Pin
    from .projection import Challenges
    from .tables import Tables


@dataclass(slots=True, eq=False)
class Handle(lowering.Handle):
    """An array in an R1CS circuit; its `bits` and its `negative` (forms that are 1 where the element is negative) are
    set once their rows are emitted.
    """

    bits: Bits | None = None
    negative: LinearForms | None = None


@dataclass(slots=True)
class Recipe:
    """The wires first, ..., first + count - 1, and the content from which their values come."""

    first: int
    count: int
    content: Value | Elements


@dataclass(slots=True)
class Assembly:
    """The assembly of an R1CS circuit, which every gadget receives. The field `edge` is the index of the operation that
    is being lowered, or -1 for the program's own inputs and outputs.
    """

    builder: CountingBuilder
    edge: int = -1
    recipes: list[Recipe] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    reserved: dict[Value | Elements, int] = field(default_factory=dict)
    """Public output wires that are reserved for the gadget that makes their content, which puts the content on these
    wires instead of on new ones.
    """

    challenges: Challenges | None = None
    """The checks that wait for a challenge, if challenges may be used."""

    pins: dict[WireValue, Pin] = field(default_factory=dict)
    """What a Shift says of the contraction before it, by the wires that the Contract and the Shift make."""

    tables: Tables | None = None
    """The values that must stand in tables, if a challenge is drawn outside the circuit."""

    bounds: Bounds = field(default_factory=Bounds)
    postpones: bool = False
    """Whether the upper bounds of wires may wait until `bounds.emit`."""

    @property
    def field(self) -> Field:
        """Return the prime field of the constraint system."""
        return self.builder.field

    def wires(
        self,
        content: Value | Elements,
        count: int,
        role: str,
        shape: Sequence[int] | None = None,
        kind: Kind = Kind.INTERNAL,
    ) -> int:
        """Allocate wires that hold `content`, or take the wires that are reserved for this content, and return the
        number of the first wire.
        """
        if content in self.reserved:
            return self.reserved.pop(content)
        first = self.builder.wires(count, self.edge, role, shape, kind=kind)
        check_wires(first + count)
        if count:
            self.recipes.append(Recipe(first, count, content))
        return first

    def rows(self, a: LinearForms, b: LinearForms, c: LinearForms, role: str, order: Order | None = None) -> None:
        """Append the rows a[i] * b[i] = c[i] for every i; there is one row for each element unless `order` says
        otherwise.
        """
        given = self._rows(a)
        second = given if b is a else self._rows(b)
        third = given if c is a else self._rows(c)
        self.builder.rows(given, second, third, self.edge, role, order)

    def equal(self, left: LinearForms, right: LinearForms, role: str) -> None:
        """Append the rows left[i] * 1 = right[i] for every i, unless the two lists have the same forms."""
        if left.equals(right):
            return
        self.rows(left, ones(len(left)), right, role)

    def materialise(self, handle: Handle, role: str = "sum") -> None:
        """Make every element of a handle a single wire, at the cost of one row each, unless all elements are single
        wires already.
        """
        if not handle.forms.is_single_wires:
            handle.forms = self.apart(handle, role)

    def apart(self, handle: Handle, role: str = "sum") -> LinearForms:
        """Return forms that are a new wire for every element of a handle, even if two elements are the same wire; each
        takes one row.

        Soundness: the row left * 1 = wire is linear, so that the wire equals the form.
        """
        count = len(handle.forms)
        single = wires(self.wires(handle.value, count, role, handle.type.shape), count)
        self.equal(handle.forms, single, role)
        return single

    def no_wrap(self, *magnitudes: int) -> None:
        """Raise OverflowRisk unless the prime is large enough to distinguish integers of the given magnitudes, all of
        which must be below p/2.
        """
        largest = max(magnitudes)
        if 2 * largest >= self.field.prime:
            raise OverflowRisk(
                f"expected magnitudes below half the field's prime ({self.field.prime.bit_length()} bits), found up to "
                f"2^{largest.bit_length()} in a witnessed identity; put a Check on an operand, "
                "or use a larger field"
            )

    def _rows(self, forms: LinearForms) -> Rows:
        coefficients = forms.coefficients
        if forms.magnitude >= SMALL:
            coefficients = coefficients.copy()
            for place in np.flatnonzero((coefficients >= SMALL) | (coefficients <= -SMALL)):
                coefficients[place] = self.builder.large_constant(int(coefficients[place]))
        return Rows(forms.offsets, forms.wires.view(np.uint32), coefficients)


Site = lowering.Site[Assembly]


def ones(count: int) -> LinearForms:
    """Return a list of `count` forms that are the constant 1."""
    return LinearForms(np.arange(count + 1, dtype=np.int64), np.zeros(count, np.int32), np.ones(count, np.int64))
