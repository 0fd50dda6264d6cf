"""Linear forms over a prime field: sums of tensors read through views, with coefficients in the field; and the kinds of
these tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.integers.view import View
from circuitize.circuits.types import Shape

PRIME = 2**64 - 2**32 + 1
"""The prime of the Goldilocks field."""

Integers = NDArray[np.int64]
Trace = Sequence[Integers]
Recipe = Callable[[Trace], Integers]
"""A function that gives the honest values of a tensor, from the values of a program's wires."""

Path = tuple[tuple[View, bool], ...]
"""The views from a form to a base, outermost first: a form gathers through each view, or sums along it if its flag is
True.
"""


@dataclass(frozen=True)
class Form:
    """A linear form: the sum of coefficient * (base read along a path); the keys of `terms` are (base, path), and the
    coefficients are in [1, p).
    """

    shape: Shape
    terms: Mapping[tuple[int, Path], int]

    def __add__(self, other: Form) -> Form:
        assert self.shape == other.shape
        terms = dict(self.terms)
        for key, coefficient in other.terms.items():
            terms[key] = (terms.get(key, 0) + coefficient) % PRIME
        return Form(self.shape, {key: c for key, c in terms.items() if c})

    def __sub__(self, other: Form) -> Form:
        return self + other.times(-1)

    def times(self, factor: int) -> Form:
        """Return the form with every coefficient multiplied by an integer, which may be any representative modulo p."""
        terms = {key: c * factor % PRIME for key, c in self.terms.items()}
        return Form(self.shape, {key: c for key, c in terms.items() if c})

    def key(self) -> tuple[Shape, frozenset[tuple[tuple[int, Path], int]]]:
        """Return a key that is the same for equal forms: the shape, and the terms without their order."""
        return self.shape, frozenset(self.terms.items())


@dataclass
class Column:
    """A base that is a committed tensor; its commitment and offset are set when all columns are known. A column of
    multiplicities has no recipe, since the prover counts the multiplicities.
    """

    shape: Shape
    recipe: Recipe | None
    name: str
    part: str = ""
    commitment: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class Public:
    """A base with the values that the statement gives for one port."""

    shape: Shape
    recipe: Recipe
    side: str
    name: str


@dataclass(frozen=True)
class Rows:
    """A base of rows of a column, chosen by the numbers in a public base: y[b, ...] = x[index[b], ...]; it is never
    committed.

    The index b of a base of rows may stand for several axes, which are the axes of the public base of row numbers.
    """

    shape: Shape
    recipe: Recipe
    column: int
    index: int


@dataclass(frozen=True)
class Fixed:
    """A base whose values the program gives: one for each element, or one for all elements."""

    shape: Shape
    values: Integers = field(compare=False)

    def recipe(self, _: Trace) -> Integers:
        """Return the values of the base in the shape of its tensor, which are the same in every run."""
        return np.ascontiguousarray(np.broadcast_to(self.values.reshape(self.values_shape), self.shape))

    @property
    def values_shape(self) -> Shape:
        """Return the shape of `values`: the shape of the tensor, or a shape of ones if all elements are equal."""
        return (1,) * len(self.shape) if self.values.size == 1 else self.shape


@dataclass(frozen=True)
class Product:
    """A base that is the sum of products of two forms by an equation of axis letters; it is never committed."""

    shape: Shape
    recipe: Recipe
    letters: tuple[str, str, str]
    forms: tuple[int, int]


Base = Column | Public | Rows | Fixed | Product


def padded_bits(shape: Shape) -> int:
    """Return the number of variables of a tensor's multilinear polynomial, after its axes are padded to powers of
    two.
    """
    return sum((extent - 1).bit_length() for extent in shape)
