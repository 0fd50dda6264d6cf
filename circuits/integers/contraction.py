"""Contractions of two arrays with exact accumulation: matrix products and their relatives."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from string import ascii_lowercase

import numpy as np

from circuitize.circuits import matrix_product
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Fixed

from .arithmetic import Multiply
from .expansion import Expansion
from .language import Integers, corners
from .view import View
from .wiring import Reindex, sum_over

_EXACT = 53
"""The number of bits up to which float64 holds every integer."""

_EXACT_SINGLE = 24
"""The number of bits up to which float32 holds every integer."""

FEW = 1 << 14
"""The greatest number of products that are computed in int64: for so few, BLAS would gain less than conversions cost.
"""


@dataclass(frozen=True)
class Contract(Expansion):
    """The sum of products that an equation names: "bi,ij->bj" means y[b, j] = sum over i of x0[b, i] * x1[i, j].

    In a contraction's equation the operands and the target name their axes by distinct lower-case letters; letters that
    the target lacks are summed. The result of a contraction has the sum of the operands' fraction bits, and its sums
    are exact.
    """

    name = "integer.contract"
    arity = 2

    equation: str

    def __post_init__(self) -> None:
        equation = self.equation.replace(" ", "")
        object.__setattr__(self, "equation", equation)
        if not re.fullmatch("[a-z]*,[a-z]*->[a-z]*", equation):
            raise TypingError(
                f"{self.name}: expected an equation of two operands such as 'bi,ij->bj', found {equation!r}"
            )
        x, y, target = self.letters
        for letters in (x, y, target):
            if len(set(letters)) != len(letters):
                raise TypingError(f"{self.name}: expected distinct letters, found {letters!r} in {equation!r}")
        if not set(target) <= set(x + y):
            raise TypingError(f"{self.name}: expected the target's letters in an operand, found {equation!r}")

    @cached_property
    def letters(self) -> tuple[str, str, str]:
        """Return the letters that the equation gives the axes of the two operands and of the target."""
        x, rest = self.equation.split(",")
        y, target = rest.split("->")
        return x, y, target

    @cached_property
    def summed(self) -> str:
        """Return the summed letters of a contraction's equation, in order of appearance."""
        x, y, target = self.letters
        return "".join(dict.fromkeys(letter for letter in x + y if letter not in target))

    def extents(self, x: Fixed, y: Fixed) -> dict[str, int]:
        """Return the extent of each letter of the equation; raise TypingError if the shapes do not fit the equation."""
        found: dict[str, int] = {}
        for letters, source in zip(self.letters, (x, y), strict=False):
            if len(letters) != len(source.shape):
                raise TypingError(
                    f"{self.name}: expected {len(letters)} axes for {letters!r} of {self.equation!r}, "
                    f"found shape {list(source.shape)}; reshape it"
                )
            for letter, extent in zip(letters, source.shape, strict=True):
                if found.setdefault(letter, extent) != extent:
                    raise TypingError(
                        f"{self.name}: expected one extent for {letter!r} of {self.equation!r}, "
                        f"found {found[letter]} and {extent}; transpose or slice an operand"
                    )
        return found

    def target(self, *sources: Fixed) -> Fixed:
        x, y = sources
        extents = self.extents(x, y)
        terms = math.prod(extents[letter] for letter in self.summed)
        low, high = corners(x, y)
        shape = tuple(extents[letter] for letter in self.letters[2])
        return Fixed(shape, x.fraction_bits + y.fraction_bits, terms * low, terms * high)

    @property
    def makes_new(self) -> bool:
        return True

    def value(self, *values: Integers) -> Values:
        return contract(self.letters, *values)

    def lifted(self, count: int) -> Contract | None:
        x, y, target = self.letters
        new = next((letter for letter in ascii_lowercase if letter not in x + y), None)
        return None if new is None else Contract(f"{new}{x},{new}{y}->{new}{target}")

    def define(self, builder: Builder, *wires: int) -> int:
        x, y, target = self.letters
        extents = self.extents(*(builder.format(wire) for wire in wires))
        letters = target + self.summed
        shape = tuple(extents[letter] for letter in letters)
        spread = [
            builder.add(
                Reindex(View.select(builder.format(wire).shape, shape, [letters.index(letter) for letter in own])), wire
            )
            for wire, own in zip(wires, (x, y), strict=True)
        ]
        return sum_over(builder, builder.add(Multiply(), *spread), tuple(range(len(target), len(letters))))


def contract(letters: tuple[str, str, str], x: Integers, y: Integers) -> Integers:
    """Return the exact contraction of int64 arrays, by one batched matrix product, in the target's order if
    possible.
    """
    return matrix_product.contract(letters, x, y, multiply_matrices)


def multiply_matrices(x: Integers, y: Integers) -> Integers:
    """Return the exact product [B, R, K] @ [B, K, C] of int64 matrices, given that K * max|x| * max|y| < 2^62.

    A matrix product is computed in float32 if K * max|x| * max|y| is below 2^24, in float64 if it is below 2^53: every
    partial sum is then an integer that the float type represents exactly, whatever the order of the sum. If K * max|x|
    * max|y| is larger, the wider operand of a matrix product is cut into limbs for which the bound is below 2^53. With
    K < 2^40 a limb has at least 2 bits, since K * min(max|x|, max|y|) <= sqrt(K * 2^62). A GPU may round the factors of
    float32 products to fewer bits, so on a GPU the narrowest type used is float64.
    """
    terms = x.shape[-1]
    if terms == 1:
        return x * y
    if x.size * y.shape[-1] <= FEW:
        return x @ y
    sizes = _magnitude(x), _magnitude(y)
    bound = terms * sizes[0] * sizes[1]
    if bound < 1 << _EXACT:
        single = bound < 1 << _EXACT_SINGLE and array_module(x) is np
        kind = np.float32 if single else np.float64
        exact: Values = x.astype(kind) @ y.astype(kind)
        return exact.astype(np.int64)
    bits = _EXACT - (terms * min(sizes)).bit_length()
    wide_first = sizes[0] >= sizes[1]
    rest, narrow = (x, y.astype(np.float64)) if wide_first else (y, x.astype(np.float64))
    limbs = _limbs(rest, max(sizes), bits)
    pieces = (limb @ narrow if wide_first else narrow @ limb for limb in limbs)
    return reduce(add, (piece.astype(np.int64) << bits * place for place, piece in enumerate(pieces)))


def _limbs(values: Integers, magnitude: int, bits: int) -> list[Values]:
    """Cut integers into limbs below 2^bits, least significant first, the last limb signed: an integer is the sum of
    limb i * 2^(i * bits).
    """
    limbs = []
    while magnitude >> bits:
        limbs.append((values & ((1 << bits) - 1)).astype(np.float64))
        values = values >> bits
        magnitude = (magnitude >> bits) + 1
    return [*limbs, values.astype(np.float64)]


def _magnitude(values: Integers) -> int:
    return max(int(values.max()), -int(values.min()))
