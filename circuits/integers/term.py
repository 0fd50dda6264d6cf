"""Terms over integer arrays: sums and differences align the fraction bits of their operands, so every operator is
exact.
"""

from __future__ import annotations

from circuitize.circuits.term import Term
from circuitize.circuits.types import Fixed

from .arithmetic import Add, Multiply, Scale, Shift, Subtract
from .constant import Constant


class Integer(Term):
    """A wire of integers in a formula: real operations are lowered by writing formulas of these terms."""

    __slots__ = ()

    @property
    def type(self) -> Fixed:
        """Return the format of the wire: its shape, fraction bits and interval."""
        return self.builder.format(self.wire)

    @property
    def fraction_bits(self) -> int:
        """Return the fraction bits of the wire: an element q stands for q * 2^-fraction_bits."""
        return self.type.fraction_bits

    def __add__(self, other: Integer) -> Integer:
        return Add()(*align(self, other))

    def __sub__(self, other: Integer) -> Integer:
        return Subtract()(*align(self, other))

    def __mul__(self, other: Integer) -> Integer:
        return Multiply()(self, other)

    def __neg__(self) -> Integer:
        return Scale(-1, 0)(self)

    def constant(self, amount: int) -> Integer:
        """Return the constant of this term's shape whose elements all equal an integer, in units of this term's last
        bit.
        """
        return self.splat(amount, self.fraction_bits)

    def splat(self, amount: int, fraction_bits: int) -> Integer:
        """Return the constant of this term's shape whose elements all equal an integer, with the given fraction
        bits.
        """
        splat = Constant.splat(amount, self.shape, fraction_bits)
        return Integer(self.builder, self.builder.add(splat))

    def offset(self, amount: int) -> Integer:
        """Return the term x + amount, where amount is an integer in units of x's last bit."""
        return self + self.constant(amount)

    def refine(self, fraction_bits: int) -> Integer:
        """Return a term of the same real value with more fraction bits, which is exact."""
        extra = fraction_bits - self.fraction_bits
        assert extra >= 0, "refine never drops bits"
        return Scale(1 << extra, extra)(self) if extra else self

    def shift_to(self, fraction_bits: int) -> Integer:
        """Return the term rescaled to the given number of fraction bits: exactly if that adds bits, else rounded half
        up: floor(x / 2^s + 1/2).
        """
        surplus = self.fraction_bits - fraction_bits
        if surplus <= 0:
            return self.refine(fraction_bits)
        return Shift(surplus)(self.offset(1 << (surplus - 1)))


def align(*terms: Integer) -> list[Integer]:
    """Return terms of the same real values with a common number of fraction bits, the greatest among the terms, which
    is exact.
    """
    fraction_bits = max(term.fraction_bits for term in terms)
    return [term.refine(fraction_bits) for term in terms]
