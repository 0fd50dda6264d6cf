"""A network of a million parameters, 784-768-512-10, on digits enlarged to the size of MNIST's.

circuitize estimate examples/mlp_1m.py:step
"""

from dataclasses import replace

import numpy as np

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.layers import dense, relu, sequential, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MODEL = sequential(dense(784, 768), relu(), dense(768, 512), relu(), dense(512, 10, initializer=zeros))
RECIPE = Recipe(batch=64, epochs=1, learning_rate=0.1)


def step() -> Program:
    """Return one training step on a batch of 64, calibrated on 2 steps of the first epoch; the second of these steps is
    the first example.
    """
    small = digits(seed=0)
    images = np.kron(small.train_inputs.reshape(-1, 8, 8), np.ones((1, 3, 3)))
    inputs = np.pad(images, ((0, 0), (2, 2), (2, 2))).reshape(-1, 784)
    program = training.training_step(MODEL, mean_squared_error, SGD(), RECIPE.batch)
    batches = RECIPE.batches(replace(small, train_inputs=inputs))
    examples = real.record(program, MODEL.initial(seed=0), batches, count=2)
    return training.with_examples(program, *reversed(examples))
