"""Linear forms: integers that are sums of symbols, each times a known number, and of a constant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import gcd

Key = tuple[tuple[tuple[int, int], ...], int]


class Form:
    """A linear form: the sum of `constant` and of each symbol in `terms` times its coefficient, which is never 0."""

    def __init__(self, terms: dict[int, int], constant: int) -> None:
        self.terms, self.constant = terms, constant
        self.ends: tuple[int, int] | None = None
        """An interval that holds all values of the form, where one was asked for."""

    @cached_property
    def key(self) -> Key:
        """Return a key of the form that no other form has."""
        return tuple(sorted(self.terms.items())), self.constant

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.key)

    def __add__(self, other: Form) -> Form:
        if len(self.terms) < len(other.terms):
            self, other = other, self
        terms = dict(self.terms)
        for symbol, factor in other.terms.items():
            found = terms.get(symbol, 0) + factor
            if found:
                terms[symbol] = found
            else:
                del terms[symbol]
        return Form(terms, self.constant + other.constant)

    def __sub__(self, other: Form) -> Form:
        return self + other * -1

    def __mul__(self, factor: int) -> Form:
        if factor == 1:
            return self
        if factor == 0:
            return ZERO
        return Form({symbol: value * factor for symbol, value in self.terms.items()}, self.constant * factor)

    def plus(self, number: int) -> Form:
        """Return the sum of a form and a known number."""
        return Form(self.terms, self.constant + number) if number else self

    @cached_property
    def primitive(self) -> tuple[Form, int]:
        """Return the primitive part of a form, which has no constant, coprime coefficients and a positive first
        coefficient, and the factor of this part.

        A form equals factor * primitive + constant. The primitive part of a form that is a known number is 0.
        """
        if not self.terms:
            return ZERO, 1
        factor = gcd(*self.terms.values())
        if self.terms[min(self.terms)] < 0:
            factor = -factor
        if factor == 1 and not self.constant:
            return self, 1
        return Form({symbol: value // factor for symbol, value in self.terms.items()}, 0), factor

    def without_multiples(self, bits: int) -> Form:
        """Return a form that is equal modulo 2^bits, without the terms that are 0 modulo 2^bits."""
        mask = (1 << bits) - 1
        return Form({symbol: value for symbol, value in self.terms.items() if value & mask}, self.constant)


ZERO = Form({}, 0)


def known(number: int) -> Form:
    """Return the form that is a known number."""
    return Form({}, number)


def total(forms: Iterable[tuple[int, Form]]) -> Form:
    """Return the linear combination of forms with known numbers as factors."""
    terms: dict[int, int] = {}
    constant = 0
    for factor, form in forms:
        if factor == 0:
            continue
        constant += factor * form.constant
        for symbol, value in form.terms.items():
            terms[symbol] = terms.get(symbol, 0) + factor * value
    return Form({symbol: value for symbol, value in terms.items() if value}, constant)
