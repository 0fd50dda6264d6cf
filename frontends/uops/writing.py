"""A writer of constants and products, which are written when an operation other than a contraction reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape
from circuitize.frontends.attention import MASKED
from circuitize.frontends.tensor import Tensor

from .forms import Form, Forms, along, near, ordered
from .known import Known
from .products import Factor, Product, aligned

LEAST = -1e9
"""The bound at or below which a constant masks a score and stands for minus infinity."""


def masked(value: Known) -> Known:
    """Return where known elements stand for minus infinity."""
    return np.asarray(np.asarray(value, np.float64) <= LEAST)


class Products(Forms):
    """The writer of products: each is written as the largest operation that it forms, such as softmax, a normalisation
    or GELU.
    """

    def constant(self, value: Known, shape: Shape) -> Product:
        """Write known elements as a constant; those that stand for minus infinity become -64."""
        values = np.broadcast_to(np.asarray(value, np.float64), shape)
        values = np.where(masked(values), MASKED, values)
        if not np.isfinite(values).all():
            raise CircuitizeError("expected finite constants, found NaN or infinity; correct the program")
        kept = []
        for axis, extent in enumerate(shape):
            first = values.take([0], axis)
            if extent > 1 and np.array_equal(values, np.broadcast_to(first, values.shape)):
                values = first
            elif extent > 1:
                kept.append(axis)
        compact = values.reshape([shape[axis] for axis in kept])
        if not kept:
            wire = self.builder.add(arrays.Constant.splat(1.0, ()))
            return Product(shape, (Factor(Tensor(self.builder, wire), ()),), float(compact))
        tensor = Tensor(self.builder, self.builder.add(arrays.Constant.of(compact)))
        self.known[tensor.wire] = compact
        return Product(shape, (Factor(tensor, tuple(kept)),))

    def single(self, product: Product) -> Product:
        """Return the same values as a `Product` with a single factor: two factors are multiplied."""
        if len(product.factors) == 1:
            return product
        a, b = product.factors
        raised = self._multiplied(a, b) or self._multiplied(b, a)
        if raised is None:
            onto = ordered(product.factors)
            x, y = (aligned(factor, onto, product.shape) for factor in (a, b))
            raised = Factor(self._times(x, y), onto), 1.0
        factor, scale = raised
        return Product(product.shape, (factor,), product.scale).scaled(scale)

    def _times(self, x: Tensor, y: Tensor) -> Tensor:
        if x.wire == y.wire:
            return self.noted(x.apply(arrays.Square()), "square", x)
        for one, other in ((x, y), (y, x)):
            form = self.form(one)
            if form is not None and form.name == "square" and form.of.wire == other.wire:
                return self.noted(other.apply(arrays.Power(3)), "cube", other)
            if form is not None and form.name == "reciprocal":
                return other.apply(arrays.Divide(), form.of)
        made = x.apply(arrays.Multiply(), y)
        self.forms.setdefault(made.wire, Form("times", x, other=y))
        return made

    def _multiplied(self, a: Factor, b: Factor) -> tuple[Factor, float] | None:
        """Return the larger operation that a product of two factors forms, if any, and the number by which that
        operation must be multiplied.
        """
        x = a.tensor
        share = self.is_(b, "reciprocal")
        total = self.form(share.of) if share else None
        if total and total.name == "sum" and total.of.wire == x.wire and along(a, total.axes, b):
            below = self.is_(a, "exp_below")
            if below and below.axes == total.axes:
                return Factor(below.of.apply(arrays.Softmax(below.axes[0])), a.axes), 1.0
        root = self.is_(b, "reciprocal_root")
        if root and root.of.wire == x.wire and along(a, root.axes, b):
            centred = self.is_(a, "centred")
            if centred and centred.axes == root.axes:
                return Factor(centred.of.apply(arrays.Normalize(root.axes, root.number)), a.axes), 1.0
            return Factor(x.apply(arrays.RootMeanSquareNormalize(root.axes, root.number)), a.axes), 1.0
        slope = self._sigmoid_slope(a, b)
        if slope is not None:
            return slope, 1.0
        gelu = self.is_(b, "gelu_twice")
        if gelu and gelu.of.wire == x.wire and a.axes == b.axes:
            return Factor(x.apply(arrays.TanhGELU()), a.axes), 2.0
        gelu = self.is_(b, "erf_twice")
        if gelu and gelu.of.wire == x.wire and a.axes == b.axes:
            return Factor(x.apply(arrays.GELU()), a.axes), 2.0
        return None

    def _sigmoid_slope(self, a: Factor, b: Factor) -> Factor | None:
        """Return g (s - s^2) if a product has the pattern g s s e^x, where s is the sigmoid of -x, as in the derivative
        of 1 / (1 + e^x).
        """
        exponential, product = self.is_(a, "exp"), self.is_(b, "times")
        if exponential is None or product is None or product.other is None or a.axes != b.axes:
            return None
        for sigmoid in (product.of, product.other):
            form = self.form(sigmoid)
            known = form is not None and form.name == "sigmoid" and form.of.wire == exponential.of.wire
            once = self.times(b.tensor, sigmoid)
            rest = None if once is None else self.times(once, sigmoid)
            if known and form is not None and form.number == -exponential.number and rest is not None:
                slope = sigmoid.apply(arrays.Subtract(), self._times(sigmoid, sigmoid))
                return Factor(rest.apply(arrays.Multiply(), slope), a.axes)
        return None

    def multiply(self, x: Product, y: Product, shape: Shape) -> Product:
        """Return the product of x and y, which stays unwritten as long as its two factors may be contracted."""
        a, b = self.single(x), self.single(y)
        one, other = a.factor, b.factor
        if not one.axes and self.is_unit(one):
            return Product(shape, (other,), b.scale).scaled(a.scale)
        if not other.axes and self.is_unit(other):
            return Product(shape, (one,), a.scale).scaled(b.scale)
        product = Product(shape, (one, other), a.scale).scaled(b.scale)
        raised = self._multiplied(one, other) or self._multiplied(other, one)
        return Product(shape, (raised[0],), product.scale).scaled(raised[1]) if raised else product

    def is_unit(self, factor: Factor) -> bool:
        """Return whether a factor of a product is the constant 1 of which uniform constants are multiples."""
        return factor.tensor.wire == self.builder_unit()

    def builder_unit(self) -> int:
        """Return the wire of the constant 1 without axes."""
        return self.builder.add(arrays.Constant.splat(1.0, ()))

    def tensor(self, product: Product, onto: Sequence[int] | None = None) -> Tensor:
        """Write the elements of a product along the given axes, by default along those on which elements differ."""
        made = self.single(product)
        factor = made.factor
        axes = tuple(made.axes if onto is None else onto)
        if not factor.axes and self.is_unit(factor):
            splat = arrays.Constant.splat(made.scale, tuple(made.shape[axis] for axis in axes))
            return Tensor(self.builder, self.builder.add(splat))
        return aligned(Factor(self.scaled(factor.tensor, made.scale), factor.axes), axes, made.shape)

    def scaled(self, tensor: Tensor, scale: float) -> Tensor:
        """Write a tensor times a number; a sum times 1 / (number of its terms) is written as a mean."""
        if scale == 1.0:
            return tensor
        form = self.form(tensor)
        if form is not None and form.name == "sum":
            count = math.prod(form.of.shape[axis] for axis in form.axes)
            if near(abs(scale) * count, 1.0):
                mean = self.noted(form.of.apply(arrays.Mean(form.axes)), "mean", form.of, form.axes)
                return mean if scale > 0 else -mean
        return -tensor if scale == -1.0 else tensor * scale

    def whole(self, product: Product) -> Tensor:
        """Write the elements of a product in the product's whole shape."""
        made = self.tensor(product)
        axes = self.single(product).axes
        shape = product.shape
        ones = made.reshape([extent if axis in axes else 1 for axis, extent in enumerate(shape)])
        return ones.broadcast(shape)
