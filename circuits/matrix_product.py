"""The equation of a contraction of two arrays as one batched matrix product: the roles of the axes, computed once for
each pair of shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from .array_module import array_module
from .operation import Values
from .types import Shape

Letters = tuple[str, str, str]
"""The axes of both operands and of the target, each named by a letter."""


def contract(letters: Letters, x: Values, y: Values, multiply: Callable[[Values, Values], Values]) -> Values:
    """Return the contraction of two arrays by an equation, with axes in the target's order if possible, computed by
    `multiply` on [B, R, K] and [B, K, C].
    """
    found = _matrix_product(letters, x.shape, y.shape)
    if found.swapped:
        x, y = y, x
    return multiply(found.left.matrices(x), found.right.matrices(y)).reshape(found.split).transpose(found.order)


@dataclass(frozen=True, slots=True)
class _Operand:
    """The arrangement of an operand's axes for a matrix product: axes that neither the other operand nor the target has
    are summed, the others are ordered and merged into three.
    """

    own: tuple[int, ...]
    order: tuple[int, ...]
    shape: Shape

    def matrices(self, value: Values) -> Values:
        if self.own:
            value = array_module(value).asarray(value.sum(axis=self.own))
        return value.transpose(self.order).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class _MatrixProduct:
    swapped: bool
    left: _Operand
    right: _Operand
    split: Shape
    order: tuple[int, ...]


@lru_cache(maxsize=4096)
def _matrix_product(letters: Letters, x: Shape, y: Shape) -> _MatrixProduct:
    of_x, of_y, of_target = letters
    swapped = of_target[-1:] != "" and of_target[-1] not in of_y
    if swapped:
        (x, of_x), (y, of_y) = (y, of_y), (x, of_x)
    extents = dict(zip(of_x + of_y, x + y, strict=True))
    batch = [letter for letter in of_target if letter in of_x and letter in of_y]
    rows = [letter for letter in of_target if letter not in of_y]
    columns = [letter for letter in of_target if letter not in of_x]
    inner = [letter for letter in of_x if letter in of_y and letter not in of_target]

    def operand(letters: str, *groups: list[str]) -> _Operand:
        named = [letter for group in groups for letter in group]
        kept = [letter for letter in letters if letter in named]
        return _Operand(
            tuple(axis for axis, letter in enumerate(letters) if letter not in named),
            tuple(kept.index(letter) for letter in named),
            tuple(math.prod(extents[letter] for letter in group) for group in groups),
        )

    made = batch + rows + columns
    return _MatrixProduct(
        swapped,
        operand(of_x, batch, rows, inner),
        operand(of_y, batch, inner, columns),
        tuple(extents[letter] for letter in made),
        tuple(made.index(letter) for letter in of_target),
    )
