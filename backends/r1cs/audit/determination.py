"""Which wires the inputs of a constraint system determine, by rules that never call an undetermined wire determined."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import IntEnum

from .ranges import Ranges
from .relations import Kind, Relations, Terms


class Reason(IntEnum):
    """The number of the rule by which a wire is determined; 0 if no rule determines it."""

    NONE = 0
    GIVEN = 1
    LINEAR = 2
    DIGITS = 3
    ZERO_TEST = 4
    BRACKET = 5
    CASES = 6


class Determination:
    """A wire is determined when any two satisfying assignments that agree on the given wires agree on it.

    `reason[w]` is the rule that determines wire w; rules are numbered in the order of the proofs on the documentation's
    page. Rules only add wires, so the result does not depend on their order, only the work does: every (wire, row) pair
    is counted down once.
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
        """Return whether a wire is determined."""
        return self.reason[wire] != Reason.NONE

    def unknown(self, terms: Terms) -> Terms:
        """Return the terms of wires that are not determined."""
        return [term for term in terms if not self.reason[term[0]]]

    @property
    def open_wires(self) -> list[int]:
        """Return the wires that no rule determines, in order."""
        return [wire for wire, reason in enumerate(self.reason) if not reason]

    def open_rows(self) -> list[int]:
        """Return the rows with a wire that is not determined, ascending."""
        return [row for row in range(self.relations.count) if any(self.missing[3 * row : 3 * row + 3])]

    def propagate(self) -> None:
        """Apply the linear rule and, to bits, the digit rule until neither finds another wire."""
        while self._ready or self._waiting:
            if self._ready:
                self._examine(self._ready.popleft(), False)
                continue
            row = next(iter(self._waiting))
            del self._waiting[row]
            self._examine(row, False)

    def propagate_intervals(self) -> bool:
        """Apply the rules for which intervals have to be worked out; return whether a wire was new."""
        before = self.reason.count(Reason.NONE)
        late, self._late = self._late, {}
        for row in late:
            self._examine(row, True)
        return self.reason.count(Reason.NONE) < before

    def determine(self, wires: Iterable[int], reason: Reason) -> bool:
        """Mark wires as determined; return whether one was new."""
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
        """Apply form = something determined (+ gap or 0): all unknown wires are determined if their sum is
        injective.
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
        """Return whether different values of the wires, within their intervals, and of extra (weight, width) unknowns
        give different sums modulo p: this is so if each weight is above the greatest sum of the terms of smaller
        weight, and the sum of all terms stays below p.
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
