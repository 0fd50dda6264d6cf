"""Every integer operation as a Plonkish system: the executor's values satisfy it, and no cell may be anything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import tiers
from every_case import every_case
from integers_cases import few
from operations.integer import Case
from plonkish_programs import Vector, fill, fill_trace, require_outputs, smallest
from r1cs_programs import single

from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.sims import integer
from circuitize.sims.forgery import forgeries

LARGE = 1 << 12
FILLED = tiers.count(1, deep=4)
"""Inputs whose every cell is compared."""
TRIED = tiers.count(5, deep=40)
"""Inputs, and forgeries of each; more, where the operation is not defined on these."""
CASES = few()
CHANGED = {id(case) for case in (*tiers.of_each(CASES, first=True), *tiers.of_each(CASES))}
"""Cases of whose systems every cell is changed: the first and the last of each operation, in `deep` all."""


def vectors(case: Case, given: IntegerProgram, count: int) -> Iterator[Vector]:
    """Random, awkward and extreme values."""
    random = np.random.default_rng(4)
    names = [port.name for port in given.inputs]
    for _ in range(count if case.sources else 1):
        yield dict(zip(names, case.draw(random), strict=True)) if case.sources else {"in0": np.array(1)}


@every_case(CASES)
def test_systems_are_the_integers(case: Case) -> None:
    given = single(case.operation, *case.sources)
    emission = smallest(given)
    large = max((source.size for source in case.sources), default=0) >= LARGE
    defined = 0
    for number, vector in enumerate(vectors(case, given, 2 if large else 40)):
        if defined and number >= TRIED:
            break
        with suppress(Undefined):
            integer.trace(given, vector)
            defined += 1
            if defined > (1 if large else FILLED):
                continue
            run = fill(emission, given, vector, number)
            assert run.failure() is None
            require_outputs(run, given, vector)
            if defined == 1 and not large and id(case) in CHANGED:
                found = run.mutants(np.random.default_rng(number))
                assert found.used.any()
                assert not found.cells
            continue
        for done, forged in forgeries(given, vector):
            with suppress(Undefined):
                assert fill_trace(emission, forged).failure() is not None, done
    assert defined
