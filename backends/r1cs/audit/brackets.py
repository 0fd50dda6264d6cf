"""The audit's rule for quotients and roots: numbers that the prover chooses, and that two range checks confine."""

from __future__ import annotations

from dataclasses import dataclass

from .determination import Determination
from .ranges import Interval
from .relations import Kind, Terms

MOST_TERMS = 80
"""The most open terms that a range row may have beside the form it bounds."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on a form: in every satisfying assignment, `form` is an integer in [low, high]."""

    form: Terms
    low: int
    high: int


def bounds(state: Determination, row: int, kept: set[int]) -> Bound | None:
    """Return the bound that a TWO_VALUED row gives for its form after the undetermined wires outside `kept`, each of
    which must have an interval, are left out.
    """
    relations, ranges = state.relations, state.ranges
    form, gap = relations.forms[row], relations.gap[row]
    moved = [term for term in form if term[0] not in kept and not state.known(term[0])]
    if not moved or len(moved) > MOST_TERMS:
        return None
    found = ranges.form([(wire, -coefficient) for wire, coefficient in moved])
    if found is None:
        return None
    low, high = found[0] + min(gap, 0), found[1] + max(gap, 0)
    if low < ranges.full[0] or high > ranges.full[1]:
        return None
    return Bound([term for term in form if term[0] in kept or state.known(term[0])], low, high)


def by_bracket(state: Determination, row: int) -> set[int]:
    """Return the wires that are determined by an undetermined product q * y = z and two range rows, where y is
    determined or y = q.

    Let rho = D1 - s z in [l1, h1] and sigma = D2 + s z in [l2, h2] be what the two range rows say, where D1 is
    determined, and let rho + sigma = E, with E = y + k for a quotient and E = 2 q + k for a root, where k - l1 - l2 is
    less than 0 for a quotient (whose y >= 1) and less than 1 for a root. Soundness: the intervals of E and of rho +
    sigma both stay inside [-p/2, p/2], so that rho + sigma = E holds over the integers. Consider two satisfying
    assignments with the same inputs, which therefore agree on y and D1, and suppose that q' >= q + 1. For any two such
    assignments, of which the second has its values marked by primes, rho - rho' = q'y - qy modulo p, and also over the
    integers, since (width of q) * y + (width of rho) is below p. For a quotient, q'y - qy is at least y, but rho - rho'
    <= (y + k - l2) - l1 < y, which is a contradiction. For a root with q >= 0, q'q' - qq is at least 2q + 1, but rho -
    rho' <= (2q + k - l2) - l1 <= 2q, which is a contradiction. The rule for quotients therefore gives q' = q as
    integers, the bits of q by the digit rule, and z = q * y.
    """
    a, b, c = state.relations.sides(row)
    open_c = state.unknown(c)
    if len(open_c) != 1 or len(c) != 1:
        return set()
    product, scale = c[0]
    if abs(scale) != 1:
        return set()
    square = a == b
    for q, y in ((a, b), (b, a)):
        if state.unknown(q) and (square or not state.unknown(y)) and _held(state, product, scale, q, y, square):
            unknown = state.unknown(q)
            return {product, *(wire for wire, _ in unknown)} if state.injective(unknown) else {product}
    return set()


def _held(state: Determination, product: int, scale: int, q: Terms, y: Terms, square: bool) -> bool:
    """Return whether two range rows determine the quotient or root q of an undetermined product."""
    relations, ranges = state.relations, state.ranges
    width, divisor = ranges.checked(q), ranges.checked(y)
    if width is None or divisor is None or (width[0] < 0 if square else divisor[0] < 1):
        return False
    kept = {product, *(wire for wire, _ in q)}
    found = []
    for row in relations.rows_of(product):
        if relations.kind[row] == Kind.TWO_VALUED:
            factor = next(value for wire, value in relations.forms[row] if wire == product)
            bound = bounds(state, row, kept) if abs(factor) == 1 else None
            if bound is not None:
                found.append((factor * scale, bound))
    firsts = [one for one in found if not [t for t in state.unknown(one[1].form) if t[0] != product]]
    return any(
        sign == -other_sign and _pinned(state, sign, one, other, q, y, square, width, divisor)
        for sign, one in firsts
        for other_sign, other in found
    )


def _pinned(
    state: Determination,
    sign: int,
    one: Bound,
    other: Bound,
    q: Terms,
    y: Terms,
    square: bool,
    width: Interval,
    divisor: Interval,
) -> bool:
    """Return whether the conditions of `by_bracket` hold for two bounds; `sign` is the sign of q * y in the bound
    `one`.
    """
    relations, ranges = state.relations, state.ranges
    first, second = (one, other) if sign < 0 else (_negated(one), _negated(other))
    total = relations.combine([(1, first.form), (1, second.form)])
    step = 2 if square else 1
    rest = relations.combine([(1, total), (-step, q if square else y)])
    if rest and rest != [(0, rest[0][1])]:
        return False
    k = rest[0][1] if rest else 0
    reach = ranges.form(total)
    low, high = first.low + second.low, first.high + second.high
    span = (width[1] - width[0]) * (2 * width[1] if square else divisor[1]) + first.high - first.low
    if reach is None or low < ranges.full[0] or high > ranges.full[1] or span >= relations.prime:
        return False
    return k - low < (1 if square else 0)


def _negated(bound: Bound) -> Bound:
    return Bound([(wire, -value) for wire, value in bound.form], -bound.high, -bound.low)


def by_linear_bracket(state: Determination, row: int) -> set[int]:
    """Return the undetermined wires of a form that two range rows bound from both sides, such as a quotient by a
    constant.

    Let rho = f + D1 in [l1, h1] and sigma = D2 - f in [l2, h2] be what the two range rows say, where f is a form of
    undetermined wires, D1 and D2 are determined, and rho + sigma = E is in [e1, e2]. Soundness: if the intervals of E
    and of rho + sigma are both inside [-p/2, p/2], rho + sigma = E holds over the integers, so that rho is in [max(l1,
    e1 - h2), min(h1, e2 - l2)]. The digit rule, applied to f and an interval of rho of that width, then shows that the
    wires of f are determined.
    """
    relations, ranges = state.relations, state.ranges
    core = [term for term in state.unknown(relations.forms[row]) if not _private(state, term[0], row)]
    if not core:
        return set()
    kept = {wire for wire, _ in core}
    first = bounds(state, row, kept)
    if first is None:
        return set()
    for other in relations.rows_of(core[0][0]):
        if other == row or relations.kind[other] != Kind.TWO_VALUED:
            continue
        second = bounds(state, other, kept)
        for candidate in () if second is None else (second, _negated(second)):
            total = relations.combine([(1, first.form), (1, candidate.form)])
            reach = ranges.form(total)
            low, high = first.low + candidate.low, first.high + candidate.high
            if reach is None or state.unknown(total) or low < ranges.full[0] or high > ranges.full[1]:
                continue
            width = min(first.high, reach[1] - candidate.low) - max(first.low, reach[0] - candidate.high)
            if state.injective(core, ((1, max(width, 0)),)):
                return kept
    return set()


def _private(state: Determination, wire: int, row: int) -> bool:
    """Return whether a wire occurs in only the given row, apart from rows that restrict the wire itself to two
    values.
    """
    relations = state.relations
    return all(
        other == row or (relations.kind[other] == Kind.TWO_VALUED and relations.two_values(other) is not None)
        for other in relations.rows_of(wire)
    )
