"""Contractions in a parallel design: products with constant matrices by shared additions, and other products by
multipliers.
"""

from __future__ import annotations

import math

import numpy as np

from circuitize.circuits.integers import Contract

from ...verilog.netlist import Integers, Netlist, require_few
from .elements import WIDE, Elements, add, bounds, concatenate, constants, is_constant, multiply, total, where
from .matrices import Optimiser, matrix_product


def contract(
    net: Netlist, operation: Contract, x: Elements, y: Elements, adders: bool, optimise: Optimiser
) -> Elements:
    """Return the contraction of two tensors, in which each element is as narrow as its sum of products allows."""
    of_x, of_y, target = operation.letters
    if is_constant(net, x).all():
        (x, of_x), (y, of_y) = (y, of_y), (x, of_x)
    extents = dict(zip(of_x + of_y, x.shape + y.shape, strict=True))
    x, of_x = _sum_own(net, x, of_x, of_y + target)
    y, of_y = _sum_own(net, y, of_y, of_x + target)
    batch = [letter for letter in of_x if letter in of_y and letter in target]
    rows = [letter for letter in of_x if letter not in of_y]
    columns = [letter for letter in of_y if letter not in of_x]
    inner = [letter for letter in of_x if letter in of_y and letter not in target]

    def ordered(value: Elements, letters: str, *groups: list[str]) -> Elements:
        axes = [letters.index(letter) for group in groups for letter in group]
        shape = tuple(math.prod(extents[letter] for letter in group) for group in groups)
        return value.moved(lambda part: part.transpose(axes)).reshape(shape)

    left, right = ordered(x, of_x, batch, rows, inner), ordered(y, of_y, batch, inner, columns)
    net.floor = int(max(1, net.level[left.node].max(), net.level[right.node].max()))
    made = _products(net, left, right, adders, optimise)
    net.floor = 1
    order = batch + rows + columns
    split = made.reshape(tuple(extents[letter] for letter in order))
    axes = [order.index(letter) for letter in target]
    return split.moved(lambda part: part.transpose(axes))


def _products(net: Netlist, x: Elements, y: Elements, adders: bool, optimise: Optimiser) -> Elements:
    """Return the matrix products of tensors of the shapes [batch, rows, inner] and [batch, inner, columns]."""
    batches, rows, inner = x.shape
    columns = y.shape[2]
    if adders and inner * columns > 1 and is_constant(net, y).all():
        matrices, _ = bounds(net, y)
        low, high = bounds(net, x)
        size = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
        if (2 * size @ np.abs(matrices).astype(np.float64)).max() < WIDE:
            parts = [_by_matrix(net, x[batch], matrices[batch], optimise) for batch in range(batches)]
            return concatenate([part.reshape((1, rows, columns)) for part in parts])
    shape = (batches, rows, columns, inner)
    if not (is_constant(net, x).any() or is_constant(net, y).any()):
        require_few(math.prod(shape))
    left = x[:, :, None, :].moved(lambda part: np.broadcast_to(part, shape)).reshape((-1,))
    right = y.moved(lambda part: np.broadcast_to(part.swapaxes(1, 2)[:, None], shape)).reshape((-1,))
    terms = multiply(net, left, right, adders)
    count = batches * rows * columns
    return total(net, terms, np.repeat(np.arange(count), inner), count).reshape(shape[:3])


def _by_matrix(net: Netlist, x: Elements, matrix: Integers, optimise: Optimiser) -> Elements:
    """Return the product of a matrix x [rows, inner] with a constant matrix [inner, columns]; elements of x that are
    constants contribute constants.
    """
    known = is_constant(net, x)
    amounts = np.where(known, bounds(net, x)[0], 0)
    zero = Elements.of(np.zeros(x.shape, np.int64))
    made = matrix_product(net, where(known, zero, x), np.ascontiguousarray(matrix), optimise)
    return add(net, made, constants(net, amounts @ matrix))


def _sum_own(net: Netlist, value: Elements, letters: str, others: str) -> tuple[Elements, str]:
    """Return an operand of a contraction summed over the axes that neither the other operand nor the target has, and
    the letters of its remaining axes.
    """
    own = [axis for axis, letter in enumerate(letters) if letter not in others]
    if not own:
        return value, letters
    kept = [axis for axis in range(len(letters)) if axis not in own]
    shape = tuple(value.shape[axis] for axis in kept)
    terms = value.moved(lambda part: part.transpose(kept + own)).reshape((-1,))
    count = math.prod(shape)
    made = total(net, terms, np.repeat(np.arange(count), terms.node.size // count), count)
    return made.reshape(shape), "".join(letters[axis] for axis in kept)
