"""Digits and irises: the examples of scikit-learn, split as scikit-learn splits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.datasets import Split, digits, iris


def parts(split: Split) -> list[NDArray[Any]]:
    return [split.train_inputs, split.test_inputs, split.train_labels, split.test_labels]


@pytest.mark.parametrize(
    ("load", "digest"),
    [
        (digits, "24508e8ca16773d57786bae12f01331684b70ff61276c3ae13bd4574127b0b1f"),
        (iris, "a8a1b9ae9b0911c10645ebe677e83bb291044ead3b590b9a6a39f221975794d2"),
    ],
    ids=["digits", "iris"],
)
def test_these_are_the_bytes(load: Callable[[int], Split], digest: str) -> None:
    found = parts(load(3))
    assert [part.dtype for part in found] == [np.float64] * 2 + [np.int64] * 2
    assert hashlib.sha256(b"".join(part.tobytes() for part in found)).hexdigest() == digest


@pytest.mark.deep
@pytest.mark.parametrize("load", [digits, iris], ids=["digits", "iris"])
@pytest.mark.parametrize("size", [1, 40, 149])
def test_scikit_learn_loads_and_splits_the_same(load: Callable[..., Split], size: int) -> None:
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    inputs, labels = getattr(datasets, f"load_{load.__name__}")(return_X_y=True)
    scaled = inputs / 16 if load is digits else (inputs - inputs.min(0)) / (inputs.max(0) - inputs.min(0))
    for seed in range(3):
        expected = train_test_split(scaled, labels, test_size=size, random_state=seed)
        for ours, theirs in zip(parts(load(seed, size)), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("size", [0, 150])
def test_some_train_and_some_test(size: int) -> None:
    with pytest.raises(CircuitizeError, match=f"expected from 1 to 149 examples to test with, found {size}"):
        iris(0, size)
