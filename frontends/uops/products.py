"""Products of UOps whose factors are repeated along axes and whose elements are not yet written, from which
contractions are recognised.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from circuitize.circuits import arrays
from circuitize.circuits.types import Shape
from circuitize.frontends.tensor import Tensor


@dataclass(frozen=True)
class Factor:
    """A factor of a product: a tensor without axes of extent 1, and for each of its axes the corresponding axis of the
    product.
    """

    tensor: Tensor
    axes: tuple[int, ...]

    def placed(self, places: Sequence[int]) -> Factor:
        """Return the factor with its axes renumbered to other axes of the product."""
        return Factor(self.tensor, tuple(places[axis] for axis in self.axes))


@dataclass(frozen=True)
class Product:
    """A product of UOps that is not yet written: `scale` times one or two factors, each repeated along the axes of
    `shape` that the factor does not have.
    """

    shape: Shape
    factors: tuple[Factor, ...]
    scale: float = 1.0

    @property
    def axes(self) -> tuple[int, ...]:
        """Return the axes along which the elements of a product differ, in order."""
        return tuple(sorted({axis for factor in self.factors for axis in factor.axes}))

    @property
    def factor(self) -> Factor:
        """Return the only factor of a product that has a single factor."""
        (factor,) = self.factors
        return factor

    def scaled(self, scale: float) -> Product:
        """Return the product times a number; a scale that is within rounding of a whole number becomes that number."""
        exact = self.scale * scale
        return replace(self, scale=round(exact) if abs(exact - round(exact)) < 1e-12 * abs(exact) else exact)


def product_of(tensor: Tensor, shape: Shape | None = None) -> Product:
    """Return a tensor as a product of the tensor's shape, whose only factor has no axes of extent 1."""
    whole = tensor.shape if shape is None else shape
    axes = tuple(axis for axis, extent in enumerate(whole) if extent != 1)
    return Product(whole, (Factor(tensor.reshape([whole[axis] for axis in axes]), axes),))


def aligned(factor: Factor, onto: Sequence[int], shape: Shape) -> Tensor:
    """Return the tensor of a factor with exactly the given axes of the product, in the given order, repeated along
    those that the factor lacks.
    """
    tensor = factor.tensor
    order = sorted(range(len(factor.axes)), key=lambda place: onto.index(factor.axes[place]))
    tensor = tensor.transpose(*order) if order else tensor
    missing = tuple(place for place, axis in enumerate(onto) if axis not in factor.axes)
    if missing:
        tensor = tensor.apply(arrays.Broadcast(tuple(shape[axis] for axis in onto), missing))
    return tensor


def permuted(product: Product, order: Sequence[int]) -> Product:
    """Return a product with its axes reordered: axis i of the result is axis order[i]."""
    places = [0] * len(order)
    for place, axis in enumerate(order):
        places[axis] = place
    shape = tuple(product.shape[axis] for axis in order)
    return replace(product, shape=shape, factors=tuple(factor.placed(places) for factor in product.factors))


def expanded(product: Product, shape: Shape) -> Product:
    """Return a product with axes of extent 1 repeated, and new axes before all others."""
    shift = len(shape) - len(product.shape)
    places = [axis + shift for axis in range(len(product.shape))]
    return replace(product, shape=shape, factors=tuple(factor.placed(places) for factor in product.factors))


Group = tuple[tuple[int, ...], tuple[int, ...]]
"""Axes that become other axes with the same elements; none has extent 1."""


def groups(old: Shape, new: Shape) -> list[Group]:
    """Return the smallest groups of axes before and after a reshape such that the elements of each group stay
    together.
    """
    before = [axis for axis, extent in enumerate(old) if extent != 1]
    after = [axis for axis, extent in enumerate(new) if extent != 1]
    found: list[Group] = []
    while before or after:
        left, right = [before.pop(0)], [after.pop(0)]
        while (a := math.prod(old[axis] for axis in left)) != (b := math.prod(new[axis] for axis in right)):
            if a < b:
                left.append(before.pop(0))
            else:
                right.append(after.pop(0))
        found.append((tuple(left), tuple(right)))
    return found


def mixed(factor: Factor, parts: Iterable[Group]) -> bool:
    """Return whether some group of axes that a reshape keeps together has both axes that the factor has and axes that
    it lacks.
    """
    return any(0 < sum(axis in factor.axes for axis in old) < len(old) for old, _ in parts)


def reshaped(product: Product, shape: Shape) -> Product | None:
    """Return a product with other axes for the same elements; None if repeated axes would merge with others."""
    parts = groups(product.shape, shape)
    if any(mixed(factor, parts) for factor in product.factors):
        return None
    return replace(product, shape=shape, factors=tuple(_reshaped(factor, parts, shape) for factor in product.factors))


def _reshaped(factor: Factor, parts: Sequence[Group], shape: Shape) -> Factor:
    if not factor.axes:
        return factor
    here = [(old, new) for old, new in parts if old[0] in factor.axes]
    if all((len(old), len(new)) == (1, 1) for old, new in here):
        renamed = {old[0]: new[0] for old, new in here}
        return Factor(factor.tensor, tuple(renamed[axis] for axis in factor.axes))
    # The groups keep the order in which their first axes lie in the tensor; each group's axes come together.
    here.sort(key=lambda part: factor.axes.index(part[0][0]))
    order = [factor.axes.index(axis) for old, _ in here for axis in old]
    axes = tuple(axis for _, new in here for axis in new)
    return Factor(factor.tensor.transpose(*order).reshape([shape[axis] for axis in axes]), axes)
