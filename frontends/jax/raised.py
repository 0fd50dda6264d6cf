"""Functions of JAX that we have whole: softmax and its relatives, told by the jaxpr that JAX itself would make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from circuitize.frontends.functions import log_softmax, softmax
from circuitize.frontends.tensor import Tensor

from .equation import Equation
from .value import Value

WHOLE: dict[str, Callable[[Tensor, int], Tensor]] = {"softmax": softmax, "log_softmax": log_softmax}
"""By name: JAX's functions along an axis."""


def raised(equation: Equation, name: str, inner: Any) -> Value | None:
    """The result of a call of one of them, whose jaxpr equals that of JAX's own function; None for any other call."""
    ours = WHOLE.get(name)
    if ours is None or len(equation.inputs) != 1 or len(equation.shapes) != 1:
        return None
    (value,) = equation.inputs
    if not isinstance(value.content, Tensor) or value.kind != "float":
        return None
    axes = [tuple(e.params["axes"]) for e in inner.jaxpr.eqns if e.primitive.name == "reduce_max"]
    if len(axes) != 1 or len(axes[0]) != 1:
        return None
    jax = equation.context.jax
    like = jax.ShapeDtypeStruct(value.shape, value.dtype)
    made = jax.make_jaxpr(lambda x: getattr(jax.nn, name)(x, axis=axes[0][0]))(like)
    calls = [e for e in made.jaxpr.eqns if e.params.get("name") == name]
    if len(calls) != 1 or str(calls[0].params["jaxpr"]) != str(inner):
        return None
    return Value(ours(value.content, axes[0][0]), value.dtype)
