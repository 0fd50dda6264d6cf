"""What XLA computes is what numpy computes, to the bit: each integer operation, and random programs of them.

Many are side by side in one program, since it is compiling that takes time.
"""

from __future__ import annotations

import numpy as np
import pytest
import tiers
from integers_cases import cases
from r1cs_programs import single
from random_integers import SOURCES, random_program
from xla_programs import AS_USED, compare, draw


def test_every_operation() -> None:
    some = tiers.of_each(cases())
    programs = [single(case.operation, *case.sources) for case in some]
    random = np.random.default_rng(4)
    draws = [
        [case.draw(random) if case.sources else [np.array(1)] for case in some]
        for _ in range(tiers.count(8, deep=200))
    ]  # fmt: skip
    defined, undefined = compare(programs, draws)
    assert defined > 10 * undefined > 0


@pytest.mark.parametrize("magnitude", [1 << 12, 1 << 40])
def test_random_programs(magnitude: int) -> None:
    count, together = tiers.count(12, deep=500), tiers.count(12, deep=20)
    for start in range(0, count, together):
        randoms = [np.random.default_rng([magnitude, seed]) for seed in range(start, start + together)]
        programs = [random_program(random, SOURCES, 8, magnitude) for random in randoms]
        draws = [[draw(one, random) for one, random in zip(programs, randoms, strict=True)] for _ in range(10)]
        defined, undefined = compare(programs, draws)
        assert defined > 5 * together and undefined > 0


def test_programs_as_xla_optimizes_them() -> None:
    """By the options that XLA has for a user."""
    randoms = [np.random.default_rng([1, seed]) for seed in range(tiers.count(12, deep=20))]
    programs = [random_program(random, SOURCES, 8, 1 << 12) for random in randoms]
    draws = [[draw(one, random) for one, random in zip(programs, randoms, strict=True)] for _ in range(10)]
    defined, _ = compare(programs, draws, AS_USED)
    assert defined > len(programs)
