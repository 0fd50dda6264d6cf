"""Deciding which wires the inputs of a constraint system determine, by rules that never call an undetermined wire
determined.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import IntEnum

from .ranges import Ranges
from .relations import Kind, Relations, Terms


class Reason(IntEnum):
    """The number of the rule by which a wire was found to be determined, or 0 if no rule determines it."""

    NONE = 0
    GIVEN = 1
    LINEAR = 2
    DIGITS = 3
    ZERO_TEST = 4
    BRACKET = 5
    CASES = 6


class Determination:
    """The wires known to be determined: a wire is determined if any two satisfying assignments that agree on the given
    wires agree on it too.

    The entry `reason[w]` is the rule that determines wire w; rules are numbered in the order of their proofs in the
    documentation. Rules only add determined wires, so that the result does not depend on the order of the rules,
    although the work does: each (wire, row) pair is counted down once.
    """

    def __init__(self, relations: Relations, given: Iterable[int], ranges: Ranges | None = None) -> None:
        self.relations = relations
        self.ranges = ranges or Ranges(relations)
        self.reason = bytearray(relations.wires)
        self.missing = [0] * (3 * relations.count)
        for code in relations.uses:
            self.missing[code] += 1
        self._ready: deque[int] = deque()
        self._waiting: dict[int, None] = {}
        self._late: dict[int, None] = {}
        for row in range(relations.count):
            self._note(row)
        for wire in {0, *given}:
            self._mark(wire, Reason.GIVEN)

    def known(self, wire: int) -> bool:
        """Return whether a wire is known to be determined."""
        return self.reason[wire] != Reason.NONE

    def unknown(self, terms: Terms) -> Terms:
        """Return those terms of a form whose wires are not determined."""
        return [term for term in terms if not self.reason[term[0]]]

    @property
    def open_wires(self) -> list[int]:
        """Return the wires that no rule determines, in order."""
        return [wire for wire, reason in enumerate(self.reason) if not reason]

    def open_rows(self) -> list[int]:
        """Return the rows that have a wire which is not determined, in ascending order."""
        return [row for row in range(self.relations.count) if any(self.missing[3 * row : 3 * row + 3])]

    def propagate(self) -> None:
        """Apply the linear rule, and the digit rule for bits, until neither determines another wire."""
        while self._ready or self._waiting:
            if self._ready:
                self._examine(self._ready.popleft(), False)
                continue
            row = next(iter(self._waiting))
            del self._waiting[row]
            self._examine(row, False)

    def propagate_intervals(self) -> bool:
        """Apply the rules that need intervals of wires; return whether they determined another wire."""
        before = self.reason.count(Reason.NONE)
        late, self._late = self._late, {}
        for row in late:
            self._examine(row, True)
        return self.reason.count(Reason.NONE) < before

    def determine(self, wires: Iterable[int], reason: Reason) -> bool:
        """Mark wires as determined by a rule; return whether one of them was not determined before."""
        found = False
        for wire in wires:
            if not self.reason[wire]:
                self._mark(wire, reason)
                found = True
        return found

    def _mark(self, wire: int, reason: Reason) -> None:
        if self.reason[wire]:
            return
        self.reason[wire] = reason
        relations = self.relations
        for code in relations.uses[relations.offsets[wire] : relations.offsets[wire + 1]]:
            self.missing[code] -= 1
            self._note(code // 3)

    def _note(self, row: int) -> None:
        a, b, c = self.missing[3 * row : 3 * row + 3]
        if not (a or b or c):
            return
        if self.relations.kind[row] == Kind.PRODUCT:
            if a == 0 and b == 0 and c == 1:
                self._ready.append(row)
            elif a == 0 or b == 0:
                self._waiting[row] = None
        elif a == 1 and self.relations.kind[row] == Kind.LINEAR:
            self._ready.append(row)
        elif a:
            self._waiting[row] = None

    def _examine(self, row: int, late: bool) -> None:
        relations = self.relations
        kind = relations.kind[row]
        if kind == Kind.NEVER:
            return
        if kind != Kind.PRODUCT:
            self._equation(row, relations.forms[row], relations.gap.get(row), late)
            return
        a, b, c = (self.missing[3 * row + which] for which in range(3))
        if a == 0 and b == 0:
            self._equation(row, relations.side(row, 2), None, late)
            return
        for left, right, which in ((a, b, 0), (b, a, 1)):
            if left == 0 and right and c == 0:
                if not late:
                    self._late[row] = None
                elif self.ranges.never_zero(relations.side(row, which)):
                    self._equation(row, relations.side(row, 1 - which), None, late)
                return

    def _equation(self, row: int, form: Terms, gap: int | None, late: bool) -> None:
        """Apply an equation that says that a form equals a determined value (or that value plus the gap): all
        undetermined wires of the form are determined if their sum is injective.
        """
        unknown = self.unknown(form)
        if not unknown:
            return
        if len(unknown) == 1 and gap is None:
            self._mark(unknown[0][0], Reason.LINEAR)
        elif not late and not all(wire in self.ranges.domain for wire, _ in unknown):
            self._late[row] = None
        elif self.injective(unknown, () if gap is None else ((gap, 1),)):
            for wire, _ in unknown:
                self._mark(wire, Reason.DIGITS)

    def injective(self, unknown: Terms, extra: Iterable[tuple[int, int]] = ()) -> bool:
        """Return whether different values of the wires, within their intervals, and of the unknowns in `extra` (weight,
        width) give different sums modulo p: this holds if each weight is above the greatest sum of the terms of smaller
        weight, and if the sum of all terms stays below p.
        """
        weights = list(extra)
        seen = set()
        for _, coefficient in unknown:
            weight = abs(coefficient)
            if weight in seen:
                return False
            seen.add(weight)
        for wire, coefficient in unknown:
            low, high = self.ranges.domain.get(wire) or self.ranges.wire(wire)
            weights.append((coefficient, high - low))
        total = 0
        for weight, width in sorted((abs(weight), width) for weight, width in weights):
            if weight <= total and width:
                return False
            total += weight * width
            if total >= self.relations.prime:
                return False
        return True
