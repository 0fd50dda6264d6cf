"""Integer arrays in plain Python: what the second definitions of integer operations are written in."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Index = tuple[int, ...]


class NoValueError(Exception):
    """The operation has no value on these elements."""


@dataclass(frozen=True)
class Plain:
    """An integer array: a shape, and a Python integer for every index."""

    shape: Index
    elements: dict[Index, int]

    @classmethod
    def of(cls, array: Any) -> Plain:
        """From anything with a shape that is indexed by tuples."""
        return cls(tuple(array.shape), {p: int(array[p]) for p in every(tuple(array.shape))})

    def __getitem__(self, index: Index) -> int:
        return self.elements[index]


def every(shape: Index) -> Iterator[Index]:
    """Every index of a shape, last axis fastest."""
    return itertools.product(*(range(extent) for extent in shape))


def made(shape: Index, element: Callable[[Index], int]) -> Plain:
    return Plain(shape, {p: element(p) for p in every(shape)})


def flat(index: Index, shape: Index) -> int:
    """The position of an index in row-major order."""
    position = 0
    for i, extent in zip(index, shape, strict=True):
        position = position * extent + i
    return position


def index_of(position: int, shape: Index) -> Index:
    found: list[int] = []
    for extent in reversed(shape):
        position, i = divmod(position, extent)
        found.insert(0, i)
    return tuple(found)


def reads(source_shape: Index, steps: Any, target: Index) -> Index | None:
    """The source index that a target index of a list of view steps reads, or None."""
    shapes = [source_shape, *(step.shape for step in steps)]
    p = target
    for number in range(len(steps) - 1, -1, -1):
        step, before = steps[number], shapes[number]
        if type(step).__name__ == "Regroup":
            p = index_of(flat(p, step.shape), before)
            continue
        x = [step.offsets[i] + sum(step.strides[i][j] * p[j] for j in range(len(p))) for i in range(len(before))]
        if any(x[i] < 0 or x[i] >= before[i] for i in range(len(before))):
            return None
        p = tuple(x)
    return p


def elementwise(function: Callable[..., int]) -> Callable[..., Plain]:
    return lambda o, *sources: made(sources[0].shape, lambda p: function(o, *(x[p] for x in sources)))
