"""The assembly into which gadgets put wires and rows: a builder, the operation at work, and a record of how each wire
gets its value.
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
    """`bits` and `negative` (1 where the element is negative) of a handle are set once their rows are emitted."""

    bits: Bits | None = None
    negative: LinearForms | None = None


@dataclass(slots=True)
class Recipe:
    """The wires first, ..., first + count - 1 and the source of their values."""

    first: int
    count: int
    content: Value | Elements


@dataclass(slots=True)
class Assembly:
    """The assembly that every gadget receives. `edge` is the index of the operation that is being lowered, -1 for the
    program's own inputs and outputs.
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
        """Return the prime field of the builder."""
        return self.builder.field

    def wires(
        self,
        content: Value | Elements,
        count: int,
        role: str,
        shape: Sequence[int] | None = None,
        kind: Kind = Kind.INTERNAL,
    ) -> int:
        """Allocate wires that hold `content`, or take the wires reserved for that content; return the first one's
        number.
        """
        if content in self.reserved:
            return self.reserved.pop(content)
        first = self.builder.wires(count, self.edge, role, shape, kind=kind)
        check_wires(first + count)
        if count:
            self.recipes.append(Recipe(first, count, content))
        return first

    def rows(self, a: LinearForms, b: LinearForms, c: LinearForms, role: str, order: Order | None = None) -> None:
        """Append the rows a[i] * b[i] = c[i] for every i; one row for each element unless told another order."""
        given = self._rows(a)
        second = given if b is a else self._rows(b)
        third = given if c is a else self._rows(c)
        self.builder.rows(given, second, third, self.edge, role, order)

    def equal(self, left: LinearForms, right: LinearForms, role: str) -> None:
        """Append the rows left[i] * 1 = right[i] for every i, unless they are the same forms."""
        if left.equals(right):
            return
        self.rows(left, ones(len(left)), right, role)

    def materialise(self, handle: Handle, role: str = "sum") -> None:
        """Make every element of a handle a single wire: one row each, none for elements that are single wires
        already.
        """
        if not handle.forms.is_single_wires:
            handle.forms = self.apart(handle, role)

    def apart(self, handle: Handle, role: str = "sum") -> LinearForms:
        """Make a new wire for every element of a handle, even if two elements are one wire: one row each.

        Soundness: the row left * 1 = wire is linear, so the wire equals the form.
        """
        count = len(handle.forms)
        single = wires(self.wires(handle.value, count, role, handle.type.shape), count)
        self.equal(handle.forms, single, role)
        return single

    def no_wrap(self, *magnitudes: int) -> None:
        """Raise OverflowRisk unless integers of the given magnitudes are told apart modulo the prime: all magnitudes
        must be below p/2.
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
    """Return the constant form 1, `count` times."""
    return LinearForms(np.arange(count + 1, dtype=np.int64), np.zeros(count, np.int32), np.ones(count, np.int64))
