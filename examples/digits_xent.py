"""Handwritten digits with cross-entropy: a 64-32-10 network, trained by gradient descent, with momentum, or by Adam.

circuitize estimate examples/digits_xent.py:step
circuitize prove    examples/digits_xent.py:adam --prover groth16 -o proof
"""

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.adam import Adam
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.formats import WEIGHTS, Format
from circuitize.frontends.layers import Model, dense, relu, sequential, zeros
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.optimizers import Momentum
from circuitize.frontends.schedules import cosine
from circuitize.sims import real


def network(weights: Format = WEIGHTS) -> Model:
    """Return a network whose last layer starts at zero, so that the first predictions are all alike."""
    return sequential(dense(64, 32, format=weights), relu(), dense(32, 10, format=weights, initializer=zeros))


MODEL = network()

PRECISION = Precision(margin=4.0)
"""Gradients of single batches vary: intermediate values may be four times what the examples show."""

SIXTEEN = Precision(fraction_bits=16, significant_bits=16, margin=8.0)
ADAM_SIXTEEN = Adam(scale_bits=11, first=Format.signed(30, 16), second=Format.between(0.0, 2.0**24 - 2.0**-16, 16))
"""The moments are those of gradients times 2^11, so their 16 fraction bits are 27 of the gradient, 38 of its square."""

RECIPES = {
    "step": Recipe(batch=16, epochs=30, learning_rate=0.2),
    "momentum": Recipe(16, 20, cosine(0.05, steps=20 * 89), optimizer=Momentum(decay=0.875)),
    "adam": Recipe(batch=16, epochs=20, learning_rate=0.004, optimizer=Adam()),
    "adam_sixteen": Recipe(batch=16, epochs=6, learning_rate=0.004, optimizer=ADAM_SIXTEEN),
}
"""The whole training run that each step is of; an epoch is 89 batches."""

MODELS = {**dict.fromkeys(RECIPES, MODEL), "adam_sixteen": network(Format.signed(20, 16))}


def step() -> Program:
    """Return one training step by gradient descent, on a batch of 16."""
    return _step("step")


def momentum() -> Program:
    """Return one training step with momentum; the learning rate, an input, follows a cosine."""
    return _step("momentum")


def adam() -> Program:
    """Return one training step by Adam."""
    return _step("adam")


def adam_sixteen() -> Program:
    """Return one training step by Adam with 16 fraction bits everywhere: in weights, in moments and in what is
    rounded.
    """
    return _step("adam_sixteen", SIXTEEN)


def _step(name: str, precision: Precision = PRECISION) -> Program:
    """Return one training step, calibrated on 32 steps of a training run; the last of these steps is the first
    example.
    """
    recipe, model = RECIPES[name], MODELS[name]
    program = training.training_step(model, cross_entropy, recipe.optimizer, recipe.batch, precision=precision)
    examples = real.record(program, training.start(program, model, seed=0), recipe.batches(digits(seed=0)), count=32)
    return training.with_examples(program, *reversed(examples))
