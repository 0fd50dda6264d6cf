"""Good guesses for quotients and roots, whose bits the rows leave open until all of these bits are known."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from .relations import Kind, Relations, Terms

Values = Sequence[int | None]


class Quotients:
    """The products q * y = z, or q * q = z, of a number q that consists of bits, where a range row bounds z from
    above.
    """

    def __init__(self, relations: Relations, bits: set[int]) -> None:
        self.relations, self.bits = relations, bits
        self.rows: list[tuple[Terms, Terms, int, list[int]]] = []
        for row in range(relations.count):
            if relations.kind[row] != Kind.PRODUCT:
                continue
            a, b, c = relations.sides(row)
            if len(c) != 1 or c[0][1] != 1 or c[0][0] in bits:
                continue
            ranged = [other for other in relations.rows_of(c[0][0]) if relations.kind[other] == Kind.TWO_VALUED]
            for q, y in ((a, b), (b, a)):
                if ranged and len(q) > 1 and all(wire in bits or not wire for wire, _ in q):
                    self.rows.append((q, y, c[0][0], ranged))

    def guess(self, values: Values) -> tuple[Terms, int] | None:
        """Return a form q of unknown bits, and the greatest value that q can have according to the known values, or
        None.
        """
        for q, y, z, ranged in self.rows:
            if values[z] is not None or all(values[wire] is not None for wire, _ in q):
                continue
            divisor = None if q == y else self._known(y, values)
            if (divisor is not None and divisor <= 0) or (divisor is None and q != y):
                continue
            tops = [top for row in ranged if (top := self._top(row, z, values)) is not None]
            if tops:
                return q, (isqrt(max(min(tops), 0)) if divisor is None else min(tops) // divisor)
        return None

    def _known(self, terms: Terms, values: Values) -> int | None:
        total = 0
        for wire, coefficient in terms:
            value = values[wire]
            if value is None:
                return None
            total += coefficient * value
        return self.relations.field.signed(total)

    def _top(self, row: int, z: int, values: Values) -> int | None:
        """Return the greatest value of z with which the form in a range row, which consists of bits and -z, can be 0 or
        equal the row's gap.
        """
        total, gap = 0, self.relations.gap[row]
        for wire, coefficient in self.relations.forms[row]:
            value = values[wire]
            if wire == z:
                if coefficient != -1:
                    return None
            elif value is not None:
                total += coefficient * value
            elif wire in self.bits:
                total += max(coefficient, 0)
            else:
                return None
        return self.relations.field.signed(total - min(gap, 0))
