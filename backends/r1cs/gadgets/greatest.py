"""The first of the greatest elements in an R1CS circuit: the prover chooses an indicator, and range checks for all
elements show that the indicated element is the greatest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Fixed

from ...forms import Integers, LinearForms, stack, wires, zeros
from ...values import Chosen, Indicators, Product, Sum, Trace, Value
from ..system import Order
from .assembly import Assembly, Handle, ones
from .bits import confine
from .products import LONG, Products, multiply, shorten


@dataclass(frozen=True, slots=True, eq=False)
class First(Value):
    """The position, within each line of `places`, of the first of the line's greatest elements."""

    value: Value
    places: NDArray[np.integer]

    def read(self, trace: Trace) -> Integers:
        found: Integers = self.value.read(trace)[self.places].argmax(axis=1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Greatest(Value):
    """The greatest of the elements at the places in each row of `places`."""

    value: Value
    places: NDArray[np.integer]

    def read(self, trace: Trace) -> Integers:
        found: Integers = self.value.read(trace)[self.places].max(axis=1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Margins(Value):
    """The differences greatest - element for the elements at `places` in turn, minus 1 for elements before the first of
    the greatest.
    """

    value: Value
    places: NDArray[np.integer]

    def read(self, trace: Trace) -> Integers:
        table = self.value.read(trace)[self.places]
        before = np.arange(table.shape[1]) < table.argmax(axis=1)[:, None]
        margins: Integers = table.max(axis=1)[:, None] - table - before
        return margins.reshape(-1)


def indicators(assembly: Assembly, x: Handle, axis: int) -> list[LinearForms]:
    """Return, for each position along the axis, forms that are 1 if the first of the greatest elements is there and 0
    otherwise; n positions take n - 1 products, n bits, and n differences within x's interval.

    Soundness: h_1, ..., h_(n-1) and h_0 = 1 - h_1 - ... are 0 or 1 by their rows and add up to 1 modulo p, and n is
    below p/2 (checked), so that exactly one of them is 1, at a position w. If the indicator h_w is the one that is 1,
    x_0 + (sum of h_i (x_i - x_0)) is x_w, and each x_w - x_i - (sum of h_j over j > i) is x_w - x_i, minus 1 if i < w.
    The range check of each difference x_w - x_i, minus 1 if i < w, shows that the difference is not negative, since its
    magnitude is at most a difference within x's interval (checked): no element is greater than x_w, and no earlier
    element is as great. Exactly one position w satisfies the conditions on the first of the greatest elements, and its
    differences never leave the range.
    """
    shape = x.type.shape
    extent, count = shape[axis], len(x.forms)
    places = np.moveaxis(np.arange(count).reshape(shape), axis, -1).reshape(-1, extent)
    lines, width = len(places), (x.type.high - x.type.low).bit_length()
    if extent == 1 or width == 0:
        return [ones(lines), *(zeros(lines) for _ in range(extent - 1))]
    assembly.no_wrap(extent, x.type.high - x.type.low + 1, 1 << width)
    shorten(assembly, x, 3 * count)
    numbers = tuple(range(1, extent))
    content = Indicators(First(x.value, places), 0, numbers)
    first = assembly.wires(content, lines * (extent - 1), "arg max", (lines, extent - 1))
    chosen = wires(first, lines * (extent - 1))
    assembly.rows(chosen, chosen, chosen, "arg max", Order(lines, extent - 1))
    table = np.arange(lines * (extent - 1)).reshape(lines, extent - 1)
    rest = ones(lines) - chosen.sum_groups(np.arange(lines + 1, dtype=np.int64) * (extent - 1))
    if extent > 2:
        assembly.rows(rest, rest.plus(-1), zeros(lines), "arg max")
    base = np.repeat(places[:, :1], extent - 1, axis=1).reshape(-1)
    others = places[:, 1:].reshape(-1)
    steps = Sum(Chosen(x.value, others), Chosen(x.value, base), other=-1)
    differences = x.forms.gather(others) - x.forms.gather(base)
    made = Products(Product(content, steps), "arg max", (lines, extent - 1), extent - 1)
    products = multiply(assembly, chosen, differences, made)
    sums = products.sum_groups(np.arange(lines + 1, dtype=np.int64) * (extent - 1))
    greatest = x.forms.gather(places[:, 0]) + sums
    if greatest.terms > LONG * lines:
        handle = Handle(greatest, Greatest(x.value, places), Fixed((lines,), 0, x.type.low, x.type.high))
        assembly.materialise(handle, "greatest")
        greatest = handle.forms
    later = [zeros(lines)]
    for number in reversed(numbers):
        later.append(later[-1] + chosen.gather(table[:, number - 1]))
    after = stack(later[::-1]).gather(np.arange(extent * lines).reshape(extent, lines).T.reshape(-1))
    margins = greatest.gather(np.repeat(np.arange(lines), extent)) - x.forms.gather(places.reshape(-1)) - after
    confine(assembly, margins, Margins(x.value, places), 0, width, "margin")
    return [rest, *(chosen.gather(table[:, number - 1]) for number in numbers)]


def arg_max(assembly: Assembly, x: Handle, axis: int, type: Fixed, value: Value) -> Handle:
    """Return the position of the first of the greatest elements along an axis, as a form of the `indicators` that takes
    no further rows.
    """
    forms = zeros(type.size)
    for number, found in enumerate(indicators(assembly, x, axis)):
        forms = forms + found.scale(number)
    return Handle(forms, value, type)


def arg_max_one_hot(assembly: Assembly, x: Handle, axis: int, type: Fixed, value: Value) -> Handle:
    """Return forms that are 1 at the first of the greatest elements along an axis and 0 elsewhere, which are the
    `indicators` and take no further rows.
    """
    shape = x.type.shape
    made = stack(indicators(assembly, x, axis))
    order = np.moveaxis(np.arange(len(made)).reshape(shape[axis], *shape[:axis], *shape[axis + 1 :]), 0, axis)
    return Handle(made.gather(order.reshape(-1)), value, type)
