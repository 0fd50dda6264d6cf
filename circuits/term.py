"""A term of a formula: a wire of an arrow under construction. Operations are applied to terms like functions, and each
application adds an edge.
"""

from __future__ import annotations

from typing import Self

from .builder import Builder
from .errors import TypingError
from .operation import Operation
from .types import Shape


class Term:
    """A term of a formula: a wire together with the builder to which it belongs. Subclasses of Term have the operators
    of one language.
    """

    __slots__ = ("builder", "wire")

    def __init__(self, builder: Builder, wire: int) -> None:
        self.builder = builder
        self.wire = wire

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.shape)})"

    def __bool__(self) -> bool:
        raise TypingError(
            "expected a condition known now, found a term, which has no value while a formula is read; use "
            "Select()(condition, a, b)"
        )

    @property
    def shape(self) -> Shape:
        """Return the shape of the array on the wire."""
        return self.builder.type(self.wire).shape

    @property
    def ndim(self) -> int:
        """Return the number of axes; the name `ndim` is numpy's."""
        return len(self.shape)

    def apply(self, operation: Operation, *others: Self) -> Self:
        """Add an edge with one target that reads this term's wire and the wires of the other terms."""
        return self.__class__(self.builder, self.builder.add(operation, self.wire, *[other.wire for other in others]))
