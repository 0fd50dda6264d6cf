"""The audit of one constraint system: how many wires each rule determines, and which wires remain undetermined."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...r1cs.system import ConstraintSystem, WireBlock
from .determination import Determination, Reason
from .mutation import Ambiguity, second_witness
from .ranges import Ranges
from .relations import Kind, Relations
from .removal import inputs_of
from .rules import settle
from .search import Search


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a wire: its block of wires (None for a wire without a name), and its index in the block's array."""

    wire: int
    block: WireBlock | None
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """The field `rules` counts the wires by the rule that determines them. The field `open_wires` has the wires that no
    rule determines: it is unknown whether these are in fact determined, except for the wires of `ambiguous`, on which
    two checked witnesses with the same inputs differ. The field `impossible` has the rows that no assignment can
    satisfy.
    """

    wires: int
    given: int
    rules: dict[str, int]
    open_wires: list[int]
    ambiguity: Ambiguity | None
    impossible: list[int]

    @property
    def determined(self) -> bool:
        """Return whether the rules determine every wire."""
        return not self.open_wires

    @property
    def ambiguous(self) -> list[int]:
        """Return the wires on which the two witnesses of the ambiguity differ, in ascending order."""
        if self.ambiguity is None:
            return []
        return [wire for wire in self.open_wires if self.ambiguity.first[wire] != self.ambiguity.second[wire]]


def audit(system: ConstraintSystem, witness: Sequence[int] | None = None) -> Audit:
    """Return the audit of a constraint system, which decides for every wire whether the public and private inputs
    determine it.

    The argument `witness`, a satisfying assignment of integers in [0, p), is the assignment from which the search for a
    second witness starts; if no witness is given, a first one is searched for too. An audit takes about 50 µs and about
    1 kB of memory for each row of the programs of this package.
    """
    relations = Relations(system)
    ranges = Ranges(relations)
    state = Determination(relations, inputs_of(system), ranges)
    settle(state)
    open_wires = state.open_wires
    found = None
    if open_wires:
        bases = [witness] if witness is not None else _bases(relations, ranges)
        tries = (second_witness(system, relations, ranges, base, open_wires) for base in bases)
        found = next((each for each in tries if each is not None), None)
    names = {reason: reason.name.lower().replace("_", " ") for reason in Reason}
    rules = {names[reason]: count for reason in Reason if reason and (count := state.reason.count(reason))}
    rules[names[Reason.GIVEN]] -= 1
    impossible = [row for row in range(relations.count) if relations.kind[row] == Kind.NEVER]
    return Audit(system.wires, len(inputs_of(system)), rules, open_wires, found, impossible)


def _bases(relations: Relations, ranges: Ranges) -> list[list[int]]:
    """Return witnesses of a constraint system for some inputs, found by search."""
    search, wires = Search(relations, ranges), relations.wires
    random = np.random.default_rng(0)
    guesses = [[0] * wires, [1] * wires, *(random.integers(0, 2, wires).tolist() for _ in range(3))]
    return [found for guess in guesses if (found := search.run({}, guess)) is not None]


def locate(system: ConstraintSystem, wires: Sequence[int]) -> list[Place]:
    """Return the places of wires in the blocks that emission recorded."""
    blocks = sorted(system.wire_blocks, key=lambda block: block.first)
    places = []
    for wire in wires:
        at = bisect_right(blocks, wire, key=lambda block: block.first) - 1
        block = blocks[at] if at >= 0 and wire < blocks[at].first + blocks[at].count else None
        index = tuple(map(int, np.unravel_index(wire - block.first, block.shape))) if block and block.shape else ()
        places.append(Place(wire, block, index))
    return places
