"""Trains a network in integers and in float64 side by side, and draws both."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, Split, accuracy
from circuitize.frontends.formats import DATA, Format
from circuitize.frontends.layers import Model
from circuitize.sims import integer, real

from .output import progress, show

MEASURED_EVERY = 5
"""Epochs from one measurement of the test accuracy to the next."""

Values = dict[str, NDArray[Any]]


@dataclass
class Curve:
    """One training run: the mean loss of each epoch, and the parameters at some of them, as real numbers."""

    losses: list[float] = field(default_factory=list)
    moments: dict[int, Values] = field(default_factory=dict)
    accuracies: dict[int, float] = field(default_factory=dict)

    @property
    def loss(self) -> float:
        return self.losses[-1]

    @property
    def accuracy(self) -> float:
        return self.accuracies[max(self.accuracies)]


def train_both(
    model: Model, recipe: Recipe, step: Program, integers: IntegerProgram, split: Split, inputs: Format = DATA
) -> dict[str, Curve]:
    """The same batches from the same start, in float64 and in integers; accuracies are of the test examples."""
    initial = model.initial(seed=0)
    floats = _train(
        "float64", recipe, split, real.train(step, initial, recipe.batches(split)), lambda name, value: value
    )
    formats = {port.name: port.format for port in integers.outputs}
    exact = _train(
        "integers",
        recipe,
        split,
        integer.train(integers, initial, recipe.batches(split)),
        lambda name, value: to_reals(formats[name], value),
    )
    with progress("measuring accuracies"):
        predictor = training.predict(model, len(split.test_labels), inputs)
        _measure(floats, split, lambda inputs: real.run(predictor, inputs)["outputs"])
        examples = [{**moment, "inputs": split.test_inputs} for moment in exact.moments.values()]
        exactly = quantize(training.with_examples(predictor, *examples))
        _measure(exact, split, lambda inputs: integer.run(exactly, inputs)["outputs"])
    return {"float64": floats, "integers": exact}


def _train(
    name: str,
    recipe: Recipe,
    split: Split,
    steps: Iterator[Mapping[str, NDArray[Any]]],
    real_value: Callable[[str, Any], Any],
) -> Curve:
    curve, losses = Curve(), []
    length = len(split.train_labels) // recipe.batch
    for number, outputs in enumerate(steps, 1):
        losses.append(float(real_value("loss", outputs["loss"])))
        epoch, rest = divmod(number, length)
        if rest:
            continue
        show(f"training in {name}: epoch {epoch} of {recipe.epochs}, loss {np.mean(losses):.4f}")
        curve.losses.append(float(np.mean(losses)))
        losses.clear()
        if epoch == 1 or epoch % MEASURED_EVERY == 0 or epoch == recipe.epochs:
            curve.moments[epoch] = {key: real_value(key, value) for key, value in outputs.items() if key != "loss"}
    show("")
    return curve


def _measure(curve: Curve, split: Split, predict: Callable[[Values], NDArray[Any]]) -> None:
    for epoch, parameters in curve.moments.items():
        outputs = predict({**parameters, "inputs": split.test_inputs})
        curve.accuracies[epoch] = accuracy(outputs, split.test_labels)


def plotting() -> ModuleType:
    """matplotlib's pyplot, drawing to files only. Raises CircuitizeError where it is missing."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise CircuitizeError(
            "expected matplotlib for the picture, found none; install it: pip install 'circuitize[demo]'"
        ) from None
    return pyplot


def draw(curves: Mapping[str, Curve], path: Path) -> None:
    """The losses and accuracies of the runs as a PNG. Raises CircuitizeError where matplotlib is missing."""
    pyplot = plotting()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    styles = {"float64": {"color": "#9aa5b1", "linewidth": 5}, "integers": {"color": "#c2410c", "linewidth": 1.5}}
    for name, curve in curves.items():
        left.plot(range(1, len(curve.losses) + 1), curve.losses, label=name, **styles[name])
        right.plot(list(curve.accuracies), [100 * a for a in curve.accuracies.values()], label=name, **styles[name])
    left.set(xlabel="epoch", ylabel="mean squared error", title="training loss", yscale="log")
    right.set(xlabel="epoch", ylabel="test accuracy (%)", title="digits not trained on")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    pyplot.close(figure)
    write_whole(path, [content.getvalue()])
