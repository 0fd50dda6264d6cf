"""Which array module values belong to: operations compute in the module of their sources, numpy or one like it.

An operation says what its value is by functions of that module, without writing to arrays, so that numpy and
jax.numpy share one text. What numpy does well only by writing is here: the arrays of JAX, which nothing writes to, have
`at` for it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from .operation import Values
from .types import Shape

ARRAYS_OF = {"jax": "jax.numpy", "jaxlib": "jax.numpy"}
"""The array module of a package whose arrays' classes, traced ones included, are elsewhere."""

Place = tuple[Any, ...]
"""Slices and numbers, and an ellipsis where there is no slice: what they choose is an array."""


def array_module(*values: Values) -> ModuleType:
    """The module, such as numpy or jax.numpy, in which the first value's class is; numpy for no values.

    A value never leaves its module: an operation makes what it needs beside its sources (zeros, tables) there too.
    """
    kind = type(values[0]) if values else np.ndarray
    if kind is np.ndarray:
        return np
    name = kind.__module__.partition(".")[0]
    return sys.modules[ARRAYS_OF.get(name, name)]


def placed(shape: Shape, place: Place, values: Values) -> Values:
    """Zeros of a shape, but for the values at one place."""
    made: Any = array_module(values).zeros(shape, values.dtype)
    if type(made) is not np.ndarray and hasattr(made, "at"):
        return made.at[place].set(values)  # type: ignore[no-any-return]
    made[place] = values
    return made  # type: ignore[no-any-return]


def added(total: Any, place: Place, values: Values) -> Values:
    """The total with the values added at one place; the total given is spent."""
    if type(total) is not np.ndarray and hasattr(total, "at"):
        return total.at[place].add(values)  # type: ignore[no-any-return]
    chosen = total[place]
    chosen += values
    return total  # type: ignore[no-any-return]


def add_at(total: Any, indices: Values, values: Values) -> Values:
    """The total with values[i] added at indices[i] of its first axis, each index any number of times; the total given
    is spent.

    Other modules that write add int64 as uint64, which are the same bits: CUDA has no atomic addition of the former.
    """
    module = array_module(total)
    if module is not np and hasattr(total, "at"):
        return total.at[indices].add(values)  # type: ignore[no-any-return]
    same = total
    if module is not np and total.dtype == np.int64:
        same, values = total.view(np.uint64), values.view(np.uint64)
    module.add.at(same, indices, values)
    return total  # type: ignore[no-any-return]


class Table:
    """A constant numpy array and its copies in other modules, each made when it is first asked for.

    One of JAX is made anew: while JAX traces, what it makes belongs to the trace.
    """

    def __init__(self, array: Values) -> None:
        self._copies: dict[ModuleType, Values] = {np: array}

    def like(self, value: Values) -> Values:
        """The array in the module of a value."""
        module = array_module(value)
        if module not in self._copies:
            made: Values = module.asarray(self._copies[np])
            if hasattr(made, "at"):
                return made
            self._copies[module] = made
        return self._copies[module]
