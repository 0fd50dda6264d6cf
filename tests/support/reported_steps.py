"""A training step of two small layers, whose report names all that a larger step's does."""

from __future__ import annotations

import numpy as np

from circuitize import Program
from circuitize.frontends import training
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MODEL = sequential(dense(2, 2), relu(), dense(2, 2))
BATCH = 2
TARGETS = np.eye(BATCH)


def step() -> Program:
    """One step on a batch of 2, calibrated on four steps of a run."""
    measures = Format.between(0.0, 1.0, fraction_bits=8)
    program = training.training_step(MODEL, mean_squared_error, SGD(), BATCH, inputs=measures)
    random = np.random.default_rng(1)
    batches = [{"inputs": random.random((BATCH, 2)), "targets": TARGETS, "learning_rate": 0.125} for _ in range(4)]
    return training.with_examples(
        program, *reversed(real.record(program, MODEL.initial(seed=0), iter(batches), count=4))
    )
