"""A draft of a tensor system: its bases, forms and equations, and the checks of their elements."""

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
    """Return an empty array in place of the honest values of a base that no wire of the program has, such as a dataset
    or the numbers of its rows.
    """
    return np.zeros(0, np.int64)


TABLES = "tables"
"""The name of the part of a system to which counts of table entries belong."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Table:
    """A lookup table with the keys 0 to size - 1, each with a value unless `values` is empty; `column` is the form of
    the multiplicities of its entries.
    """

    size: int
    values: Integers
    column: int


@dataclass(frozen=True)
class Lookup:
    """The assertion that every element of the form `key` (with the same element of the form `value`, if there is one)
    is an entry of a table.
    """

    table: int
    key: int
    value: int | None
    part: str = field(default="", compare=False)


@dataclass(frozen=True)
class Range:
    """The assertion that every element of a form is in [low, high]; `values` is the recipe for the honest elements."""

    form: Form
    low: int
    high: int
    values: Recipe
    name: str
    part: str


@dataclass(frozen=True)
class Sign:
    """The sign of a form whose elements x are in [low, high]: `bit` is [x < 0] for each element, and `negative` is bit
    times x.
    """

    form: Form
    low: int
    high: int
    bit: Form
    negative: Form
    values: Recipe
    name: str
    part: str


class Draft:
    """A draft of a tensor system, which collects everything that a proof must show. The field `part` names the
    operation or port that is being drafted, by which the system's counts are divided.

    For the program of a scan, `steps` is the number of steps, which is the extent of most tensors' first axis; this
    axis is not cut into blocks. If a tensor over many steps were cut into blocks, each block would have its own claims
    on the products on which it depends, and each product would be weighed once for each block, over all steps.
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
        """Add a base to the draft, and return the form that consists of this base."""
        self.bases.append(base)
        return Form(base.shape, {(len(self.bases) - 1, ()): 1})

    def depth(self, form: Form) -> int:
        """Return the greatest number of products that are nested inside each other in a form."""
        return max((self._depths.get(base, 0) for base, _ in form.terms), default=0)

    def blocks(self, shape: Shape) -> tuple[Block, ...]:
        """Return the blocks into which a tensor of this shape is cut, unless the tensor belongs to a port."""
        return blocks(shape, int(self.steps is not None and shape[:1] == (self.steps,)))

    def padded(self, shape: Shape) -> int:
        """Return the number of elements in all blocks of a tensor of this shape, after each block is padded to powers
        of two.
        """
        return sum(padded(block.shape) for block in self.blocks(shape))

    def column(self, shape: Shape, recipe: Recipe | None, name: str, cut: Sequence[Block] | None = None) -> Form:
        """Return the form of a committed tensor in blocks, which are given for the tensor of a port; `columns` records
        the columns of that form.
        """
        cut = cut or (in_one(shape) if recipe is None else self.blocks(shape))
        made, first = Form(shape, {}), len(self.bases)
        for block in cut:
            own = Column(block.shape, _part(recipe, block) if len(cut) > 1 else recipe, name, self.part)
            made = made + self.along(self.add(own), block.pad(shape), sums=False)
        self.columns[made.key()] = tuple(range(first, len(self.bases)))
        return made

    def expect(self, wire: int, shape: Shape, recipe: Recipe, name: str) -> Form:
        """Return a column that is to hold the values of a wire, and is made before the rule for the wire is applied."""
        if wire not in self.expected:
            self.expected[wire] = self.column(shape, recipe, name)
        return self.expected[wire]

    def result(self, wire: int, shape: Shape, recipe: Recipe, name: str) -> Form:
        """Return the column for the values of a wire: the one that was made before, or else a new column."""
        return self.expected.get(wire) or self.column(shape, recipe, name)

    def public(self, shape: Shape, recipe: Recipe, side: str, name: str) -> Form:
        """Add a tensor that the statement gives, for the port `name` of the given side, and return its form."""
        return self.add(Public(shape, recipe, side, name))

    def rows(self, shape: Shape, recipe: Recipe, tensor: tuple[str, Shape], label: str, axes: int) -> Form:
        """Return the form of the rows of a dataset's tensor at those row numbers that the statement gives under a
        label; the rows themselves are not committed.

        For the rows of a dataset, the statement gives one row number for each place along the first `axes` axes.
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
        """Return the form of a constant with the given values, or with one number for all elements."""
        if values.size == 1:
            return self.splat(int(values.reshape(-1)[0]), shape)
        return self.add(Fixed(shape, values))

    def splat(self, number: int, shape: Shape) -> Form:
        """Return a form whose elements all equal the same number modulo p; all such forms of one shape share a base."""
        if shape not in self._ones:
            self._ones[shape] = len(self.bases)
            self.bases.append(Fixed(shape, np.ones(1, np.int64)))
        return Form(shape, {(self._ones[shape], ()): number % PRIME} if number % PRIME else {})

    def splat_of(self, form: Form) -> int | None:
        """Return the number (modulo p) that all elements of a form equal, if the form's terms show this, and otherwise
        None.
        """
        if not form.terms:
            return 0
        one = self._ones.get(form.shape)
        if len(form.terms) == 1 and one is not None:
            return form.terms.get((one, ()))
        return None

    def product(self, letters: tuple[str, str, str], x: Form, y: Form, shape: Shape, recipe: Recipe) -> Form:
        """Return the form of the contraction of two forms."""
        if not x.terms or not y.terms:
            return Form(shape, {})
        made = self.add(Product(shape, recipe, letters, (self.index(x), self.index(y))))
        self._depths[len(self.bases) - 1] = 1 + max(self.depth(x), self.depth(y))
        return made

    def times(self, x: Form, y: Form, recipe: Recipe) -> Form:
        """Return the elementwise product of two forms, which is linear if all elements of one of them equal the same
        number.
        """
        for number, other in ((self.splat_of(x), y), (self.splat_of(y), x)):
            if number is not None:
                return other.times(number)
        own = LETTERS[: len(x.shape)]
        return self.product((own, own, own), x, y, x.shape, recipe)

    def along(self, form: Form, view: View, sums: bool) -> Form:
        """Return a form read through a view, or summed along a view."""
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
        """Return the number of a form in the draft; equal forms have the same number."""
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
        """Assert that every element of a form is one of 0 to size - 1, for size > 1, by a lookup in the table of
        exactly that size.
        """
        if size not in self._sizes:
            self._sizes[size] = self.table(size, np.zeros(0, np.int64), f"counts of [0, {size})")
        for own in self.in_blocks(form):
            asked = (self._sizes[size], self.index(own))
            if asked not in self._looked_up:
                self._looked_up.add(asked)
                self.lookups.append(Lookup(*asked, None, self.part))

    def table(self, size: int, values: Integers, name: str) -> int:
        """Add a table of `size` entries with its column of multiplicities, and return the number of the table."""
        column = self.index(self.add(Column((size,), None, name, TABLES)))
        self.tables.append(Table(size, values, column))
        return len(self.tables) - 1

    def function(self, key: object, size: int, values: Integers, name: str) -> int:
        """Return the number of the lookup table of a function, which is made only once for each key."""
        if key not in self._functions:
            self._functions[key] = self.table(size, values, f"{name} counts")
        return self._functions[key]

    def pair(self, key: Form, table: int, value: Form) -> None:
        """Assert that every element of the form `key`, together with the same element of the form `value`, is an entry
        of the table.
        """
        for own, other in zip(self.in_blocks(key), self.in_blocks(value), strict=True):
            self.lookups.append(Lookup(table, self.index(own), self.index(other), self.part))

    def in_blocks(self, form: Form) -> list[Form]:
        """Return the blocks of a form as forms, since forms that are looked up are padded to powers of two."""
        return [self.along(form, block.of(form.shape), sums=False) for block in self.blocks(form.shape)]

    def interval(self, form: Form, low: int, high: int, values: Recipe, name: str) -> None:
        """Assert that every element of a form is exactly in [low, high]; how the elements are looked up is chosen when
        the whole system is known.
        """
        self.ranges.setdefault((form.key(), low, high), Range(form, low, high, values, name, self.part))

    def limbs(self, form: Form, size: int, values: Recipe, name: str) -> None:
        """Assert that every element of a form is in [0, size)."""
        self.interval(form, 0, size - 1, values, name)

    def sign(
        self, form: Form, low: int, high: int, values: Recipe, name: str, positive: bool = False
    ) -> tuple[Form, Form]:
        """Return the sign bit s = [x < 0] of each element x of a form, where x is in [low, high], and the negative part
        s x; equal forms share one sign bit.

        If `positive`, the positive part of x, is wanted, it is the product (1 - s) x, and s x is x minus that product:
        a reader of the rectifier's result then reads a single tensor, however many tensors x is the sum of.

        Soundness: the argument for the sign bit is that of `checks.settle`. The product s x of x and its sign bit s is
        x where x is negative, and 0 elsewhere; s is therefore the sign bit of s x too, so that a single bit serves both
        a ReLU, which is -s x for x = -y, and its derivative, which needs the sign of s x.
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
