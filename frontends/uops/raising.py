"""The recognition of operations that UOps are composed of: contractions, gathers, softmax, normalisations, curves.

Each tensor made from UOps has a form, which describes it by other tensors; the form is looked up when the next
operation reads the tensor. When a larger operation replaces smaller ones and nothing reads the smaller ones any more,
they are dropped as the program is simplified.
"""

from __future__ import annotations

import math

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.operation import Operation
from circuitize.frontends.tensor import Tensor

from .forms import ordered
from .products import Factor, Product
from .sums import Sums

LN2 = math.log(2.0)


class Raised(Sums):
    """The writer of elementwise operations and maxima: each is written as part of the largest operation that it
    completes.
    """

    def applied(self, operation: Operation, product: Product, *others: Product) -> Product:
        """Write an elementwise operation, only on those axes along which its operands differ."""
        made = [self.single(each) for each in (product, *others)]
        onto = ordered([each.factor for each in made])
        first, *rest = [self.tensor(Product(product.shape, e.factors, e.scale), onto) for e in made]
        return Product(product.shape, (Factor(first.apply(operation, *rest), onto),))

    def curve(self, operation: Operation, product: Product) -> Product:
        """Write a curve that was recognised as a whole, and record its form."""
        single = self.single(product)
        made = self.applied(operation, product)
        x, tensor = single.factor.tensor, made.factor.tensor
        if isinstance(operation, arrays.Tanh):
            self.note_tanh(tensor, x, single.scale)
        elif isinstance(operation, arrays.Erf):
            self.noted(tensor, "erf", x, (), single.scale)
        return made

    def exp2(self, product: Product) -> Product:
        """Write 2^x as exp(log(2) x), and record the form by which softmax and ELU are recognised."""
        single = self.single(product)
        inner = single.scaled(LN2)
        x = inner.factor.tensor
        made = self.applied(arrays.Exp(), inner)
        below = self.form(x)
        if below and below.name == "below" and inner.scale == 1.0 and len(below.axes) == 1:
            self.noted(made.factor.tensor, "exp_below", below.of, below.axes)
        else:
            self.noted(made.factor.tensor, "exp", x, (), inner.scale)
        return made

    def log2(self, product: Product) -> Product:
        """Write the binary logarithm as a scaled natural logarithm."""
        made = self.applied(arrays.Log(), product)
        single = self.single(product)
        if single.scale == 1.0:
            self.noted(made.factor.tensor, "log", single.factor.tensor)
        return made.scaled(1 / LN2)

    def power(self, product: Product, exponent: float) -> Product:
        """Write the power of a product whose exponent is a multiple of 1/2."""
        if exponent < 0:
            return self.reciprocal(self.power(product, -exponent))
        single = self.single(product)
        if not exponent.is_integer():
            root = self.square_root(single)
            whole = self.power(single, exponent - 0.5)
            return root if exponent == 0.5 else self.multiply(whole, root, product.shape)
        if exponent == 0.0:
            return self.constant(np.ones(()), product.shape)
        factor, degree = single.factor, int(exponent)
        if degree == 1 or (not factor.axes and self.is_unit(factor)):
            return Product(product.shape, single.factors, single.scale**degree)
        made = factor.tensor.apply(arrays.Square() if degree == 2 else arrays.Power(degree))
        if degree in (2, 3):
            self.noted(made, "square" if degree == 2 else "cube", factor.tensor)
        return Product(product.shape, (Factor(made, factor.axes),)).scaled(single.scale**degree)

    def square_root(self, product: Product) -> Product:
        """Write the square root, and record the form by which the reciprocal square root of a normalisation is
        recognised.
        """
        made = self.applied(arrays.SquareRoot(), product)
        single = self.single(product)
        if single.scale == 1.0:
            self.noted(made.factor.tensor, "root", single.factor.tensor)
        return made

    def reciprocal(self, product: Product) -> Product:
        """Write 1/x, as a sigmoid or a reciprocal square root if x has the form of such an operation's divisor."""
        single = self.single(product)
        factor, x, scale = single.factor, single.factor.tensor, single.scale
        form = self.form(x)
        tensor: Tensor
        if form and form.name == "exp_plus_one":
            tensor = self.scaled(form.of, -form.number).apply(arrays.Sigmoid())
            self.noted(tensor, "sigmoid", form.of, (), -form.number)
        elif form and form.name == "root":
            tensor = form.of.apply(arrays.ReciprocalSquareRoot())
            square = self.form(form.of)
            if square and square.name == "mean_square":
                self.noted(tensor, "reciprocal_root", square.of, square.axes, square.number)
        elif form and form.name == "reciprocal":
            tensor = form.of
        else:
            tensor = self.noted(x.apply(arrays.Reciprocal()), "reciprocal", x)
        return Product(product.shape, (Factor(tensor, factor.axes),)).scaled(1 / scale)

    def greatest(self, product: Product, count: int) -> Product:
        """Write the maximum over the first `count` axes."""
        single = self.single(product)
        factor = single.factor
        if single.scale < 0:
            factor = Factor(self.scaled(factor.tensor, single.scale), factor.axes)
        own = tuple(sorted(factor.axes.index(axis) for axis in factor.axes if axis < count))
        made = factor.tensor
        for axis in reversed(own):
            made = made.apply(arrays.Max(axis))
        if own:
            self.noted(made, "max", factor.tensor, own)
        axes = tuple(axis - count for axis in factor.axes if axis >= count)
        return Product(product.shape[count:], (Factor(made, axes),), max(single.scale, 0.0) or 1.0)
