"""Several integers in one field element, each at a power of two of its own: as combinations of wires, and as values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.r1cs.builder import CountingBuilder
from circuitize.backends.r1cs.system import Rows

from .forms import Integers, LinearForms

Numbers = NDArray[np.object_]
"""An array of Python integers."""


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Group g is the sum of 2^exponents[t] * element members[g, t] over t; -1 is no element, 0."""

    members: NDArray[np.integer]
    exponents: NDArray[np.int64]

    @property
    def groups(self) -> int:
        return len(self.members)

    def integers(self, values: Integers) -> Numbers:
        """The packed integers of flat values."""
        chosen = np.where(self.members >= 0, values[self.members], 0)
        if not len(self.exponents):
            return np.zeros(self.groups, dtype=object)
        return np.asarray(chosen.astype(object) @ self._weights(), dtype=object)

    def combine(self, builder: CountingBuilder, forms: LinearForms, offset: int = 0) -> Rows | None:
        """The packed combinations of forms, each plus `offset`; None where two forms of a group share a wire.

        Each begins with a term of the constant 1, which may be 0.
        """
        present = self.members >= 0
        constants = np.zeros(self.members.shape, np.int64)
        constants[present] = forms.constants()[self.members[present]] + np.int64(offset)
        totals = np.zeros(self.groups, dtype=object)
        if constants.any():
            totals = constants.astype(object) @ self._weights()
        group, place = np.nonzero(present)
        element = self.members[present]
        lengths = forms.lengths[element]
        starts = np.repeat(forms.offsets[element] - np.cumsum(lengths) + lengths, lengths)
        terms = starts + np.arange(len(starts))
        terms, group, place = (
            table[forms.wires[terms] != 0] for table in (terms, np.repeat(group, lengths), np.repeat(place, lengths))
        )
        wire, coefficient = forms.wires[terms], forms.coefficients[terms]
        order = np.lexsort((wire, group))
        group, place, wire, coefficient = group[order], place[order], wire[order], coefficient[order]
        if ((wire[1:] == wire[:-1]) & (group[1:] == group[:-1])).any():
            return None
        size = len(self.exponents)
        distinct, which = np.unique(coefficient, return_inverse=True)
        keys, which = np.unique(which * size + place, return_inverse=True)
        codes = [
            builder.large_constant(int(distinct[key // size]) << int(self.exponents[key % size]))
            for key in keys.tolist()
        ]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(group, minlength=self.groups))])
        heads = Rows.constant([builder.large_constant(int(total)) for total in totals])
        return beside(heads, Rows(ends, wire, np.array(codes, np.int64)[which]))

    def _weights(self) -> Numbers:
        return np.array([1 << int(exponent) for exponent in self.exponents], dtype=object)


def beside(left: Rows, right: Rows) -> Rows:
    """The sums, where each right combination has wires above those of the left one."""
    lengths_left, lengths_right = np.diff(left.offsets), np.diff(right.offsets)
    offsets = left.offsets + right.offsets
    wires = np.empty(int(offsets[-1]), np.int64)
    coefficients = np.empty(int(offsets[-1]), np.int64)
    at_left = np.repeat(right.offsets[:-1], lengths_left) + np.arange(len(left.wires))
    at_right = np.repeat(left.offsets[1:], lengths_right) + np.arange(len(right.wires))
    for places, part in ((at_left, left), (at_right, right)):
        wires[places], coefficients[places] = part.wires, part.coefficients
    return Rows(offsets, wires, coefficients)


def choose(rows: Rows, indices: NDArray[np.integer]) -> Rows:
    """Combination i of the result is combination indices[i]."""
    chosen = np.diff(rows.offsets)[indices]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
    places = np.repeat(rows.offsets[indices] - offsets[:-1], chosen) + np.arange(int(offsets[-1]))
    return Rows(offsets, rows.wires[places], rows.coefficients[places])
