"""A small step with momentum for tests of trainings, its evaluation, and data as a file of one's own would have it."""

from __future__ import annotations

import numpy as np

import circuitize as cz
from circuitize.circuits.operation import Values
from circuitize.circuits.program import Program
from circuitize.frontends.formats import Format
from circuitize.frontends.optimizers import Optimizer
from circuitize.frontends.training import with_examples
from circuitize.sims.real import record

FEATURES = Format.between(-1.0, 1.0, 8)
MODEL = cz.sequential(cz.dense(3, 4), cz.relu(), cz.dense(4, 2))


def data() -> dict[str, Values]:
    """Twenty points of two classes."""
    random = np.random.default_rng(7)
    inputs = FEATURES.nearest(random.uniform(-1, 1, (20, 3)))
    return {"inputs": inputs, "targets": np.eye(2)[(inputs.sum(axis=1) > 0).astype(int)]}


def step(optimizer: Optimizer | None = None) -> Program:
    chosen = optimizer or cz.Momentum()
    made = cz.training_step(MODEL, cz.mean_squared_error, chosen, 4, inputs=FEATURES)
    scalars = {name: np.array(float(value)) for name, value in chosen.values(1, 1 / 32).items()}
    batches = [{**{name: values[4 * k : 4 * k + 4] for name, values in data().items()}, **scalars} for k in range(5)]
    return with_examples(made, *record(made, cz.start(made, MODEL, 0), batches, 3))


def judge() -> Program:
    made = cz.evaluation(MODEL, 4, loss=cz.mean_squared_error, inputs=FEATURES)
    return with_examples(made, {**MODEL.initial(0), **{name: values[:4] for name, values in data().items()}})


def rates(number: int) -> dict[str, float]:
    """Another rate at each step."""
    return {"learning_rate": 1 / (32 + number), "momentum": 0.5}
