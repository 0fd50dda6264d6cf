"""Handwritten digits with cross-entropy: a 64-32-10 network, by gradient descent, with momentum, or by Adam.

circuitize estimate examples/digits_xent.py:step
circuitize prove    examples/digits_xent.py:adam --prover groth16 -o proof
"""

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.adam import Adam
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.layers import dense, relu, sequential, zeros
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.optimizers import Momentum
from circuitize.frontends.schedules import cosine
from circuitize.sims import real

MODEL = sequential(dense(64, 32), relu(), dense(32, 10, initializer=zeros))
"""The last layer starts at zero, so that the first predictions are all alike."""

PRECISION = Precision(margin=4.0)
"""Gradients of single batches vary: intermediate values may be four times what the examples show."""

RECIPES = {
    "step": Recipe(batch=16, epochs=30, learning_rate=0.2),
    "momentum": Recipe(16, 20, cosine(0.05, steps=20 * 89), optimizer=Momentum(decay=0.875)),
    "adam": Recipe(batch=16, epochs=20, learning_rate=0.004, optimizer=Adam()),
}
"""The whole training run that each step is of; an epoch is 89 batches."""


def step() -> Program:
    """One step of gradient descent on a batch of 16."""
    return _step("step")


def momentum() -> Program:
    """One step with momentum; the rate, an input, follows a cosine."""
    return _step("momentum")


def adam() -> Program:
    """One step of Adam."""
    return _step("adam")


def _step(name: str) -> Program:
    """Calibrated on 32 moments of the training run, the last one first."""
    recipe = RECIPES[name]
    program = training.training_step(MODEL, cross_entropy, recipe.optimizer, recipe.batch, precision=PRECISION)
    moments = real.record(program, training.start(program, MODEL, seed=0), recipe.batches(digits(seed=0)), count=32)
    return training.with_examples(program, *reversed(moments))
