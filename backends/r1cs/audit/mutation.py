"""The search for second witnesses, which shows that a wire is not determined by two witnesses with the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...r1cs.checker import failing_rows
from ...r1cs.system import ConstraintSystem
from .ranges import Ranges
from .relations import Relations
from .search import Search

TRIED = 12
"""The number of open wires from which a search starts."""

SOLVED = 4
"""The number of open wires that are solved for when one other is flipped."""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Two witnesses that agree on every input and differ on the wire `wire`; both were checked row by row."""

    wire: int
    values: tuple[int, int]
    first: list[int]
    second: list[int]


def satisfies(system: ConstraintSystem, values: Sequence[int]) -> bool:
    """Return whether an assignment satisfies every row, according to the independent checker."""
    return len(failing_rows(system, system.field.from_integers(values))) == 0


def second_witness(
    system: ConstraintSystem, relations: Relations, ranges: Ranges, base: Sequence[int], open_wires: Sequence[int]
) -> Ambiguity | None:
    """Return another witness for the inputs of `base`: first by flipping an undetermined bit and solving for one wire
    of its rows, with all other wires kept; if this fails, by giving an undetermined wire another value and repairing
    the other wires. The search for a second witness tries the first undetermined wires, in their order.
    """
    if not open_wires:
        return None
    prime, unsettled = system.field.prime, set(open_wires)
    search = Search(relations, ranges)
    pair = _pair(system, relations, search, base, open_wires)
    if pair is not None:
        return pair
    fixed = {wire: value for wire, value in enumerate(base) if wire not in unsettled}
    for wire in open_wires[:TRIED]:
        value = base[wire]
        for other in dict.fromkeys((1 - value, value + 1, value - 1, value + 2, 0, 3 * value + 7)):
            if (other - value) % prime == 0 or (wire in search.bits and other not in (0, 1)):
                continue
            found = search.run({**fixed, wire: other}, base, [wire])
            if found is not None and satisfies(system, found):
                return _told(base, found, [wire])
    return None


def _pair(
    system: ConstraintSystem, relations: Relations, search: Search, base: Sequence[int], open_wires: Sequence[int]
) -> Ambiguity | None:
    """Return another witness that differs from `base` in only two wires, or None if none is found."""
    unsettled, values = set(open_wires), dict(enumerate(base))
    for wire in open_wires[:SOLVED]:
        near = dict.fromkeys(other for row in relations.rows_of(wire) for other in relations.wires_of(row))
        for bit in [other for other in near if other in unsettled and other != wire and other in search.bits][:TRIED]:
            known = {**values, bit: 1 - base[bit]}
            del known[wire]
            found = search.run(known, base, [wire, bit])
            if found is not None and satisfies(system, found):
                return _told(base, found, [wire, bit])
    return None


def _told(first: Sequence[int], second: list[int], wires: Sequence[int]) -> Ambiguity:
    """Return the ambiguity of two witnesses: the first of the given wires on which they differ, and its two values."""
    wire = next(wire for wire in wires if first[wire] != second[wire])
    return Ambiguity(wire, (first[wire], second[wire]), list(first), second)
