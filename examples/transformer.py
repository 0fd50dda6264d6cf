"""Handwritten digits by a transformer of one block: eight tokens, the rows of the image.

circuitize estimate examples/transformer.py:step
circuitize prove    examples/transformer.py:step --prover tensor --not-zero-knowledge -o proof
"""

from dataclasses import replace

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.attention import Attention, softmax_attention, spherical_attention
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.image_layers import flatten
from circuitize.frontends.layers import Model, dense, sequential, zeros
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.schedules import cosine, warm_up
from circuitize.frontends.transformer import positions, tokens, transformer_block
from circuitize.sims import real


def network(attention: Attention) -> Model:
    """Rows of eight pixels become tokens of width 16; the last layer reads all of them, and starts at zero."""
    return sequential(
        tokens(8, 8),
        dense(8, 16),
        positions(8, 16, deviation=0.5),
        transformer_block(16, heads=2, hidden=16, attention=attention),
        flatten(),
        dense(8 * 16, 10, initializer=zeros),
    )


MODELS = {"step": network(softmax_attention), "spherical_step": network(spherical_attention)}
RECIPE = Recipe(batch=16, epochs=20, learning_rate=warm_up(cosine(0.0625, steps=20 * 89), steps=2 * 89))
PRECISION = Precision(margin=8.0)


def step() -> Program:
    """One training step on a batch of 16, attention by softmax."""
    return _step("step")


def spherical_step() -> Program:
    """The same with spherical attention: the norm of the scores in softmax's place."""
    return _step("spherical_step")


def _step(name: str) -> Program:
    """Calibrated on 128 moments of the first five epochs, where gradients are greatest; a middle one first."""
    model = MODELS[name]
    program = training.training_step(model, cross_entropy, RECIPE.optimizer, RECIPE.batch, precision=PRECISION)
    beginning = replace(RECIPE, epochs=5).batches(digits(seed=0))
    moments = real.record(program, model.initial(seed=0), beginning, count=128)
    return training.with_examples(program, *moments[64:], *moments[:64])
