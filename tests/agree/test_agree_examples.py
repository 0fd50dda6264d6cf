"""Every example: float, integers and circuit agree on its own data, near it, and on values at random."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import check_mutations
from example_programs import example

from circuitize.cli.vectors import inputs_to_try
from circuitize.sims.agree import R1CS, agree

PROGRAMS = [
    ("iris.py:step", 5, 2.0**-9),
    ("iris.py:predict", 5, 2.0**-9),
    ("dense.py:small", 20, 2.0**-12),
    ("dense.py:large", 2, 2.0**-12),
    ("digits.py:step", 2, 2e-4),
    ("digits.py:predict", 5, 2.0**-5),
    pytest.param("mnist_mlp.py:step", 1, 2.0**-8, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "count", "error"), PROGRAMS)
def test_examples_agree(name: str, count: int, error: float) -> None:
    """`error` bounds the difference from float64 on the examples, the first input tried."""
    loaded = example(name)
    target = R1CS(loaded.integer)
    vectors = list(inputs_to_try(loaded.integer, count, np.random.default_rng(0)))
    found = agree(loaded.integer, vectors, [target])
    assert found.mismatches == 0, found.first_difference
    assert found.undefined < count
    on_data = agree(loaded.integer, vectors[:1], [], loaded.given)
    assert on_data.float_error and max(on_data.float_error.values()) <= error
    if target.emission.system.constraints < 1 << 19:
        check_mutations(target, vectors, 6)
