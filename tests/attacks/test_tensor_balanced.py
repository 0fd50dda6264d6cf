"""Lookups end in two sums: errors that balance within one are claims on columns; between the sums nothing balances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from independent_verifier.arithmetic import Elements, one
from independent_verifier.numbered import Mix
from tensor_attack import SMALL, Forgery, at_every_degree, built, publics_of, small_plan
from tensor_cheat import Cheat
from tensor_ones import passes, sending_ones

from circuitize.backends.tensor.forms import Column
from circuitize.circuits import integers
from circuitize.provers.tensor.statement import Statement

pytestmark = at_every_degree

TABLE = built([SMALL], (integers.Lookup(0, np.arange(16) ** 2 % 16, 0), (0,)))
OPENINGS = "openings"


class Balancing(Cheat):
    """Of two numbers that lookups end in one is one more, the other one less."""

    wrong = (0, 0)
    bases: list[int]

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        if label != "lookups.values":
            return honest
        self.bases = [base for base, _ in asked]
        made = honest.copy()
        for place, sign in zip(self.wrong, (1, -1), strict=True):
            step = one(self.degree)
            made[place] = made[place] + (step if sign > 0 else -step)
        return made


def forgery(places: tuple[int, int], degree: int, label: str) -> tuple[Forgery, list[str]]:
    """A proof with these errors, and the columns that lookups end in."""
    made = small_plan(TABLE, degree)
    trace = list(made.trace({"in0": np.array([1, 2, 3, 4])}))
    publics = publics_of(made, trace)
    cheat = Balancing(made, made.values(trace))
    cheat.wrong = places
    cheat.channel = sending_ones(degree, label)
    messages, roots = cheat.prove(publics)
    found = [made.bases[base] for base in cheat.bases]
    names = [own.name for own in found if isinstance(own, Column)]
    return Forgery(TABLE, made, Statement(publics, dict(zip(made.groups, roots, strict=True))), messages), names


def test_keys_values_and_counts_are_claims_of_their_own(degree: int) -> None:
    """Without the challenge that combines claims on columns, errors within one sum balance."""
    honest, names = forgery((0, 0), degree, "")
    assert not honest.is_refused()
    counted = [name for name in names if "counts" in name]
    assert names[: len(counted)] == counted and len(names) - len(counted) >= 2
    for places in combinations(range(len(names)), 2):
        within = (places[0] < len(counted)) == (places[1] < len(counted))
        assert passes(forgery(places, degree, OPENINGS)[0], OPENINGS) == within, places
        assert forgery(places, degree, "")[0].is_refused(), places
