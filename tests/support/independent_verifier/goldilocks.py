"""The field modulo p = 2^64 - 2^32 + 1 and its extension by X^d = 7 as functions of numpy's, compiled by numba.

Each broadcasts arrays of words, numbers below p in uint64, and returns such numbers. Words that are not below p are the
caller's error. Only those by which all others are made are compiled, since numba takes tenths of a second for each.
What is compiled is kept: `compiled_once` says how.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

# As Any, since numba gives types to some of what its decorators return, and not the right ones.
njit: Any = partial(numba.njit, cache=True)


def vectorize(*signature: Any, **more: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numpy's own function, which is called in a third of the time that numba's around it takes."""
    compiled: Any = partial(numba.vectorize, cache=True)
    return lambda function: compiled(*signature, **more)(function).ufunc


def guvectorize(*signature: Any) -> Callable[[Callable[..., Any]], Any]:
    compiled: Any = partial(numba.guvectorize, cache=True)
    return lambda function: compiled(*signature)(function).ufunc


PRIME = 0xFFFFFFFF00000001
NONRESIDUE = 7

Word = Any
Words = NDArray[np.uint64]

# Typed, since numba takes a word and a Python integer together for a float.
_P = np.uint64(PRIME)
_ROOT = np.uint64(NONRESIDUE)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_LOW = np.uint64(0xFFFFFFFF)
"""The lower half of a word; and 2^64 modulo p."""
_HALF = np.uint64(32)
_SIGNATURE = "uint64(uint64, uint64)"


@njit()
def _plus(x: Word, y: Word) -> Word:
    rest = _P - y
    return x - rest if x >= rest else x + y


@njit()
def _minus(x: Word, y: Word) -> Word:
    return x - y if x >= y else x + (_P - y)


@njit()
def _times(x: Word, y: Word) -> Word:
    """By halves of 32 bits: the product is low + 2^64 (middle + 2^32 top), which is low + 2^64 middle - top."""
    x_low, x_high, y_low, y_high = x & _LOW, x >> _HALF, y & _LOW, y >> _HALF
    lowest, highest = x_low * y_low, x_high * y_high
    first = x_high * y_low + (lowest >> _HALF)
    second = x_low * y_high + (first & _LOW)
    low = (second << _HALF) | (lowest & _LOW)
    high = highest + (first >> _HALF) + (second >> _HALF)
    low = low - _P if low >= _P else low
    return _minus(_plus(low, (high & _LOW) * _LOW), high >> _HALF)


@vectorize([_SIGNATURE], identity=0)
def plus(x: Word, y: Word) -> Word:
    return _plus(x, y)


@vectorize([_SIGNATURE])
def minus(x: Word, y: Word) -> Word:
    return _minus(x, y)


@vectorize([_SIGNATURE])
def times(x: Word, y: Word) -> Word:
    return _times(x, y)


@vectorize([_SIGNATURE])
def power(x: Word, exponent: Word) -> Word:
    """x to a number of 64 bits, from its lowest bit to its highest."""
    found = _ONE
    while exponent != _ZERO:
        if exponent & _ONE:
            found = _times(found, x)
        x = _times(x, x)
        exponent = exponent >> _ONE
    return found


@guvectorize(["void(uint64[:], uint64[:], uint64[:])"], "(d),(d)->(d)")
def extension_times(x: Words, y: Words, found: Words) -> None:
    """Coordinate k is the sum of x_i y_j over i + j = k, and of 7 x_i y_j over i + j = k + d."""
    degree = len(x)
    for k in range(degree):
        below, beyond = _ZERO, _ZERO
        for i in range(degree):
            if i <= k:
                below = _plus(below, _times(x[i], y[k - i]))
            else:
                beyond = _plus(beyond, _times(x[i], y[k + degree - i]))
        found[k] = _plus(below, _times(_ROOT, beyond))


def matrix_times(x: Words, y: Words) -> Words:
    found: Words = plus.reduce(times(x[:, :, None], y[None]), axis=1)
    return found


@guvectorize(["void(uint64[:, :], uint64, uint64[:])"], "(m,d),()->(d)")
def horner(coefficients: Words, x: Word, found: Words) -> None:
    """The polynomial at each number: coefficients with the constant one first, of d coordinates each."""
    found[:] = _ZERO
    for m in range(len(coefficients) - 1, -1, -1):
        for k in range(len(found)):
            found[k] = _plus(_times(found[k], x), coefficients[m, k])


def add_at(sums: Words, places: NDArray[np.int64], x: Words) -> None:
    """Adds each row of x to the one at its place."""
    plus.at(sums, places, x)


def equality(point: Words) -> Words:
    """The product, over the coordinates r of a point, of r where the bit of that number is 1, else of 1 - r."""
    found = np.zeros((1 << len(point), point.shape[1]), np.uint64)
    found[0, 0] = _ONE
    for bit, r in enumerate(point):
        below, above = found[: 1 << bit], found[1 << bit : 2 << bit]
        extension_times(below, r, above)
        minus(below, above, below)
    return found
