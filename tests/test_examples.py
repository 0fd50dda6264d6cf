"""Every example runs on its own data in both languages, keeps its formats, and learns."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import example_names
import example_programs
import numpy as np
import pytest
import tiers
from example_modules import example
from example_programs import EXAMPLES

from circuitize.circuits.calibrate import example_inputs
from circuitize.circuits.integers import Check, Contract, ReLU, Shift
from circuitize.circuits.operation import Operation
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import unsigned
from circuitize.circuits.validate import validate
from circuitize.circuits.values import to_reals
from circuitize.frontends import datasets, formats, training
from circuitize.sims import integer, real

MADE = [{"return": Program}, {"return": IntegerProgram}]
"""What a function that takes nothing says of itself."""


def programs(module: ModuleType) -> dict[str, Callable[[], Program]]:
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__annotations__", {}) in MADE
    }


ALL = [(file, name) for file, name in (each.split(".py:") for each in example_names.ALL)]
DEEP = {
    *(pair for pair in ALL if pair[0] == "mlp_10m"),
    *((file, "evaluate") for file in ("cnn", "digits", "transformer")),
    *(("digits", "momentum"), ("transformer", "spherical_step"), ("transformer", "spherical_evaluate")),
    *(("digits_xent", "step"), ("digits_xent", "momentum"), ("digits", "scores")),
}
"""mlp_1m is mlp_10m with fewer elements. The demo evaluates; test_transformer.py runs a step of spherical attention.
Cross entropy is in the steps of Adam; `scores` predicts with the weights of a step.
"""
MARKED = [pytest.param(*pair, marks=pytest.mark.deep if pair in DEEP else ()) for pair in ALL]
STEPS = [parameter for parameter in MARKED if str(parameter.values[1]).startswith("step")]


def test_no_example_is_without_a_name() -> None:
    files = (path.stem for path in EXAMPLES.glob("*.py"))
    assert sorted(ALL) == sorted((file, name) for file in files for name in programs(example(file)))


def test_the_examples_are_these() -> None:
    assert set(ALL) >= {
        ("iris", "step"),
        ("iris", "predict"),
        ("digits", "step"),
        ("digits", "momentum"),
        ("digits", "adam"),
        ("digits", "predict"),
        ("mnist_mlp", "step"),
        ("mnist_mlp", "step64"),
        ("mnist_mlp", "predict"),
        ("dense", "large"),
        ("dense", "small"),
        ("mlp_1m", "step"),
        ("mlp_10m", "step"),
        ("digits_xent", "step"),
        ("digits_xent", "momentum"),
        ("digits_xent", "adam"),
        ("cnn", "step"),
        ("cnn", "predict"),
        ("transformer", "step"),
        ("transformer", "spherical_step"),
        ("jet", "scores"),
        ("jet", "classify"),
        ("quantized", "step"),
        ("quantized", "predict"),
        ("jax_iris", "step"),
        ("jax_iris", "given"),
    }


@cache
def program(file: str, name: str) -> tuple[Program, IntegerProgram]:
    found = example_programs.example(f"{file}.py:{name}")
    return found.given, found.integer


@pytest.mark.parametrize(("file", "name"), MARKED)
def test_runs_close_in_both_languages(file: str, name: str) -> None:
    exact, integers = program(file, name)
    assert exact.binds() and exact.examples
    validate(exact.arrow)
    validate(integers.arrow)
    for batch in exact.examples[:2]:
        if isinstance(exact, IntegerProgram):
            integer.run(integers, batch)
            continue
        rounded = dict(zip([p.name for p in exact.inputs], example_inputs(exact, batch, "test"), strict=True))
        expected, found = real.run(exact, rounded), integer.run(integers, batch)
        for port in integers.outputs:
            bound = 2e-4 if port.format.fraction_bits >= 14 else 2e-3
            if (file, name) == ("digits", "predict"):  # 8-bit activations
                bound = 2.0**-5
            if file == "transformer":  # its gradients pass two layer norms
                bound = 3e-3
            if port.name.endswith("_moment"):  # of gradients times 2^12, and their squares
                bound = 5e-3 * max(float(np.abs(expected[port.name]).max()), 1.0)
            assert np.abs(to_reals(port.format, found[port.name]) - expected[port.name]).max() <= bound, port.name


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_steps_keep_the_formats_of_parameters(file: str, name: str) -> None:
    integers = program(file, name)[1]
    entering = {port.name: port for port in integers.inputs}
    parameters = [port for port in integers.outputs if port.name != "loss"]
    assert len(parameters) == {"mlp_1m": 6, "mlp_10m": 6, "transformer": 17}.get(file, 4)
    for port in parameters:
        assert entering[port.name] == port and port.visibility is Visibility.COMMITTED
        assert port.format is not None and (port.format.width, port.format.fraction_bits) == (18, 14)


def test_digits_have_the_formats_they_are_judged_by() -> None:
    formats = {port.name: port.format for port in program("digits", "step")[0].inputs}
    inputs, targets, rate = formats["inputs"], formats["targets"], formats["learning_rate"]
    assert inputs is not None and targets is not None and rate is not None
    assert (inputs.shape, inputs.fraction_bits, inputs.low, inputs.high) == ((16, 64), 4, 0, 16)
    assert (targets.shape, targets.fraction_bits, targets.low, targets.high) == ((16, 10), 0, 0, 1)
    assert (rate.shape, rate.fraction_bits, rate.low, rate.high) == ((), 16, 0, 1 << 16)


def test_digits_are_predicted_in_eight_bits() -> None:
    """One image a frame; weights, hidden layer and pixels in at most 8 bits; 95 % of the whole test set is right."""
    given, integers = program("digits", "predict")
    held = [port for port in integers.inputs if port.held]
    assert len(held) == 4 and all(port.format is not None and port.format.width == 8 for port in held)
    relu = next(edge for edge in integers.arrow.edges() if isinstance(edge.operation, ReLU))
    assert integers.arrow.type(relu.targets[0]) == unsigned((1, 32), 8, 5)
    assert len(given.examples) == 360
    scores = np.concatenate([integer.run(integers, batch)["outputs"] for batch in given.examples])
    labels = np.concatenate([batch["outputs"] for batch in given.examples])
    assert datasets.accuracy(scores, labels) >= 0.95


def test_jets_are_a_network_of_six_bit_weights() -> None:
    """Against the layers written out in numpy; the head takes the greatest score."""
    scores, classify = program("jet", "scores")[1], program("jet", "classify")[1]
    for jets in scores.examples:
        batch = integer.rounded(scores, jets)
        x = batch["features"]
        for number in range(1, 5):
            x = x @ batch[f"dense{number}.weight"] + batch[f"dense{number}.bias"]
            x = np.minimum(np.maximum(x, 0) >> 6, 255) if number < 4 else x
        np.testing.assert_array_equal(integer.run(scores, jets)["scores"], x)
        assert integer.run(classify, jets)["class"] == np.argmax(x)


@pytest.mark.parametrize(("name", "inputs", "outputs"), [("large", 784, 128), ("small", 20, 10)])
def test_dense_layers_shift_by_8_into_16_bits(name: str, inputs: int, outputs: int) -> None:
    exact, integers = program("dense", name)
    assert exact.inputs[0].format is not None and exact.inputs[0].format.shape == (inputs, outputs)

    def each(kind: type[Operation]) -> list[Any]:
        return [edge.operation for edge in integers.arrow.edges() if isinstance(edge.operation, kind)]

    assert each(Shift) == [Shift(8)] and each(Check) == [Check(-(1 << 15), (1 << 15) - 1)]
    assert len(each(Contract)) == 1
    assert all(port.visibility is not Visibility.COMMITTED for port in exact.inputs + exact.outputs)


def test_enlarged_digits() -> None:
    image = np.arange(64.0).reshape(1, 64)
    large = example("mnist_mlp").enlarge(image).reshape(28, 28)
    assert not large[:2].any() and not large[:, -2:].any()
    np.testing.assert_array_equal(large[3:26:3, 3:26:3], image.reshape(8, 8))


def test_batches_are_reproducible_epochs() -> None:
    split = datasets.digits(seed=1)
    assert len(split.test_labels) == 360 and len(split.train_labels) == 1437
    recipe = datasets.Recipe(batch=16, epochs=2, learning_rate=0.1, seed=5)
    first, again = list(recipe.batches(split)), list(recipe.batches(split))
    assert len(first) == 2 * (1437 // 16)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one["inputs"], other["inputs"])
    epoch = np.concatenate([batch["inputs"] for batch in first[: 1437 // 16]])
    assert len(np.unique(epoch, axis=0)) == len(epoch)


def accuracies(file: str, seeds: range, integers: IntegerProgram | None = None) -> list[float]:
    """Train by the example's recipe, in integers if an integer step is given; test in the same arithmetic."""
    module = example(file)
    load = getattr(datasets, file)
    inputs = getattr(module, "MEASURES", formats.DATA)
    step = program(file, "step")[0]
    names = [parameter.name for parameter in module.MODEL.parameters]
    found = []
    for seed in seeds:
        split = load(seed)
        predict = training.predict(module.MODEL, len(split.test_labels), inputs)
        start, batches = module.MODEL.initial(0), module.RECIPE.batches(split)
        test = {"inputs": split.test_inputs}
        last: Any
        *_, last = integer.train(integers, start, batches) if integers else real.train(step, start, batches)
        if integers:
            ports = {port.name: port.format for port in integers.outputs}
            reals = {name: to_reals(format, last[name]) for name in names if (format := ports[name])}
            exactly = quantize(training.with_examples(predict, {**reals, **test}))
            outputs: Any = integer.run(exactly, reals | test)["outputs"]
        else:
            outputs = real.run(predict, {name: last[name] for name in names} | test)["outputs"]
        found.append(datasets.accuracy(outputs, split.test_labels))
    return found


@cache
def accuracy_in_floats(file: str, seed: int) -> float:
    return accuracies(file, range(seed, seed + 1))[0]


def test_iris_learns() -> None:
    seeds = tiers.seeds(1, deep=5)
    exact = [accuracy_in_floats("iris", seed) for seed in seeds]
    integers = accuracies("iris", seeds, program("iris", "step")[1])
    assert np.mean(exact) >= 0.94 and abs(np.mean(integers) - np.mean(exact)) <= 0.01, (exact, integers)


def test_quantized_irises_have_the_bits_that_they_state() -> None:
    """In the step as in the prediction: weights of four, activations of five, from accumulators of 16."""
    for name in ("step", "predict"):
        arrow = program("quantized", name)[1].arrow
        formats = [arrow.format(wire) for wire in range(arrow.wire_count)]
        for shape, fraction_bits, low, high in (((4, 16), 2, -8, 7), ((16, 3), 2, -8, 7), ((8, 16), 4, 0, 31)):
            found = [f for f in formats if f.shape == shape and f.fraction_bits == fraction_bits]
            assert any((f.low, f.high) == (low, high) for f in found), (name, shape)


@pytest.mark.deep
def test_quantized_irises_learn() -> None:
    """Straight-through derivatives train four-bit weights, in integers as in floats: 88 % over five splits."""
    module, step = example("quantized"), program("quantized", "step")[1]
    names = [parameter.name for parameter in module.MODEL.parameters]
    ports, found = {port.name: port.format for port in step.outputs}, []
    for seed in range(5):
        split = datasets.iris(seed)
        *_, last = integer.train(step, module.MODEL.initial(0), module.RECIPE.batches(split))
        reals = {name: to_reals(ports[name], last[name]) for name in names} | {"inputs": split.test_inputs}
        predict = training.predict(module.MODEL, len(split.test_labels), module.MEASURES)
        exactly = quantize(training.with_examples(predict, reals))
        found.append(datasets.accuracy(integer.run(exactly, reals)["outputs"], split.test_labels))
    assert np.mean(found) >= 0.88, found


@pytest.mark.deep
def test_digits_learn_in_integers() -> None:
    """At least 94 % over five splits, and within a point of float arithmetic on the same batches.

    On one split, the demo's test says the same; in `make test`, of a smaller network.
    """
    exact = [accuracy_in_floats("digits", seed) for seed in range(5)]
    integers = accuracies("digits", range(5), program("digits", "step")[1])
    assert np.mean(exact) >= 0.95 and np.mean(integers) >= 0.94, (exact, integers)
    assert abs(np.mean(integers) - np.mean(exact)) <= 0.01, (exact, integers)


def test_the_guide_runs() -> None:
    """Every block of docs/programs.md, in order."""
    text = (EXAMPLES.parent / "docs" / "programs.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 6
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/programs.md", "exec"), names)
    assert to_reals(names["exact"].outputs[-1].format, names["loss"]) < 0.1
    assert names["attended"].arrow.target[0].shape == (2, 16)
