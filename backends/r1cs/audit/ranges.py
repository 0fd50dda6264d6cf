"""Intervals of wires and forms that hold in every satisfying assignment, computed for those wires and forms that are
asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from .relations import Kind, Relations, Terms

Interval = tuple[int, int]

DEPTH = 10
"""How many rows in a chain are followed for one wire's interval."""

READERS = 48
"""The most rows of one wire that are looked at."""


class Ranges:
    """The interval of a wire contains the wire's representative in [-p/2, p/2] in every assignment that satisfies the
    system.

    A wire's representative in [-p/2, p/2] is unique, so that intervals from several rows can be intersected. An
    equation w = rest bounds w only if the integer range of `rest` is itself inside [-p/2, p/2], because the integer and
    the representative are then the same. A product bounds its result by the products of the ends of its factors'
    intervals, if these products are inside [-p/2, p/2]. Soundness: while the interval of a wire is being computed, the
    wire counts as unbounded, in whatever order wires are asked about.
    """

    def __init__(self, relations: Relations) -> None:
        self.relations = relations
        half = relations.prime // 2
        self.full: Interval = (-half, half)
        self.domain: dict[int, Interval] = {}
        self._found: dict[int, tuple[int, Interval]] = {}
        self._asked: set[int] = set()
        self._two_valued: dict[tuple[tuple[int, int], ...], Interval] | None = None
        for row in relations.gap:
            single = relations.two_values(row)
            if single is not None:
                self._add_domain(row, *single)

    def _add_domain(self, row: int, wire: int, coefficient: int) -> None:
        prime, field = self.relations.prime, self.relations.field
        constant = next((value for name, value in self.relations.forms[row] if name == 0), 0)
        inverse = pow(coefficient % prime, -1, prime)
        ends = sorted(field.signed((value - constant) * inverse) for value in (0, self.relations.gap[row]))
        self.domain[wire] = self._meet((ends[0], ends[1]), self.domain.get(wire, self.full))

    def wire(self, wire: int, depth: int = DEPTH) -> Interval:
        """Return the interval that is known for the value of a wire."""
        if wire == 0:
            return (1, 1)
        known = self.domain.get(wire)
        if known is not None:
            return known
        reached, found = self._found.get(wire, (-1, self.full))
        if reached >= depth or depth == 0 or wire in self._asked:
            return found
        self._asked.add(wire)
        for row in self.relations.rows_of(wire)[:READERS]:
            bound = self._from_row(row, wire, depth - 1)
            if bound is not None:
                found = self._meet(found, bound)
        self._asked.remove(wire)
        self._found[wire] = (depth, found)
        return found

    def form(self, terms: Terms, depth: int = DEPTH, fixed: dict[int, int] | None = None) -> Interval | None:
        """Return the interval of a form's value as an integer, or None if the value may leave [-p/2, p/2]. The wires in
        the argument `fixed` count as having the values given there.
        """
        low = high = 0
        for wire, coefficient in terms:
            if fixed is not None and wire in fixed:
                least = greatest = fixed[wire]
            else:
                least, greatest = self.wire(wire, depth)
            low += coefficient * (least if coefficient > 0 else greatest)
            high += coefficient * (greatest if coefficient > 0 else least)
        return None if low < self.full[0] or high > self.full[1] else (low, high)

    def checked(self, terms: Terms) -> Interval | None:
        """Return the interval of a form that follows from its wires and from the equations that contain it."""
        found = self.form(terms)
        if found is None or not terms or terms[-1][0] == 0:
            return found
        return self._by_rows(terms, self.relations.rows_of(terms[-1][0]), found, DEPTH)

    def never_zero(self, terms: Terms) -> bool:
        """Return whether a form differs from 0 in every satisfying assignment."""
        found = self.checked(terms)
        return found is not None and (found[0] > 0 or found[1] < 0)

    def product(self, a: Terms, b: Terms, depth: int = DEPTH) -> Interval | None:
        """Return the interval of the product of two forms, or None if it is not known."""
        left, right = self.form(a, depth), self.form(b, depth)
        if left is None or right is None:
            return None
        for one, other, (low, high) in ((a, b, right), (b, a, left)):
            if low >= 0 and high <= 1:
                kept = self._where_one(one, other, depth)
                if kept is not None:
                    return (min(kept[0], 0), max(kept[1], 0))
        corners = [x * y for x in left for y in right]
        low, high = min(corners), max(corners)
        if a == b:
            low = 0 if left[0] <= 0 <= left[1] else min(x * x for x in left)
        return None if low < self.full[0] or high > self.full[1] else (low, high)

    def _where_one(self, form: Terms, flag: Terms, depth: int) -> Interval | None:
        """Return the interval of `form` under the condition that `flag`, which is b or 1 - b for a bit b, is 1, from
        the rows that contain b.
        """
        found = self.form(form, depth)
        named = [term for term in flag if term[0]]
        constant = sum(value for wire, value in flag if wire == 0)
        if found is None or len(named) != 1 or abs(named[0][1]) != 1 or not form:
            return found
        bit, sign = named[0]
        return self._by_rows(form, self.relations.rows_of(bit), found, depth, {bit: (1 - constant) * sign})

    def _by_rows(
        self, form: Terms, rows: Sequence[int], found: Interval, depth: int, fixed: dict[int, int] | None = None
    ) -> Interval:
        """Return the interval `found` of `form`, intersected with what equations say: a multiple of each equation is
        added to the form that cancels its last wire.
        """
        anchor, coefficient = form[-1]
        for row in rows[:READERS]:
            if self.relations.kind[row] not in (Kind.LINEAR, Kind.TWO_VALUED):
                continue
            factor = next((value for wire, value in self.relations.forms[row] if wire == anchor), 0)
            if not factor or coefficient % factor:
                continue
            ratio = coefficient // factor
            rest = self.form(self.relations.combine([(1, form), (-ratio, self.relations.forms[row])]), depth, fixed)
            if rest is None:
                continue
            gap = ratio * self.relations.gap.get(row, 0)
            low, high = rest[0] + min(gap, 0), rest[1] + max(gap, 0)
            if self.full[0] <= low and high <= self.full[1]:
                found = self._meet(found, (low, high))
        return found

    def _from_row(self, row: int, wire: int, depth: int) -> Interval | None:
        relations = self.relations
        if relations.kind[row] == Kind.PRODUCT:
            a, b, c = relations.sides(row)
            if len(c) != 1 or c[0][0] != wire or abs(c[0][1]) != 1:
                return None
            found = self.product(a, b, depth)
            return found if found is None or c[0][1] == 1 else (-found[1], -found[0])
        if relations.kind[row] == Kind.NEVER:
            return None
        form = relations.forms[row]
        factor = next(value for name, value in form if name == wire)
        if abs(factor) != 1:
            return None
        rest = [(name, -factor * value) for name, value in form if name != wire]
        gap = factor * relations.gap.get(row, 0)
        if not gap:
            known = self._known_form(rest)
            if known is not None:
                return known
        found = self.form(rest, depth)
        if found is None:
            return None
        low, high = found[0] + min(gap, 0), found[1] + max(gap, 0)
        return None if low < self.full[0] or high > self.full[1] else (low, high)

    def _known_form(self, form: Terms) -> Interval | None:
        """Return the interval of a form that a TWO_VALUED row bounds up to a constant."""
        if self._two_valued is None:
            self._two_valued = {}
            for row, gap in self.relations.gap.items():
                terms = self.relations.forms[row]
                constant = sum(value for wire, value in terms if wire == 0)
                key = tuple(term for term in terms if term[0])
                self._two_valued[key] = (min(gap, 0) - constant, max(gap, 0) - constant)
        found = self._two_valued.get(tuple(term for term in form if term[0]))
        constant = sum(value for wire, value in form if wire == 0)
        if found is None:
            return None
        low, high = found[0] + constant, found[1] + constant
        return None if low < self.full[0] or high > self.full[1] else (low, high)

    def _meet(self, one: Interval, other: Interval) -> Interval:
        """Return the intersection of two intervals that both hold; if it is empty, so that no assignment satisfies the
        system, return the first interval.
        """
        low, high = max(one[0], other[0]), min(one[1], other[1])
        return (low, high) if low <= high else one
