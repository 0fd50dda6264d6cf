"""Irises with four-bit weights and five-bit activations, which are quantized during training, too: a 4-16-3 network
with straight-through derivatives.

circuitize estimate examples/quantized.py:step
circuitize compile  examples/quantized.py:predict --target verilog --scheduler parallel -o design

Each call of `quantized` states the format of a tensor in the middle of the program: it reads an accumulator with all
its bits, rounds it once, and saturates it, with the same result in every target. Training steps keep weights of 18
bits, and compute with the nearest values of four bits.
"""

from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import Recipe, iris
from circuitize.frontends.formats import Format
from circuitize.frontends.functions import quantized
from circuitize.frontends.layers import Model, Parameter, activation, he_normal, sequential, traced, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.tensor import Tensor
from circuitize.sims import real

MEASURES = Format.between(0.0, 1.0, fraction_bits=8)
WEIGHTS = Format.signed(4, fraction_bits=2)
"""In quarters from -2 to 7/4."""
ACTIVATIONS = Format(fraction_bits=4, low=0, high=31)
"""In sixteenths from 0 to 31/16: without negative numbers, so that saturation is the rectifier."""


def layer(inputs: int, outputs: int) -> Model:
    """Return x W + b, with each weight rounded to the nearest value of four bits."""
    kept = [Parameter("weight", (inputs, outputs), he_normal), Parameter("bias", (outputs,), zeros)]

    def affine(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        return x @ quantized(weight, WEIGHTS) + bias

    return traced(affine, kept, (inputs,), "dense")


def saturated(x: Tensor) -> Tensor:
    return quantized(x, ACTIVATIONS)


MODEL = sequential(layer(4, 16), activation(saturated), layer(16, 3))
RECIPE = Recipe(batch=8, epochs=60, learning_rate=0.125)


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
