"""A user's own data: examples to train on and to test with, in formats that are chosen from the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, log2
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values

from .formats import ONE_HOT, Format
from .optimizers import SGD, Optimizer
from .schedules import Schedule
from .table import read_csv

Reals = NDArray[np.float64]
Kind = Literal["classes", "regression"]

FRACTION_BITS = 8
"""The number of fraction bits of standardised data: steps of 1/256 of a standard deviation."""

SIGNIFICANT_BITS = 10
"""How many bits the greatest magnitude has of data that is taken as it is."""

MOST_CLASSES = 4096


@dataclass(frozen=True)
class Scale:
    """The number that is subtracted from each column of the data, and the number by which the column is then
    divided.
    """

    center: Reals
    width: Reals

    def apply(self, values: Reals) -> Reals:
        """Return the values of the columns as the model reads them: less the center and divided by the width."""
        return np.asarray((values - self.center) / self.width, np.float64)

    def undo(self, values: Reals) -> Reals:
        """Return the original values of the columns for which `apply` gives the given numbers."""
        return np.asarray(values * self.width + self.center, np.float64)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples in which every value is a value of its format, with the rows to train on and the rows to test with.

    The fields `inputs` and `targets` of a Dataset are formats; `input_scale` and `target_scale` say how the values of
    the Dataset relate to the given data. For classes, the targets of a Dataset are indicators, and `classes` are the
    classes' names in the order of the indicators; for a regression `classes` is empty.
    """

    train_inputs: Reals
    train_targets: Reals
    test_inputs: Reals
    test_targets: Reals
    inputs: Format
    targets: Format
    input_scale: Scale
    target_scale: Scale
    classes: tuple[str, ...]

    @property
    def features(self) -> int:
        """Return how many numbers the input of an example has."""
        return int(self.train_inputs.shape[1])

    @property
    def outputs(self) -> int:
        """Return how many numbers the target of an example has."""
        return int(self.train_targets.shape[1])

    def batches(
        self,
        batch: int,
        epochs: int,
        learning_rate: float | Schedule,
        optimizer: Optimizer | None = None,
        seed: int = 0,
    ) -> Iterator[dict[str, NDArray[np.float64] | float]]:
        """Yield the inputs of steps 1, 2, ... other than parameters and state: inputs, targets, and scalars.

        Each epoch of a dataset's batches is a fresh shuffle without its incomplete last batch. Raise CircuitizeError
        for a batch that is larger than the training data.
        """
        size = len(self.train_inputs)
        if not 1 <= batch <= size:
            raise CircuitizeError(f"expected a batch of 1 to {size} examples, found {batch}; choose another")
        generator, steps = np.random.default_rng(seed), count(1)
        scalars = (optimizer or SGD()).values
        for _ in range(epochs):
            order = generator.permutation(size)
            for start in range(0, size - batch + 1, batch):
                chosen, t = order[start : start + batch], next(steps)
                rate = learning_rate(t) if callable(learning_rate) else learning_rate
                yield {
                    "inputs": self.train_inputs[chosen],
                    "targets": self.train_targets[chosen],
                    **scalars(t, rate),
                }

    def accuracy(self, outputs: object) -> float:
        """Return the share of test examples whose greatest output is at the example's class, given the outputs for all
        test examples.
        """
        found = np.asarray(outputs)
        if not self.classes or found.shape != self.test_targets.shape:
            raise CircuitizeError(
                f"expected outputs of shape {list(self.test_targets.shape)} for classes, found {list(found.shape)}"
            )
        return float((found.argmax(axis=1) == self.test_targets.argmax(axis=1)).mean())

    def __repr__(self) -> str:
        kind = f"{len(self.classes)} classes" if self.classes else "regression"
        sizes = f"{len(self.train_inputs):,} + {len(self.test_inputs):,} examples"
        return f"Dataset({sizes}, {self.features} features, {kind})"


def dataset(
    inputs: object,
    targets: object = None,
    *,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    kind: Kind | None = None,
    standardise: bool = True,
    test: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """Return a Dataset of examples from arrays, or from a CSV file, with formats chosen from the data.

    The argument `inputs` is either an array of [examples, features], with `targets` as a second array, or the path of a
    CSV file in which `target` names the column to predict (default: the last) and `columns` the features (default: all
    others). Targets that are whole numbers or names are taken as classes, others as a regression; `kind` states which
    they are if the data suggest the wrong one. The option `standardise` scales the columns of a data set to mean 0 and
    deviation 1, as computed from the training examples; without it, values are not scaled. The argument `test` is the
    share of examples that is kept for testing; `seed` decides which examples. Every value of a data set is rounded once
    to its format, half to even; values in the test examples that pass the range of the training examples saturate.

    Raise CircuitizeError for cells that hold no number, arrays whose shapes do not fit, and too little data.
    """
    if isinstance(inputs, (str, Path)):
        if targets is not None:
            raise CircuitizeError("expected no targets beside a CSV file, found some; name the column: target=...")
        features, answers, where = _from_csv(Path(inputs), columns, target, kind)
    else:
        features, answers, where = _features(inputs), _answers(targets), ""
    if len(features) != len(answers):
        raise CircuitizeError(
            f"expected a target for each of {len(features):,} examples, found {len(answers):,}; match them by row"
        )
    if kind not in (None, "classes", "regression"):
        raise CircuitizeError(f"expected kind='classes' or kind='regression', found {kind!r}; leave it out to be found")
    train, held = _split(len(features), test, seed)
    wanted = kind or ("regression" if answers.dtype.kind == "f" and not _whole(answers) else "classes")
    values, classes = _indicators(answers, where) if wanted == "classes" else (_columns(answers), ())
    input_scale = _scale(features[train], standardise)
    target_scale = _scale(values[train], standardise and not classes)
    inputs_scaled, targets_scaled = input_scale.apply(features), target_scale.apply(values)
    input_format = _format(inputs_scaled[train], standardise)
    target_format = ONE_HOT if classes else _format(targets_scaled[train], standardise)
    exact_inputs, exact_targets = input_format.nearest(inputs_scaled), target_format.nearest(targets_scaled)
    return Dataset(
        exact_inputs[train],
        exact_targets[train],
        exact_inputs[held],
        exact_targets[held],
        input_format,
        target_format,
        input_scale,
        target_scale,
        classes,
    )


def _from_csv(
    path: Path, columns: Sequence[str] | None, target: str | None, kind: Kind | None
) -> tuple[Reals, Values, str]:
    """Return the features, the targets, and a text for messages that says where the file has the targets."""
    table = read_csv(path)
    answer = table.column(target) if target is not None else len(table.names) - 1
    chosen = [table.column(name) for name in columns] if columns is not None else list(range(len(table.names)))
    chosen = [column for column in chosen if column != answer]
    if not chosen:
        raise CircuitizeError(f"{path}: expected features beside {table.names[answer]!r}, found none; add columns")
    answers = table.answers(answer, None if kind is None else kind == "regression")
    return table.numbers(chosen), answers, f"{path}: column {table.names[answer]!r}: "


def _features(inputs: object) -> Reals:
    try:
        found = np.asarray(inputs, np.float64)
    except (TypeError, ValueError):
        raise CircuitizeError("expected numbers as inputs, found something else; convert them to an array") from None
    if found.ndim != 2 or 0 in found.shape:
        raise CircuitizeError(
            f"expected inputs of shape [examples, features], found {list(found.shape)}; an example is a row"
        )
    if not np.isfinite(found).all():
        row, column = (int(at) for at in np.argwhere(~np.isfinite(found))[0])
        raise CircuitizeError(
            f"expected finite inputs, found {found[row, column]} in row {row}, column {column}; clean the data"
        )
    return found


def _answers(targets: object) -> Values:
    if targets is None:
        raise CircuitizeError("expected targets beside the inputs, found none; give an answer for each example")
    found = np.asarray(targets)
    if found.dtype.kind not in "iufbU" or found.ndim not in (1, 2) or 0 in found.shape:
        raise CircuitizeError(
            f"expected targets as numbers or names, one or a row for each example, found {found.dtype} of shape "
            f"{list(found.shape)}"
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise CircuitizeError("expected finite targets, found NaN or infinity; clean the data")
    return found


def _whole(answers: Values) -> bool:
    """Return whether numbers look like classes: whole, and of few distinct values."""
    return answers.ndim == 1 and bool((answers == np.rint(answers)).all()) and len(np.unique(answers)) <= 32


def _indicators(answers: Values, where: str) -> tuple[Reals, tuple[str, ...]]:
    """Return indicators of classes, with a column for each class, in ascending order."""
    if answers.ndim != 1:
        raise CircuitizeError(f"expected a class for each example, found targets of shape {list(answers.shape)}")
    names, places = np.unique(answers, return_inverse=True)
    if not 2 <= len(names) <= MOST_CLASSES:
        raise CircuitizeError(
            f"{where}expected 2 to {MOST_CLASSES:,} classes, found {len(names):,}; for numbers say kind='regression'"
        )
    shown = [str(int(name)) if name.dtype.kind == "f" and name == np.rint(name) else str(name) for name in names]
    return np.eye(len(names))[places], tuple(shown)


def _columns(answers: Values) -> Reals:
    if answers.dtype.kind == "U":
        raise CircuitizeError(f"expected numbers to predict, found {str(answers.flat[0])!r}; say kind='classes'")
    return np.asarray(answers, np.float64).reshape(len(answers), -1)


def _split(size: int, test: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    held = round(size * test)
    if not 0 <= test < 1 or size - held < 1:
        raise CircuitizeError(f"expected a share from 0 to below 1 to test with, found {test:g} of {size:,} examples")
    order = np.random.default_rng(seed).permutation(size)
    return np.sort(order[held:]), np.sort(order[:held])


def _scale(values: Reals, standardise: bool) -> Scale:
    width = np.ones(values.shape[1])
    if not standardise:
        return Scale(np.zeros_like(width), width)
    deviation = values.std(axis=0)
    return Scale(values.mean(axis=0), np.where(deviation > 0, deviation, 1.0))


def _format(values: Reals, standardised: bool) -> Format:
    """Return the format that holds the given values: signed unless all values are at least 0, with a power of two as
    its bound.
    """
    greatest = float(np.abs(values).max())
    exponent = ceil(log2(greatest)) if greatest > 0 else 0
    exponent += int(greatest == 2.0**exponent and greatest > 0 and not standardised)
    fraction_bits = FRACTION_BITS if standardised else SIGNIFICANT_BITS - exponent
    bits = max(exponent + fraction_bits, 1)
    if bits > 40:
        raise CircuitizeError(f"expected values below 2^32, found {greatest:g}; rescale them, or say standardise=True")
    return Format(fraction_bits, 0 if values.min() >= 0 else -(1 << bits), 1 << bits)
