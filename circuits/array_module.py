"""Which array module values belong to: operations compute in the module of their sources, numpy or one like it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .operation import Values


def array_module(*values: Values) -> Any:
    """The module, such as numpy or CuPy, in which the first value's class is; numpy for no values.

    A value never leaves its module: an operation makes what it needs beside its sources (zeros, tables) there too.
    """
    kind = type(values[0]) if values else np.ndarray
    return np if kind is np.ndarray else sys.modules[kind.__module__.partition(".")[0]]


def add_at(made: Values, indices: Values, values: Values) -> None:
    """made[indices] += values along the first axis, where an index may occur any number of times.

    Other modules add int64 as uint64, which are the same bits: CUDA has no atomic addition of the former.
    """
    module = array_module(made)
    if module is not np and made.dtype == np.int64:
        made, values = made.view(np.uint64), values.view(np.uint64)
    module.add.at(made, indices, values)


class Table:
    """A constant numpy array and its copies in other modules, each made when it is first asked for."""

    def __init__(self, array: Values) -> None:
        self._copies: dict[Any, Values] = {np: array}

    def like(self, value: Values) -> Values:
        """The array in the module of a value."""
        module = array_module(value)
        if module not in self._copies:
            self._copies[module] = module.asarray(self._copies[np])
        return self._copies[module]
