"""Programs of the examples by XLA: all their outputs are numpy's, on their own data, near it and at random."""

from __future__ import annotations

import example_names
import numpy as np
import pytest
from example_programs import example

from circuitize.sims.agree import OnDevice, agree
from circuitize.sims.vectors import inputs_to_try
from circuitize.sims.xla.device import processor

SMALL = ("iris.py:step", "cnn.py:predict", "quantized.py:predict")
LARGE = [pytest.param(name, marks=pytest.mark.deep) for name in example_names.ALL if name not in SMALL]


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_examples_are_those_of_numpy(name: str) -> None:
    program = example(name).integer
    count = 2 if name.startswith(("mlp_", "matmul")) else 8
    found = agree(program, inputs_to_try(program, count, np.random.default_rng(0)), [OnDevice(program, processor())])
    assert found.mismatches == 0, found.first_difference
    assert found.undefined < found.vectors
