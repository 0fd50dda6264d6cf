"""A program small enough for a ceremony inside a test: y = w x, with w private."""

import numpy as np

from circuitize import Format, Port, Program, Visibility, trace

NUMBERS = Format.signed(4, fraction_bits=2).of((2,))
EXAMPLE = {"x": np.array([0.5, -1.25]), "w": np.array([1.5, 1.75])}


def product() -> Program:
    """Public x and y, private w."""
    inputs = (Port("x", Visibility.PUBLIC, NUMBERS), Port("w", Visibility.PRIVATE, NUMBERS))
    return Program(trace(lambda x, w: x * w, (2,), (2,)), inputs, (Port("y", Visibility.PUBLIC),), (EXAMPLE,))


def difference() -> Program:
    """The same interface, another meaning."""
    first = product()
    return Program(trace(lambda x, w: x - w, (2,), (2,)), first.inputs, first.outputs, (EXAMPLE,))
