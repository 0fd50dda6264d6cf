"""The objects of tinygrad 0.14.0 and polygrad 0.7.1 that are read here, described by the attributes that are read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, Self, TypedDict, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

U = TypeVar("U", bound=Hashable)
"""The class of a system's UOps."""


class Named(Protocol):
    """A type (`tinygrad.dtype.DType`, `polygrad.dtype.DType`) or an operation (`tinygrad.uop.Ops`)."""

    @property
    def name(self) -> str:
        """The name: `float`, `REDUCE`."""


class TinygradUOp(Hashable, Protocol):
    """A UOp of tinygrad (`tinygrad.uop.ops.UOp`)."""

    op: Named
    src: tuple[Self, ...]
    arg: Any
    dtype: Named

    @property
    def shape(self) -> Sequence[object]:
        """The extents: whole numbers, or UOps for extents that are not known."""

    @property
    def realized(self) -> object:
        """The computed elements of a buffer, or None."""


class PolygradUOp(Hashable, Protocol):
    """A UOp of polygrad (`polygrad.uop.ops.UOp`), a view of one that C owns."""

    ctx: object
    raw: object

    @property
    def op_name(self) -> str:
        """The name of the operation."""

    @property
    def src(self) -> Sequence[Self]:
        """The UOps that this one reads."""

    @property
    def dtype(self) -> Named:
        """The type of the elements."""

    @property
    def device(self) -> object:
        """The device that holds the elements."""

    @property
    def realized(self) -> object:
        """The computed elements of a buffer, or None."""


class Tensor(Protocol[U]):
    """A tensor of tinygrad (`tinygrad.Tensor`) or polygrad (`polygrad.Tensor`)."""

    uop: U
    grad: object

    @property
    def shape(self) -> Sequence[int]:
        """The extents."""

    @property
    def dtype(self) -> object:
        """The type of the elements."""

    def numpy(self) -> NDArray[np.generic]:
        """Return the elements, which the system computes if they are not computed yet."""

    def realize(self) -> Self:
        """Compute the elements."""

    def replace(self, x: Self) -> Self:
        """Take the graph of another tensor."""


class Numbers(Protocol):
    """A tensor of polygrad as the formulas of `written` compute with it."""

    def __add__(self, other: Self | float) -> Self: ...
    def __sub__(self, other: Self | float) -> Self: ...
    def __mul__(self, other: Self | float) -> Self: ...
    def __pow__(self, other: float) -> Self: ...

    def sigmoid(self) -> Self:
        """Return 1 / (1 + e^-x) of each element."""


class Optimizer(Protocol):
    """An optimiser (`nn.optim.Optimizer` of either package), whose own tensors belong to its parameters in order."""

    params: Sequence[object]

    def schedule_step(self) -> object:
        """Return the tensors that a step changes."""


def is_optimizer(found: object) -> TypeGuard[Optimizer]:
    """Return whether an object is an optimiser of tinygrad or polygrad."""
    return hasattr(found, "schedule_step")


class Entry(TypedDict):
    """An entry point of a polygrad Model."""

    name: str
    inputs: list[str]


class Binding(TypedDict):
    """A tensor that a polygrad Model holds or takes."""

    name: str
    role: int
    shape: Sequence[int]
    shape_bounds: Sequence[tuple[int, int]]


class PolygradModel(Protocol):
    """A Model of polygrad (`polygrad.model.Model`), which C owns."""

    _ctx: object
    _ptr: object

    def entrypoints(self) -> list[Entry]:
        """Return the entry points."""

    def bindings(self) -> list[Binding]:
        """Return the tensors."""

    def read_buffer(self, name: str) -> NDArray[np.generic]:
        """Return the elements of a tensor by its name, flat."""
