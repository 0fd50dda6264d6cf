"""Operations that read or add at indices that the program computes: gather, scatter-add and one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.array_module import add_at, array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers.indexing import one_hot
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True)
class Gather(RealOperation):
    """Gather: y[a, i, c] = x[a, indices[i], c], where a are the axes before `axis`, c those after it, and i those of
    the indices.

    The sources of Gather are x and the indices. The indices of Gather are whole numbers; Gather is undefined for an
    index outside [0, extent of the axis), and the derivative for the indices is 0. Gather is lowered exactly; the
    format of the indices has no fraction bits.
    """

    name = "real.gather"
    rounding = Rounding.LINEAR

    axis: int

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 2)
        x, indices = sources
        expect.axes_within([self.axis], len(x.shape))
        return (Array(x.shape[: self.axis] + indices.shape + x.shape[self.axis + 1 :]),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        x, indices = values
        module = array_module(x)
        return (module.asarray(module.take(x, places(indices, x.shape[self.axis]), axis=self.axis)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, indices = sources
        return [ScatterAdd(self.axis, x.shape[self.axis])(dz, indices), None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.Gather(self.axis)(*sources)


@dataclass(frozen=True)
class OneHot(RealOperation):
    """OneHot: y[i, k] = 1 where indices[i] = k, else 0, along a new last axis of extent `size`.

    The indices of OneHot are whole numbers; OneHot is undefined for an index outside [0, size), and its derivative is
    0. OneHot is lowered exactly, to integers 0 and 1; the format of the indices has no fraction bits.
    """

    name = "real.one_hot"
    rounding = Rounding.VALUE

    size: int

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        return (Array((*sources[0].shape, self.size)),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (indices,) = values
        module = array_module(indices)
        hot = places(indices, self.size)[..., None] == module.arange(self.size)
        return (module.asarray(hot, np.float64),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (indices,) = sources
        return Integer(lowering.builder, one_hot(lowering.builder, indices.wire, self.size))


@dataclass(frozen=True)
class ScatterAdd(RealOperation):
    """ScatterAdd: y[a, k, c] = sum of x[a, i, c] over the i with indices[i] = k, 0 if there is no such i: the adjoint
    of Gather.

    The sources of ScatterAdd are x and the indices. From `axis` on, the source x of ScatterAdd has the axes of the
    indices; in their place the result y has one axis of extent `size`. The indices of ScatterAdd are whole numbers;
    ScatterAdd is undefined for an index outside [0, size), and the derivative for the indices is 0. ScatterAdd is
    lowered exactly; the format of the indices has no fraction bits.
    """

    name = "real.scatter_add"
    rounding = Rounding.LINEAR

    axis: int
    size: int

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 2)
        x, indices = sources
        end = self.axis + len(indices.shape)
        if self.axis < 0 or end > len(x.shape) or x.shape[self.axis : end] != indices.shape:
            raise TypingError(
                f"expected axes {list(indices.shape)} of the indices from axis {self.axis} on, "
                f"found shape {list(x.shape)}; transpose it"
            )
        return (Array((*x.shape[: self.axis], self.size, *x.shape[end:])),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        x, indices = values
        rows = places(indices, self.size).reshape(-1)
        before, after = x.shape[: self.axis], x.shape[self.axis + indices.ndim :]
        module = array_module(x)
        updates = module.moveaxis(x.reshape(*before, len(rows), *after), self.axis, 0)
        made = add_at(module.zeros((self.size, *before, *after)), rows, updates)
        return (module.moveaxis(made, 0, self.axis),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [Gather(self.axis)(dz, sources[1]), None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.ScatterAdd(self.axis, self.size)(*sources)


def places(indices: Values, size: int) -> NDArray[np.int64]:
    """Return the indices as integers; raise Undefined if one is not a whole number from 0 to size - 1."""
    module = array_module(indices)
    fine = (indices == module.rint(indices)) & (indices >= 0) & (indices < size)
    require("index", fine, indices, f"a whole number from 0 to {size - 1}", "correct the indices")
    return indices.astype(np.int64)
