"""Handwritten digits: a 64-32-10 network with mean squared error, trained on real data by gradient descent, with
momentum or by Adam.

circuitize estimate examples/digits.py:step
circuitize prove    examples/digits.py:step --prover groth16 --keys keys -o proof
circuitize compile  examples/digits.py:predict --target verilog --scheduler folded -o design
circuitize compile  examples/digits.py:step --predict examples/digits.py:scores --target verilog --scheduler folded -o d
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.adam import Adam
from circuitize.frontends.datasets import Recipe, Split, digits
from circuitize.frontends.evaluation import evaluation
from circuitize.frontends.formats import WEIGHTS, Format
from circuitize.frontends.layers import Model, dense, relu, sequential, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD, Momentum
from circuitize.sims import real


def network(weights: Format = WEIGHTS) -> Model:
    """Return a network whose last layer starts at zero, so that the first predictions are zero and not noise."""
    return sequential(dense(64, 32, format=weights), relu(), dense(32, 10, format=weights, initializer=zeros))


MODEL = network()

RECIPE = Recipe(batch=16, epochs=150, learning_rate=0.1)
"""The whole training run. The error is a mean over 160 numbers, hence many epochs at this rate."""
MOMENTUM = Recipe(batch=16, epochs=40, learning_rate=0.0625, optimizer=Momentum(decay=0.875))
ADAM = Recipe(batch=16, epochs=20, learning_rate=0.004, optimizer=Adam())

NARROW = Format.signed(8, fraction_bits=7)
"""Weights to predict with: 8 bits, so [-1, 1); trained ones stay below 0.9."""


def step() -> Program:
    """Return one training step on a batch of 16, calibrated on 16 steps of the first 30 epochs; the last of these steps
    is the first example.
    """
    return _step(replace(RECIPE, epochs=30))


def momentum() -> Program:
    """Return one training step with momentum, calibrated on steps of the whole recipe."""
    return _step(MOMENTUM)


def adam() -> Program:
    """Return one training step of Adam, calibrated on steps of the whole recipe."""
    return _step(ADAM)


def _step(recipe: Recipe) -> Program:
    program = training.training_step(MODEL, mean_squared_error, recipe.optimizer, recipe.batch)
    examples = real.record(program, training.start(program, MODEL, seed=0), recipe.batches(digits(seed=0)), count=16)
    return training.with_examples(program, *reversed(examples))


def evaluate() -> Program:
    """Return a program that counts how many of 60 images the network recognises with weights as training steps leave
    them; the examples are the whole test set.

    The evaluation is calibrated both on weights that a training run leaves and on those with which training begins.
    """
    split, count = digits(seed=0), 60
    examples = [
        {**weights, "inputs": split.test_inputs[k : k + count], "targets": split.test_targets[k : k + count]}
        for weights in (_trained(split), MODEL.initial(seed=0))
        for k in range(0, len(split.test_labels), count)
    ]
    return evaluation(MODEL, count, loss=mean_squared_error, examples=examples)


def predict() -> Program:
    """Return a program that gives the scores of one image, with 8-bit weights and activations; the examples are the
    whole test set.

    The 8-bit weights are the result of training by the whole recipe in float64, rounded once. Each example also holds
    the label of its image as the answer: the place of the greatest score in `outputs`.
    """
    split = digits(seed=0)
    weights = {name: NARROW.nearest(values) for name, values in _trained(split).items()}
    images = zip(split.test_inputs, split.test_labels, strict=True)
    examples = [{**weights, "inputs": image[None], "outputs": label[None]} for image, label in images]
    precision = Precision(fraction_bits=5, significant_bits=8)
    return training.predict(network(NARROW), 1, examples=examples, precision=precision)


def scores() -> Program:
    """Return a program that gives the scores of 16 images with weights as training steps leave them: a design that
    trains by `step` predicts with this program.
    """
    return training.with_examples(training.predict(MODEL, RECIPE.batch), *step().examples)


def _trained(split: Split) -> dict[str, NDArray[np.float64]]:
    """Return the weights after training by the whole recipe, in float64."""
    step = training.training_step(MODEL, mean_squared_error, SGD(), RECIPE.batch)
    *_, last = real.train(step, MODEL.initial(seed=0), RECIPE.batches(split))
    return {parameter.name: last[parameter.name] for parameter in MODEL.parameters}


def data() -> Split:
    """Return the images to train on and those to test with, for --dataset examples/digits.py:data."""
    return digits(seed=0)
