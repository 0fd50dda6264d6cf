"""The assembly of a Plonkish circuit: variables, tasks for cells, constants, and lookup tables of entries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, OverflowRisk
from circuitize.circuits.types import LIMIT

from .. import lowering
from ..field import BN254, Field
from ..forms import Integers, LinearForms, check_wires, stack
from ..lowering import Scope
from ..values import Elements, Value
from .tasks import Dot, Entry, Fold, Hint, Permutations, Range, Sum, Variables
from .terms import Pattern, patterns

TERMS = 3
"""The most variables of a form that is range-checked."""


class DoesNotFit(CircuitizeError):
    """The error raised for a program that needs more rows than a Plonkish system with 2^k rows has."""


@dataclass(slots=True, eq=False)
class Handle(lowering.Handle):
    """An array inside a Plonkish circuit; once some operation needs the signs of its elements, `natural` has variables
    that are 1 where the element is not negative and 0 elsewhere.
    """

    natural: LinearForms | None = None


@dataclass(slots=True)
class Table:
    """A lookup table that contains the entries (low + i, values[i])."""

    low: int
    values: NDArray[np.int64]


@dataclass(slots=True)
class Assembly:
    """The variables, tasks and tables of a Plonkish circuit, which lowering collects. The field `edge` is the index of
    the operation that is being lowered, or -1 for the program's own inputs and outputs.

    The field `limb_bits` is the width of the widest limb, and `table_rows` is the greatest number of entries that all
    tables together may have.
    """

    limb_bits: int
    table_rows: int
    edge: int = -1
    projects: bool = True
    count: int = 1
    tasks: list[Hint | Sum | Range | Dot | Fold | Entry | Permutations] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    constants: dict[int, int] = field(default_factory=lambda: {1: 0})
    sizes: dict[int, int] = field(default_factory=dict)
    wide: list[tuple[int, int]] = field(default_factory=list)
    degree: int = 0
    field: Field = BN254

    def allocate(self, count: int, wide: bool = False) -> int:
        """Allocate `count` new variables and return the first of them; variables allocated as `wide` may be any element
        of the field.
        """
        first = self.count
        self.count += count
        check_wires(self.count)
        if wide and count:
            self.wide.append((first, count))
        return first

    def fresh(self, count: int, wide: bool = False) -> Variables:
        """Return the numbers of new variables; a wide variable may be any element of the field, and any other variable
        is an int64.
        """
        first = self.allocate(count, wide)
        return np.arange(first, first + count, dtype=np.int32)

    def hint(self, content: Value | Elements, count: int) -> Variables:
        """Return new variables whose values the prover chooses as `content` says; every caller adds constraints that
        determine these values.
        """
        first = self.allocate(count, isinstance(content, Elements))
        self.tasks.append(Hint(first, count, content))
        return np.arange(first, first + count, dtype=np.int32)

    def constant(self, value: int) -> int:
        """Return the variable, in a fixed cell, that equals the given constant."""
        value = self.field.signed(value)
        if value not in self.constants:
            self.constants[value] = self.allocate(1, not -LIMIT < value < LIMIT)
        return self.constants[value]

    def single(self, forms: LinearForms, role: str = "sum") -> Variables:
        """Return a variable for each form: the form's own variable if the form consists of a single one, or else a new
        variable that equals the form.

        Soundness: the row of a sum is linear and the new variable has coefficient 1 in it, so that the variable equals
        the form modulo the prime.
        """
        if forms.is_single_wires:
            return forms.wires.copy()
        result = np.zeros(len(forms), np.int32)
        known = forms.constant_mask()
        if known.any():
            distinct, kinds = np.unique(forms.constants()[known], return_inverse=True)
            result[known] = np.array([self.constant(value) for value in distinct.tolist()], np.int32)[kinds]
        others = np.flatnonzero(~known)
        for pattern in patterns(forms.gather(others)):
            result[others[pattern.places]] = self._single(pattern, role)
        return result

    def _single(self, pattern: Pattern, role: str) -> Variables:
        if pattern.factors == (1,) and pattern.offset == 0:
            return pattern.terms.reshape(-1)
        if pattern.coefficients is None:
            targets = self.fresh(len(pattern.places))
            self.tasks.append(Sum(self.edge, role, targets, pattern.terms, pattern.factors, pattern.offset))
            return targets
        distinct, places = np.unique(pattern.coefficients, return_inverse=True)
        known = np.array([self.constant(value) for value in distinct.tolist()], np.int32)
        targets = self.fresh(len(pattern.places))
        left = known[places.reshape(pattern.coefficients.shape)]
        self.tasks.append(Dot(self.edge, role, targets, left, pattern.terms))
        return targets

    def shorten(self, forms: LinearForms, role: str, terms: int = TERMS - 1) -> LinearForms:
        """Return forms with the same values as the given forms: the given ones if all have few terms and the same
        pattern, or else forms of new variables.
        """
        if forms.lengths.max(initial=0) <= terms + 1:
            found = patterns(forms)
            if len(found) == 1 and found[0].coefficients is None and len(found[0].factors) <= terms:
                return forms
        return single_forms(self.single(forms, role))

    def within(self, forms: LinearForms, size: int, role: str) -> None:
        """Constrain every form to be in [0, size) modulo the prime, where size is at least 1 and below p/2.

        Soundness: each limb is looked up in a table whose entries carry the limb's size, so that the limb is exactly in
        [0, size of the limb), and a row says that the form is the weighted sum of its limbs. If the size is 2^b times
        m, limbs of b bits in all and one limb in [0, m) give exactly [0, size). If limbs cannot give exactly [0, size),
        both the form and size - 1 - form are constrained to the least interval [0, 2^b m) that contains [0, size): both
        are then non-negative integers below p/2 whose sum is size - 1 modulo the prime, and therefore exactly.
        """
        if 4 * size >= self.field.prime:
            raise OverflowRisk(
                f"expected a range below 2^{self.field.prime.bit_length() - 2}, found one of 2^{size.bit_length()}; "
                "put a Check on an operand"
            )
        sizes, shifts = self.limbs(size)
        exact = sizes[-1] << shifts[-1] == size
        for part in patterns(self.shorten(forms, role, TERMS)):
            self.tasks.append(Range(self.edge, role, part.terms, part.factors, part.offset, sizes, shifts))
            if not exact:
                turned = tuple(-factor for factor in part.factors)
                offset = size - 1 - part.offset
                self.tasks.append(Range(self.edge, f"{role} bound", part.terms, turned, offset, sizes, shifts))
        for limb in (*sizes, *(1,) * (len(sizes) % 2)):
            self.sizes[limb] = self.sizes.get(limb, 0) + len(forms)

    def limbs(self, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the sizes, and the places in bits, of the limbs of a number in [0, size), the lowest limb first; the
        last limb may be narrower.
        """
        bits = (size - 1).bit_length()
        if size <= 1 << self.limb_bits:
            own = size == 1 << bits or size in self.sizes or self._uneven() + size <= self.table_rows // 2
            return (size if own else 1 << bits,), (0,)
        full = -(-bits // self.limb_bits) - 1
        top = size >> full * self.limb_bits
        if size % (1 << full * self.limb_bits) or (top & (top - 1) and self._uneven() + top > self.table_rows // 2):
            top = 1 << (bits - full * self.limb_bits)
        return (1 << self.limb_bits,) * full + (top,), tuple(i * self.limb_bits for i in range(full + 1))

    def _uneven(self) -> int:
        """Return the number of entries in tables of limbs whose sizes are not powers of two; the tables of all other
        limbs take less than half the rows.
        """
        return sum(size for size in self.sizes if size & (size - 1))

    def boolean(self, variables: Variables, role: str) -> None:
        """Constrain variables to be 0 or 1. Soundness: in a field, v * v = v has no solutions but 0 and 1."""
        row = variables[None]
        self.tasks.append(Dot(self.edge, role, variables, row, row))

    def multiply(self, x: Handle, y: Handle, role: str) -> LinearForms:
        """Return the elementwise products of two handles as forms; each product of two variables takes a row, and
        multiplication by a constant factor takes none.

        Soundness: the row a * b = product determines the product. If x = c a + d and y = e b + f, the product x y is
        linear in a, b and a b.
        """
        fixed_x, fixed_y = x.forms.constant_mask(), y.forms.constant_mask()
        open_ = np.flatnonzero(~fixed_x & ~fixed_y)
        by_x, by_y = np.flatnonzero(fixed_x), np.flatnonzero(~fixed_x & fixed_y)
        parts = [
            y.forms.gather(by_x).scale_each(x.forms.constants()[by_x]),
            x.forms.gather(by_y).scale_each(y.forms.constants()[by_y]),
        ]
        if len(open_):
            parts.append(self._products(x, y, open_, role))
        order = np.empty(len(x.forms), np.int64)
        order[np.concatenate([by_x, by_y, open_])] = np.arange(len(x.forms))
        return stack(parts).gather(order)

    def _products(self, x: Handle, y: Handle, places: Integers, role: str) -> LinearForms:
        (a, c, d), (b, e, f) = self._affine(x, places), self._affine(y, places)
        if (x.magnitude + abs(d)) // abs(c) * ((y.magnitude + abs(f)) // abs(e)) >= LIMIT:
            a, c, d = self.single(x.forms.gather(places)), 1, 0
            b, e, f = self.single(y.forms.gather(places)), 1, 0
        made = self.fresh(len(places))
        self.tasks.append(Dot(self.edge, role, made, a[None], b[None]))
        forms = single_forms(made).scale(c * e)
        for factor, variables in ((c * f, a), (d * e, b)):
            if factor:
                forms = forms + single_forms(variables).scale(factor)
        return forms.plus(d * f)

    def _affine(self, x: Handle, places: Integers) -> tuple[Variables, int, int]:
        """Return variables a and numbers c and d such that the chosen forms of x are c * a + d."""
        forms = x.forms.gather(places)
        found = patterns(forms)
        if len(found) == 1 and found[0].coefficients is None and len(found[0].factors) == 1:
            return found[0].terms[0], found[0].factors[0], found[0].offset
        return self.single(forms), 1, 0

    def look_up(self, x: Handle, low: int, values: NDArray[np.int64], role: str) -> Variables:
        """Return the values values[x - low] as variables; x must be in [low, low + len(values)), or there is no
        witness.

        Soundness: a lookup takes the table's number, the index and the value together, and each index occurs once under
        a table's number; the lookup therefore determines the value, and shows that the index is one of the table's.
        """
        number = next(
            (i for i, t in enumerate(self.tables) if t.low == low and np.array_equal(t.values, values)),
            len(self.tables),
        )
        if number == len(self.tables):
            self.tables.append(Table(low, np.asarray(values, np.int64)))
        index = self.single(x.forms)
        targets = self.fresh(len(index))
        self.tasks.append(Entry(self.edge, role, targets, index, number, low, self.tables[number].values))
        return targets

    def has_room(self, entries: int) -> bool:
        """Return whether another lookup table with `entries` entries fits into the rows of the circuit."""
        return 1 + sum(len(table.values) for table in self.tables) + entries <= self.table_rows

    def require_room(self) -> None:
        """Raise DoesNotFit if the lookup tables do not fit into the rows of the circuit."""
        limbs = 1 + sum(self.sizes)
        entries = 1 + sum(len(table.values) for table in self.tables)
        if max(limbs, entries) > self.table_rows:
            raise DoesNotFit(
                f"expected tables of at most {self.table_rows} rows, found {max(limbs, entries)}; use a larger k"
            )


Site = lowering.Site[Assembly]


def single_forms(variables: Variables) -> LinearForms:
    """Return linear forms that consist of one variable each, with the coefficient 1."""
    count = len(variables)
    return LinearForms(np.arange(count + 1, dtype=np.int64), variables.astype(np.int32), np.ones(count, np.int64))
