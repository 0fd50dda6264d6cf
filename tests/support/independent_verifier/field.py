"""Arrays of elements of the field modulo p = 2^64 - 2^32 + 1, whose arithmetic is the field's and never numpy's."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np

from . import goldilocks
from .goldilocks import PRIME, Words

_MOVING = {
    np.array_equal,
    np.concatenate,
    np.repeat,
    np.stack,
    np.transpose,
}
"""Functions of numpy's that move elements or compare words, and compute nothing."""


_Array: Any = np.ndarray
"""As Any, since numpy gives its operators types that admit other arrays."""


class Field(_Array):
    """An array of words below p with + - * @, unary minus, == and != of the field, among such arrays alone.

    Whatever else numpy would compute of words, and let wrap or turn into floats, is a TypeError. One element is an
    array too, without axes, and never a number of numpy's.
    """

    __array_ufunc__ = None
    __array_priority__ = 1.0  # so that numpy joins such arrays into one of them
    __hash__: Any = None

    @staticmethod
    def zeros(shape: int | tuple[int, ...]) -> Any:
        return elements(np.zeros(shape, np.uint64))

    @staticmethod
    def ones(shape: int | tuple[int, ...]) -> Any:
        return elements(np.ones(shape, np.uint64))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in _MOVING:
            raise TypeError(f"numpy.{function.__name__} does not compute in the field")
        return super().__array_function__(function, types, args, kwargs)

    def __getitem__(self, key: Any) -> Field:
        found = super().__getitem__(key)
        return found if type(found) is Field else elements(found)

    def __iter__(self) -> Iterator[Field]:
        return (self[place] for place in range(len(self)))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, words(value))

    def __add__(self, other: Any) -> Field:
        return elements(goldilocks.plus(words(self), words(other)))

    def __sub__(self, other: Any) -> Field:
        return elements(goldilocks.minus(words(self), words(other)))

    def __mul__(self, other: Any) -> Field:
        return elements(goldilocks.times(words(self), words(other)))

    def __matmul__(self, other: Any) -> Field:
        """Of a matrix, or of one row, times a matrix."""
        x, y = words(self), words(other)
        return elements(goldilocks.matrix_times(np.atleast_2d(x), y).reshape(*x.shape[:-1], y.shape[-1]))

    def __neg__(self) -> Field:
        return elements(goldilocks.minus(np.uint64(0), words(self)))

    def __eq__(self, other: Any) -> Any:
        return words(self) == words(other)

    def __ne__(self, other: Any) -> Any:
        return words(self) != words(other)

    def any(self, *_: Any, **__: Any) -> Any:
        """Whether some element is not zero."""
        return bool(words(self).any())

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise TypeError("this method of numpy's does not compute in the field")

    dot = trace = cumsum = cumprod = sum = prod = mean = _refused
    __iadd__ = __isub__ = __imul__ = __imatmul__ = _refused


def elements(found: Words) -> Field:
    """What is made of words that are below p already."""
    made: Field = np.asarray(found).view(Field)  # type: ignore[assignment]
    return made


def words(x: Any) -> Words:
    """What stands for elements, as an ordinary array."""
    if type(x) is not Field:
        raise TypeError(f"expected elements of the field, found {type(x).__name__}: see `numbers`")
    found: Words = x.view(np.ndarray)
    return found


def numbers(values: Any) -> Field:
    """Integers, of any sign, size and nesting, as elements of the field."""
    if isinstance(values, Field):
        return values
    if type(values) is int:
        return elements(np.array(values % PRIME, np.uint64))
    given = values if isinstance(values, np.ndarray) else np.array(values, object)
    if given.dtype == np.int64:
        # The word of a negative number is that plus 2^64, which is p + 2^32 - 1.
        return elements(given.astype(np.uint64) - np.where(given < 0, np.uint64(0xFFFFFFFF), np.uint64(0)))
    if given.dtype == np.uint64:
        return elements(np.where(given < PRIME, given, given - np.uint64(PRIME)))
    plain = [index(value) % PRIME for value in given.reshape(-1)]
    return elements(np.array(plain, np.uint64).reshape(given.shape))
