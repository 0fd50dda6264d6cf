"""What composes of UOps is as one operation: contractions, gathers, softmax, normalisations, curves.

Each tensor that is made has a form, what it is of others; a form is found again when the next operation reads it.
What the larger operation leaves unread is dropped when the program is simplified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Shape
from circuitize.frontends.attention import MASKED
from circuitize.frontends.tensor import Tensor

from .known import Known
from .products import Factor, Product, aligned

LN2 = math.log(2.0)


@dataclass(frozen=True)
class Form:
    """A tensor is `name` of another (its axes in the order of that tensor's own), with numbers that belong to it."""

    name: str
    of: Tensor
    axes: tuple[int, ...] = ()
    number: float = 0.0


def near(x: float, y: float) -> bool:
    return math.isclose(x, y, rel_tol=1e-6)


LEAST = -1e4
"""A constant of at most this is there to mask a score: it stands for minus infinity."""


def masked(value: Known) -> Known:
    """Where known elements stand for minus infinity."""
    return np.asarray(np.asarray(value, np.float64) <= LEAST)


class Raised:
    """Writes products, sums and curves, the largest operation that they are."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.forms: dict[int, Form] = {}

    def form(self, tensor: Tensor) -> Form | None:
        return self.forms.get(tensor.wire)

    def noted(self, tensor: Tensor, name: str, of: Tensor, axes: Sequence[int] = (), number: float = 0.0) -> Tensor:
        self.forms.setdefault(tensor.wire, Form(name, of, tuple(axes), number))
        return tensor

    def is_(self, factor: Factor, name: str) -> Form | None:
        """The form of a factor, where it has this name."""
        form = self.form(factor.tensor)
        return form if form is not None and form.name == name else None

    def constant(self, value: Known, shape: Shape) -> Product:
        """Known elements; those that stand for minus infinity become -64."""
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
        return Product(shape, (Factor(tensor, tuple(kept)),))

    # Products.

    def single(self, product: Product) -> Product:
        """The same with one factor."""
        if len(product.factors) == 1:
            return product
        a, b = product.factors
        raised = self._multiplied(a, b) or self._multiplied(b, a)
        if raised is None:
            onto = _order(product.factors)
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
        return x.apply(arrays.Multiply(), y)

    def _multiplied(self, a: Factor, b: Factor) -> tuple[Factor, float] | None:
        """What the product of these two is, where it is something, and what it is to be multiplied by."""
        x = a.tensor
        share = self.is_(b, "reciprocal")
        total = self.form(share.of) if share else None
        if total and total.name == "sum" and total.of.wire == x.wire and _along(a, total.axes, b):
            below = self.is_(a, "exp_below")
            if below:
                return Factor(below.of.apply(arrays.Softmax(below.axes[0])), a.axes), 1.0
        root = self.is_(b, "reciprocal_root")
        if root and root.of.wire == x.wire and _along(a, root.axes, b):
            centred = self.is_(a, "centred")
            if centred and centred.axes == root.axes:
                return Factor(centred.of.apply(arrays.Normalize(root.axes, root.number)), a.axes), 1.0
            return Factor(x.apply(arrays.RootMeanSquareNormalize(root.axes, root.number)), a.axes), 1.0
        gelu = self.is_(b, "gelu_twice")
        if gelu and gelu.of.wire == x.wire and a.axes == b.axes:
            return Factor(x.apply(arrays.TanhGELU()), a.axes), 2.0
        gelu = self.is_(b, "erf_twice")
        if gelu and gelu.of.wire == x.wire and a.axes == b.axes:
            return Factor(x.apply(arrays.GELU()), a.axes), 2.0
        return None

    def multiply(self, x: Product, y: Product, shape: Shape) -> Product:
        """The product, not written while its two factors may still be contracted."""
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
        """Whether a factor is the constant 1 that uniform constants are multiples of."""
        return factor.tensor.wire == self.builder_unit()

    def builder_unit(self) -> int:
        return self.builder.add(arrays.Constant.splat(1.0, ()))

    def tensor(self, product: Product, onto: Sequence[int] | None = None) -> Tensor:
        """The elements, with these axes of the whole, by default those along which they differ."""
        made = self.single(product)
        factor = made.factor
        axes = tuple(made.axes if onto is None else onto)
        if not factor.axes and self.is_unit(factor):
            splat = arrays.Constant.splat(made.scale, tuple(made.shape[axis] for axis in axes))
            return Tensor(self.builder, self.builder.add(splat))
        return aligned(Factor(self.scaled(factor.tensor, made.scale), factor.axes), axes, made.shape)

    def scaled(self, tensor: Tensor, scale: float) -> Tensor:
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
        """The elements in their whole shape."""
        made = self.tensor(product)
        axes = self.single(product).axes
        shape = product.shape
        ones = made.reshape([extent if axis in axes else 1 for axis, extent in enumerate(shape)])
        return ones.broadcast(shape)

    # Sums.

    def add(self, x: Product, y: Product, shape: Shape) -> Product:
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
        onto = _order((a.factor, b.factor))
        if a.scale < 0 < b.scale:
            a, b = b, a
        left = self.tensor(Product(shape, a.factors, a.scale), onto)
        if b.scale < 0:
            right = self.tensor(Product(shape, b.factors, -b.scale), onto)
            return Product(shape, (Factor(left.apply(arrays.Subtract(), right), onto),))
        right = self.tensor(Product(shape, b.factors, b.scale), onto)
        return Product(shape, (Factor(left.apply(arrays.Add(), right), onto),))

    def _added(self, a: Product, b: Product, shape: Shape) -> Product | None:
        """x + y as one operation, or with a form to know it by."""
        one, other, x = a.factor, b.factor, a.factor.tensor
        if not other.axes and self.is_unit(other):
            return self._shifted(a, b.scale, shape)
        if a.scale != 1.0:
            return None
        for name in ("sum", "mean", "max"):
            form = self.is_(other, name)
            if form is None or form.of.wire != x.wire or not _along(one, form.axes, other):
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
                and _along(one, below.axes, other)
            ):
                return Product(shape, (Factor(below.of.apply(arrays.LogSoftmax(below.axes[0])), one.axes),))
        cube = self.is_(other, "cube")
        if cube and cube.of.wire == x.wire and one.axes == other.axes and near(b.scale, 0.044715):
            made = x.apply(arrays.Add(), other.tensor * b.scale)
            return Product(shape, (Factor(self.noted(made, "gelu_cubic", x), one.axes),))
        return None

    def _shifted(self, product: Product, number: float, shape: Shape) -> Product:
        """x + a number."""
        factor, scale, x = product.factor, product.scale, product.factor.tensor
        if number == 0.0:
            return Product(shape, (factor,), scale)
        if number == -math.inf:
            return self.constant(np.asarray(MASKED), shape)
        form = self.form(x)
        if form and form.name == "sigmoid" and near(scale, -2 * number) and abs(number) == 1.0:
            inner = self.scaled(form.of, form.number / 2)
            made = inner.apply(arrays.Tanh())
            self._tanh(made, form.of, form.number / 2)
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
        """The sum over the first `count` axes."""
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
        """The sum of products over axes that both have."""
        for one, other in ((a, b), (b, a)):
            found = self._gathered(one, other, summed)
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

    def _gathered(self, indicator: Factor, other: Factor, summed: Sequence[int]) -> Factor | None:
        """What indices choose, or what is added up at indices, where one factor is their indicators."""
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

    # Curves.

    def applied(self, operation: Operation, product: Product, *others: Product) -> Product:
        """An operation element by element, on those axes only along which its operands differ."""
        made = [self.single(each) for each in (product, *others)]
        onto = _order([each.factor for each in made])
        first, *rest = [self.tensor(Product(product.shape, e.factors, e.scale), onto) for e in made]
        return Product(product.shape, (Factor(first.apply(operation, *rest), onto),))

    def curve(self, operation: Operation, product: Product) -> Product:
        """A curve that was found whole, of a form of its own."""
        single = self.single(product)
        made = self.applied(operation, product)
        x, tensor = single.factor.tensor, made.factor.tensor
        if isinstance(operation, arrays.Tanh):
            self._tanh(tensor, x, single.scale)
        elif isinstance(operation, arrays.Erf):
            self.noted(tensor, "erf", x, (), single.scale)
        return made

    def _tanh(self, tensor: Tensor, x: Tensor, scale: float) -> None:
        cubic = self.form(x)
        if cubic is not None and cubic.name == "gelu_cubic" and near(scale, math.sqrt(2 / math.pi)):
            self.noted(tensor, "gelu_tanh", cubic.of)

    def exp2(self, product: Product) -> Product:
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
        made = self.applied(arrays.Log(), product)
        single = self.single(product)
        if single.scale == 1.0:
            self.noted(made.factor.tensor, "log", single.factor.tensor)
        return made.scaled(1 / LN2)

    def power(self, product: Product, exponent: float) -> Product:
        """The power by a multiple of 1/2."""
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
        made = self.applied(arrays.SquareRoot(), product)
        single = self.single(product)
        if single.scale == 1.0:
            self.noted(made.factor.tensor, "root", single.factor.tensor)
        return made

    def reciprocal(self, product: Product) -> Product:
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
        """The maximum over the first `count` axes."""
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


def _order(factors: Sequence[Factor]) -> tuple[int, ...]:
    """All axes of some factors, as the one that has all of them has them, else in order."""
    every = {axis for factor in factors for axis in factor.axes}
    return next((f.axes for f in factors if len(f.axes) == len(every)), tuple(sorted(every)))


def _along(whole: Factor, axes: Sequence[int], reduced: Factor) -> bool:
    """Whether a factor has the axes of another less those (counted within the other's own) that were removed."""
    return reduced.axes == tuple(axis for place, axis in enumerate(whole.axes) if place not in axes)
