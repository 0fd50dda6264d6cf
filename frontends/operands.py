"""Operands of a tensor's operators that are no tensors: numbers and arrays as constants, shapes that broadcast, and
messages for those that do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Shape

from .provenance import refused


def broadcast_shape(a: Shape, b: Shape) -> Shape:
    """Return the shape that two shapes broadcast to by numpy's rules. Raise an error, with a remedy, if two shapes do
    not broadcast.
    """
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        remedy = "transpose one" if a != b and sorted(a) == sorted(b) else "reshape one"
        if len(a) == len(b) and a[1:] == b[1:]:
            remedy = "give both the same batch, or slice one"
        raise refused(f"expected shapes that broadcast, found {list(a)} and {list(b)}; {remedy}") from None


def unfit_product(left: Shape, right: Shape) -> str:
    """Return a text that says why @ does not accept the given shapes, and which shapes it would accept."""
    column = len(right) == 1
    rows = right[0 if column else -2]
    remedy = "check which layer makes and takes what"
    if not column and left[-1] == right[-1]:
        remedy = "transpose the right one (x.T of two axes)"
    elif len(left) > 1 and left[-2] == rows:
        remedy = "transpose the left one (x.T of two axes)"
    return (
        f"expected one extent in the last axis of the left and the {'only' if column else 'second to last'} of the "
        f"right of @, found {left[-1]} of {list(left)} and {rows} of {list(right)}; {remedy}"
    )


def constant_of(value: object) -> NDArray[np.float64]:
    """Return a number or array as float64; raise TypingError, with the user's line, for any other object."""
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.zeros(0, object)
    if array.dtype.kind not in "biuf" or not array.size:
        what = "rows of different lengths" if isinstance(value, (list, tuple)) and not array.size else named(value)
        raise refused(f"expected a number, an array of numbers or a tensor, found {what}; convert it")
    return array.astype(np.float64)


def real_of(value: object) -> float:
    """Return a number or array without axes as a float."""
    return float(constant_of(value))


def whole_numbers(word: str, given: Sequence[object]) -> tuple[int, ...]:
    """Return whole numbers that are given one by one, or as one tuple or list; raise TypingError for other values."""
    numbers = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    found = []
    for number in numbers:
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise refused(f"expected whole numbers for {word}, found {named(number)}; write 2, 3")
        found.append(int(number))
    return tuple(found)


def named(value: object) -> str:
    """Return a value that a user gave, described for a message: a tensor, a number, a text, or the value's type."""
    if isinstance(value, (str, int, float, np.number)) or hasattr(value, "builder") or value is None:
        return repr(value)
    name = getattr(value, "__name__", None)
    return f"the function {name}" if name and callable(value) else type(value).__name__
