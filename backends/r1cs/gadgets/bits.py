"""The bits of integers in a circuit: an element's k bits cost k rows, because the lowest bit is a linear combination of
the element and its other bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...forms import LinearForms, constant, uniform, wires, zeros
from ...values import Affine, AllBits, BitTable, Sum, Value
from ..system import Order

if TYPE_CHECKING:
    from .assembly import Assembly


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """The bits of each element x: x - low is the sum of 2^(i - start) * bit i over start <= i < total.

    For element e, bit i >= 1 is the wire first + rows[e] * (total - 1) + i - 1, and bit 0 is the form lowest[rows[e]].
    """

    low: int
    start: int
    total: int
    first: int
    lowest: LinearForms
    rows: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Return the number of bits of each element."""
        return self.total - self.start

    @property
    def signed(self) -> bool:
        """Return whether the top bit of the decomposition is 0 exactly where the element is negative."""
        return self.count > 0 and self.low == -(1 << (self.count - 1))

    def bit(self, place: int) -> LinearForms:
        """Return the bit with the number start + place of each element, as a form."""
        absolute = self.start + place
        if absolute == 0:
            return self.lowest.gather(self.rows)
        chosen = self.first + self.rows * (self.total - 1) + (absolute - 1)
        count = len(chosen)
        return LinearForms(np.arange(count + 1, dtype=np.int64), chosen.astype(np.int32), np.ones(count, np.int64))

    def weighted(self) -> LinearForms:
        """Return each element x as a form of its own bits; start must be at least 1."""
        assert self.start >= 1, "with bit 0, x is known as the form that was decomposed"
        places = np.arange(self.start - 1, self.total - 1)
        table = (self.first + self.rows * (self.total - 1))[:, None] + places
        weights = np.left_shift(np.int64(1), np.arange(self.count, dtype=np.int64))
        if self.count == 0:
            return constant(np.full(len(self.rows), self.low))
        if self.low == 0:
            return uniform(table, weights)
        zero = np.zeros((len(self.rows), 1), table.dtype)
        return uniform(np.concatenate([zero, table], axis=1), np.concatenate([[self.low], weights]))

    def negative(self) -> LinearForms:
        """Return forms that are 1 where the element is negative and 0 elsewhere; `signed` must be true."""
        return constant(np.ones(len(self.rows), np.int64)) - self.bit(self.count - 1)

    def drop(self, shift: int) -> Bits:
        """Return the bits of floor(x / 2^shift), taken from the bits of x; 2^shift must divide low, and shift must be
        at most count.
        """
        return replace(self, low=self.low >> shift, start=self.start + shift)

    def gather(self, indices: NDArray[np.integer]) -> Bits:
        """Return the bits of the elements at the given indices, which takes no rows."""
        return replace(self, rows=self.rows[indices])


def decompose(assembly: Assembly, forms: LinearForms, value: Value, low: int, total: int, role: str) -> Bits:
    """Return the bits of each form minus low, which must be in [0, 2^total); they take `total` rows and total - 1 wires
    (one row if total = 0).

    The caller must show with `no_wrap` that p/2 is greater than 2^total and than form - low, for any value of the form
    that its type allows.

    Soundness: each wire b_i of a decomposition into bits has the row b_i * b_i = b_i, so that it is 0 or 1. The
    combination r = form - low - (sum of 2^i b_i over i >= 1) has the row r * (r - 1) = 0, so that form - low = r + sum
    modulo p, where every bit is 0 or 1. Both sides are integers below p/2 in magnitude, and therefore equal as
    integers; since binary digits are unique, there is one witness if form - low is in [0, 2^total), and none otherwise.
    """
    count = len(forms)
    if total == 0:
        assembly.equal(forms.plus(-low), zeros(count), role)
        return Bits(low, 0, 0, 0, zeros(count), np.arange(count))
    higher = total - 1
    first = assembly.wires(BitTable(value, -low, 1, higher), count * higher, role, (count, higher))
    if higher:
        bit_wires = wires(first, count * higher)
        assembly.rows(bit_wires, bit_wires, bit_wires, role, Order(count, higher))
        weights = -np.left_shift(np.int64(1), np.arange(1, total, dtype=np.int64))
        sums = uniform(np.arange(first, first + count * higher, dtype=np.int32).reshape(count, higher), weights)
        lowest = forms.plus(-low).beside(sums)
        less = forms.plus(-low - 1).beside(sums)
    else:
        lowest, less = forms.plus(-low), forms.plus(-low - 1)
    assembly.rows(lowest, less, zeros(count), role)
    assembly.bounds.note(assembly, forms, low, low + (1 << total) - 1)
    return Bits(low, 0, total, first, lowest, np.arange(count))


def at_most(
    assembly: Assembly,
    bits: Bits,
    value: Value,
    bound: int,
    role: str,
    reach: int | None = None,
    places: NDArray[np.int64] | None = None,
) -> None:
    """Constrain x - low <= bound, given the bits of x - low; bound has the same number of bits as x - low.

    The caller knows that no x - low exceeds `reach`. The rows that compare x - low with `bound` are named after the
    elements at `places` of an array.

    For each maximal run of zeros in the binary digits of `bound`, a comparison with `bound` has the row (product P of
    the bits at the ones above the run) * (sum of the bits in the run) = 0. The comparison with `bound` takes one row
    for each run of zeros that has a one above it, and one row for each factor after the first in the product P of the
    bits above the runs. A run of zeros is left out if it excludes no number up to `reach`.

    Soundness: n > bound if and only if at some place n has a 1 where `bound` has a 0, and at every place above it n has
    a 1 where `bound` has a 1; the product of that run is then 1, and its sum is at least 1. The sum of at most 63 bits
    is below p/2 (checked), so that it is 0 modulo p only if each bit is 0. The least number that a run of zeros
    excludes, and that no higher run excludes, has a 1 at the ones above the run and at the run's lowest bit; if that
    number exceeds `reach`, the run needs no row. The products in a comparison are functions of the bits, so that the
    witness stays unique.
    """
    count = len(bits.rows)
    assembly.no_wrap(bits.count)
    where = np.arange(count, dtype=np.int64) if places is None else places
    elements = int(where.max(initial=-1)) + 1
    product: LinearForms | None = None
    mask = 0
    place = bits.count - 1
    while place >= 0 and bound & ((1 << (place + 1)) - 1) != (1 << (place + 1)) - 1:
        if bound >> place & 1:
            mask |= 1 << place
            if product is None:
                product = bits.bit(place)
            else:
                first = assembly.wires(AllBits(value, -bits.low, (mask,)), count, role)
                longer = wires(first, count)
                assembly.rows(product, bits.bit(place), longer, role, Order(elements, places=where))
                product = longer
            place -= 1
            continue
        above = bound >> place << place
        run = bits.bit(place)
        place -= 1
        while place >= 0 and not bound >> place & 1:
            run = run + bits.bit(place)
            place -= 1
        assert product is not None, "the top bit of the bound is 1"
        if reach is None or above + (1 << (place + 1)) <= reach:
            assembly.rows(product, run, zeros(count), role, Order(elements, places=where))


def confine(assembly: Assembly, forms: LinearForms, value: Value, low: int, total: int, role: str) -> None:
    """Constrain each form to be in [low, low + 2^total), by its bits or by tables; the caller must show the same bounds
    as for `decompose`.
    """
    if assembly.tables is None:
        decompose(assembly, forms, value, low, total, role)
    else:
        assembly.tables.within(assembly, forms.plus(-low), Affine(value, 1, -low), 1 << total, role)


def signed(assembly: Assembly, forms: LinearForms, value: Value, width: int, role: str) -> LinearForms:
    """Constrain each form x to be in [-2^(width - 1), 2^(width - 1)) by tables, and return forms that are 1 where x < 0
    and 0 elsewhere.

    Soundness: the wire s is 0 or 1 by its row, and x + 2^(width - 1) * (1 - s) is in [0, 2^(width - 1)), so that s is 1
    exactly where x >= 0. The caller must show that 2^width and all integers for which x can stand are below p/2.
    """
    assert assembly.tables is not None
    half = 1 << (width - 1)
    count = len(forms)
    first = assembly.wires(BitTable(value, half, width - 1, 1), count, f"{role} sign")
    above = wires(first, count)
    assembly.rows(above, above, above, f"{role} sign")
    rest = forms.plus(half).beside(above.scale(-half))
    magnitude = Sum(value, BitTable(value, half, width - 1, 1), other=-half)
    assembly.tables.within(assembly, rest, Affine(magnitude, 1, half), half, role)
    return constant(np.ones(count, np.int64)) - above
