"""Packing several integers into one field element, each multiplied by its own power of two: as combinations of wires,
and as values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...forms import Integers, LinearForms
from ..builder import CountingBuilder
from ..system import Rows

Numbers = NDArray[np.object_]
"""An array of Python integers."""


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """A packing of elements into groups: the packed element of group g is the sum over t of 2^exponents[t] * (element
    members[g, t]), where the member -1 stands for no element and counts as 0.
    """

    members: NDArray[np.integer]
    exponents: NDArray[np.int64]

    @staticmethod
    def consecutive(count: int, width: int, capacity: int) -> Packing:
        """Return the packing of `count` elements of `width` bits, one after the other, with as many in each group as
        fit into `capacity` bits.
        """
        if width == 0:
            return Packing(np.zeros((0, 1), np.int64), np.zeros(1, np.int64))
        size = capacity // width
        members = np.full(-(-count // size) * size, -1)
        members[:count] = np.arange(count)
        return Packing(members.reshape(-1, size), width * np.arange(size))

    @property
    def groups(self) -> int:
        """Return the number of packed elements, which is the number of groups."""
        return len(self.members)

    def integers(self, values: Integers) -> Numbers:
        """Return the integers into which the packing packs flat values."""
        chosen = np.where(self.members >= 0, values[self.members], 0)
        if not len(self.exponents):
            return np.zeros(self.groups, dtype=object)
        return np.asarray(chosen.astype(object) @ self._weights(), dtype=object)

    def combine(self, builder: CountingBuilder, forms: LinearForms, offset: int = 0) -> Rows:
        """Return the linear combinations into which forms, each with `offset` added, are packed, modulo the prime.

        Each combination begins with a term of the constant 1, whose coefficient may be 0.
        """
        present = self.members >= 0
        constants = np.zeros(self.members.shape, np.int64)
        constants[present] = forms.constants()[self.members[present]] + np.int64(offset)
        totals = np.zeros(self.groups, dtype=object)
        if constants.any():
            totals = constants.astype(object) @ self._weights()
        heads = Rows.constant([builder.large_constant(int(total)) for total in totals])
        group, place = np.nonzero(present)
        element = self.members[present]
        lengths = forms.lengths[element]
        terms = np.repeat(forms.offsets[element] - np.cumsum(lengths) + lengths, lengths)
        terms += np.arange(len(terms))
        varying = forms.wires[terms] != 0
        terms, group, place = terms[varying], np.repeat(group, lengths)[varying], np.repeat(place, lengths)[varying]
        order = np.lexsort((forms.wires[terms], group))
        terms, group, place = terms[order], group[order], place[order]
        wire, coefficient = forms.wires[terms], forms.coefficients[terms]
        size = len(self.exponents)
        distinct, which = np.unique(coefficient, return_inverse=True)
        keys, which = np.unique(which * size + place, return_inverse=True)
        amounts = [int(distinct[key // size]) << int(self.exponents[key % size]) for key in keys.tolist()]
        fresh = np.ones(len(wire), np.bool_)
        fresh[1:] = (wire[1:] != wire[:-1]) | (group[1:] != group[:-1])
        kept = np.flatnonzero(fresh)
        codes = np.array([builder.large_constant(amount) for amount in amounts], np.int64)[which]
        ends = np.append(kept[1:], len(wire))
        for first in kept[ends - kept > 1].tolist():
            last = first + 1
            while last < len(wire) and not fresh[last]:
                last += 1
            codes[first] = builder.large_constant(sum(amounts[key] for key in which[first:last].tolist()))
        counts = np.bincount(group[kept], minlength=self.groups)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return beside(heads, Rows(offsets, wire[kept], codes[kept]))

    def _weights(self) -> Numbers:
        return np.array([1 << int(exponent) for exponent in self.exponents], dtype=object)


def beside(left: Rows, right: Rows) -> Rows:
    """Return the sums of pairs of linear combinations, if every wire in the right combination is above those in the
    left one.
    """
    lengths_left, lengths_right = np.diff(left.offsets), np.diff(right.offsets)
    offsets = left.offsets + right.offsets
    wires = np.empty(int(offsets[-1]), np.int64)
    coefficients = np.empty(int(offsets[-1]), np.int64)
    at_left = np.repeat(right.offsets[:-1], lengths_left) + np.arange(len(left.wires))
    at_right = np.repeat(left.offsets[1:], lengths_right) + np.arange(len(right.wires))
    for places, part in ((at_left, left), (at_right, right)):
        wires[places], coefficients[places] = part.wires, part.coefficients
    return Rows(offsets, wires, coefficients)


def join(parts: Sequence[Rows]) -> Rows:
    """Return the linear combinations of several lists in one list, one list after the other."""
    offsets = [np.zeros(1, np.int64)]
    terms = 0
    for part in parts:
        offsets.append(part.offsets[1:] + terms)
        terms += len(part.wires)
    wires = np.concatenate([part.wires.astype(np.int64) for part in parts])
    return Rows(np.concatenate(offsets), wires, np.concatenate([part.coefficients for part in parts]))


def choose(rows: Rows, indices: NDArray[np.integer]) -> Rows:
    """Return linear combinations chosen by index: combination i of the result is combination indices[i] of the given
    ones.
    """
    chosen = np.diff(rows.offsets)[indices]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
    places = np.repeat(rows.offsets[indices] - offsets[:-1], chosen) + np.arange(int(offsets[-1]))
    return Rows(offsets, rows.wires[places], rows.coefficients[places])
