"""Large arrays computed by blocks of rows, on a processor: a block stays in the processor's cache from the first
operation to the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import jax
from jax import lax

from circuitize.circuits.types import Shape

ELEMENTS = 1 << 19
"""The approximate number of elements of a block: 4 MB of float64. The best number of elements of a block was measured
by benchmarks/xla_training.py.
"""

State = TypeVar("State")


def is_great(shape: Shape) -> bool:
    """Return whether an array has more than one block of rows."""
    return math.prod(shape) > ELEMENTS and shape[0] > 1


def over(shape: Shape, work: Callable[[jax.Array | int, int, State], State], state: State) -> State:
    """Return the state after `work(first row, rows, state)` has changed it for each block of rows of an array.

    All blocks of an array have the same number of rows, except a shorter last one.
    """
    extent = shape[0]
    least = min(extent, -(-math.prod(shape) // ELEMENTS))
    equal = next((count for count in range(least, min(extent, 2 * least) + 1) if extent % count == 0), least)
    size = extent // equal
    count, rest = divmod(extent, size)
    state = lax.fori_loop(0, count, lambda place, state: work(place * size, size, state), state)
    return work(count * size, rest, state) if rest else state


def cut(array: jax.Array, first: jax.Array | int, size: int, axis: int = 0) -> jax.Array:
    """Return a slice of an array: the `size` places of an axis from `first` on."""
    return lax.dynamic_slice_in_dim(array, first, size, axis)


def put(array: jax.Array, part: jax.Array, first: jax.Array | int, axis: int = 0) -> jax.Array:
    """Return an array with a part written over it at a given place."""
    return lax.dynamic_update_slice_in_dim(array, part, first, axis)
