"""How many values and sumchecks the claims of a proof take: a run of the protocol without its numbers."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.forms import Column, Product, Rows, padded_bits
from circuitize.backends.tensor.system import TensorSystem
from circuitize.circuits.integers.steps import Affine
from circuitize.circuits.integers.view import View
from circuitize.circuits.types import Shape

from .config import MOST_CLAIMS

MOST = max(MOST_CLAIMS.values())


@dataclass
class Flow:
    """Counts values sent and elements of sumchecks; `separable` says of each number of weights what they are.

    `dense` counts the weights of those that are not separable, one for each element; but not those on datasets, whose
    sizes do not grow with a program's.
    """

    made: TensorSystem
    separable: list[bool] = field(default_factory=list)
    moved: dict[tuple[int, View, bool], int] = field(default_factory=dict)
    scattered: dict[tuple[int, int], int] = field(default_factory=dict)
    known: set[tuple[int, int]] = field(default_factory=set)
    products: deque[tuple[int, int]] = field(default_factory=deque)
    elements: int = 0
    dense: int = 0

    def weights(self, separable: bool = True, shape: Shape = (0,)) -> int:
        self.separable.append(separable)
        self.dense += 0 if separable else math.prod(shape)
        return len(self.separable) - 1

    def settle(self, wanted: list[tuple[int, int]]) -> None:
        for form, weights in wanted:
            for base, path in self.made.forms[form].terms:
                number = weights
                for view, sums in path:
                    key = (number, view, sums)
                    if key not in self.moved:
                        alone = self.separable[number] and _stays_separable(view, sums)
                        self.moved[key] = self.weights(alone, view.target_shape if sums else view.source_shape)
                    number = self.moved[key]
                own = self.made.bases[base]
                if isinstance(own, Rows):
                    if (number, base) not in self.scattered:
                        self.scattered[number, base] = self.weights(self.separable[number])
                    base, number = own.column, self.scattered[number, base]
                if (base, number) in self.known:
                    continue
                self.known.add((base, number))
                if len(self.known) > MOST:
                    raise Unprovable(
                        f"expected at most {MOST:,} claims on tensors, found more; a maximum along a long axis "
                        "makes many: take it in parts that are checked"
                    )
                found = self.made.bases[base]
                self.elements += isinstance(found, (Column, Product))
                if isinstance(found, Product):
                    self.products.append((base, number))

    def reduce(self, base: int, weights: int) -> None:
        found = self.made.bases[base]
        assert isinstance(found, Product)
        if not self.separable[weights]:
            self.elements += 2 * padded_bits(found.shape) + 1
        of_x, of_y, of_z = found.letters
        x, y = found.forms
        extents = dict(zip(of_x + of_y, self.made.forms[x].shape + self.made.forms[y].shape, strict=True))
        both = [letter for letter in of_x if letter in of_y]
        degree = 3 if any(letter in of_z for letter in both) else 2
        self.elements += degree * padded_bits(tuple(extents[letter] for letter in both))
        on_x = self.weights()
        on_y = on_x if x == y and of_x == of_y else self.weights()
        self.settle([(x, on_x), (y, on_y)])


def claimed_elements(made: TensorSystem) -> int:
    """Elements of the extension that the claims on a proof's tensors take, reductions of products included.

    Raises Unprovable for more claims than any proof may need.
    """
    return _followed(made).elements


def claims(made: TensorSystem) -> int:
    """How many claims on tensors a proof makes; raises Unprovable for more than any may need."""
    return len(_followed(made).known)


def dense_weights(made: TensorSystem) -> int:
    """How many weights a proof's claims on a program's tensors have that are no product of one per axis.

    Both sides hold them all at once.
    """
    return _followed(made).dense


def _followed(made: TensorSystem) -> Flow:
    flow = Flow(made)
    shapes: dict[Shape, int] = {}
    for lookup in made.lookups:
        shape = made.forms[lookup.key].shape
        shapes.setdefault(shape, flow.weights())
        flow.settle([(form, shapes[shape]) for form in (lookup.key, lookup.value) if form is not None])
    for form in [*(table.column for table in made.tables), *made.zeros]:
        flow.settle([(form, flow.weights())])
    while flow.products:
        flow.reduce(*flow.products.popleft())
    return flow


def _stays_separable(view: View, sums: bool) -> bool:
    shapes = [view.source_shape, *(step.shape for step in view.steps)]
    pairs = list(zip(view.steps, shapes, strict=False))
    for step, source in pairs if sums else pairs[::-1]:
        if isinstance(step, Affine):
            alone = all(len(moved) <= 1 for moved in step.columns())
            if not alone or (sums and any(sum(map(bool, row)) > 1 for row in step.strides)):
                return False
        elif not _merges(source, step.shape) if sums else not _merges(step.shape, source):
            return False
    return True


def _merges(old: Shape, new: Shape) -> bool:
    """Whether every new axis is a run of old ones."""
    rest = list(old)
    for extent in new:
        size = 1
        while size < extent and rest:
            size *= rest.pop(0)
        if size != extent:
            return False
    return bool(new) or not rest
