"""A function that writes an arrow by running a Python function on tensors, which record the operations applied to
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array, Fixed, Shape, Type

from . import functions, numpy_names
from .operands import named
from .provenance import refused
from .tensor import Tensor

# What numpy's functions mean on the tensors of a trace.
numpy_names.OURS.update(vars(functions))


def trace(function: Callable[..., Tensor | Sequence[Tensor]], *types: Type | Shape) -> Arrow:
    """Return the arrow of a Python function, with one input for each type (a shape means an array of reals) and one
    output for each result.

    The traced function runs once, on tensors; whatever Python does in it (loops, conditions on shapes) happens during
    that run. Raise TypingError, naming the caller's file and line, if shapes in the traced function do not fit.
    """
    builder = Builder()
    tensors = [Tensor(builder, builder.input(t if isinstance(t, (Array, Fixed)) else Array(t))) for t in types]
    _require_arguments(function, len(tensors))
    made: object = function(*tensors)
    wires = []
    for result in made if isinstance(made, (tuple, list)) else [made]:
        if not isinstance(result, Tensor) or result.builder is not builder:
            raise refused(
                f"expected tensors out of the traced function, found {named(result)}; return what operations made"
            )
        wires.append(result.wire)
    return builder.build(wires)


def _require_arguments(function: Callable[..., object], count: int) -> None:
    """Raise TypingError, with the user's line, unless a user's function takes `count` arguments."""
    try:
        found = signature(function)
    except (TypeError, ValueError):
        return
    try:
        found.bind(*range(count))
    except TypeError:
        raise refused(
            f"expected a function of {count} tensors, one for each parameter or shape, then the batch, found "
            f"{function.__name__}{found}; give it these arguments"
        ) from None
