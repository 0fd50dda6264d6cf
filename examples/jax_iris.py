"""Irises by a network written in JAX: trained with circuitize's derivative and SGD, and by a whole training step
written in JAX.

circuitize estimate examples/jax_iris.py:step
circuitize check    examples/jax_iris.py:given
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, iris
from circuitize.frontends.formats import ONE_HOT, WEIGHTS, Format
from circuitize.frontends.jax import from_jax, from_jax_loss, from_jax_step
from circuitize.frontends.optimizers import SGD
from circuitize.sims import real

GENERATOR = np.random.default_rng(0)
PARAMETERS = {
    "hidden": {"kernel": GENERATOR.normal(size=(4, 16)) * 0.5, "bias": np.zeros(16)},
    "scores": {"kernel": GENERATOR.normal(size=(16, 3)) * 0.25, "bias": np.zeros(3)},
}
NAMES = [f"{layer}.{array}" for layer in PARAMETERS for array in PARAMETERS[layer]]
RECIPE = Recipe(batch=8, epochs=60, learning_rate=0.125)
MEASURES = Format.between(0.0, 1.0, fraction_bits=8)
"""Each measure of a flower, scaled to run from 0 to 1."""


def forward(parameters: Any, flowers: Any) -> Any:
    """Return a score for each kind of iris."""
    hidden = jax.nn.relu(flowers @ parameters["hidden"]["kernel"] + parameters["hidden"]["bias"])
    return hidden @ parameters["scores"]["kernel"] + parameters["scores"]["bias"]


def loss(scores: Any, kinds: Any) -> Any:
    """Return the cross-entropy of the scores and the indicators of the kinds."""
    return -jnp.mean(jnp.sum(kinds * jax.nn.log_softmax(scores), -1))


MODEL = from_jax(forward, PARAMETERS, np.zeros((RECIPE.batch, 4)), formats=dict.fromkeys(NAMES, WEIGHTS))


def step() -> Program:
    """Return one training step with circuitize's derivative on a batch of 8, calibrated on 8 steps of a training run;
    the last of these steps is the first example.
    """
    program = training.training_step(MODEL, from_jax_loss(loss), SGD(), RECIPE.batch, MEASURES)
    examples = real.record(program, MODEL.initial(seed=0), RECIPE.batches(iris(seed=0)), count=8)
    return training.with_examples(program, *reversed(examples))


def descend(parameters: Any, flowers: Any, kinds: Any, rate: Any) -> Any:
    """Return the parameters after a step of gradient descent, as users of JAX write it, and the loss."""
    value, gradient = jax.value_and_grad(lambda p: loss(forward(p, flowers), kinds))(parameters)
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradient), value


def given() -> Program:
    """Return a whole training step that uses JAX's own derivative."""
    batch = next(iter(RECIPE.batches(iris(seed=0))))
    formats = dict.fromkeys([f"parameters.{name}" for name in NAMES], WEIGHTS)
    formats |= {"flowers": MEASURES, "kinds": ONE_HOT, "rate": Format.between(0.0, 1.0, 16)}
    return from_jax_step(descend, PARAMETERS, batch["inputs"], batch["targets"], 0.125, formats=formats)
