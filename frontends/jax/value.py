"""The value of a variable of a jaxpr: a wire, an array known while tracing, or a key of random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Shape
from circuitize.frontends.tensor import Tensor

from .jaxprs import Known

Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Key:
    """A key of random numbers that is not known while tracing, identified by its origin."""

    origin: tuple[object, ...]
    shape: Shape


@dataclass(frozen=True)
class Value:
    """The content of a variable of a jaxpr and its element type; for whole numbers and truth values on a wire, also
    their interval.

    The field `columns` of a Value holds the parts of a wire that were joined along its last axis, each of extent one:
    indices are made from such columns. The field `spread` of a Value holds the value that a wire repeats along new
    axes, and the places of that value's own axes in the result.
    """

    content: Tensor | Key | Known
    dtype: object
    low: int = 0
    high: int = 0
    columns: tuple[Value, ...] = ()
    spread: tuple[Value, tuple[int, ...]] | None = None

    @property
    def shape(self) -> Shape:
        """Return the shape of the content of a jaxpr's variable."""
        return tuple(self.content.shape)

    @property
    def known(self) -> bool:
        """Return whether the content of a jaxpr's variable is an array known while tracing."""
        return not isinstance(self.content, (Tensor, Key))

    @property
    def kind(self) -> str:
        """Return the kind of the elements of a jaxpr's variable: `float`, `int`, `bool`, `key` or `other`."""
        return kind(self.dtype)

    @property
    def interval(self) -> Interval:
        """Return the least and the greatest whole number, or truth value, that a jaxpr's variable can hold."""
        if not self.known:
            return self.low, self.high
        array = np.asarray(self.content)
        return (int(array.min()), int(array.max())) if array.size else (0, 0)

    def array(self) -> NDArray[np.generic]:
        """Return the array of a jaxpr's variable that is known while tracing, with its own dtype."""
        return np.asarray(self.content)

    def uniform(self) -> float | None:
        """Return the number that all elements of a known array equal, if there is one."""
        if not self.known:
            return None
        array = self.array()
        if not array.size:
            return None
        first = array.flat[0]
        return float(first) if array.ndim == 0 or bool((array == first).all()) else None


def kind(dtype: object) -> str:
    """Return the kind of an element type: `float`, `int`, `bool`, `key` for keys of random numbers, or `other`."""
    name = str(dtype)
    if name.startswith("key"):
        return "key"
    if name == "bool":
        return "bool"
    if name.startswith(("int", "uint")):
        return "int"
    return "float" if name.startswith(("float", "bfloat")) else "other"


def range_of(dtype: object) -> Interval:
    """Return the interval of a type of whole numbers or truth values."""
    if str(dtype) == "bool":
        return 0, 1
    found = np.iinfo(np.dtype(str(dtype)))
    return int(found.min), int(found.max)
