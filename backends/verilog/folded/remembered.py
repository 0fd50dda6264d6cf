"""Results of functions of arrays, remembered by what the arrays hold: plans of one design differ in few tables."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .reads import Reads, contents

MOST = 1 << 29
"""Bytes that the arrays of the calls have together whose results one function remembers; results are hardly larger."""
LARGEST = MOST >> 3
"""Bytes of the arrays of one call up to which its result is remembered."""

Function = TypeVar("Function", bound=Callable[..., object])


def remembered(function: Function) -> Function:
    """Return a function that remembers its latest results by its positional arguments: numbers, arrays and what is read
    by dtype, shape and contents, and all other objects by identity.

    Nobody may write to the arrays of a result, since later calls return the same object.
    """
    known: OrderedDict[Hashable, tuple[object, int, object]] = OrderedDict()
    taken = 0

    @wraps(function)
    def call(*given: object) -> object:
        nonlocal taken
        size = sum(one.nbytes for some in given for one in _arrays(some))
        if size > LARGEST:
            return function(*given)
        key = tuple(map(_content, given))
        if key in known:
            known.move_to_end(key)
        else:
            # Objects that are no arrays stay with the result, so that no later object has their identity.
            known[key] = function(*given), size, [one for one in given if not _arrays(one)]
            taken += size
            while taken > MOST:
                taken -= known.popitem(last=False)[1][1]
        return known[key][0]

    return cast(Function, call)


def _arrays(given: object) -> tuple[NDArray[np.generic], ...]:
    """Return the arrays by whose contents an argument is known, if it is known by contents."""
    return given.arrays if isinstance(given, Reads) else (given,) if isinstance(given, np.ndarray) else ()


def _content(given: object) -> Hashable:
    if isinstance(given, Reads):
        return given.key
    if isinstance(given, np.ndarray):
        return contents(given)
    return (int, given) if isinstance(given, int) else (object, id(given))
