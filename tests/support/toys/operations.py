"""Two toy operations: one of real arrays, with a definition, and one of integers, which targets expand."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.array_module import array_module
from circuitize.circuits.arrays import ReLU
from circuitize.circuits.arrays.composite import Composite
from circuitize.circuits.arrays.term import Real
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add as AddIntegers
from circuitize.circuits.integers import Maximum
from circuitize.circuits.integers import Subtract as SubtractIntegers
from circuitize.circuits.integers.expansion import Expansion
from circuitize.circuits.integers.language import Integers, same_formats
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Fixed


@dataclass(frozen=True)
class SoftShrink(Composite):
    """x moved by `width` towards 0, and 0 within it."""

    name = "real.soft_shrink"

    width: float

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        return ReLU()(x - self.width) - ReLU()(-x - self.width)


@dataclass(frozen=True)
class Middle(Expansion):
    """Of three numbers of one format the one that is neither the least nor the greatest."""

    name = "integer.middle"
    arity = 3

    def target(self, *sources: Fixed) -> Fixed:
        same_formats(self.name, sources)
        lows, highs = sorted(source.low for source in sources), sorted(source.high for source in sources)
        return sources[0].with_interval(lows[1], highs[1])

    def value(self, *values: Integers) -> Values:
        module = array_module(*values)
        made: Values = module.sort(module.stack(values), axis=0)[1]
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        def lesser(a: int, b: int) -> int:
            return builder.add(SubtractIntegers(), builder.add(AddIntegers(), a, b), builder.add(Maximum(), a, b))

        x, y, z = wires
        return builder.add(Maximum(), lesser(x, y), lesser(builder.add(Maximum(), x, y), z))
