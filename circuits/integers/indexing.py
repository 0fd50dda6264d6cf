"""Operations that read or add at indices that the program computes; the indices are checked."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from circuitize.circuits.array_module import add_at, array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require_between
from circuitize.circuits.types import Fixed

from .arithmetic import Add, IsNegative, Subtract
from .check import Check
from .constant import Constant
from .contraction import Contract
from .expansion import Expansion
from .language import Integers, axis_of
from .view import View
from .wiring import Reindex, broadcast


@dataclass(frozen=True)
class Gather(Expansion):
    """Gather: y[a, i, c] = x[a, indices[i], c], where a are the axes before `axis`, c those after it, and i those of
    indices.

    The sources of Gather are x and indices; indices have no fraction bits. Gather is undefined where an index is
    outside [0, extent of the axis).
    """

    name = "integer.gather"
    arity = 2

    axis: int

    def target(self, *sources: Fixed) -> Fixed:
        x, indices = sources
        axis_of(self.name, self.axis, x)
        _expect_integers(self.name, indices)
        return x.with_shape(x.shape[: self.axis] + indices.shape + x.shape[self.axis + 1 :])

    def value(self, *values: Integers) -> Values:
        x, indices = values
        require_between(self.name, 0, x.shape[self.axis] - 1, indices, "indices")
        made: Values = array_module(x).take(x, indices, axis=self.axis)
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        x, indices = wires
        source, places = builder.format(x), builder.format(indices)
        hot = one_hot(builder, indices, source.shape[self.axis])
        letters = iter(ascii_lowercase)
        own = [next(letters) for _ in source.shape]
        new = [next(letters) for _ in places.shape]
        target = [*own[: self.axis], *new, *own[self.axis + 1 :]]
        equation = f"{''.join(new)}{own[self.axis]},{''.join(own)}->{''.join(target)}"
        return builder.add(Contract(equation), hot, x)


@dataclass(frozen=True)
class ScatterAdd(Expansion):
    """ScatterAdd: y[a, k, c] = sum of updates[a, i, c] over the i with indices[i] = k, and 0 if there is no such i: the
    adjoint of Gather.

    The sources of ScatterAdd are updates and indices; indices have no fraction bits, and updates has the axes of
    indices in place of `axis`, which has extent `size` in y. ScatterAdd is undefined where an index is outside [0,
    size).
    """

    name = "integer.scatter_add"
    arity = 2

    axis: int
    size: int

    def target(self, *sources: Fixed) -> Fixed:
        updates, indices = sources
        _expect_integers(self.name, indices)
        end = self.axis + len(indices.shape)
        if self.axis < 0 or updates.shape[self.axis : end] != indices.shape or end > len(updates.shape):
            raise TypingError(
                f"{self.name}: expected updates with axes {list(indices.shape)} from axis {self.axis} on, "
                f"found shape {list(updates.shape)}; transpose them"
            )
        least, greatest = (indices.size if self.size == 1 else 0), indices.size
        low = updates.low * (least if updates.low >= 0 else greatest)
        high = updates.high * (greatest if updates.high >= 0 else least)
        shape = (*updates.shape[: self.axis], self.size, *updates.shape[end:])
        return Fixed(shape, updates.fraction_bits, low, high)

    def value(self, *values: Integers) -> Values:
        updates, indices = values
        require_between(self.name, 0, self.size - 1, indices, "indices")
        before, after = updates.shape[: self.axis], updates.shape[self.axis + indices.ndim :]
        module = array_module(updates)
        rows = module.moveaxis(updates.reshape(*before, indices.size, *after), self.axis, 0)
        made = add_at(module.zeros((self.size, *before, *after), np.int64), indices.reshape(-1), rows)
        moved: Values = module.moveaxis(made, 0, self.axis)
        return moved

    def define(self, builder: Builder, *wires: int) -> int:
        updates, indices = wires
        source, places = builder.format(updates), builder.format(indices)
        hot = one_hot(builder, indices, self.size)
        letters = ascii_lowercase[: len(source.shape)]
        new = letters[self.axis : self.axis + len(places.shape)]
        target = f"{letters[: self.axis]}z{letters[self.axis + len(places.shape) :]}"
        return builder.add(Contract(f"{new}z,{letters}->{target}"), hot, updates)


def one_hot(builder: Builder, indices: int, size: int) -> int:
    """Return the indicator of each index, along a new last axis of the given size; it is undefined for an index outside
    the axis.

    The indicator of an index i is [i = k] = [i < k + 1] - [i < k] for each k, which takes one comparison per element
    and boundary.
    """
    indices = builder.add(Check(0, size - 1), indices)
    inner = builder.format(indices).shape
    shape, rank = (*inner, size), len(inner)
    if size == 1:
        return builder.add(Constant.splat(1, shape))
    boundaries = builder.add(Constant.of(np.arange(1, size)))
    compared = (*inner, size - 1)
    below = builder.add(
        IsNegative(),
        builder.add(
            Subtract(),
            broadcast(builder, indices, compared, (rank,)),
            broadcast(builder, boundaries, compared, tuple(range(rank))),
        ),
    )
    zeros, end = (0,) * rank, (0,) * rank
    upper = builder.add(Reindex(View.pad(compared, (*zeros, 0), (*end, 1))), below)
    lower = builder.add(Reindex(View.pad(compared, (*zeros, 1), (*end, 0))), below)
    last = broadcast(builder, builder.add(Constant.of(np.arange(size) == size - 1)), shape, tuple(range(rank)))
    return builder.add(Add(), builder.add(Subtract(), upper, lower), last)


def _expect_integers(name: str, indices: Fixed) -> None:
    if indices.fraction_bits:
        raise TypingError(f"{name}: expected indices without fraction bits, found {indices}; Shift them first")
