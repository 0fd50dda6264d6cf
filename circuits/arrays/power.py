"""Powers by a whole number, by repeated squaring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array

from . import expect
from .composite import Composite
from .constant import Constant
from .elementwise import Multiply, Scale
from .reciprocal import Reciprocal


@dataclass(frozen=True)
class Power(Composite):
    """x^n for a whole number n; x^0 is 1, negative powers are those of 1 / x. The derivative is dz * n * x^(n - 1).

    About log2 n squarings, each rounded. 0^0 is 1; a negative power of 0 is undefined.
    """

    name = "real.power"

    exponent: int

    def __post_init__(self) -> None:
        if not isinstance(self.exponent, int):
            raise TypingError(f"expected a whole exponent, found {self.exponent!r}; use exp and log for others")

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        x = builder.input(sources[0])
        if self.exponent == 0:
            return builder.build([builder.add(Constant.splat(1.0, sources[0].shape))])
        base = builder.add(Reciprocal(), x) if self.exponent < 0 else x
        made = base
        for bit in format(abs(self.exponent), "b")[1:]:
            made = builder.add(Multiply(), made, made)
            if bit == "1":
                made = builder.add(Multiply(), made, base)
        return builder.build([made])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        if self.exponent == 0:
            return [None]
        slope = builder.add(Scale(float(self.exponent)), builder.add(Power(self.exponent - 1), sources[0]))
        return [builder.add(Multiply(), cotangents[0], slope)]
