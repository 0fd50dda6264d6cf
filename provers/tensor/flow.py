"""The numbers of values and sumchecks that the claims of a tensor proof take, from a dry run of the protocol without
values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.forms import Column, Product, Rows, padded_bits
from circuitize.backends.tensor.system import TensorSystem
from circuitize.circuits.integers.steps import Affine
from circuitize.circuits.integers.view import View
from circuitize.circuits.types import Shape

from .config import MOST_CLAIMS

MOST = max(MOST_CLAIMS.values())

MOST_PRODUCTS = 32
"""The greatest number of products in a sum that represents weights; weights that would take more products are stored
one by one.
"""

Weighed = tuple[int, int]
"""A form with the number of weights on it."""


@dataclass
class Flow:
    """Counts of the values that a proof sends and the elements of its sumchecks; `products` says, for the weights of
    each number, of how many products they are a sum.

    The entry in `products` is 1 if the weights are separable, and 0 if they are stored one by one. The field `dense`
    counts the weights that are stored one by one, one for each element, except weights on datasets, whose sizes do not
    grow with the program. The field `pending` has, for each product of forms, the numbers of the weights with which it
    is claimed.
    """

    made: TensorSystem
    products: list[int] = field(default_factory=list)
    moved: dict[tuple[int, View, bool], int] = field(default_factory=dict)
    scattered: dict[tuple[int, int], int] = field(default_factory=dict)
    pending: dict[int, dict[int, None]] = field(default_factory=dict)
    claims: int = 0
    elements: int = 0
    dense: int = 0

    def weights(self, products: int = 1, shape: Shape = (0,)) -> int:
        """Record weights that are a sum of `products` products, and return the number under which they are recorded; if
        `products` is 0, `shape` is the shape of the weights, which are stored one by one.
        """
        self.products.append(products)
        self.dense += 0 if products else math.prod(shape)
        return len(self.products) - 1

    def settle(self, wanted: Iterable[Weighed]) -> None:
        """Settle a claim on one weighted sum of forms: it becomes a claim on each base of the forms that only the
        prover knows.
        """
        found: dict[int, dict[int, None]] = {}
        for form, weights in wanted:
            for base, path in self.made.forms[form].terms:
                number = weights
                for view, sums in path:
                    key = (number, view, sums)
                    if key not in self.moved:
                        products = _products(self.products[number], view, sums)
                        self.moved[key] = self.weights(products, view.target_shape if sums else view.source_shape)
                    number = self.moved[key]
                own = self.made.bases[base]
                if isinstance(own, Rows):
                    if (number, base) not in self.scattered:
                        self.scattered[number, base] = self.weights(self.products[number])
                    base, number = own.column, self.scattered[number, base]
                if isinstance(self.made.bases[base], Column | Product):
                    found.setdefault(base, {})[number] = None
        self.claims += len(found)
        self.elements += len(found)
        if self.claims > MOST:
            raise Unprovable(f"expected at most {MOST:,} claims on tensors, found more; prove a smaller program")
        for base, numbers in found.items():
            if isinstance(self.made.bases[base], Product):
                self.pending.setdefault(base, {}).update(numbers)

    def reduce(self, base: int) -> None:
        """Reduce all claims on one product of forms to a single claim on it, and settle the claims on its operands."""
        weights, found = self.pending.pop(base), self.made.bases[base]
        assert isinstance(found, Product)
        (of_x, of_y, of_z), (x, y) = found.letters, found.forms
        shapes = self.made.forms[x].shape, self.made.forms[y].shape
        count = 1
        if not set(of_x) == set(of_y) == set(of_z):
            operands = math.prod(shapes[0]) + math.prod(shapes[1])
            apart = (len(weights) - 1) * operands <= 4 * math.prod(found.shape)
            if apart and all(self.products[number] == 1 for number in weights):
                count = len(weights)
            else:
                self.elements += 2 * padded_bits(found.shape) + 1
        extents = dict(zip(of_x + of_y, shapes[0] + shapes[1], strict=True))
        both = [letter for letter in of_x if letter in of_y]
        simple = count == 1 and not any(letter in of_z for letter in both)
        rounds = padded_bits(tuple(extents[letter] for letter in both)) + (count - 1).bit_length()
        self.elements += (2 if simple else 3) * rounds
        for form in (x,) if x == y and of_x == of_y else (x, y):
            self.settle([(form, self.weights()) for _ in range(count)])


class Claimed(NamedTuple):
    """The size of a tensor proof's claims: the number of `claims`, and the number of `elements` of the extension field
    that these take, including the reductions of products.

    The field `dense` is the number of weights, in the claims on a program's tensors, that are not a sum of few products
    and are therefore stored one for each element. Prover and verifier each hold all dense weights in memory at once.
    """

    claims: int
    elements: int
    dense: int


def claimed(made: TensorSystem) -> Claimed:
    """Return the size of a tensor proof's claims; raise Unprovable for more claims than a proof may have."""
    flow = followed(made)
    return Claimed(flow.claims, flow.elements, flow.dense)


def followed(made: TensorSystem) -> Flow:
    """Return the counts of a dry run of a tensor proof, which follows its claims one after another; raise Unprovable
    for more claims than a proof may have.
    """
    flow = Flow(made)
    if made.lookups:
        by_shape: dict[Shape, int] = {}
        entries: list[Weighed] = []
        for lookup in made.lookups:
            number = by_shape.setdefault(made.forms[lookup.key].shape, len(by_shape))
            entries += [(form, number) for form in (lookup.key, lookup.value) if form is not None]
        for _ in by_shape:
            flow.weights()
        flow.settle([(table.column, flow.weights()) for table in made.tables])
        flow.settle(entries)
    if made.zeros:
        points: dict[Shape, int] = {}
        for form in made.zeros:
            shape = made.forms[form].shape
            points[shape] = points[shape] if shape in points else flow.weights()
        flow.settle([(form, points[made.forms[form].shape]) for form in made.zeros])
    while flow.pending:
        flow.reduce(max(flow.pending))
    return flow


def _products(products: int, view: View, sums: bool) -> int:
    """Return the number of products whose sum the weights are after they pass a view, given the number before the view,
    or 0 if they are not a sum of few products.
    """
    shapes = [view.source_shape, *(step.shape for step in view.steps)]
    pairs = list(zip(view.steps, shapes, strict=False))
    for step, source in pairs if sums else pairs[::-1]:
        if isinstance(step, Affine):
            alone = all(len(moved) <= 1 for moved in step.columns())
            if not alone or (sums and any(sum(map(bool, row)) > 1 for row in step.strides)):
                return 0
        else:
            of = step.shape if sums else source
            products *= _pieces(source, step.shape) if sums else _pieces(step.shape, source)
            if products > 1 and products * sum(of) > math.prod(of):
                return 0
        if products > MOST_PRODUCTS:
            return 0
    return products


def _pieces(old: Shape, new: Shape) -> int:
    """Return the number of products whose sum are the weights of a reshaped tensor: 1 if every new axis is a run of old
    axes.

    If a run of old axes has as many elements as a run of new axes, there is a product for each place along all of the
    new axes except the longest.
    """
    found, rest, left = 1, list(old), list(new)
    while rest and left:
        size, extents = rest.pop(0), [left.pop(0)]
        while size != math.prod(extents):
            if size < math.prod(extents):
                size *= rest.pop(0)
            else:
                extents.append(left.pop(0))
        found *= math.prod(extents) // max(extents)
    return found
