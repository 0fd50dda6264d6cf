"""Every example: float, integers and circuit agree on its own data, near it, and on values at random."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tiers
from agreement import check_single_changes
from example_programs import EXAMPLES, example

from circuitize.circuits.program import IntegerProgram
from circuitize.sims.agree import R1CS, agree
from circuitize.sims.vectors import inputs_to_try

FEW = tiers.count(3, deep=5)
PROGRAMS = [
    ("iris.py:step", FEW, 2.0**-9),
    pytest.param("iris.py:predict", 5, 2.0**-9, marks=pytest.mark.deep),
    ("dense.py:small", 2 * FEW, 2.0**-12),
    pytest.param("dense.py:large", 1, 2.0**-12, marks=pytest.mark.deep),
    pytest.param("digits.py:step", 2, 2e-4, marks=pytest.mark.deep),
    ("digits.py:predict", FEW, 2.0**-5),
    pytest.param("digits.py:scores", 1, 2.0**-12, marks=pytest.mark.deep),
    pytest.param("digits.py:evaluate", 2, None, marks=pytest.mark.deep),
    pytest.param("digits.py:momentum", 1, 1e-4, marks=pytest.mark.deep),
    pytest.param("digits.py:adam", 1, 2.0**-8, marks=pytest.mark.deep),
    pytest.param("digits_xent.py:step", 1, 2e-4, marks=pytest.mark.deep),
    pytest.param("digits_xent.py:momentum", 1, 2e-4, marks=pytest.mark.deep),
    pytest.param("digits_xent.py:adam", 1, 0.2, marks=pytest.mark.deep),
    pytest.param("digits_xent.py:adam_sixteen", 1, 2.0**-7, marks=pytest.mark.deep),
    ("cnn.py:step", 1, 3e-4),
    pytest.param("cnn.py:predict", 3, 2.0**-9, marks=pytest.mark.deep),
    pytest.param("onnx_digits.py:step", 1, 3e-4, marks=pytest.mark.deep),
    ("jet.py:scores", FEW, None),
    pytest.param("jet.py:classify", 5, None, marks=pytest.mark.deep),
    pytest.param("mnist_mlp.py:predict", 1, 2.0**-5, marks=pytest.mark.deep),
    pytest.param("mnist_mlp.py:step", 1, 2.0**-8, marks=pytest.mark.deep),
    pytest.param("jax_iris.py:step", 1, 2e-4, marks=pytest.mark.deep),
    pytest.param("jax_iris.py:given", 1, 2e-4, marks=pytest.mark.deep),
    pytest.param("quantized.py:step", 1, 2e-4, marks=pytest.mark.deep),
    ("quantized.py:predict", 3, 2.0**-5),
    pytest.param("gpt2_folder.py:logits", 1, 2.0**-12, marks=pytest.mark.deep),
    pytest.param("trees.py:predict", 3, None, marks=pytest.mark.deep),
]
LARGER = {
    *("mnist_mlp.py:step64", "mlp_1m.py:step", "mlp_10m.py:step", "mlp_10m.py:deep", "matmul.py:product"),
    *("transformer.py:step", "transformer.py:spherical_step", "lenet.py:predict"),
    *("cnn.py:evaluate", "transformer.py:evaluate", "transformer.py:spherical_evaluate", "gpt2_folder.py:apart"),
}
"""Of these the executors are compared elsewhere; their circuits are those of the others with more elements."""


def test_no_example_is_left_out() -> None:
    assert {str(getattr(given, "values", given)[0]) for given in PROGRAMS} | LARGER == {
        f"{path.name}:{function}"
        for path in EXAMPLES.glob("*.py")
        for function in re.findall(r"^def (\w+)\(\) -> (?:Integer)?Program:", path.read_text(), re.MULTILINE)
    }


@pytest.mark.parametrize(("name", "count", "error"), PROGRAMS)
def test_examples_agree(name: str, count: int, error: float | None) -> None:
    """`error` bounds the difference from float64 on the examples, the first input tried; none for a program that is
    given in integers. (Adam's moments are a power of two away from 1, so that theirs are relative to that.)
    """
    loaded = example(name)
    target = R1CS(loaded.integer)
    vectors = list(inputs_to_try(loaded.integer, count, np.random.default_rng(0)))
    found = agree(loaded.integer, vectors, [target])
    assert found.mismatches == 0, found.first_difference
    assert found.undefined < count
    on_data = agree(loaded.integer, vectors[:1], [], loaded.given)
    if error is None:
        assert isinstance(loaded.given, IntegerProgram) and not on_data.float_error
    else:
        assert on_data.float_error and max(on_data.float_error.values()) <= error
    check_single_changes(target, vectors)
