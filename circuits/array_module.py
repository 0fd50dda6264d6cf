"""The array module to which values belong: operations compute in the module of their sources, numpy or one like it.

An operation computes its value with functions of its sources' array module, without writing to arrays, so that one text
serves numpy and jax.numpy. Operations use functions of an array module instead of numpy code that writes to arrays,
because JAX's arrays cannot be written to, and offer `at` instead.
"""

from __future__ import annotations

import sys
from types import EllipsisType, ModuleType

import numpy as np

from .operation import Values
from .types import Shape

ARRAYS_OF = {"jax": "jax.numpy", "jaxlib": "jax.numpy"}
"""The array module of each package whose array classes, traced ones included, are defined elsewhere."""

Place = tuple[slice | int | EllipsisType, ...]
"""Slices and numbers, and an ellipsis where there is no slice: an index that always chooses an array."""


def array_module(*values: object) -> ModuleType:
    """Return the module, such as numpy or jax.numpy, to which the first value's class belongs; numpy if there are no
    values.

    A value stays in its array module: whatever an operation needs in addition to its sources (zeros, tables) is made in
    the same module.
    """
    kind = type(values[0]) if values else np.ndarray
    if kind is np.ndarray:
        return np
    name = kind.__module__.partition(".")[0]
    return sys.modules[ARRAYS_OF.get(name, name)]


def placed(shape: Shape, place: Place, values: Values) -> Values:
    """Return zeros of a shape, with the given values at one place."""
    made: Values = array_module(values).zeros(shape, values.dtype)
    if type(made) is not np.ndarray and hasattr(made, "at"):
        return made.at[place].set(values)  # type: ignore[no-any-return]
    made[place] = values
    return made


def added(total: Values, place: Place, values: Values) -> Values:
    """Return the given total with values added at one place; the memory of the total may be overwritten."""
    if type(total) is not np.ndarray and hasattr(total, "at"):
        return total.at[place].add(values)  # type: ignore[no-any-return]
    chosen = total[place]
    chosen += values
    return total


def add_at(total: Values, indices: Values, values: Values) -> Values:
    """Return the given total with values[i] added at indices[i] of the total's first axis, where an index may occur any
    number of times; the memory of the total may be overwritten.

    Modules other than numpy that write to arrays add int64 as uint64, which gives the same bits: CUDA has no atomic
    addition of int64.
    """
    module = array_module(total)
    if module is not np and hasattr(total, "at"):
        return total.at[indices].add(values)  # type: ignore[no-any-return]
    same = total
    if module is not np and total.dtype == np.int64:
        same, values = total.view(np.uint64), values.view(np.uint64)
    module.add.at(same, indices, values)
    return total


class Table:
    """A constant numpy array and its copies in other array modules, each made when it is first asked for.

    A `Table`'s copy for JAX is made anew each time: while JAX traces, arrays belong to the trace.
    """

    def __init__(self, array: Values) -> None:
        self._copies: dict[ModuleType, Values] = {np: array}

    def like(self, value: Values) -> Values:
        """Return the table as an array in the array module of a value."""
        module = array_module(value)
        if module not in self._copies:
            made: Values = module.asarray(self._copies[np])
            if hasattr(made, "at"):
                return made
            self._copies[module] = made
        return self._copies[module]
