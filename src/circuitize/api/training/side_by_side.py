"""Training a network in integers and in float64 side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.phases import Progress, silent, under_way
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, Split, accuracy
from circuitize.frontends.formats import DATA, Format
from circuitize.frontends.layers import Model
from circuitize.sims import integer, real

MEASURED_EVERY = 5
"""The number of epochs from one measurement of the test accuracy to the next."""

N = TypeVar("N", bound=np.generic)
Reals = NDArray[np.float64]
Values = dict[str, Reals]


@dataclass
class Curve:
    """The course of one training run: the mean loss of each epoch, and the parameters after some epochs, as real
    numbers.
    """

    losses: list[float] = field(default_factory=list)
    snapshots: dict[int, Values] = field(default_factory=dict)
    accuracies: dict[int, float] = field(default_factory=dict)

    @property
    def loss(self) -> float:
        """Return the mean loss of the last epoch of training."""
        return self.losses[-1]

    @property
    def accuracy(self) -> float:
        """Return the accuracy, in [0, 1], after the last epoch for which it was measured."""
        return self.accuracies[max(self.accuracies)]


def train_both(
    model: Model,
    recipe: Recipe,
    step: Program,
    integers: IntegerProgram,
    split: Split,
    inputs: Format = DATA,
    progress: Progress = silent,
) -> dict[str, Curve]:
    """Train a network in float64 and in integers, on the same batches and from the same start, and return both curves;
    the accuracies are those of the test examples.
    """
    initial = model.initial(seed=0)
    floats = _train(
        "float64", recipe, split, real.train(step, initial, recipe.batches(split)), lambda name, value: value, progress
    )
    formats = {port.name: port.format for port in integers.outputs}
    exact = _train(
        "integers",
        recipe,
        split,
        integer.train(integers, initial, recipe.batches(split)),
        lambda name, value: to_reals(formats[name], value),
        progress,
    )
    with under_way(progress, "measuring accuracies"):
        predictor = training.predict(model, len(split.test_labels), inputs)
        _measure(floats, split, lambda inputs: real.run(predictor, inputs)["outputs"])
        examples = [{**snapshot, "inputs": split.test_inputs} for snapshot in exact.snapshots.values()]
        exactly = quantize(training.with_examples(predictor, *examples))
        _measure(exact, split, lambda inputs: integer.run(exactly, inputs)["outputs"])
    return {"float64": floats, "integers": exact}


def _train(
    name: str,
    recipe: Recipe,
    split: Split,
    steps: Iterator[Mapping[str, NDArray[N]]],
    real_value: Callable[[str, NDArray[N]], Reals],
    progress: Progress,
) -> Curve:
    curve, losses = Curve(), []
    length = len(split.train_labels) // recipe.batch
    for number, outputs in enumerate(steps, 1):
        losses.append(float(real_value("loss", outputs["loss"])))
        epoch, rest = divmod(number, length)
        if rest:
            continue
        progress(f"training in {name}: epoch {epoch} of {recipe.epochs}, loss {np.mean(losses):.4f}")
        curve.losses.append(float(np.mean(losses)))
        losses.clear()
        if epoch == 1 or epoch % MEASURED_EVERY == 0 or epoch == recipe.epochs:
            curve.snapshots[epoch] = {key: real_value(key, value) for key, value in outputs.items() if key != "loss"}
    progress("")
    return curve


def _measure(curve: Curve, split: Split, predict: Callable[[Values], NDArray[np.generic]]) -> None:
    for epoch, parameters in curve.snapshots.items():
        outputs = predict({**parameters, "inputs": split.test_inputs})
        curve.accuracies[epoch] = accuracy(outputs, split.test_labels)
