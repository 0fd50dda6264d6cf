"""The objects of JAX that are read here, by the attributes that are read: jaxprs, their equations and arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np


class Shaped(Protocol):
    """An array, or what stands for one: `jax.Array`, `jax.ShapeDtypeStruct`, `jax.core.ShapedArray`, an array of numpy.

    The element type is one of numpy's, or that of keys of random numbers; it is told by its name.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def dtype(self) -> object:
        """The element type."""


def is_shaped(found: object) -> TypeGuard[Shaped]:
    """Return whether an object has a shape and an element type."""
    return hasattr(found, "shape") and hasattr(found, "dtype")


class Known(Shaped, Protocol):
    """An array whose elements are known: `jax.Array`, or an array of numpy."""

    def __getitem__(self, index: int) -> Self: ...


class Variable(Hashable, Protocol):
    """A variable of a jaxpr (`jax.extend.core.Var`), or a number in its place (`jax.extend.core.Literal`)."""

    @property
    def aval(self) -> Shaped:
        """The shape and the element type."""


class NumberType(Shaped, Protocol):
    """The type of a number (`jax.core.ShapedArray`), which is one of numpy's."""

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The element type."""


class Literal(Variable, Protocol):
    """A number in place of a variable (`jax.extend.core.Literal`)."""

    @property
    def aval(self) -> NumberType:
        """The element type, and the shape, which has no axes."""

    @property
    def val(self) -> np.generic:
        """The number."""


def is_literal(variable: Variable) -> TypeGuard[Literal]:
    """Return whether a number is in the place of a jaxpr's variable."""
    return hasattr(variable, "val")


class Primitive(Protocol):
    """A primitive of JAX (`jax.extend.core.Primitive`)."""

    name: str
    multiple_results: bool

    def bind(self, *operands: object, **parameters: object) -> Any:
        """Return the result, or the list of the results, for operands that are known."""


class Frame(Protocol):
    """A frame of a traceback (`jaxlib.xla_client.Frame`)."""

    file_name: str
    function_name: str
    line_num: int


class Traceback(Protocol):
    """A traceback (`jaxlib.xla_client.Traceback`)."""

    @property
    def frames(self) -> Sequence[Frame]:
        """The frames, the innermost first."""


class SourceInfo(Protocol):
    """The place that an equation comes from (`jax._src.source_info_util.SourceInfo`)."""

    @property
    def traceback(self) -> Traceback | None:
        """The calls that led to the equation."""

    @property
    def name_stack(self) -> object:
        """The names of the parts of the model, joined by slashes when written as a text."""


class JaxprEquation(Protocol):
    """An equation of a jaxpr (`jax.extend.core.JaxprEqn`); what a parameter is depends on the primitive."""

    @property
    def primitive(self) -> Primitive:
        """The primitive that is applied."""

    @property
    def invars(self) -> Sequence[Variable]:
        """The operands."""

    @property
    def outvars(self) -> Sequence[Variable]:
        """The results."""

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters of the primitive."""

    @property
    def source_info(self) -> SourceInfo:
        """The place that the equation comes from."""


class Jaxpr(Protocol):
    """A jaxpr (`jax.extend.core.Jaxpr`)."""

    @property
    def constvars(self) -> Sequence[Variable]:
        """The variables of the constants."""

    @property
    def invars(self) -> Sequence[Variable]:
        """The variables of the arguments."""

    @property
    def outvars(self) -> Sequence[Variable]:
        """The results."""

    @property
    def eqns(self) -> Sequence[JaxprEquation]:
        """The equations, each after those that it reads."""


@runtime_checkable
class ClosedJaxpr(Protocol):
    """A jaxpr with its constants (`jax.extend.core.ClosedJaxpr`)."""

    @property
    def jaxpr(self) -> Jaxpr:
        """The jaxpr."""

    @property
    def consts(self) -> Sequence[Known]:
        """The constants."""

    @property
    def out_avals(self) -> Sequence[Shaped]:
        """The shapes and the element types of the results."""
