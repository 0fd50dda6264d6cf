"""Networks of ten million parameters, one of 3 layers and one of 8, on digits enlarged to the size of MNIST's.

circuitize estimate examples/mlp_10m.py:step
circuitize prove    examples/mlp_10m.py:deep --prover tensor --not-zero-knowledge -o proof
"""

from dataclasses import replace

import numpy as np

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.layers import Model, dense, relu, sequential, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MODEL = sequential(dense(784, 3072), relu(), dense(3072, 2464), relu(), dense(2464, 10, initializer=zeros))
WIDTH = 1232
HIDDEN = [layer for _ in range(6) for layer in (dense(WIDTH, WIDTH), relu())]
DEEP = sequential(dense(784, WIDTH), relu(), *HIDDEN, dense(WIDTH, 10, initializer=zeros))
RECIPE = Recipe(batch=64, epochs=1, learning_rate=0.1)


def step() -> Program:
    """Return one training step of the network 784-3072-2464-10 on a batch of 64."""
    return _step(MODEL)


def deep() -> Program:
    """Return one training step of a network of 8 layers, 784-1232-1232-1232-1232-1232-1232-1232-10, on a batch of
    64.
    """
    return _step(DEEP)


def _step(model: Model) -> Program:
    """Return a training step calibrated on 2 steps of the first epoch; the second of these steps is the first
    example.
    """
    small = digits(seed=0)
    images = np.kron(small.train_inputs.reshape(-1, 8, 8), np.ones((1, 3, 3)))
    inputs = np.pad(images, ((0, 0), (2, 2), (2, 2))).reshape(-1, 784)
    program = training.training_step(model, mean_squared_error, SGD(), RECIPE.batch)
    batches = RECIPE.batches(replace(small, train_inputs=inputs))
    examples = real.record(program, model.initial(seed=0), batches, count=2)
    return training.with_examples(program, *reversed(examples))
