"""The objects of catgrad 0.2.2 and open-hypergraphs 0.1.3, described by the attributes that are read here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray


class Dtype(Protocol):
    """The type of the elements of an array (`catgrad.signature.Dtype`)."""

    @property
    def name(self) -> str:
        """The name: `float32`, `bool`."""

    def is_floating(self) -> bool:
        """Return whether the elements are floats."""


class NdArrayType(Protocol):
    """The type of a wire (`catgrad.signature.NdArrayType`)."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def dtype(self) -> Dtype:
        """The type of the elements."""


class FiniteFunction(Protocol):
    """A table of numbers or labels (`open_hypergraphs.FiniteFunction`)."""

    @property
    def table(self) -> NDArray[np.generic]:
        """The numbers or labels."""

    def __len__(self) -> int: ...


class IndexedCoproduct(Protocol):
    """The wires on one side of the edges (`open_hypergraphs.IndexedCoproduct`)."""

    @property
    def sources(self) -> FiniteFunction:
        """How many wires each edge has."""

    @property
    def values(self) -> FiniteFunction:
        """These wires, edge by edge."""


class Hypergraph(Protocol):
    """A hypergraph (`open_hypergraphs.Hypergraph`)."""

    @property
    def s(self) -> IndexedCoproduct:
        """The wires that edges read."""

    @property
    def t(self) -> IndexedCoproduct:
        """The wires that edges write."""

    @property
    def w(self) -> FiniteFunction:
        """The labels of the wires."""

    @property
    def x(self) -> FiniteFunction:
        """The labels of the edges."""


class OpenHypergraph(Protocol):
    """A diagram (`open_hypergraphs.OpenHypergraph`)."""

    @property
    def s(self) -> FiniteFunction:
        """The wires that are inputs."""

    @property
    def t(self) -> FiniteFunction:
        """The wires that are outputs."""

    @property
    def H(self) -> Hypergraph:  # noqa: N802
        """The hypergraph inside."""

    @property
    def source(self) -> FiniteFunction:
        """The types of the inputs."""

    @property
    def target(self) -> FiniteFunction:
        """The types of the outputs."""

    def __matmul__(self, other: Self, /) -> Self: ...
    def __rshift__(self, other: Self, /) -> Self: ...


Lens: TypeAlias = Callable[[FiniteFunction], OpenHypergraph]
"""An optimiser or a loss of catgrad: a function from types to a diagram that keeps them."""


class Operation(Protocol):
    """An operation of catgrad's core (`catgrad.core.operation`)."""

    def target(self) -> FiniteFunction:
        """Return the types of the wires that the operation writes."""


class OfArrays(Protocol):
    """An operation on arrays of the type T."""

    @property
    def T(self) -> NdArrayType:  # noqa: N802
        """The type of the arrays, or of their last axes."""


class Constant(OfArrays, Protocol):
    """A constant of one number (`Constant`)."""

    @property
    def x(self) -> float:
        """The number."""


class OfLastAxes(OfArrays, Protocol):
    """An operation on arrays of the axes N, then the axes T (`NAdd`, `NMax`)."""

    @property
    def N(self) -> NdArrayType:  # noqa: N802
        """The type of the first axes."""


class OfPieces(Protocol):
    """An operation that makes k arrays (`NSplit`)."""

    @property
    def k(self) -> int:
        """The number of arrays."""
