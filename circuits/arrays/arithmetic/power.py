"""Powers by a whole number: the square, and others by repeated squaring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.errors import TypingError

from ..composite import Composite
from ..curves.reciprocal import Reciprocal
from ..term import Real


@dataclass(frozen=True)
class Square(Composite):
    """The square x * x of each element."""

    name = "real.square"

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        return x * x

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [2.0 * (dz * x)]


@dataclass(frozen=True)
class Power(Composite):
    """The power x^n for a whole number n; x^0 is 1, negative powers are powers of 1 / x. The derivative of Power is
    dz * n * x^(n - 1).

    A power takes about log2 n squarings, each rounded. 0^0 is 1; a negative power of 0 is undefined.
    """

    name = "real.power"

    exponent: int

    def __post_init__(self) -> None:
        if not isinstance(self.exponent, int):
            raise TypingError(f"expected a whole exponent, found {self.exponent!r}; use exp and log for others")

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        if self.exponent == 0:
            return x.constant(1.0)
        base = Reciprocal()(x) if self.exponent < 0 else x
        made = base
        for bit in format(abs(self.exponent), "b")[1:]:
            made = made * made
            if bit == "1":
                made = made * base
        return made

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        if self.exponent == 0:
            return [None]
        slope = float(self.exponent) * Power(self.exponent - 1)(*sources)
        return [dz * slope]
