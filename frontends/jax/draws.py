"""Random numbers whose keys are not known while tracing: the numbers become inputs of the program, so that the keys do
not enter it.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.types import Shape

from .equation import Equation
from .value import Key, Value

DRAWS = {"_bernoulli": "mask", "_uniform": "uniform", "_normal_real": "normal", "_normal": "normal"}
"""For each of JAX's drawing functions, the word by which the inputs are named."""
KEYED = {
    "random_wrap",
    "random_unwrap",
    "random_split",
    "random_fold_in",
    "random_clone",
    "threefry2x32",
    "slice",
    "squeeze",
    "reshape",
    "broadcast_in_dim",
    "dynamic_slice",
    "gather",
    "concatenate",
    "transpose",
    "copy",
    "copy_p",
    "random_bits",
    "convert_element_type",
}
"""The functions that make keys, or their bits, from keys."""


def drawn(equation: Equation, name: str) -> Value | None:
    """Return the input that stands for a draw of random numbers with an unknown key; None for a call that is no
    draw.
    """
    word = DRAWS.get(name)
    if word is None or not equation.inputs or not isinstance(equation.inputs[0].content, Key):
        return None
    rest = equation.inputs[1:]
    if not all(value.known for value in rest):
        return None
    shape, dtype = equation.shapes[0], equation.dtypes[0]
    bounds = tuple(value.uniform() for value in rest)
    if None in bounds or (word == "normal") == bool(bounds):
        return None
    origin = (equation.inputs[0].content.origin, name, bounds, shape)
    wire = equation.context.draw(origin, word, shape, tuple(float(bound or 0.0) for bound in bounds))
    return Value(wire, dtype, 0, int(word == "mask"))


def derived(value: Value, name: str, parameters: tuple[object, ...], shape: Shape) -> Value:
    """Return a key of random numbers that is made from another key."""
    assert isinstance(value.content, Key)
    return Value(Key((name, parameters, value.content.origin), shape), value.dtype)


def keys(equation: Equation) -> list[Value]:
    """Return the keys of random numbers that a JAX primitive makes from keys. Raise CircuitizeError for a JAX primitive
    that makes numbers from keys.
    """
    if equation.name not in KEYED:
        equation.tensor(next(i for i, value in enumerate(equation.inputs) if isinstance(value.content, Key)))
    origins: list[object] = []
    for value in equation.inputs:
        if isinstance(value.content, Key):
            origins.append(value.content.origin)
        elif value.known:
            origins.append((str(value.dtype), value.shape, np.asarray(value.content).tobytes()))
        else:
            raise equation.fault("expected a key made of keys and known numbers, found one made of what is computed")
    written = tuple(sorted((name, str(found)) for name, found in equation.parameters.items()))
    made = (equation.name, written, *origins)
    return [
        Value(Key((*made, place), shape), dtype)
        for place, (shape, dtype) in enumerate(zip(equation.shapes, equation.dtypes, strict=True))
    ]
