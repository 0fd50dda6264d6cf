"""The audit's rule for bits that choose one of several cases, where any two cases contradict each other in what is
already determined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .brackets import Bound, bounds
from .determination import Determination
from .ranges import Interval
from .relations import Kind, Terms

MOST_CASES = 128
"""The most cases that are looked at together."""

MOST_ROWS = 2000
"""The most rows that one case of a case analysis may look at."""

Key = tuple[tuple[int, int], ...]


def by_cases(state: Determination, row: int) -> set[int]:
    """Return the undetermined bits of a TWO_VALUED row which says that all of its bits, or all but one, are 0; a row
    with a single bit counts too.

    Soundness: every satisfying assignment belongs to one of the cases that the bits choose. In the system of one case,
    the bits are known numbers, and some wires follow from them; a row that ranges over an interval inside [-p/2, p/2]
    may then say that a form of determined wires is, modulo p, an integer in this interval. Consider two satisfying
    assignments with the same inputs, so that a form of determined wires has the same value in both. If the two
    assignments were in different cases, some form of determined wires would be in two disjoint intervals, since every
    two cases have such a form. Two satisfying assignments with the same inputs are therefore in the same case, and
    agree on the bits that choose the case.
    """
    relations = state.relations
    open_terms = state.unknown(relations.forms[row])
    named = [term for term in relations.forms[row] if term[0]]
    constant = sum(value for wire, value in relations.forms[row] if wire == 0)
    bits = [wire for wire, _ in open_terms]
    if not 0 < len(bits) < MOST_CASES or any(state.ranges.domain.get(wire) != (0, 1) for wire in bits):
        return set()
    if len(named) > 1:
        gap, one = relations.gap[row], named[0][1]
        if len(bits) < len(named) or any(value != one for _, value in named):
            return set()
        # one * sum + constant is 0 or gap: the sum is 0 or 1, in either order.
        if sorted(((-constant * one), (gap - constant) * one)) != [0, 1] or abs(one) != 1:
            return set()
    chosen: list[int | None] = [None, *bits]
    cases = [_Case(state, {wire: int(wire == each) for wire in bits}) for each in chosen]
    facts = [found for case in cases if (found := case.facts()) is not None]
    apart = all(_contradict(one, other) for place, one in enumerate(facts) for other in facts[:place])
    return set(bits) if apart else set()


def _contradict(one: dict[Key, Interval], other: dict[Key, Interval]) -> bool:
    return any(key in other and (low > other[key][1] or high < other[key][0]) for key, (low, high) in one.items())


class _Case:
    """The consequences of given values of some bits: other wires become forms of determined wires."""

    def __init__(self, state: Determination, values: dict[int, int]) -> None:
        self.state, self.relations = state, state.relations
        self.forms: dict[int, Terms] = {wire: [(0, value)] if value else [] for wire, value in values.items()}

    def facts(self) -> dict[Key, Interval] | None:
        """Return the intervals of forms of determined wires that follow from the bits' values, without the forms'
        constants, or None if the bits cannot have these values.
        """
        ranged: dict[int, None] = {}
        queue, seen = dict.fromkeys(self._rows(self.forms)), 0
        while queue and seen < MOST_ROWS:
            row = next(iter(queue))
            del queue[row]
            seen += 1
            if self.relations.kind[row] == Kind.TWO_VALUED:
                ranged[row] = None
                continue
            form = self._equation(row)
            if form is None:
                continue
            unknown = self.state.unknown(form)
            if not [term for term in form if term[0]] and form:
                return None
            if len(unknown) == 1 and abs(unknown[0][1]) == 1:
                wire, coefficient = unknown[0]
                rest = [term for term in form if term[0] != wire]
                self.forms[wire] = self.relations.combine([(-coefficient, rest)])
                queue.update(dict.fromkeys(self._rows([wire])))
        return self._intervals(ranged)

    def _intervals(self, ranged: Iterable[int]) -> dict[Key, Interval] | None:
        full = self.state.ranges.full
        found: dict[Key, Interval] = {}
        for row in ranged:
            bound = bounds(self.state, row, set(self.forms)) or self._alone(row)
            if bound is None:
                continue
            form = self._reduce(bound.form)
            if self.state.unknown(form):
                continue
            constant = sum(value for wire, value in form if wire == 0)
            low, high = bound.low - constant, bound.high - constant
            key = tuple(term for term in form if term[0])
            if key and key[0][1] < 0:
                key, low, high = tuple((wire, -value) for wire, value in key), -high, -low
            if low < full[0] or high > full[1]:
                continue
            known = found.get(key, (0, 0) if not key else full)
            found[key] = (max(low, known[0]), min(high, known[1]))
            if found[key][0] > found[key][1]:
                return None
        return found

    def _alone(self, row: int) -> Bound | None:
        """Return the bound that a TWO_VALUED row gives if the bits have the given values and the row has no other
        undetermined wire.
        """
        form, gap = self.relations.forms[row], self.relations.gap[row]
        if any(wire not in self.forms for wire, _ in self.state.unknown(form)):
            return None
        return Bound(form, min(gap, 0), max(gap, 0))

    def _rows(self, wires: Iterable[int]) -> Iterator[int]:
        for wire in wires:
            yield from self.relations.rows_of(wire)

    def _reduce(self, terms: Terms) -> Terms:
        parts: list[tuple[int, Terms]] = [
            (coefficient, self.forms.get(wire, [(wire, 1)])) for wire, coefficient in terms
        ]
        return self.relations.combine(parts)

    def _equation(self, row: int) -> Terms | None:
        """Return the form that a row says is 0 if the bits have the given values, or None if the row is still a
        product.
        """
        relations = self.relations
        if relations.kind[row] == Kind.LINEAR:
            return self._reduce(relations.forms[row])
        if relations.kind[row] != Kind.PRODUCT:
            return None
        a, b, c = (self._reduce(side) for side in relations.sides(row))
        for one, other in ((a, b), (b, a)):
            if not one or (len(one) == 1 and one[0][0] == 0):
                return relations.combine([(one[0][1] if one else 0, other), (-1, c)])
        return None
