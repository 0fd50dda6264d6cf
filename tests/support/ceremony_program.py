"""Programs small enough for a ceremony inside a test: y = w x, with w private."""

import numpy as np

from circuitize import Format, Port, Program, Visibility, trace

EXAMPLE = {"x": np.array([1.0, -1.25]), "w": np.array([-2.0, 1.75])}


def product(elements: int = 2, bits: int = 4) -> Program:
    """Public x and y, private w."""
    numbers = Format.signed(bits, fraction_bits=bits - 2).of((elements,))
    inputs = (Port("x", Visibility.PUBLIC, numbers), Port("w", Visibility.PRIVATE, numbers))
    example = {name: values[:elements] for name, values in EXAMPLE.items()}
    arrow = trace(lambda x, w: x * w, (elements,), (elements,))
    return Program(arrow, inputs, (Port("y", Visibility.PUBLIC),), (example,))


def difference() -> Program:
    """The same interface, another meaning."""
    first = product()
    return Program(trace(lambda x, w: x - w, (2,), (2,)), first.inputs, first.outputs, (EXAMPLE,))


def single() -> Program:
    """One element of two bits, for FFLONK, whose powers of tau must be eight times as many."""
    return product(1, 2)
