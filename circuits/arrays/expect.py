"""Checks of the sources and parameters of operations; each error message is one line."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import TypingError
from ..types import Array, Shape


def arrays(sources: Sequence[object], count: int) -> None:
    """Raise TypingError unless there are `count` sources, all of them real arrays."""
    if len(sources) != count:
        raise TypingError(f"expected {count} source{'s' * (count != 1)}, found {len(sources)}; connect one wire each")
    for position, source in enumerate(sources):
        if not isinstance(source, Array):
            raise TypingError(f"expected a real array as source {position}, found {source}; keep to one language")


def one_shape(sources: Sequence[Array], count: int) -> Array:
    """Return the one type that all sources have; raise TypingError if their shapes differ."""
    arrays(sources, count)
    for source in sources[1:]:
        if source.shape != sources[0].shape:
            found = ", ".join(str(list(source.shape)) for source in sources)
            raise TypingError(f"expected sources of one shape, found {found}; broadcast or reshape one")
    return sources[0]


def axes_within(axes: Sequence[int], rank: int) -> None:
    """Raise TypingError if one of the axes is not an axis of the array."""
    if axes and rank == 0:
        raise TypingError(f"expected an array with axes, found a scalar for axes {list(axes)}; reshape it")
    for axis in axes:
        if not 0 <= axis < rank:
            raise TypingError(f"expected axes from 0 to {rank - 1}, found {axis}; count axes of this array from 0")


def distinct(axes: Sequence[int]) -> tuple[int, ...]:
    """Return the axes in ascending order; raise TypingError if an axis is given twice."""
    if len(set(axes)) != len(axes):
        raise TypingError(f"expected distinct axes, found {list(axes)}; name each axis once")
    return tuple(sorted(axes))


def one_per_axis(name: str, entries: Sequence[int], shape: Shape) -> None:
    """Raise TypingError unless a parameter has one entry for each axis."""
    if len(entries) != len(shape):
        raise TypingError(
            f"expected one of {name} per axis of {list(shape)}, found {list(entries)}; give {len(shape)} of them"
        )
