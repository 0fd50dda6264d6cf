"""Linear combinations of circuit wires with integer coefficients, many at once: a sparse matrix with a row for each
element and a column for each wire.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from circuitize.circuits.errors import CircuitizeError, OverflowRisk
from circuitize.circuits.operation import Values

Integers = NDArray[np.int64]
Wires = NDArray[np.int32]
WIRE_LIMIT = (1 << 31) - 1
_INT64 = 1 << 63


@dataclass(frozen=True, slots=True, eq=False)
class LinearForms:
    """A list of linear forms: form i is the sum of coefficients[j] * wires[j] over offsets[i] <= j < offsets[i + 1],
    where wire 0 is the constant 1.

    The wires of a form ascend strictly, and no coefficient is 0, so that a form is the constant 0 exactly if it has no
    terms. Coefficients are exact integers below 2^63 in magnitude; an operation whose coefficients could exceed this
    raises OverflowRisk.
    """

    offsets: Integers
    wires: Wires
    coefficients: Integers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def terms(self) -> int:
        """Return the number of terms of all forms together."""
        return len(self.wires)

    @property
    def lengths(self) -> Integers:
        """Return the number of terms of each form."""
        return self.offsets[1:] - self.offsets[:-1]

    @property
    def magnitude(self) -> int:
        """Return the greatest magnitude of a coefficient of the forms."""
        if not self.terms:
            return 0
        return max(int(self.coefficients.max()), -int(self.coefficients.min()))

    @property
    def is_single_wires(self) -> bool:
        """Return whether every form consists of one wire with coefficient 1."""
        return self.terms == len(self) and bool(
            (self.lengths == 1).all() and (self.wires != 0).all() and (self.coefficients == 1).all()
        )

    def equals(self, other: LinearForms) -> bool:
        """Return whether two lists of linear forms hold the same forms in the same order, term by term."""
        return (
            np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.wires, other.wires)
            and np.array_equal(self.coefficients, other.coefficients)
        )

    def constant_mask(self) -> NDArray[np.bool_]:
        """Return, for each form, whether it is constant, which means that it contains no wire but the constant 1."""
        lengths = self.lengths
        mask: NDArray[np.bool_] = lengths == 0
        single = np.flatnonzero(lengths == 1)
        mask[single] = self.wires[self.offsets[single]] == 0
        return mask

    def constants(self) -> Integers:
        """Return the coefficient of the constant 1 in each form."""
        values = np.zeros(len(self), np.int64)
        filled = np.flatnonzero(self.lengths)
        starts = self.offsets[filled]
        first = self.wires[starts] == 0
        values[filled[first]] = self.coefficients[starts[first]]
        return values

    def gather(self, indices: Values) -> LinearForms:
        """Return forms chosen by index: form i of the result is form indices[i] of this list, or 0 if indices[i] is
        -1.
        """
        indices = np.asarray(indices)
        absent = indices < 0
        if absent.any():
            padded = LinearForms(np.append(self.offsets, self.offsets[-1]), self.wires, self.coefficients)
            return padded.gather(np.where(absent, len(self), indices))
        if not len(indices):
            return zeros(0)
        lengths = self.lengths
        if self.terms == len(self) and (lengths == 1).all():
            steps = np.arange(len(indices) + 1, dtype=np.int64)
            return LinearForms(steps, self.wires[indices], self.coefficients[indices])
        chosen = lengths[indices]
        offsets = np.zeros(len(indices) + 1, np.int64)
        np.cumsum(chosen, out=offsets[1:])
        places = np.repeat(self.offsets[indices] - offsets[:-1], chosen) + np.arange(offsets[-1])
        return LinearForms(offsets, self.wires[places], self.coefficients[places])

    def scale(self, factor: int) -> LinearForms:
        """Return the forms multiplied by an integer. Raise CircuitizeError if a coefficient would need more than 64
        bits.
        """
        if factor == 0:
            return zeros(len(self))
        if factor == 1:
            return self
        if self.magnitude * abs(factor) >= _INT64:
            raise _too_large(self.magnitude * abs(factor))
        return LinearForms(self.offsets, self.wires, self.coefficients * np.int64(factor))

    def scale_each(self, factors: Integers) -> LinearForms:
        """Return the forms multiplied by one factor each: form i is multiplied by factors[i]."""
        largest = max(int(factors.max(initial=0)), -int(factors.min(initial=0)))
        if self.magnitude * largest >= _INT64:
            raise _too_large(self.magnitude * largest)
        scaled = LinearForms(self.offsets, self.wires, self.coefficients * np.repeat(factors, self.lengths))
        return scaled if factors.all() else scaled.without_zeros()

    def without_zeros(self) -> LinearForms:
        """Return the forms without the terms whose coefficient is 0."""
        kept = self.coefficients != 0
        if kept.all():
            return self
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return LinearForms(ends[self.offsets], self.wires[kept], self.coefficients[kept])

    def __add__(self, other: LinearForms) -> LinearForms:
        if not self.terms or not other.terms:
            return other if not self.terms else self
        if self.wires.max() < other.wires.min():
            return self.beside(other)
        if other.wires.max() < self.wires.min():
            return other.beside(self)
        if self.magnitude + other.magnitude >= _INT64:
            raise _too_large(self.magnitude + other.magnitude)
        return _from_sparse(self._sparse() + other._sparse())

    def __sub__(self, other: LinearForms) -> LinearForms:
        return self + other.scale(-1)

    def plus(self, amount: int) -> LinearForms:
        """Return the forms with the same constant added to each."""
        if not amount:
            return self
        if (self.wires != 0).all():
            return constant(np.full(len(self), amount, np.int64)).beside(self)
        constants = self.constants()
        farthest = max(abs(int(constants.min()) + amount), abs(int(constants.max()) + amount))
        if max(farthest, abs(amount)) >= _INT64:
            raise _too_large(max(farthest, abs(amount)))
        sums = constant(constants + np.int64(amount))
        kept = self.wires != 0
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        return sums.beside(LinearForms(ends[self.offsets], self.wires[kept], self.coefficients[kept]))

    def beside(self, other: LinearForms) -> LinearForms:
        """Return the sums of the forms of two lists, form by form, if each form of `other` has only wires above those
        of the form to which it is added, so that no terms need merging.
        """
        left, right = self.lengths, other.lengths
        offsets = self.offsets + other.offsets
        wires = np.empty(offsets[-1], np.int32)
        coefficients = np.empty(offsets[-1], np.int64)
        at_left = np.repeat(other.offsets[:-1], left) + np.arange(self.terms)
        at_right = np.repeat(self.offsets[1:], right) + np.arange(other.terms)
        for places, part in ((at_left, self), (at_right, other)):
            wires[places] = part.wires
            coefficients[places] = part.coefficients
        return LinearForms(offsets, wires, coefficients)

    def sum_groups(self, offsets: Integers) -> LinearForms:
        """Return the sums of groups of forms: form i of the result is the sum of the forms offsets[i], ..., offsets[i +
        1] - 1 of this list.
        """
        merged = LinearForms(self.offsets[offsets], self.wires, self.coefficients)
        ascending = self.wires[1:] > self.wires[:-1]
        inner = merged.offsets[1:-1]
        ascending[inner[(inner > 0) & (inner < self.terms)] - 1] = True
        if ascending.all():
            return merged
        sizes = np.diff(offsets)
        bound = self.magnitude * int(sizes.max(initial=0))
        if bound >= _INT64:
            exact = merged._sparse().astype(np.float64)
            exact.sum_duplicates()
            bound = int(np.abs(exact.data).max(initial=0.0))
            if bound >= 1 << 62:
                raise _too_large(bound)
        summed = merged._sparse(copy=True)
        summed.sum_duplicates()
        return _from_sparse(summed).without_zeros()

    def _sparse(self, copy: bool = False) -> csr_array:
        parts = (self.coefficients, self.wires, self.offsets.astype(np.int32))
        if self.terms > WIRE_LIMIT:
            raise CircuitizeError(f"expected at most 2^31 terms in one tensor, found {self.terms}; use a smaller batch")
        return csr_array(parts, shape=(len(self), WIRE_LIMIT), copy=copy)


def zeros(count: int) -> LinearForms:
    """Return a list of `count` linear forms that are 0."""
    return LinearForms(np.zeros(count + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))


def constant(values: Values) -> LinearForms:
    """Return linear forms that are constants, one for each value."""
    flat = np.ascontiguousarray(values, dtype=np.int64).reshape(-1)
    filled = flat != 0
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(filled)])
    kept = flat if filled.all() else flat[filled]
    return LinearForms(offsets, np.zeros(len(kept), np.int32), kept)


def wires(first: int, count: int) -> LinearForms:
    """Return the consecutive wires first, ..., first + count - 1, as linear forms of one wire each."""
    check_wires(first + count)
    return LinearForms(
        np.arange(count + 1, dtype=np.int64), np.arange(first, first + count, dtype=np.int32), np.ones(count, np.int64)
    )


def uniform(wire_table: Values, coefficients: Values) -> LinearForms:
    """Return linear forms with equally many terms: form i is the sum over j of coefficients[j] * wire_table[i, j],
    where the wires in a row must ascend and no coefficient may be 0.
    """
    count, terms = wire_table.shape
    return LinearForms(
        np.arange(count + 1, dtype=np.int64) * terms,
        wire_table.astype(np.int32, copy=False).reshape(-1),
        np.tile(np.asarray(coefficients, np.int64), count),
    )


def stack(parts: list[LinearForms]) -> LinearForms:
    """Return the forms of several lists in one list, one list after the other."""
    if len(parts) == 1:
        return parts[0]
    offsets = [np.zeros(1, np.int64)]
    terms = 0
    for part in parts:
        offsets.append(part.offsets[1:] + terms)
        terms += part.terms
    return LinearForms(
        np.concatenate(offsets),
        np.concatenate([part.wires for part in parts]),
        np.concatenate([part.coefficients for part in parts]),
    )


def check_wires(count: int) -> None:
    """Raise CircuitizeError if `count` wires are too many for wire numbers of 32 bits."""
    if count > WIRE_LIMIT:
        raise CircuitizeError(
            f"expected at most 2^31 circuit wires, found {count}; split the program or lower the batch"
        )


def _from_sparse(matrix: csr_array) -> LinearForms:
    return LinearForms(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data)


def _too_large(bound: int) -> OverflowRisk:
    return OverflowRisk(
        f"expected coefficients below 2^63 in a linear combination, found up to 2^{bound.bit_length()}; "
        "put a Check on an operand, or use fewer fraction bits"
    )
