"""Whole training runs of the examples with cross-entropy: what they learn, in floats and in integers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from example_modules import example

from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, accuracy, digits
from circuitize.sims import integer, real

RUNS = [("digits_xent", "step", 0.95), ("digits_xent", "momentum", 0.95), ("digits_xent", "adam", 0.95)]
RUNS += [("cnn", "step", 0.97)]
DEEP = pytest.mark.deep


@cache
def step(file: str, name: str) -> Program:
    made = getattr(example(file), name)()
    assert isinstance(made, Program)
    return made


def recipe(file: str, name: str) -> Recipe:
    found = getattr(example(file), "RECIPES", {}).get(name) or example(file).RECIPE
    assert isinstance(found, Recipe)
    return found


def learnt(file: str, name: str, seed: int, integers: IntegerProgram | None = None) -> float:
    """The accuracy on the test part of a split, after the example's run on the rest; tested in the same arithmetic."""
    module, split, program = example(file), digits(seed), step(file, name)
    start, batches = training.start(program, module.MODEL, seed=0), recipe(file, name).batches(split)
    predict = training.predict(module.MODEL, len(split.test_labels), precision=program.precision)
    names, test = [p.name for p in module.MODEL.parameters], {"inputs": split.test_inputs}
    values: dict[str, Any]
    outputs: np.ndarray
    if integers is None:
        *_, values = real.train(program, start, batches)
        outputs = real.run(predict, {n: values[n] for n in names} | test)["outputs"]
    else:
        *_, values = integer.train(integers, start, batches)
        formats = {port.name: port.format for port in integers.outputs}
        reals = {n: to_reals(format, values[n]) for n in names if (format := formats[n])}
        exact = quantize(training.with_examples(predict, reals | test))
        outputs = integer.run(exact, reals | test)["outputs"]
    return accuracy(outputs, split.test_labels)


@cache
def learnt_in_floats(file: str, name: str, seed: int) -> float:
    return learnt(file, name, seed)


@DEEP
@pytest.mark.parametrize(("file", "name", "least"), RUNS[:2])
def test_learns_in_floats(file: str, name: str, least: float) -> None:
    """On one split; the others are in the deep test below, Adam and convolutions in the next one."""
    assert learnt_in_floats(file, name, 0) >= least


@DEEP
@pytest.mark.parametrize(("file", "name", "least"), RUNS[2:])
def test_learns_in_integers_on_one_split(file: str, name: str, least: float) -> None:
    """The largest state and the largest model; at most one test example in fifty apart from float arithmetic.

    test_adam_bits.py says the same of Adam, of fewer bits.
    """
    exact, found = learnt_in_floats(file, name, 0), learnt(file, name, 0, quantize(step(file, name)))
    assert exact >= least and found >= least - 0.01 and abs(found - exact) <= 0.02, (exact, found)


@pytest.mark.deep
@pytest.mark.parametrize(("file", "name", "least"), RUNS)
def test_learns_in_integers(file: str, name: str, least: float) -> None:
    """The mean over five splits, and within a point of float arithmetic on the same batches."""
    integers = quantize(step(file, name))
    exact = [learnt_in_floats(file, name, seed) for seed in range(5)]
    found = [learnt(file, name, seed, integers) for seed in range(5)]
    assert np.mean(found) >= least and abs(np.mean(found) - np.mean(exact)) <= 0.01, (exact, found)
