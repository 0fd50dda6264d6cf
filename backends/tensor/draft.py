"""A tensor system in the making: bases, forms, equations, and the checks of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from circuitize.circuits.integers.view import View
from circuitize.circuits.types import Shape

from .blocks import Block, blocks, in_one, padded
from .dataset import ROWS
from .forms import PRIME, Base, Column, Fixed, Form, Integers, Product, Public, Recipe, Rows, Trace


def _given_apart(_: Trace) -> Integers:
    """Return the honest values of a base that no wire of the program has: a dataset, the numbers of its rows."""
    return np.zeros(0, np.int64)


TABLES = "tables"
"""The name of the part of a system to which counts of table entries belong."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Table:
    """A lookup table of the keys 0 to size - 1, each with a value if `values` is not empty; `column` is the form of the
    counts of its entries.
    """

    size: int
    values: Integers
    column: int


@dataclass(frozen=True)
class Lookup:
    """The assertion that every element of the form `key` (with that of `value`, if there is one) is an entry of a
    table.
    """

    table: int
    key: int
    value: int | None
    part: str = field(default="", compare=False)


@dataclass(frozen=True)
class Range:
    """The assertion that every element of a form lies in [low, high]; `values` gives the honest elements."""

    form: Form
    low: int
    high: int
    values: Recipe
    name: str
    part: str


@dataclass(frozen=True)
class Sign:
    """`bit` is [x < 0] for each element x of a form whose elements lie in [low, high]; `negative` is bit times x."""

    form: Form
    low: int
    high: int
    bit: Form
    negative: Form
    values: Recipe
    name: str
    part: str


class Draft:
    """A draft of a tensor system, which collects everything that a proof must show. `part`, by which a system counts,
    names the operation or port that is being drafted.

    For a scan, `steps` is its number of steps: the first axis of most tensors, which is not cut into blocks. If a
    tensor over many steps were cut into blocks, each block would have its own claims on the products that it depends
    on, and each product would be weighed once for each block, over all steps.
    """

    def __init__(self, steps: int | None = None) -> None:
        self.steps = steps
        self.part = ""
        self.bases: list[Base] = []
        self.forms: list[Form] = []
        self.lookups: list[Lookup] = []
        self.tables: list[Table] = []
        self.zeros: list[int] = []
        self.ports: dict[tuple[str, str], tuple[Column, ...]] = {}
        self.tensors: dict[str, int] = {}
        self.indices: dict[str, int] = {}
        self._forms: dict[object, int] = {}
        self.columns: dict[object, tuple[int, ...]] = {}
        self.expected: dict[int, Form] = {}
        self._ones: dict[Shape, int] = {}
        self._depths: dict[int, int] = {}
        self.ranges: dict[object, Range] = {}
        self.signs: list[Sign] = []
        self.known: list[tuple[Form, int, int]] = []
        self._sizes: dict[int, int] = {}
        self._bits: dict[object, tuple[Form, Form]] = {}
        self._functions: dict[object, int] = {}
        self._looked_up: set[tuple[int, int]] = set()

    # Bases and forms.

    def add(self, base: Base) -> Form:
        """Return the form that consists of one base."""
        self.bases.append(base)
        return Form(base.shape, {(len(self.bases) - 1, ()): 1})

    def depth(self, form: Form) -> int:
        """Return how many products are nested inside each other in a form."""
        return max((self._depths.get(base, 0) for base, _ in form.terms), default=0)

    def blocks(self, shape: Shape) -> tuple[Block, ...]:
        """Return the blocks into which a tensor is cut, unless the tensor is a port's."""
        return blocks(shape, int(self.steps is not None and shape[:1] == (self.steps,)))

    def padded(self, shape: Shape) -> int:
        """Return the elements of all blocks of a shape, where each block is padded to powers of two."""
        return sum(padded(block.shape) for block in self.blocks(shape))

    def column(self, shape: Shape, recipe: Recipe | None, name: str, cut: Sequence[Block] | None = None) -> Form:
        """Return a committed tensor, in blocks, which are given for a port; `columns` records the columns of the
        tensor's form.
        """
        cut = cut or (in_one(shape) if recipe is None else self.blocks(shape))
        made, first = Form(shape, {}), len(self.bases)
        for block in cut:
            own = Column(block.shape, _part(recipe, block) if len(cut) > 1 else recipe, name, self.part)
            made = made + self.along(self.add(own), block.pad(shape), sums=False)
        self.columns[made.key()] = tuple(range(first, len(self.bases)))
        return made

    def expect(self, wire: int, shape: Shape, recipe: Recipe, name: str) -> Form:
        """Return a column that will hold the values of a wire, made before the rule for the wire is applied."""
        if wire not in self.expected:
            self.expected[wire] = self.column(shape, recipe, name)
        return self.expected[wire]

    def result(self, wire: int, shape: Shape, recipe: Recipe, name: str) -> Form:
        """Return the column of a wire: a new column, unless one was made before."""
        return self.expected.get(wire) or self.column(shape, recipe, name)

    def public(self, shape: Shape, recipe: Recipe, side: str, name: str) -> Form:
        """Add a tensor of the statement, the port `name` of one side; return its form."""
        return self.add(Public(shape, recipe, side, name))

    def rows(self, shape: Shape, recipe: Recipe, tensor: tuple[str, Shape], label: str, axes: int) -> Form:
        """Return the form of rows of a dataset's tensor, as a virtual column, at row numbers that the statement gives
        under a label.

        The statement of a proof gives one row number of a dataset for each place along the first `axes` axes.
        """
        name, whole = tensor
        if name not in self.tensors:
            self.tensors[name] = len(self.bases)
            self.column(whole, _given_apart, f"dataset {name}", in_one(whole))
        if label not in self.indices:
            self.indices[label] = len(self.bases)
            self.public(shape[:axes], _given_apart, ROWS, label)
        return self.add(Rows(shape, recipe, self.tensors[name], self.indices[label]))

    def constant(self, values: Integers, shape: Shape) -> Form:
        """Return the form of a constant: the constant's values, or one number for all elements."""
        if values.size == 1:
            return self.splat(int(values.reshape(-1)[0]), shape)
        return self.add(Fixed(shape, values))

    def splat(self, number: int, shape: Shape) -> Form:
        """Return a form whose elements all equal one number modulo p; all splats of a shape share one base."""
        if shape not in self._ones:
            self._ones[shape] = len(self.bases)
            self.bases.append(Fixed(shape, np.ones(1, np.int64)))
        return Form(shape, {(self._ones[shape], ()): number % PRIME} if number % PRIME else {})

    def splat_of(self, form: Form) -> int | None:
        """Return the one number (modulo p) that a form equals everywhere, if that can be read off it."""
        if not form.terms:
            return 0
        one = self._ones.get(form.shape)
        if len(form.terms) == 1 and one is not None:
            return form.terms.get((one, ()))
        return None

    def product(self, letters: tuple[str, str, str], x: Form, y: Form, shape: Shape, recipe: Recipe) -> Form:
        """Return the contraction of two forms."""
        if not x.terms or not y.terms:
            return Form(shape, {})
        made = self.add(Product(shape, recipe, letters, (self.index(x), self.index(y))))
        self._depths[len(self.bases) - 1] = 1 + max(self.depth(x), self.depth(y))
        return made

    def times(self, x: Form, y: Form, recipe: Recipe) -> Form:
        """Return the elementwise product of two forms: linear if one of them is a number."""
        for number, other in ((self.splat_of(x), y), (self.splat_of(y), x)):
            if number is not None:
                return other.times(number)
        own = LETTERS[: len(x.shape)]
        return self.product((own, own, own), x, y, x.shape, recipe)

    def along(self, form: Form, view: View, sums: bool) -> Form:
        """Return a form seen through a view, or summed along it."""
        shape = view.source_shape if sums else view.target_shape
        made = Form(shape, {})
        number = self.splat_of(form)
        if number is not None and not sums and not view.reads_outside:
            return self.splat(number, shape)
        if number is not None and sums and view.fibres[0] == view.fibres[1]:
            return self.splat(number * view.fibres[0], shape)
        for (base, path), coefficient in form.terms.items():
            first = path[0] if path else None
            if first is not None and first[1] == sums:
                merged = view.then(first[0]) if sums else first[0].then(view)
                path = ((merged, sums), *path[1:]) if not merged.is_identity else path[1:]
                if not sums and len(merged.steps) == 1 and not merged.reads_inside:
                    continue
            elif not view.is_identity:
                path = ((view, sums), *path)
            made = made + Form(shape, {(base, path): coefficient})
        return made

    def index(self, form: Form) -> int:
        """Return the number of a form; equal forms have the same number."""
        found = self._forms.setdefault(form.key(), len(self.forms))
        if found == len(self.forms):
            self.forms.append(form)
        return found

    # What is asserted.

    def zero(self, form: Form) -> None:
        """Assert that every element of a form is 0 modulo p."""
        if form.terms:
            self.zeros.append(self.index(form))

    def lookup(self, form: Form, size: int) -> None:
        """Assert that every element of a form is one of 0 to size - 1, size > 1: looked up in the table of exactly that
        size.
        """
        if size not in self._sizes:
            self._sizes[size] = self.table(size, np.zeros(0, np.int64), f"counts of [0, {size})")
        for own in self.in_blocks(form):
            asked = (self._sizes[size], self.index(own))
            if asked not in self._looked_up:
                self._looked_up.add(asked)
                self.lookups.append(Lookup(*asked, None, self.part))

    def table(self, size: int, values: Integers, name: str) -> int:
        """Add a table of `size` entries with its column of multiplicities; return the number of the table."""
        column = self.index(self.add(Column((size,), None, name, TABLES)))
        self.tables.append(Table(size, values, column))
        return len(self.tables) - 1

    def function(self, key: object, size: int, values: Integers, name: str) -> int:
        """Return the lookup table of a function, which is made once per key."""
        if key not in self._functions:
            self._functions[key] = self.table(size, values, f"{name} counts")
        return self._functions[key]

    def pair(self, key: Form, table: int, value: Form) -> None:
        """Assert that every element of `key` with that of `value` is an entry of the table."""
        for own, other in zip(self.in_blocks(key), self.in_blocks(value), strict=True):
            self.lookups.append(Lookup(table, self.index(own), self.index(other), self.part))

    def in_blocks(self, form: Form) -> list[Form]:
        """Return the blocks of a form, since looked-up forms are padded to powers of two."""
        return [self.along(form, block.of(form.shape), sums=False) for block in self.blocks(form.shape)]

    def interval(self, form: Form, low: int, high: int, values: Recipe, name: str) -> None:
        """Assert that every element of a form lies in [low, high], exactly; how the elements are looked up is chosen
        when the whole system is known.
        """
        self.ranges.setdefault((form.key(), low, high), Range(form, low, high, values, name, self.part))

    def limbs(self, form: Form, size: int, values: Recipe, name: str) -> None:
        """Assert that every element of a form lies in [0, size), by limbs."""
        self.interval(form, 0, size - 1, values, name)

    def sign(
        self, form: Form, low: int, high: int, values: Recipe, name: str, positive: bool = False
    ) -> tuple[Form, Form]:
        """Return the bit s = [x < 0] of each element x in [low, high], and the negative part s x; equal forms share one
        bit.

        If the `positive` part of x is wanted, it is the product (1 - s) x, and s x is x less that product: a reader of
        a rectifier's result then reads one tensor, however many tensors x is the sum of.

        Soundness: for a sign's bit, see `checks.settle`. The product s x of x and its sign bit s is negative where x is
        negative, and 0 elsewhere; s is therefore the bit of s x too, and one bit serves a ReLU, which is -s x for x =
        -y, and its derivative, the sign of s x.
        """
        known = self._bits.get(form.key())
        if known is None:
            bit = self.column(form.shape, lambda trace: (values(trace) < 0).astype(np.int64), f"{name} sign")
            if positive:
                other = self.splat(1, form.shape) - bit
                part = form - self.times(other, form, lambda trace: np.maximum(values(trace), 0))
            else:
                part = self.times(bit, form, lambda trace: np.minimum(values(trace), 0))
            self.signs.append(Sign(form, low, high, bit, part, values, name, self.part))
            known = self._bits[form.key()] = bit, part
            self._bits[part.key()] = bit, part
        return known


def _part(recipe: Recipe | None, block: Block) -> Recipe | None:
    return None if recipe is None else lambda trace: np.ascontiguousarray(recipe(trace)[block.places])
