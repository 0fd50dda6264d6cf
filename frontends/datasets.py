"""Small real data sets that come with scikit-learn, split and scaled, with seeded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values

from .optimizers import SGD, Optimizer
from .schedules import Schedule

Reals = NDArray[np.float64]
Labels = NDArray[np.int64]

FILES = {"digits": ("digits.csv.gz", 0), "iris": ("iris.csv", 1)}
"""The file of a data set in scikit-learn's folder `datasets/data`, and how many lines its head has."""


@dataclass(frozen=True, slots=True)
class Split:
    """Labelled examples, some to train on and some to test with."""

    train_inputs: Reals
    train_labels: Labels
    test_inputs: Reals
    test_labels: Labels

    @property
    def classes(self) -> int:
        """Return the number of classes: the greatest label plus one."""
        return int(self.train_labels.max()) + 1

    @property
    def train_targets(self) -> Reals:
        """Return the training labels as indicators, one column per class."""
        return np.eye(self.classes)[self.train_labels]

    @property
    def test_targets(self) -> Reals:
        """Return the test labels as indicators, one column per class."""
        return np.eye(self.classes)[self.test_labels]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A reproducible recipe for training: the order of examples, the learning rate or schedule, and the optimiser for
    which the rate is meant.
    """

    batch: int
    epochs: int
    learning_rate: float | Schedule
    seed: int = 0
    optimizer: Optimizer = field(default_factory=SGD)

    def batches(self, split: Split) -> Iterator[dict[str, Values | float]]:
        """Yield the inputs of steps 1, 2, ... other than parameters and state: inputs, targets, and scalars.

        Each epoch of a data set's batches is a fresh shuffle without its incomplete last batch.
        """
        generator = np.random.default_rng(self.seed)
        targets, steps = split.train_targets, count(1)
        for _ in range(self.epochs):
            order = generator.permutation(len(targets))
            for start in range(0, len(order) - self.batch + 1, self.batch):
                chosen, t = order[start : start + self.batch], next(steps)
                rate = self.learning_rate(t) if callable(self.learning_rate) else self.learning_rate
                scalars = self.optimizer.values(t, rate)
                yield {"inputs": split.train_inputs[chosen], "targets": targets[chosen], **scalars}


def digits(seed: int, test_size: int = 360) -> Split:
    """Return 1,797 handwritten digits of 8 x 8 pixels (UCI, test part), where each pixel is a multiple of 1/16 from 0
    to 1.
    """
    inputs, labels = _load("digits")
    return _split(inputs / 16.0, labels, test_size, seed)


def iris(seed: int, test_size: int = 30) -> Split:
    """Return 150 irises of three species, with four measures each, which are scaled to run from 0 to 1."""
    inputs, labels = _load("iris")
    least, greatest = inputs.min(axis=0), inputs.max(axis=0)
    return _split((inputs - least) / (greatest - least), labels, test_size, seed)


def accuracy(outputs: Values, labels: Labels) -> float:
    """Return the share of rows whose greatest output is at the label."""
    return float((np.argmax(outputs, axis=1) == labels).mean())


def _load(name: str) -> tuple[Reals, Labels]:
    """Inputs and labels, from scikit-learn's files; scikit-learn itself takes a second or two to import."""
    found = find_spec("sklearn")
    if found is None or found.origin is None:
        raise CircuitizeError(
            f"expected scikit-learn for the {name} data, found none; install it: pip install 'circuitize[demo]'"
        )
    file, heads = FILES[name]
    path = Path(found.origin).parent / "datasets" / "data" / file
    if not path.is_file():
        raise CircuitizeError(f"expected scikit-learn's {name} data in {path}, found no such file")
    table = np.loadtxt(path, delimiter=",", skiprows=heads)
    return table[:, :-1].copy(), table[:, -1].astype(np.int64)


def _split(inputs: Reals, labels: Labels, test_size: int, seed: int) -> Split:
    """Split as scikit-learn's `train_test_split` does: the first rows of a permutation are those to test with."""
    if not 0 < test_size < len(inputs):
        raise CircuitizeError(f"expected from 1 to {len(inputs) - 1} examples to test with, found {test_size}")
    order = np.random.RandomState(seed).permutation(len(inputs))
    test, train = order[:test_size], order[test_size:]
    return Split(inputs[train], labels[train], inputs[test], labels[test])
