"""Random integer programs as Plonkish systems: what one operation leaves to the next is right, and leaves no choice."""

from __future__ import annotations

import numpy as np
import pytest
from plonkish_programs import fill, fill_trace, require_outputs, smallest, vector
from random_integers import random_program
from tiers import seeds

from circuitize.circuits.errors import OverflowRisk, TypingError, Undefined
from circuitize.circuits.types import Fixed
from circuitize.sims import integer
from circuitize.sims.forgery import forgeries

SOURCES = [Fixed((3,), 0, -2000, 1999), Fixed((3,), 0, 1, 120)]


@pytest.mark.parametrize("seed", seeds(8, deep=400))
def test_random_programs(seed: int) -> None:
    random = np.random.default_rng(seed)
    while True:
        try:
            given = random_program(random, SOURCES, 8, 1 << 40)
            emission = smallest(given)
            break
        except (OverflowRisk, TypingError):
            continue
    defined = 0
    for attempt in range(12):
        chosen = vector(given, attempt)
        try:
            integer.trace(given, chosen)
        except Undefined:
            for done, forged in forgeries(given, chosen):
                try:
                    assert fill_trace(emission, forged).failure() is not None, done
                except Undefined:
                    continue
            continue
        run = fill(emission, given, chosen, attempt)
        assert run.failure() is None
        require_outputs(run, given, chosen)
        defined += 1
        if defined == 1:
            assert not run.mutants(random).cells
        if defined == 3:
            break
