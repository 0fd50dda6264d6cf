"""A 784-128-10 network, of the size that is usual for MNIST. The package does not contain MNIST: the data are
scikit-learn's 8 x 8 digits, enlarged.

Each pixel of a digit becomes a square of 3 x 3, and a margin of 2 makes an image of 28 x 28. The enlarged digits give
the same circuits as MNIST, but not the same accuracy.

    circuitize estimate examples/mnist_mlp.py:step
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, Split, digits
from circuitize.frontends.layers import dense, relu, sequential, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MODEL = sequential(dense(784, 128), relu(), dense(128, 10, initializer=zeros))
RECIPE = Recipe(batch=8, epochs=1, learning_rate=0.1)


def step() -> Program:
    """Return one training step on a batch of 8, calibrated on 4 steps of the first epoch; the last of these steps is
    the first example.
    """
    return _step(RECIPE)


def step64() -> Program:
    """Return one training step on a batch of 64."""
    return _step(replace(RECIPE, batch=64))


def predict() -> Program:
    """Return a program that gives the prediction for one example, with the weights of the steps that `step` is
    calibrated on.
    """
    batches = [{**batch, "inputs": batch["inputs"][:1]} for batch in step().examples]
    return training.with_examples(training.predict(MODEL, batch=1), *batches)


def data(seed: int) -> Split:
    """Return the digits, split as `digits(seed)` splits them and enlarged to 784 pixels."""
    small = digits(seed)
    return replace(small, train_inputs=enlarge(small.train_inputs), test_inputs=enlarge(small.test_inputs))


def enlarge(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of 64 pixels enlarged to rows of 784."""
    large = np.kron(images.reshape(-1, 8, 8), np.ones((1, 3, 3)))
    return np.pad(large, ((0, 0), (2, 2), (2, 2))).reshape(-1, 784)


def _step(recipe: Recipe) -> Program:
    program = training.training_step(MODEL, mean_squared_error, SGD(), recipe.batch)
    examples = real.record(program, MODEL.initial(seed=0), recipe.batches(data(seed=0)), count=4)
    return training.with_examples(program, *reversed(examples))
