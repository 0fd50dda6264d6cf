"""Plans with random products: of forms of forms, squares, through views that split, mix, repeat and sum.

They are the plan of a small program with more bases, forms, equations and lookups, all of which hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from r1cs_programs import program as program_of
from tensor_forgery import signed
from tensor_proofs import committed_inputs
from tensor_rows import EXAMPLES, of_rows

from circuitize.backends.tensor.draft import Lookup
from circuitize.backends.tensor.forms import PRIME, Base, Fixed, Form, Integers, Path, Product, Trace
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers.steps import Affine, Regroup, Step
from circuitize.circuits.integers.view import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed as Format
from circuitize.circuits.types import Shape
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Hook, Proved, prove_values

Elements = NDArray[Any]
LETTERS = "abcdef"


@cache
def program(long: bool = False) -> IntegerProgram:
    """Three tensors that are committed to, of which one goes through a table of pairs and one is halved."""
    builder = Builder()
    x = builder.input(Format((3, 40) if long else (2, 3), 0, -3, 4))
    y = builder.input(Format((64,) if long else (4,), 0, 0, 7))
    z = builder.input(Format((2, 2, 33) if long else (3, 1, 2), 0, -5, 2))
    found = builder.add(integers.Lookup(0, np.array([3, 0, 5, 3, 1, 2, 7, 7]), 0), y)
    return committed_inputs(program_of(builder.build([found, builder.add(integers.Shift(1), z), x])))


def contracted(letters: tuple[str, str, str], x: Elements, y: Elements, extents: dict[str, int]) -> Elements:
    """The contraction of two arrays of integers of any size."""
    every = list(dict.fromkeys(letters[2] + letters[0] + letters[1]))

    def spread(array: Elements, own: str) -> Elements:
        order = [letter for letter in every if letter in own]
        turned = array.transpose([own.index(letter) for letter in order]) if own else array
        return turned.reshape([extents[letter] if letter in own else 1 for letter in every])

    product = np.asarray(spread(x, letters[0]) * spread(y, letters[1]), object)
    whole = np.broadcast_to(product, [extents[letter] for letter in every])
    return np.asarray(whole.sum(axis=tuple(range(len(letters[2]), len(every)))) % PRIME, object)


@dataclass
class Random:
    """A plan in the making; `values` are those of each base, as numbers modulo p."""

    made: Plan
    values: list[Elements]
    draw: np.random.Generator
    extents: Sequence[int]
    """Of letters."""
    sizes: Sequence[int]
    """Of what is compared."""

    def below(self, end: int) -> int:
        return int(self.draw.integers(end))

    def factors(self, size: int) -> Shape:
        """A shape of so many elements."""
        shape: list[int] = []
        while size > 1:
            found = [n for n in range(2, size + 1) if size % n == 0]
            shape.append(found[self.below(len(found))])
            size //= shape[-1]
        for _ in range(self.below(3) == 0):
            shape.insert(self.below(len(shape) + 1), 1)
        return tuple(shape)

    def affine(self, source: Shape, shape: Shape) -> Affine:
        """Mostly each target axis moves one source axis; now and then several, or none."""
        strides = np.zeros((len(source), len(shape)), int)
        for j in range(len(shape)):
            for _ in range(1 + (self.below(6) == 0) if source and self.below(8) else 0):
                strides[self.below(len(source)), j] = (1, 1, 1, -1, 2)[self.below(5)]
        backwards = [sum(-s * (n - 1) for s, n in zip(row, shape, strict=True) if s < 0) for row in strides.tolist()]
        offsets = tuple(back + (0, 0, 1, -1)[self.below(4)] for back in backwards)
        return Affine(shape, offsets, tuple(tuple(row) for row in strides.tolist()))

    def view(self, source: Shape, shape: Shape) -> View:
        steps: list[Step] = []
        own = source
        if self.below(2):
            own = self.factors(math.prod(source))
            steps.append(Regroup(own))
        if self.below(2) or math.prod(own) != math.prod(shape):
            other = self.factors(math.prod(shape)) if self.below(2) else shape
            steps.append(self.affine(own, other))
        steps.append(Regroup(shape))
        return View(source, tuple(steps))

    def path(self, source: Shape, shape: Shape) -> Path:
        """From a form of this shape to a base of that: up to two views."""
        if source == shape and self.below(3):
            return ()
        if self.below(4) == 0:
            between = self.factors(self.sizes[-1 - self.below(3)])
            return (*self.path(between, shape), *self.path(source, between))
        sums = self.below(3) == 0
        found = self.view(shape, source) if sums else self.view(source, shape)
        return () if found.is_identity else ((found, sums),)

    def form(self, shape: Shape) -> Form:
        """A sum of a few tensors seen through views, the last ones more often."""
        known = [n for n, base in enumerate(self.made.bases) if self.values[n].size]
        products = [n for n in known if isinstance(self.made.bases[n], Product)]
        form = Form(shape, {})
        while not form.terms:
            for _ in range(1 + self.below(3)):
                of = products if products and self.below(3) else known
                base = of[self.below(len(of))]
                key = base, self.path(self.made.bases[base].shape, shape)
                form = form + Form(shape, {key: (1, PRIME - 1, 2, 1 << 40)[self.below(4)]})
        return form

    def number(self, form: Form) -> int:
        forms = list(self.made.forms)
        views = dict.fromkeys([*self.made.views, *(view for _, path in form.terms for view, _ in path)])
        if form in forms:
            return forms.index(form)
        self.made = replace(self.made, forms=(*forms, form), views=tuple(views))
        return len(forms)

    def base(self, base: Base, values: Elements) -> int:
        self.made = replace(self.made, bases=(*self.made.bases, base))
        self.values.append(np.asarray(values).astype(object))
        return len(self.made.bases) - 1

    def of(self, form: Form) -> Elements:
        """The values of a form."""
        made = np.zeros(form.shape, object)
        for (base, path), coefficient in form.terms.items():
            array = np.broadcast_to(np.asarray(self.values[base], object), self.made.bases[base].shape)
            for view, sums in reversed(path):
                array = np.asarray((view.scatter if sums else view.gather)(np.asarray(array, object)), object)
            made = np.asarray(np.asarray(made + array * coefficient, object) % PRIME, object)
        return made

    def product(self) -> int:
        extents = {letter: self.extents[self.below(len(self.extents))] for letter in LETTERS[: 1 + self.below(4)]}
        while math.prod(extents.values()) > 1 << 12:
            extents.popitem()

        def chosen(letters: Sequence[str], most: int) -> str:
            found = [letter for letter in self.draw.permutation(list(letters)).tolist() if self.below(4)]
            return "".join(found[:most])

        of_x = chosen(list(extents), 3)
        x = self.form(tuple(extents[letter] for letter in of_x))
        of_y, y = (of_x, x) if self.below(5) == 0 else (chosen(list(extents), 3), None)
        y = y or self.form(tuple(extents[letter] for letter in of_y))
        both = list(dict.fromkeys(of_x + of_y))
        of_z = (
            "".join(self.draw.permutation(list(of_x)).tolist())
            if set(of_x) == set(of_y) and self.below(3)
            else chosen(both, 4)
        )
        shape = tuple(extents[letter] for letter in of_z)
        values = contracted((of_x, of_y, of_z), self.of(x), self.of(y), extents)
        forms = self.number(x), self.number(y)
        return self.base(Product(shape, lambda _: values, (of_x, of_y, of_z), forms), values)

    def known(self, form: Form, keys: Elements | None = None) -> Form:
        """The form less its values, plus keys."""
        found = self.of(form)
        less = np.array([signed(int(v)) for v in found.reshape(-1)], np.int64).reshape(form.shape)
        key: tuple[int, Path] = (self.base(Fixed(form.shape, less), less.astype(object)), ())
        made = form + Form(form.shape, {key: PRIME - 1})
        if keys is None:
            return made
        key = self.base(Fixed(form.shape, np.asarray(keys, np.int64)), keys), ()
        return made + Form(form.shape, {key: 1})

    def equation(self) -> None:
        shape = self.factors(self.sizes[self.below(len(self.sizes))])
        form = self.number(self.known(self.form(shape)))
        self.made = replace(self.made, zeros=(*self.made.zeros, form))

    def lookup(self) -> None:
        shape, table = self.factors((1, 3, 4, 6)[self.below(4)]), self.below(len(self.made.tables))
        own = self.made.tables[table]
        keys = self.draw.integers(0, own.size, shape)
        key = self.number(self.known(self.form(shape), keys))
        value = None
        if own.values.size:
            value = self.number(self.known(self.form(shape), np.asarray(own.values)[keys]))
        self.made = replace(self.made, lookups=(*self.made.lookups, Lookup(table, key, value)))


@dataclass(frozen=True)
class Drawn:
    """A program with a plan that has more in it than the program, and the values of its bases in a run."""

    program: IntegerProgram
    made: Plan
    trace: Trace
    values: Sequence[Integers]

    @property
    def hiding(self) -> Drawn:
        return replace(self, made=replace(self.made, openings=(1,) * len(self.made.groups)))

    def prove(self, hook: Hook | None = None) -> Proved:
        return prove_values(self.program, self.made, self.trace, self.values, hook=hook)

    def without_the_last_equation(self) -> Drawn:
        """The same plan, but that the numbers that the last equation compares a form with are one more."""
        terms = self.made.forms[self.made.zeros[-1]].terms
        (base,) = [base for base, path in terms if isinstance(self.made.bases[base], Fixed) and not path][-1:]
        found = self.made.bases[base]
        assert isinstance(found, Fixed)
        bases, values = list(self.made.bases), list(self.values)
        bases[base] = Fixed(found.shape, found.values + 1)
        values[base] = values[base] + 1
        return replace(self, made=replace(self.made, bases=tuple(bases)), values=values)


def random_plan(seed: int, degree: int = 2) -> Drawn:
    """Three to eight products, equations and lookups: of a program, of a larger one, or of one on rows of a dataset."""
    draw = np.random.default_rng(seed)
    long = not draw.integers(4)
    if long or draw.integers(3):
        own = program(long)
        made = plan(own, 4, degree=degree)
        inputs = {
            p.name: draw.integers(p.format.low, p.format.high + 1, p.format.shape) for p in own.inputs if p.format
        }
        trace = made.trace(inputs)
        values = list(made.values(trace))
    else:
        own, made = of_rows(degree)
        rows, data = np.array([4, 0, 4]), draw.integers(0, 8, (EXAMPLES, 4))
        trace = made.trace({"x": data[rows], "w": draw.integers(-8, 8, 12)})
        values = list(made.values(trace, {"1": rows}))
        values[made.tensors["x"]] = data
    given = [
        value.astype(object).reshape(base.shape if value.size > 1 else (1,) * len(base.shape)) if value.size else value
        for value, base in zip(values, made.bases, strict=True)
    ]
    extents, sizes = ((1, 2, 3, 33, 40), (64, 66, 120)) if long else ((1, 2, 2, 3, 4, 5), (1, 2, 3, 8, 4, 6, 12))
    random = Random(made, given, draw, extents, sizes)
    for _ in range(3 + random.below(6)):
        random.product()
    for _ in range(random.below(3)):
        if made.tables:
            random.lookup()
    for _ in range(1 + random.below(3)):
        random.equation()
    numbers = [np.array([signed(int(v)) for v in value.reshape(-1)], np.int64) for value in random.values]
    shaped = [
        np.ascontiguousarray(values.reshape(base.shape)) if values.size == math.prod(base.shape) else values
        for values, base in zip(numbers, random.made.bases, strict=True)
    ]
    return Drawn(own, random.made, trace, shaped)
