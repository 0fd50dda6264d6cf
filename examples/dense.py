"""Single dense layers with ReLU, for comparing circuits with other tools': sums are shifted by 8 bits and kept in 16
bits.

Inputs have 8 fraction bits and weights have 13, so sums have 21, and the shifted sums have 13. Inputs and outputs are
public, and weights are private without a commitment, as in the tools that are compared: such a proof binds no weights.
The inputs of the layers are handwritten digits.

    circuitize estimate examples/dense.py:large
"""

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import Program
from circuitize.frontends import training
from circuitize.frontends.datasets import digits
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, relu, sequential

PIXELS = Format.between(0.0, 255 / 256, fraction_bits=8)
WEIGHTS = Format.signed(15, fraction_bits=13)
PRECISION = Precision(fraction_bits=13, significant_bits=1)


def large() -> Program:
    """Return a layer of 784 inputs and 128 outputs for one example, which is a row of twelve and a quarter digits."""
    return _layer(784, 128)


def small() -> Program:
    """Return a layer of 20 inputs and 10 outputs for one example, which is the middle of a digit."""
    return _layer(20, 10)


def _layer(inputs: int, outputs: int) -> Program:
    model = sequential(dense(inputs, outputs, bias=False, format=WEIGHTS), relu())
    program = training.predict(model, batch=1, inputs=PIXELS, precision=PRECISION)
    examples = [{**model.initial(seed), "inputs": PIXELS.nearest(_pixels(inputs, seed))} for seed in range(2)]
    private = program.with_visibility(**{"dense1.weight": Visibility.PRIVATE, "inputs": Visibility.PUBLIC})
    return training.with_examples(private, *examples)


def _pixels(count: int, seed: int) -> NDArray[np.float64]:
    images = digits(seed).train_inputs
    stream = images[:, 22:42] if count == 20 else images
    return stream.reshape(-1)[:count].reshape(1, count)
