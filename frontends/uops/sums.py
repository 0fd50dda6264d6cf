"""Writers of sums: of two tensors, along axes, and of products along axes, which are contractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape
from circuitize.frontends.attention import MASKED

from .forms import along, near, ordered
from .products import Factor, Product
from .writing import Products


class Sums(Products):
    """The writer of sums: each is written as the largest operation that it is, such as log softmax, a mean, a gather or
    a contraction.
    """

    def add(self, x: Product, y: Product, shape: Shape) -> Product:
        """Write the sum of two products, as the largest operation that the sum is."""
        a, b = self.single(x), self.single(y)
        for one, other in ((a, b), (b, a)):
            found = self._added(one, other, shape)
            if found is not None:
                return found
        if a.factor.tensor.wire == b.factor.tensor.wire and a.factor.axes == b.factor.axes:
            return (
                Product(shape, (a.factor,), a.scale + b.scale)
                if a.scale + b.scale
                else self.constant(np.zeros(()), shape)
            )
        onto = ordered((a.factor, b.factor))
        if a.scale < 0 < b.scale:
            a, b = b, a
        left = self.tensor(Product(shape, a.factors, a.scale), onto)
        if b.scale < 0:
            right = self.tensor(Product(shape, b.factors, -b.scale), onto)
            return Product(shape, (Factor(left.apply(arrays.Subtract(), right), onto),))
        right = self.tensor(Product(shape, b.factors, b.scale), onto)
        return Product(shape, (Factor(left.apply(arrays.Add(), right), onto),))

    def _added(self, a: Product, b: Product, shape: Shape) -> Product | None:
        """Write the sum x + y as one operation, or record a form by which a larger operation is recognised."""
        one, other, x = a.factor, b.factor, a.factor.tensor
        if not other.axes and self.is_unit(other):
            return self._shifted(a, b.scale, shape)
        if a.scale != 1.0:
            return None
        for name in ("sum", "mean", "max"):
            form = self.is_(other, name)
            if form is None or form.of.wire != x.wire or not along(one, form.axes, other):
                continue
            count = math.prod(x.shape[axis] for axis in form.axes)
            if near(b.scale * (count if name == "sum" else 1.0), -1.0):
                kept = form.of.apply(arrays.Mean(form.axes)) if name == "sum" else other.tensor
                spread = kept.apply(arrays.Broadcast(x.shape, form.axes)) if form.axes else kept
                made = x.apply(arrays.Subtract(), spread)
                self.noted(made, "below" if name == "max" else "centred", x, form.axes)
                return Product(shape, (Factor(made, one.axes),))
        logarithm, below = self.is_(other, "log"), self.is_(one, "below")
        if logarithm and below and near(b.scale, -1.0) and len(below.axes) == 1:
            total = self.form(logarithm.of)
            exponential = self.form(total.of) if total and total.name == "sum" else None
            if (
                total
                and exponential
                and exponential.name == "exp_below"
                and exponential.of.wire == below.of.wire
                and exponential.axes == total.axes == below.axes
                and along(one, below.axes, other)
            ):
                return Product(shape, (Factor(below.of.apply(arrays.LogSoftmax(below.axes[0])), one.axes),))
        cube = self.is_(other, "cube")
        if cube and cube.of.wire == x.wire and one.axes == other.axes and near(b.scale, 0.044715):
            made = x.apply(arrays.Add(), other.tensor * b.scale)
            return Product(shape, (Factor(self.noted(made, "gelu_cubic", x), one.axes),))
        return None

    def _shifted(self, product: Product, number: float, shape: Shape) -> Product:
        """Write the sum of x and a number."""
        factor, scale, x = product.factor, product.scale, product.factor.tensor
        if number == 0.0:
            return Product(shape, (factor,), scale)
        if number == -math.inf:
            return self.constant(np.asarray(MASKED), shape)
        form = self.form(x)
        if form and form.name == "sigmoid" and near(scale, -2 * number) and abs(number) == 1.0:
            inner = self.scaled(form.of, form.number / 2)
            made = inner.apply(arrays.Tanh())
            self.note_tanh(made, form.of, form.number / 2)
            return Product(shape, (Factor(made, factor.axes),), -number)
        made = self.tensor(Product(shape, (factor,), scale), factor.axes) + number
        if form and form.name == "gelu_tanh" and scale == 1.0 and number == 1.0:
            self.noted(made, "gelu_twice", form.of)
        if form and form.name == "erf" and scale == 1.0 and number == 1.0 and near(form.number, math.sqrt(0.5)):
            self.noted(made, "erf_twice", form.of)
        if form and form.name == "exp" and scale == 1.0 and number == 1.0:
            self.noted(made, "exp_plus_one", form.of, (), form.number)
        if form and form.name == "squares" and number > 0:
            count = math.prod(form.of.shape[axis] for axis in form.axes)
            if near(scale * count, 1.0):
                self.noted(made, "mean_square", form.of, form.axes, number)
        return Product(shape, (Factor(made, factor.axes),))

    def sum(self, product: Product, count: int) -> Product:
        """Write the sum over the first `count` axes."""
        shape, scale = product.shape[count:], product.scale
        summed = range(count)
        present = {axis for factor in product.factors for axis in factor.axes}
        scale *= math.prod(product.shape[axis] for axis in summed if axis not in present)
        factors = list(product.factors)
        if len(factors) == 2:
            for place in (0, 1):
                alone = [a for a in factors[place].axes if a in summed and a not in factors[1 - place].axes]
                factors[place] = self._total(factors[place], alone)
            both = [axis for axis in factors[0].axes if axis in summed]
            if both:
                factors = [self.contracted(factors[0], factors[1], both, product.shape)]
        else:
            factors = [self._total(factors[0], [axis for axis in factors[0].axes if axis in summed])]
        places = [axis - count for axis in range(len(product.shape))]
        return Product(shape, tuple(factor.placed(places) for factor in factors), 1.0).scaled(scale)

    def _total(self, factor: Factor, axes: Sequence[int]) -> Factor:
        if not axes:
            return factor
        own = tuple(sorted(factor.axes.index(axis) for axis in axes))
        total = factor.tensor.apply(arrays.Sum(own))
        return Factor(
            self.noted(total, "sum", factor.tensor, own), tuple(axis for axis in factor.axes if axis not in axes)
        )

    def contracted(self, a: Factor, b: Factor, summed: Sequence[int], shape: Shape) -> Factor:
        """Write the sum of products over axes that both factors have."""
        for one, other in ((a, b), (b, a)):
            found = self._gathered(one, other, summed) or self._picked(one, other, summed)
            if found is not None:
                return found
        if len({*a.axes, *b.axes}) > len(ascii_lowercase):
            raise CircuitizeError(f"expected at most {len(ascii_lowercase)} axes in a product, found more; merge some")
        letters = dict(zip(sorted({*a.axes, *b.axes}), ascii_lowercase, strict=False))
        kept = tuple(axis for axis in letters if axis not in summed)
        words = ["".join(letters[axis] for axis in axes) for axes in (a.axes, b.axes, kept)]
        made = a.tensor.apply(arrays.Einsum(f"{words[0]},{words[1]}->{words[2]}"), b.tensor)
        if a.tensor.wire == b.tensor.wire and a.axes == b.axes:
            self.noted(made, "squares", a.tensor, sorted(a.axes.index(axis) for axis in summed))
        return Factor(made, kept)

    def _picked(self, indicator: Factor, other: Factor, summed: Sequence[int]) -> Factor | None:
        """Write a sum of products as a slice, if one factor holds known indicators of elements that follow one
        another.
        """
        values = self.known.get(indicator.tensor.wire)
        if values is None or values.ndim != 2 or len(summed) != 1:
            return None
        place = indicator.axes.index(summed[0])
        rows, (row,) = np.moveaxis(values, place, 1), [axis for axis in indicator.axes if axis != summed[0]]
        first = int(rows[0].argmax())
        if row in other.axes or not np.array_equal(rows, np.eye(rows.shape[1])[first : first + len(rows)]):
            return None
        at = other.axes.index(summed[0])
        starts = tuple(first if axis == at else 0 for axis in range(len(other.axes)))
        stops = tuple(first + len(rows) if axis == at else extent for axis, extent in enumerate(other.tensor.shape))
        tensor = other.tensor if stops == other.tensor.shape else other.tensor.apply(arrays.Slice(starts, stops))
        return Factor(tensor, tuple(row if axis == summed[0] else axis for axis in other.axes))

    def _gathered(self, indicator: Factor, other: Factor, summed: Sequence[int]) -> Factor | None:
        """Write a sum of products as the elements that indices choose, or as sums at indices, if one factor holds the
        indicators of the given indices.
        """
        form = self.is_(indicator, "one_hot")
        if form is None:
            return None
        *at, along = indicator.axes
        if list(summed) == [along] and not set(at) & set(other.axes):
            place = other.axes.index(along)
            chosen = other.tensor.apply(arrays.Gather(place), form.of)
            return Factor(chosen, (*other.axes[:place], *at, *other.axes[place + 1 :]))
        if set(summed) == set(at) and along not in other.axes:
            rest = [axis for axis in other.axes if axis not in at]
            order = [other.axes.index(axis) for axis in (*at, *rest)]
            size = indicator.tensor.shape[-1]
            added = other.tensor.transpose(*order).apply(arrays.ScatterAdd(0, size), form.of)
            return Factor(added, (along, *rest))
        return None
