"""The contract of an integer operation, which has one target, an exact interval and an exact value."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.types import Fixed, Type

Integers = NDArray[np.int64]


class IntegerOperation(Operation):
    """An exact operation on integer arrays with one target, whose interval is the tightest that the sources' intervals
    allow.

    Finding the type of an integer operation raises TypingError if the sources do not fit and OverflowRisk if the
    interval passes 2^62; running the operation raises Undefined, naming the first element at fault, if the operation
    has no value. The values of an integer operation are int64 arrays.
    """

    arity: ClassVar[int | None] = 1
    """How many sources the operation has; None is any number, at least one."""

    pointwise: ClassVar[bool] = False
    """Whether each element of the target depends only on the elements of the sources at the same place."""

    @abstractmethod
    def target(self, *sources: Fixed) -> Fixed:
        """Return the type of an integer operation's target, given that the number and kinds of the sources are
        right.
        """

    @abstractmethod
    def value(self, *values: Integers) -> Values:
        """Return the value of an integer operation's target for values inside the sources' intervals."""

    def lifted(self, count: int) -> IntegerOperation | None:
        """Return the operation that does a given operation `count` times, along a new first axis of sources and target.

        Return None if no single operation does a given one several times: in that case the operation's definition is
        lifted.
        """
        return self if self.pointwise or self.arity == 0 else None

    def target_types(self, *sources: Type) -> tuple[Fixed, ...]:
        arity = self.arity
        if len(sources) != arity and (arity is not None or not sources):
            expected = "at least 1" if arity is None else arity
            raise TypingError(f"{self.name}: expected {expected} sources, found {len(sources)}; connect them")
        formats = [source for source in sources if isinstance(source, Fixed)]
        if len(formats) < len(sources):
            other = next(source for source in sources if not isinstance(source, Fixed))
            raise TypingError(f"{self.name}: expected integer arrays, found {other}; quantize the program first")
        return (self.target(*formats),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        made = self.value(*values)
        return (array_module(made).asarray(made),)


class Elementwise(IntegerOperation):
    """An elementwise operation that has a function in every array module.

    An elementwise operation can write its value over the value of a source, if the source has the target's shape.
    """

    pointwise = True

    function: ClassVar[str]
    """The name of the array module's function that computes the operation."""

    @cached_property
    def constants(self) -> tuple[np.int64, ...]:
        """Return the constants that the array module's function takes after the sources."""
        return ()

    @property
    def makes_new(self) -> bool:
        return True

    def value(self, *values: Integers) -> Values:
        made: Values = getattr(array_module(*values), self.function)(*values, *self.constants)
        return made

    def overwrite(self, source: int, *values: Integers) -> Values:
        """Return the target's value, written over the value of the source with the given number; that source's value is
        lost.
        """
        function = getattr(array_module(*values), self.function)
        made: Values = function(*values, *self.constants, out=values[source])
        return made


def same_formats(name: str, sources: tuple[Fixed, ...]) -> None:
    """Raise TypingError unless all sources have one shape and one number of fraction bits."""
    first = sources[0]
    for source in sources[1:]:
        if source.shape != first.shape:
            raise TypingError(
                f"{name}: expected equal shapes, found {list(first.shape)} and {list(source.shape)}; broadcast one"
            )
    same_fraction_bits(name, sources)


def same_fraction_bits(name: str, sources: tuple[Fixed, ...]) -> None:
    """Raise TypingError unless all sources have one number of fraction bits."""
    first = sources[0]
    for source in sources[1:]:
        if source.fraction_bits != first.fraction_bits:
            raise TypingError(
                f"{name}: expected equal fraction bits, found {first.fraction_bits} and {source.fraction_bits}; "
                "align them with Scale"
            )


def corners(x: Fixed, y: Fixed) -> tuple[int, int]:
    """Return the least and the greatest product of a number in the interval of x and a number in the interval of y."""
    products = (x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high)
    return min(products), max(products)


def axis_of(name: str, axis: int, source: Fixed) -> int:
    """Return the extent of an axis; raise TypingError unless the source has the axis."""
    if not 0 <= axis < len(source.shape):
        raise TypingError(
            f"{name}: expected an axis from 0 to {len(source.shape) - 1} of {list(source.shape)}, found {axis}"
        )
    return source.shape[axis]
