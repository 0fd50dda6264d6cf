"""Handwritten digits by a transformer of one block, whose eight tokens are the rows of the image.

circuitize estimate examples/transformer.py:step
circuitize prove    examples/transformer.py:step --prover tensor --not-zero-knowledge -o proof
circuitize train    examples/transformer.py:step --epochs 20 --seed 5eed --dataset examples/digits.py:data \\
                    --schedule examples/transformer.py:RECIPE --evaluate examples/transformer.py:evaluate -o trained
"""

from dataclasses import replace
from itertools import cycle

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.attention import Attention, softmax_attention, spherical_attention
from circuitize.frontends.datasets import Recipe, digits
from circuitize.frontends.evaluation import evaluation
from circuitize.frontends.image_layers import flatten
from circuitize.frontends.layers import Model, dense, sequential, zeros
from circuitize.frontends.losses import cross_entropy
from circuitize.frontends.schedules import cosine, warm_up
from circuitize.frontends.transformer import positions, tokens, transformer_block
from circuitize.sims import real


def network(attention: Attention) -> Model:
    """Return a transformer in which rows of eight pixels become tokens of width 16; the last layer reads all tokens,
    and starts at zero.
    """
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
    """Return one training step on a batch of 16, with softmax attention."""
    return _step("step")


def spherical_step() -> Program:
    """Return one training step on a batch of 16, with spherical attention, which has the norm of the scores in place of
    the softmax.
    """
    return _step("spherical_step")


def _step(name: str) -> Program:
    """Return a training step calibrated on 128 steps of the first five epochs, in which gradients are greatest; a
    middle step is the first example.
    """
    model = MODELS[name]
    program = training.training_step(model, cross_entropy, RECIPE.optimizer, RECIPE.batch, precision=PRECISION)
    beginning = replace(RECIPE, epochs=5).batches(digits(seed=0))
    examples = real.record(program, model.initial(seed=0), beginning, count=128)
    return training.with_examples(program, *examples[64:], *examples[:64])


def evaluate() -> Program:
    """Return a program that counts how many of 60 images the network recognises, calibrated on the test set with the
    weights that `step` is calibrated on.
    """
    return _evaluate("step")


def spherical_evaluate() -> Program:
    """Return a program that counts how many of 60 images the network recognises with spherical attention, calibrated on
    the test set with the weights that `spherical_step` is calibrated on.
    """
    return _evaluate("spherical_step")


def _evaluate(name: str) -> Program:
    split, count, model = digits(seed=0), 60, MODELS[name]
    parts = cycle(slice(k, k + count) for k in range(0, len(split.test_labels), count))
    names = [parameter.name for parameter in model.parameters]
    examples = [
        {**{n: example[n] for n in names}, "inputs": split.test_inputs[at], "targets": split.test_targets[at]}
        for example, at in zip(_step(name).examples[::8], parts, strict=False)
    ]
    return evaluation(model, count, loss=cross_entropy, examples=examples, precision=PRECISION)
