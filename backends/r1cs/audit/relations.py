"""The rows of a constraint system, classified by what they say: linear equations, forms with two possible values, and
products.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from ...field import Field
from ...r1cs.system import LARGE, ConstraintSystem, Matrix
from .roots import quadratic_roots

Terms = list[tuple[int, int]]
"""Pairs (wire, coefficient) in ascending order of wires; wire 0 is the constant 1; coefficients are signed and not
0.
"""


class Kind(IntEnum):
    """The kind of a row of a constraint system, by what the row says."""

    LINEAR = 0
    TWO_VALUED = 1
    PRODUCT = 2
    NEVER = 3


class Relations:
    """The kind of each row of a constraint system, and, for a row that is an equation, the form F in the equation.

    A LINEAR row says that F = 0. A TWO_VALUED row says that F is 0 or gap[row]: rows such as f * (f + d) = 0 and b * b
    = b are read in this way. A PRODUCT row says that A * B = C. A NEVER row cannot be satisfied by any assignment. The
    form in which the analysis reads a row is always equivalent to the row over the field.
    """

    def __init__(self, system: ConstraintSystem) -> None:
        self.system = system
        self.field: Field = system.field
        self.prime = system.field.prime
        self.count = system.constraints
        self.wires = system.wires
        self._large = [self.field.signed(value) for value in self.field.to_integers(system.large)]
        self._sides = [self._lists(matrix) for matrix in (system.a, system.b, system.c)]
        self._terms: list[tuple[Terms, Terms, Terms] | None] = [None] * self.count
        self.kind = bytearray(self.count)
        self.gap: dict[int, int] = {}
        self.forms: dict[int, Terms] = {}
        for row in range(self.count):
            self._classify(row)
        self.offsets, self.uses = self._incidence()
        self._rows: list[list[int] | None] = [None] * self.wires
        self.input_bits = self._input_bits()

    def side(self, row: int, which: int) -> Terms:
        """Return the form A, B or C of a row (for which = 0, 1, 2) as the system has it; the caller must not change the
        form.
        """
        return self.sides(row)[which]

    def sides(self, row: int) -> tuple[Terms, Terms, Terms]:
        """Return the terms (wire, coefficient) of the forms A, B and C of a row."""
        found = self._terms[row]
        if found is None:
            a, b, c = (
                list(zip(wires[offsets[row] : offsets[row + 1]], values[offsets[row] : offsets[row + 1]], strict=True))
                for offsets, wires, values in self._sides
            )
            found = self._terms[row] = a, b, c
        return found

    def rows_of(self, wire: int) -> Sequence[int]:
        """Return the rows that contain a wire, in ascending order."""
        found = self._rows[wire]
        if found is None:
            codes = self.uses[self.offsets[wire] : self.offsets[wire + 1]]
            found = self._rows[wire] = sorted({code // 3 for code in codes})
        return found

    def wires_of(self, row: int) -> list[int]:
        """Return the wires that a row contains, including the constant; a wire may be listed twice."""
        if self.kind[row] == Kind.PRODUCT:
            return [wire for terms in self.sides(row) for wire, _ in terms]
        return [wire for wire, _ in self.forms.get(row, [])]

    def two_values(self, row: int) -> tuple[int, int] | None:
        """Return the (wire, coefficient) of a TWO_VALUED row that contains a single wire, or None for any other row."""
        named = [term for term in self.forms[row] if term[0]]
        return named[0] if len(named) == 1 else None

    def _input_bits(self) -> dict[int, None]:
        """Return the bits of inputs: wires of two values that occur in an equation with one input and no other
        wires.
        """
        system = self.system
        inputs = range(1 + system.public_outputs, 1 + system.public + system.private_inputs)
        single = {term[0] for row in self.gap if (term := self.two_values(row)) is not None}
        found: dict[int, None] = {}
        for row in self.gap:
            named = [wire for wire, _ in self.forms[row] if wire]
            others = [wire for wire in named if wire not in inputs]
            if len(others) == len(named) - 1 and single.issuperset(others):
                found.update(dict.fromkeys(others))
        return found

    def _lists(self, matrix: Matrix) -> tuple[list[int], list[int], list[int]]:
        coefficients = matrix.coefficients.tolist()
        for place in np.flatnonzero(matrix.coefficients >= LARGE).tolist():
            coefficients[place] = self._large[coefficients[place] - LARGE]
        return matrix.offsets.tolist(), matrix.wires.tolist(), coefficients

    def _classify(self, row: int) -> None:
        a, b, c = self.sides(row)
        for one, other in ((a, b), (b, a)):
            if not one or (len(one) == 1 and one[0][0] == 0):
                self._linear(row, one[0][1] if one else 0, other, c)
                return
        free_a, free_b, free_c = _named(a), _named(b), _named(c)
        if free_a != free_b or (free_c and free_c != free_a):
            self.kind[row] = Kind.PRODUCT
            return
        a0, b0, c0 = _constant(a), _constant(b), _constant(c)
        scale = 1 if free_c else 0
        roots = quadratic_roots((a0 + b0 - scale) % self.prime, (a0 * b0 - c0) % self.prime, self.prime)
        if not roots:
            self.kind[row] = Kind.NEVER
            return
        self.forms[row] = _with_constant(free_a, self.field.signed(-roots[0]))
        self.kind[row] = Kind.LINEAR if len(roots) == 1 else Kind.TWO_VALUED
        if len(roots) == 2:
            self.gap[row] = self.field.signed(roots[1] - roots[0])

    def _linear(self, row: int, factor: int, other: Terms, result: Terms) -> None:
        if not factor:
            form = result
        elif factor == 1 and len(result) == 1 and (not other or result[0][0] > other[-1][0]):
            form = [*other, (result[0][0], -result[0][1])]
        else:
            form = self.combine([(factor, other), (-1, result)])
        self.kind[row] = Kind.NEVER if form and not _named(form) else Kind.LINEAR
        self.forms[row] = form

    def combine(self, parts: Sequence[tuple[int, Terms]]) -> Terms:
        """Return the form that is the sum of factor * form over the given pairs (factor, form)."""
        total: dict[int, int] = {}
        for factor, terms in parts:
            for wire, coefficient in terms:
                total[wire] = total.get(wire, 0) + factor * coefficient
        found = ((wire, self.field.signed(coefficient)) for wire, coefficient in sorted(total.items()))
        return [term for term in found if term[1]]

    def _incidence(self) -> tuple[list[int], list[int]]:
        """Return, for each wire, the codes 3 * row + side of the forms that contain it; the form of an equation counts
        as side 0.
        """
        codes, wires = [], []
        product = np.frombuffer(self.kind, np.uint8) == Kind.PRODUCT
        for which, matrix in enumerate((self.system.a, self.system.b, self.system.c)):
            rows = np.repeat(np.arange(self.count), np.diff(matrix.offsets))
            kept = product[rows]
            codes.append(3 * rows[kept] + which)
            wires.append(matrix.wires[kept].astype(np.int64))
        rows_of_terms = [(row, len(form)) for row, form in self.forms.items()]
        if rows_of_terms:
            places, lengths = np.array(rows_of_terms).T
            codes.append(3 * np.repeat(places, lengths))
            wires.append(np.array([wire for form in self.forms.values() for wire, _ in form], np.int64))
        code, wire = np.concatenate(codes), np.concatenate(wires)
        order = np.argsort(wire, kind="stable")
        offsets = np.searchsorted(wire[order], np.arange(self.wires + 1))
        return offsets.tolist(), code[order].tolist()


def _named(terms: Terms) -> Terms:
    """Return the terms of a form without its constant."""
    return terms[1:] if terms and terms[0][0] == 0 else terms


def _constant(terms: Terms) -> int:
    return terms[0][1] if terms and terms[0][0] == 0 else 0


def _with_constant(named: Terms, constant: int) -> Terms:
    return [(0, constant), *named] if constant else named
