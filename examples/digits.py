"""Handwritten digits: a 64-32-10 network, mean squared error, stochastic gradient descent; real data, real training.

circuitize estimate examples/digits.py:step
circuitize prove    examples/digits.py:step --prover groth16 --keys keys -o proof
"""

from dataclasses import replace

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.layers import dense, relu, sequential, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

MODEL = sequential(dense(64, 32), relu(), dense(32, 10, initializer=zeros))
"""The last layer starts at zero, so that the first predictions are zero and not noise."""

RECIPE = Recipe(batch=16, epochs=150, learning_rate=0.1)
"""The whole training run. The error is a mean over 160 numbers, hence many epochs at this rate."""


def step() -> Program:
    """One training step on a batch of 16; calibrated on 16 moments of the first 30 epochs, the last one first."""
    program = training.training_step(MODEL, mean_squared_error, SGD(), RECIPE.batch)
    beginning = replace(RECIPE, epochs=30).batches(digits(seed=0))
    moments = real.record(program, MODEL.initial(seed=0), beginning, count=16)
    return training.with_examples(program, *reversed(moments))


def predict() -> Program:
    """Predictions for a batch of 16, with the weights of the same moments."""
    return training.with_examples(training.predict(MODEL, RECIPE.batch), *step().examples)
