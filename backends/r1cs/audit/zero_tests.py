"""The audit's rule for zero tests and inverses: wires that are determined both if a known form is zero and if it is
not.
"""

from __future__ import annotations

from collections import deque

from .determination import Determination
from .relations import Kind, Terms

MOST_ROWS = 400
"""The most rows that one case of a zero test may look at."""

Key = tuple[tuple[int, int], ...]


def zero_test_candidates(state: Determination) -> dict[Key, list[int]]:
    """Return the undetermined product rows, listed by each factor that is determined and not a constant."""
    found: dict[Key, list[int]] = {}
    for row in state.open_rows():
        if state.relations.kind[row] == Kind.PRODUCT:
            for which in (0, 1):
                if state.missing[3 * row + which] == 0:
                    found.setdefault(tuple(state.relations.side(row, which)), []).append(row)
    return found


def by_zero_test(state: Determination, form: Key, rows: list[int]) -> set[int]:
    """Return the wires that are determined both if `form` is zero and if it is not.

    Soundness: `form` is determined, so that two assignments with the same inputs are in the same case; a wire that is
    determined in each case is therefore determined. Within a case only equations are used: if the factor A of a row A *
    B = C is zero in the case, the row says C = 0, and if A is determined and never zero there, the row says B = C / A.
    """
    zero = _Case(state, form, True).run(rows)
    if zero is not None and not zero:
        return set()
    other = _Case(state, form, False).run(rows)
    if zero is None or other is None:
        return (zero or set()) | (other or set())
    return zero & other


class _Case:
    """The consequences if a determined form is zero, or if it is not: the wires that are then determined, and the
    values of some of them.
    """

    def __init__(self, state: Determination, form: Key, zero: bool) -> None:
        self.state, self.relations = state, state.relations
        self.assumed, self.zero = form, zero
        self.determined: set[int] = set()
        self.values: dict[int, int] = {0: 1}

    def run(self, rows: list[int]) -> set[int] | None:
        """Return the wires that are determined under the assumption about the form, or None if the assumption
        contradicts the rows.
        """
        queue, seen = deque(rows), 0
        waiting = set(rows)
        while queue and seen < MOST_ROWS:
            row = queue.popleft()
            waiting.discard(row)
            seen += 1
            for form in self._equations(row):
                if form is None:
                    return None
                for wire in self._solve(form):
                    for other in self.relations.rows_of(wire)[:MOST_ROWS]:
                        if other not in waiting:
                            waiting.add(other)
                            queue.append(other)
        return self.determined

    def _known(self, wire: int) -> bool:
        return self.state.known(wire) or wire in self.determined

    def _reduce(self, terms: Terms) -> tuple[int, Terms]:
        """Return the constant part and the other terms of a form, after the known values of wires are substituted."""
        constant, rest = 0, []
        for wire, coefficient in terms:
            if wire in self.values:
                constant += coefficient * self.values[wire]
            else:
                rest.append((wire, coefficient))
        return constant % self.relations.prime, rest

    def _sign(self, terms: Terms) -> int | None:
        """Return 0 if a form is zero under the assumption that is made, 1 if it is determined and never zero, and None
        otherwise.
        """
        if tuple(terms) == self.assumed:
            return 0 if self.zero else 1
        constant, rest = self._reduce(terms)
        if not rest:
            return int(constant != 0)
        if all(self._known(wire) for wire, _ in rest) and self.state.ranges.never_zero(terms):
            return 1
        return None

    def _equations(self, row: int) -> list[tuple[Terms, bool] | None]:
        """Return the forms which a row says are zero (True) or determined (False) under the assumption that is made, or
        None for a contradiction.
        """
        relations = self.relations
        if relations.kind[row] != Kind.PRODUCT:
            return [(relations.forms[row], True)] if relations.kind[row] == Kind.LINEAR else []
        a, b, c = relations.sides(row)
        found: list[tuple[Terms, bool] | None] = []
        for one, other in ((a, b), (b, a)):
            sign = self._sign(one)
            if sign == 0:
                constant, rest = self._reduce(c)
                found.append(None if constant and not rest else (c, True))
            elif sign == 1:
                if all(self._known(wire) for wire, _ in c):
                    zero = self._reduce(c) == (0, [])
                    constant, rest = self._reduce(other)
                    found.append(None if zero and constant and not rest else (other, zero))
                if all(self._known(wire) for wire, _ in other):
                    found.append((c, False))
        return found

    def _solve(self, equation: tuple[Terms, bool]) -> list[int]:
        """Return the wires that one equation determines: the only unknown wire of a form whose value is determined or
        zero.
        """
        terms, zero = equation
        constant, rest = self._reduce(terms)
        unknown = [term for term in rest if not self._known(term[0])]
        if len(unknown) == 1:
            wire, coefficient = unknown[0]
            self.determined.add(wire)
            if zero and len(rest) == 1:
                prime = self.relations.prime
                self.values[wire] = -constant * pow(coefficient % prime, -1, prime) % prime
            return [wire]
        if zero and not unknown and len(rest) == 1:
            wire, coefficient = rest[0]
            prime = self.relations.prime
            self.values[wire] = -constant * pow(coefficient % prime, -1, prime) % prime
            return [wire]
        return []
