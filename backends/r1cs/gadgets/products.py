"""Products in an R1CS circuit: each product of two wires takes one row, and a product with a constant factor or a
structural zero takes none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Fixed, Shape

from ...forms import LinearForms, stack, wires, zeros
from ...values import Chosen, GroupSum, Product, Value
from ..system import Order
from .accumulation import Contraction, Pin, accumulate, blocks
from .assembly import Assembly, Handle, Site

LONG = 4
"""The average number of terms above which forms count as long: such forms get a wire each if they enter many
products.
"""

SAVED_TERMS = 64
"""The least number of terms per element that a separate wire for a form must save."""


@dataclass(frozen=True, slots=True)
class Products:
    """The wires that hold products: their value, their role, their shape, and the number of wires for one element."""

    value: Value
    role: str
    shape: Shape
    stride: int = 1


def multiply(assembly: Assembly, left: LinearForms, right: LinearForms, made: Products) -> LinearForms:
    """Return the products left[i] * right[i]; each takes one row and one wire, or none if a factor is a constant.

    Soundness: the row left * right = wire determines the wire; if a factor is a constant c, the product is the form c *
    other and has no row.
    """
    every = np.arange(len(left))
    return _multiply(assembly, left, every, right, every, made)


def _multiply(
    assembly: Assembly,
    left: LinearForms,
    at_left: NDArray[np.integer],
    right: LinearForms,
    at_right: NDArray[np.integer],
    made: Products,
) -> LinearForms:
    """Return the products left[at_left[i]] * right[at_right[i]]."""
    left_constant, right_constant = left.constant_mask(), right.constant_mask()
    count = len(at_left)
    order = Order(count // made.stride, made.stride)
    if not left_constant.any() and not right_constant.any():
        first = assembly.wires(made.value, count, made.role, made.shape)
        products = wires(first, count)
        a, b = left.gather(at_left), right.gather(at_right)
        assembly.rows(a, b, products, made.role, order)
        return products
    by_left = left_constant[at_left]
    by_right = right_constant[at_right] & ~by_left
    both = np.flatnonzero(~by_left & ~by_right)
    from_left, from_right = np.flatnonzero(by_left), np.flatnonzero(by_right)
    parts = [
        right.gather(at_right[from_left]).scale_each(left.constants()[at_left[from_left]]),
        left.gather(at_left[from_right]).scale_each(right.constants()[at_right[from_right]]),
    ]
    if len(both):
        first = assembly.wires(Chosen(made.value, both), len(both), made.role)
        parts.append(wires(first, len(both)))
        a, b = left.gather(at_left[both]), right.gather(at_right[both])
        assembly.rows(a, b, parts[-1], made.role, replace(order, places=both))
    places = np.empty(count, np.int64)
    places[np.concatenate([from_left, from_right, both])] = np.arange(count)
    return stack(parts).gather(places)


def contract(site: Site, equation: str, left: Handle, right: Handle, pin: Pin | None = None) -> Handle:
    """Return the einsum of two operands, which takes one row per product, while sums take none.

    If a later range check bounds the sums of a contraction, several sums are computed at once (`accumulate`), or the
    sums are tested by a challenge (`project`), whichever takes the fewest rows.

    If an operand has long forms that each enter many products, each of its elements first gets a wire, at the cost of
    one row; this decision depends on shapes and forms, never on values. An index that only one operand has is summed
    over in that operand, before any products.

    Soundness: every product wire is determined by its row, and each sum is a form; a wire that was made for a form
    equals the form.
    """
    assembly, type, value = site.assembly, site.type, site.value
    if left.magnitude == 0 or right.magnitude == 0:
        return Handle(zeros(type.size), value, type)
    letters_left, letters_right, letters_out = _letters(equation)
    for letter in sorted((set(letters_left) ^ set(letters_right)) - set(letters_out)):
        if letter in letters_left:
            left, letters_left = _sum_out(left, letters_left, letter)
        else:
            right, letters_right = _sum_out(right, letters_right, letter)
    contraction = Contraction((letters_left, letters_right, letters_out), left, right, type, value)
    extents = contraction.extents
    if pin is not None:
        most = _pairs(contraction)
        plan = min(blocks(contraction, pin, assembly.field.prime), key=lambda plan: plan.cost, default=None)
        if plan is not None:
            most = min(most, plan.cost)
        if assembly.challenges is not None:
            tested = assembly.challenges.postpone(assembly, contraction, pin, most)
            if tested is not None:
                return tested
        if plan is not None and plan.cost == most:
            shorten(assembly, left, plan.cost * plan.rows)
            shorten(assembly, right, plan.cost * plan.columns)
            return accumulate(assembly, plan, contraction)
    summed = [letter for letter in dict.fromkeys(letters_left + letters_right) if letter not in letters_out]
    axes = list(letters_out) + summed
    shape = tuple(extents[letter] for letter in axes)
    depth = math.prod(extents[letter] for letter in summed)
    count = math.prod(shape)
    for handle in (left, right):
        shorten(assembly, handle, count)
    at_left = _flat_indices(letters_left, left.type.shape, axes, shape)
    at_right = _flat_indices(letters_right, right.type.shape, axes, shape)
    pairs = value if depth == 1 else Product(Chosen(left.value, at_left), Chosen(right.value, at_right))
    made = Products(pairs, "product", shape, depth)
    products = _multiply(assembly, left.forms, at_left, right.forms, at_right, made)
    sums = products.sum_groups(np.arange(count // depth + 1, dtype=np.int64) * depth)
    return Handle(sums, value, type)


def shorten(assembly: Assembly, handle: Handle, uses: int) -> None:
    """Give each element of a handle a wire if its forms are long and enter many products; `uses` is the total number of
    products.
    """
    count = len(handle.forms)
    if handle.forms.terms > LONG * count and handle.forms.terms * (uses // count) > SAVED_TERMS * count:
        assembly.materialise(handle)


def _pairs(contraction: Contraction) -> int:
    """Return the number of products in a contraction that have no constant factor."""
    letters, left, right = contraction.letters, contraction.left, contraction.right
    varying = []
    for handle, own, other in ((left, letters[0], letters[1]), (right, letters[1], letters[0])):
        mask = ~handle.forms.constant_mask().reshape(handle.type.shape)
        apart = tuple(axis for axis, letter in enumerate(own) if letter not in other)
        counts = mask.sum(axis=apart, dtype=np.int64)
        shared = [letter for letter in own if letter in other]
        varying.append(counts.transpose([shared.index(letter) for letter in sorted(shared)]))
    return int((varying[0] * varying[1]).sum())


def _letters(equation: str) -> tuple[str, str, str]:
    sources, _, target = equation.replace(" ", "").partition("->")
    operands = sources.split(",")
    if len(operands) != 2:
        raise TypingError(f"expected an einsum of two operands, found {equation!r}")
    return operands[0], operands[1], target


def _flat_indices(letters: str, operand: Shape, axes: Sequence[str], shape: Sequence[int]) -> NDArray[np.int32]:
    """Return, for each point of the index space `axes` in row-major order, its flat place in an operand of a
    contraction.
    """
    flat = np.zeros((1,) * len(axes), np.int32)
    stride = 1
    for letter, extent in zip(reversed(letters), reversed(operand), strict=True):
        axis = axes.index(letter)
        along = np.arange(extent, dtype=np.int32) * np.int32(stride)
        flat = flat + along.reshape([-1 if place == axis else 1 for place in range(len(axes))])
        stride *= extent
    return np.broadcast_to(flat, tuple(shape)).reshape(-1)


def _sum_out(handle: Handle, letters: str, letter: str) -> tuple[Handle, str]:
    """Return an operand of a contraction, summed over an axis that the other operand and the result lack."""
    kept = [name for name in dict.fromkeys(letters) if name != letter]
    extents = dict(zip(letters, handle.type.shape, strict=True))
    shape = tuple(extents[name] for name in kept)
    depth = extents[letter]
    order = _flat_indices(letters, handle.type.shape, [*kept, letter], (*shape, depth))
    sums = handle.forms.gather(order).sum_groups(np.arange(math.prod(shape) + 1, dtype=np.int64) * depth)
    type = Fixed(shape, handle.type.fraction_bits, handle.type.low * depth, handle.type.high * depth)
    return Handle(sums, GroupSum(handle.value, order, depth), type), "".join(kept)
