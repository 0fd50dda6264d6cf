"""Terms over real arrays, with the operators of mathematics."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Self, TypeAlias

import numpy as np

from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.term import Term


class Real(Term):
    """A wire of reals in a formula: derivatives and definitions are written with these terms.

    The operands of an operator on terms have one shape; a number means the constant of this shape whose elements all
    equal it, and a product with a number is a Scale. An operator on terms finds its operation by name in the registry:
    the operations' own derivatives are written with these operators, so this module cannot import the operations.
    """

    __slots__ = ()

    def constant(self, value: Operand) -> Self:
        """Return the constant of this term's shape whose elements all equal a number."""
        splat = operation("constant", self.shape, np.asarray(value, np.float64)[()])
        return self.__class__(self.builder, self.builder.add(splat))

    def _elementwise(self, operation: Operation, other: Operand) -> Self:
        """Return the elementwise operation on this term and another, or on this term and a number."""
        return self.apply(operation, other if isinstance(other, self.__class__) else self.constant(other))

    def __add__(self, other: Operand) -> Self:
        return self._elementwise(operation("add"), other)

    def __radd__(self, other: Operand) -> Self:
        return self.constant(other) + self

    def __sub__(self, other: Operand) -> Self:
        return self._elementwise(operation("subtract"), other)

    def __rsub__(self, other: Operand) -> Self:
        return self.constant(other) - self

    def __neg__(self) -> Self:
        return self.apply(operation("negate"))

    def __mul__(self, other: Operand) -> Self:
        if isinstance(other, (int, float, np.number)):
            return self.apply(operation("scale", float(other)))
        return self._elementwise(operation("multiply"), other)

    def __rmul__(self, other: Operand) -> Self:
        return self * other

    def __truediv__(self, other: Operand) -> Self:
        return self._elementwise(operation("divide"), other)

    def __gt__(self, other: Operand) -> Self:
        return self._elementwise(operation("greater"), other)

    def __array_ufunc__(self, function: object, method: str, *values: object, **options: object) -> object:
        """Apply numpy's operators to a number or an array and a term; raise TypingError for numpy's other functions."""
        known = _OPERATORS.get(function)
        if known is None or method != "__call__" or options:
            raise TypingError(
                f"expected an operation of circuitize.circuits.arrays, found numpy's "
                f"{getattr(function, '__name__', function)} of a term; write it as arrays.Exp()(x) is written"
            )
        return known(*map(self._operand, values))

    def _operand(self, value: object) -> Real | float:
        if isinstance(value, Real):
            return value
        array = np.asarray(value)
        return self.constant(array) if array.ndim else float(array)


Operand: TypeAlias = Real | float | Values
"""The type of whatever may stand beside a term in a formula."""


_OPERATORS: dict[object, Callable[..., object]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.greater: operator.gt,
}


def operation(word: str, *parameters: object) -> Operation:
    """Return the real operation of the given name."""
    kind: Callable[..., Operation] = Operation.registry[f"real.{word}"]
    return kind(*parameters)
