"""Irises: a 4-16-3 network with mean squared error, trained by stochastic gradient descent. The example of irises is
the smallest complete one.

circuitize estimate examples/iris.py:step
circuitize check    examples/iris.py:step
"""

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, iris
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MODEL = sequential(dense(4, 16), relu(), dense(16, 3))
RECIPE = Recipe(batch=8, epochs=60, learning_rate=0.125)
MEASURES = Format.between(0.0, 1.0, fraction_bits=8)
"""Each measure of a flower, scaled to run from 0 to 1."""


def step() -> Program:
    """Return one training step on a batch of 8, calibrated on 8 steps of a training run; the last of these steps is the
    first example.
    """
    program = training.training_step(MODEL, mean_squared_error, SGD(), RECIPE.batch, inputs=MEASURES)
    examples = real.record(program, MODEL.initial(seed=0), RECIPE.batches(iris(seed=0)), count=8)
    return training.with_examples(program, *reversed(examples))


def predict() -> Program:
    """Return a program that gives predictions for a batch of 8, calibrated with the weights of the steps that `step` is
    calibrated on.
    """
    program = training.predict(MODEL, RECIPE.batch, inputs=MEASURES)
    return training.with_examples(program, *step().examples)
