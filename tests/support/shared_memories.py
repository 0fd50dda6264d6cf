"""A training step that is small, yet whose weights and activations lie in block memory, read by several stages."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_integers
from circuitize.frontends import training
from circuitize.frontends.layers import Model, dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD

Integers = NDArray[np.int64]

MODEL = sequential(dense(4, 64), relu(), dense(64, 2))
BATCH = 5


def small_step(model: Model, batch: int, width: int) -> tuple[IntegerProgram, dict[str, Integers]]:
    """The step of a model of two outputs on inputs of such a width, and the weights that it starts from."""
    draw = np.random.default_rng(0)
    program = training.training_step(model, mean_squared_error, SGD(), batch)
    start = training.start(program, model, seed=0)
    examples: list[dict[str, NDArray[np.float64]]] = [
        {
            **start,
            "inputs": draw.integers(0, 17, (batch, width)) / 16,
            "targets": np.eye(2)[draw.integers(0, 2, batch)],
            "learning_rate": np.array(0.125),
        }
        for _ in range(4)
    ]
    made = quantize(training.with_examples(program, *examples))
    initial = {port.name: to_integers(port, start[port.name], "test") for port in made.inputs if port.held}
    return made, initial


@cache
def step() -> tuple[IntegerProgram, dict[str, Integers]]:
    """The step of a 4-64-2 network on a batch of 5, and the weights that it starts from."""
    return small_step(MODEL, BATCH, 4)


def frames(count: int, seed: int) -> dict[str, Integers]:
    """Frames of which about one in four has a learning rate so large that a weight leaves its interval."""
    made, _ = step()
    draw = np.random.default_rng(seed)
    found: dict[str, Integers] = {}
    for port in made.inputs:
        if not port.held:
            bits = port.format.fraction_bits
            values = {
                "inputs": draw.integers(0, 17, (count, BATCH, 4)) / 16,
                "targets": np.eye(2)[draw.integers(0, 2, (count, BATCH))],
                "learning_rate": np.full(count, 0.125),
            }[port.name]
            found[port.name] = np.rint(values * 2.0**bits).astype(np.int64)
            if port.name == "learning_rate":
                found[port.name][draw.random(count) < 0.25] = port.format.high
    return found
