"""Small programs to plan: a training step and a prediction of three measures; and all designs of a program."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

import circuitize as cz
from circuitize import Program
from circuitize.api.planning.design import Design, Problem, solutions
from circuitize.frontends.layers import Model

BITS = (7, 10)
"""Fraction bits to try, with three times as many pairs of widths."""


@cache
def model() -> Model:
    return cz.sequential(cz.dense(3, 4), cz.relu(), cz.dense(4, 1))


@cache
def step() -> Program:
    """Calibrated on a short run."""
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(40, 3))
    data = cz.dataset(inputs, inputs @ np.array([1.0, -2.0, 0.5]))
    made = cz.training_step(model(), cz.mean_squared_error, cz.SGD(), batch=4, inputs=data.inputs, targets=data.targets)
    return cz.calibrated(made, cz.start(made, model(), seed=0), data.batches(batch=4, epochs=1, learning_rate=0.125))


@cache
def prediction() -> Program:
    """On twenty random inputs, with the weights that training begins with."""
    generator = np.random.default_rng(1)
    weights = model().initial(seed=0)
    examples = [{**weights, "inputs": generator.uniform(size=(1, 3))} for _ in range(20)]
    return cz.predict(model(), batch=1, examples=examples)


def everything(problems: Sequence[Problem], designs: Iterator[Design]) -> list[Design]:
    """All that comes of problems, nothing let go."""

    def fail(reason: str) -> None:
        raise AssertionError(reason)

    found = (solutions(problems, design, lambda *_: True, fail) for design in designs)
    return [*itertools.chain.from_iterable(found)]
