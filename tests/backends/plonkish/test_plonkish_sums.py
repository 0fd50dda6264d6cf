"""Lookups as sums of fractions: the same cells pass, others do not, and every multiplicity counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from plonkish_mutation import survivors
from plonkish_programs import Run, fill, layer, smallest, vector

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.checker import describe, first_failure
from circuitize.backends.plonkish.expressions import Kind
from circuitize.backends.plonkish.lookup_cells import SummedCells
from circuitize.backends.plonkish.lookup_sums import Summed, summed
from circuitize.circuits.errors import CircuitizeError

CHALLENGES = [3**150 % BN254.prime + place for place in range(4)]


@pytest.fixture(scope="module")
def run() -> Run:
    given = layer()
    return fill(smallest(given), given, vector(given, 3))


def filled(run: Run) -> tuple[Summed, SummedCells, list[Limbs], list[int]]:
    found = run.emission.summed
    cells = found.fill(run.filling)
    drawn = CHALLENGES[: found.system.challenges]
    return found, cells, [*cells.first(), *cells.second(drawn)], drawn


def failure(found: Summed, cells: SummedCells, advice: list[Limbs], drawn: list[int]) -> str | None:
    wrong = first_failure(found.system, advice, cells.instance(), drawn)
    return None if wrong is None else describe(found.system, wrong, str)


def test_a_run_satisfies_the_sums(run: Run) -> None:
    found, cells, advice, drawn = filled(run)
    assert not found.system.lookups and len(found.plain.lookups) > 1
    assert found.system.degree == 5
    assert failure(found, cells, advice, drawn) is None
    assert found.system.k == run.emission.plan.layout.k


def test_the_stated_error_is_that_of_the_largest_table(run: Run) -> None:
    """Of every input and every entry at b, twice, and of one input against every entry at a."""
    found, *_ = filled(run)
    lookups, tables, width = len(found.plain.lookups), len(found.groups), len(found.groups[0].table)
    assert found.degree == (2 * (lookups + tables) + width - 1) * found.plain.rows
    wide = replace(found, plain=replace(found.plain, rows=1 << 17, lookups=found.plain.lookups[:1] * 50))
    assert wide.degree < 1 << 24


def test_no_cell_may_be_another(run: Run) -> None:
    found, cells, advice, drawn = filled(run)
    changed = []
    for limbs in advice:
        whole = np.zeros((found.system.rows, 4), np.uint64)
        whole[: len(limbs)] = limbs
        changed.append(BN254.from_integers([number + 1 for number in BN254.to_integers(whole)]))
    left = survivors(found.system, advice, cells.instance(), drawn, changed)
    assert left.used.any()
    assert not left.cells


def test_multiplicities_moved_are_rejected(run: Run) -> None:
    """The shuffle without multiplicity: a limb that is in no table, and counts that add up to the same number."""
    found, cells, advice, drawn = filled(run)
    early = sum(phase == 0 for phase in found.plain.advice_phases)
    counts = np.array(BN254.to_integers(advice[early]))
    first, second = np.flatnonzero(counts)[:2].tolist()
    counts[first] += 1
    counts[second] -= 1
    advice[early] = BN254.from_integers(counts.tolist())
    told = failure(found, cells, advice, drawn)
    assert told is not None and "entries" in told
    # The prover who computes all that follows from the counts: the sums no longer end at 0.
    cells._counts[0] = counts.astype(np.int64)
    again = [*advice[: early + 1], *cells.second(drawn)]
    told = failure(found, cells, again, drawn)
    assert told is not None and "last lookup sum" in told


def test_what_is_in_no_table_has_no_cells(run: Run) -> None:
    found = run.emission.summed
    column, row = next(
        (column, int(np.flatnonzero(run.emission.system.fixed_limbs(0)[:, 0])[0]))
        for column, (unit, _) in enumerate(run.emission.system.provenance.columns)
        if unit == "range of 1"
    )
    limb = column + 1

    class Forged:
        """A run with one limb that is too large."""

        def instance(self) -> list[Limbs]:
            return run.filling.instance()

        def first(self) -> list[Limbs]:
            made = run.filling.first()
            made[limb][row] = BN254.from_integers([1 << 20])[0]
            return made

        def second(self, challenges: Sequence[int]) -> list[Limbs]:
            return run.filling.second(challenges)

    with pytest.raises(CircuitizeError, match="expected an entry of its table at lookup range of 1"):
        found.fill(Forged()).first()


def test_a_lookup_of_later_cells_is_refused(run: Run) -> None:
    """An input of phase 1 could be chosen with the challenges in hand."""
    plain = run.emission.system
    lookup = plain.lookups[0]
    phases = (0,) * (plain.advice - 1) + (1,)
    late = next(
        at for at, row in enumerate(plain.nodes.tolist()) if row[0] == Kind.ADVICE and row[1] == plain.advice - 1
    )
    drawn = np.vstack([plain.nodes, [[Kind.CHALLENGE, 0, 0]]]).astype(np.int32)
    for changed in (
        replace(plain, advice_phases=phases, lookups=(replace(lookup, inputs=(*lookup.inputs[:-1], late)),)),
        replace(plain, nodes=drawn, lookups=(replace(lookup, inputs=(*lookup.inputs[:-1], len(drawn) - 1)),)),
    ):
        with pytest.raises(CircuitizeError, match="to read cells of phase 0, found later ones or a challenge"):
            summed(changed)
