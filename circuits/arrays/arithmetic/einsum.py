"""Contractions of two arrays, written as an equation: matrix products and their relatives."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits import integers, matrix_product
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True)
class Einsum(RealOperation):
    """The sum of products that an equation names: "bi,ij->bj" means target[b, j] = sum over i of x[b, i] * y[i, j].

    In an einsum's equation the operands and the target name their axes by distinct lower-case letters; a letter that
    the target lacks is summed and occurs in both operands (Sum removes any other axis). The derivative of an Einsum by
    each operand is an Einsum, too. Einsum is lowered exactly: products are accumulated before any rounding, and the
    result has the sum of the operands' fraction bits.
    """

    name = "real.einsum"
    rounding = Rounding.PRODUCT

    equation: str

    def __post_init__(self) -> None:
        equation = self.equation.replace(" ", "")
        if not re.fullmatch("[a-z]*,[a-z]*->[a-z]*", equation):
            raise TypingError(f"expected an equation like 'bi,ij->bj', found {self.equation!r}; name two operands so")
        object.__setattr__(self, "equation", equation)
        x, y, target = self.letters
        for letters in (x, y, target):
            if len(set(letters)) != len(letters):
                raise TypingError(
                    f"expected distinct letters in each part of {equation!r}, found {letters!r}; diagonals are left out"
                )
        for letter in target:
            if letter not in x + y:
                raise TypingError(
                    f"expected {letter!r} in an operand of {equation!r}, found it in the target only; use Broadcast"
                )
        for letter in sorted(set(x) ^ set(y)):
            if letter not in target:
                raise TypingError(
                    f"expected {letter!r} of {equation!r} in the target or in both operands, found it in one operand; "
                    "use Sum first"
                )

    @property
    def letters(self) -> tuple[str, str, str]:
        """Return the letters that an einsum's equation gives the axes of the two operands and of the target."""
        x, rest = self.equation.split(",")
        y, target = rest.split("->")
        return x, y, target

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 2)
        extents: dict[str, int] = {}
        *operands, target = self.letters
        for letters, source in zip(operands, sources, strict=True):
            if len(letters) != len(source.shape):
                raise TypingError(
                    f"expected {len(letters)} axes for {letters!r} of {self.equation!r}, "
                    f"found shape {list(source.shape)}; reshape it or change the equation"
                )
            for letter, extent in zip(letters, source.shape, strict=True):
                if extents.setdefault(letter, extent) != extent:
                    raise TypingError(
                        f"expected one extent for {letter!r} of {self.equation!r}, "
                        f"found {extents[letter]} and {extent}; transpose or slice an operand"
                    )
        return (Array(tuple(extents[letter] for letter in target)),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        x, y = values
        return (matrix_product.contract(self.letters, x, y, operator.matmul),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, y = sources
        of_x, of_y, target = self.letters
        return [Einsum(f"{target},{of_y}->{of_x}")(dz, y), Einsum(f"{target},{of_x}->{of_y}")(dz, x)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.Contract(self.equation)(*sources)


def matmul(x_rank: int, y_rank: int) -> Einsum:
    """Return the matrix product over the last axis of x and the last but one of y; their other axes are a common batch.

    If y is a single matrix, every matrix in the batch of x is multiplied by that matrix. The operands of a matrix
    product have ranks of at least 2; raise TypingError otherwise, or if the batch axes differ.
    """
    if min(x_rank, y_rank) < 2 or (y_rank > 2 and x_rank != y_rank):
        raise TypingError(
            f"expected ranks of at least 2, equal unless the second is 2, found {x_rank} and {y_rank}; reshape one"
        )
    batch = "abcdefgh"[: x_rank - 2]
    return Einsum(f"{batch}ij,{batch if y_rank > 2 else ''}jk->{batch}ik")
