"""A small network that trains and predicts, and its designs with modes."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.modes import Modal
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_integers
from circuitize.frontends import training
from circuitize.frontends.layers import Model, dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD, Momentum

Integers = NDArray[np.int64]

MODEL = sequential(dense(4, 3), relu(), dense(3, 2))
BATCH = 2
SINGLE = sequential(dense(3, 2))


def step() -> Program:
    """The step of a 4-3-2 network."""
    return _reals(MODEL, 4)[0]


def predict() -> Program:
    """Its prediction for the same batch."""
    return _reals(MODEL, 4)[1]


def single_step() -> Program:
    """The step of one layer: small, yet all frames but those that read have several words."""
    return _reals(SINGLE, 3)[0]


def single_predict() -> Program:
    """Its prediction."""
    return _reals(SINGLE, 3)[1]


def _reals(model: Model, width: int, momentum: bool = False) -> tuple[Program, Program, dict[str, NDArray[np.float64]]]:
    draw = np.random.default_rng(0)
    optimizer = Momentum(decay=0.875) if momentum else SGD()
    step = training.training_step(model, mean_squared_error, optimizer, BATCH)
    start = training.start(step, model, seed=0)
    examples: list[dict[str, NDArray[np.float64]]] = [
        {
            **start,
            "inputs": draw.integers(0, 17, (BATCH, width)) / 16,
            "targets": np.eye(2)[draw.integers(0, 2, BATCH)],
            "learning_rate": np.array(0.125),
        }
        for _ in range(4)
    ]
    predict = training.predict(model, BATCH)
    names = {port.name for port in predict.inputs}
    own = [{name: value for name, value in one.items() if name in names} for one in examples]
    return training.with_examples(step, *examples), training.with_examples(predict, *own), start


@cache
def programs(momentum: bool = False) -> tuple[IntegerProgram, IntegerProgram, dict[str, Integers]]:
    """The step of a 4-3-2 network, its prediction for the same batch, and the state that it starts from."""
    return _integers(*_reals(MODEL, 4, momentum))


@cache
def single() -> tuple[IntegerProgram, IntegerProgram, dict[str, Integers]]:
    """The same of the network of one layer."""
    return _integers(*_reals(SINGLE, 3))


def _integers(
    step: Program, predict: Program, start: dict[str, NDArray[np.float64]]
) -> tuple[IntegerProgram, IntegerProgram, dict[str, Integers]]:
    integer, predicting = quantize(step), quantize(predict)
    initial = {port.name: to_integers(port, start[port.name], "test") for port in integer.inputs if port.held}
    return integer, predicting, initial


def modal(kind: str) -> tuple[Modal, dict[str, Integers]]:
    """`both`, `step`, `predict` or `momentum`, and the contents of its memory."""
    step, predict, initial = programs(kind == "momentum")
    made = {
        "both": lambda: Modal(step, predict),
        "momentum": lambda: Modal(step, predict),
        "step": lambda: Modal(step),
        "predict": lambda: Modal(predict),
    }[kind]()
    return made, {port.name: initial[port.name] for port in made.state}
