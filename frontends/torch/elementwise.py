"""Translation rules for ATen's elementwise functions: arithmetic, comparisons, activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from circuitize.circuits.arrays.term import Operand
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends import activations, functions
from circuitize.frontends.functions import exp, log, maximum, minimum, relu, square_root, where
from circuitize.frontends.tensor import Tensor

from .node import Known, bounded, operator

Number = Tensor | float
N = TypeVar("N", Tensor, float, Number)


@operator("add.Tensor", "add.Scalar")
def add(x: Tensor, other: Number, alpha: float = 1) -> Tensor:
    """Return x + alpha * other."""
    return x + _times(other, alpha)


@operator("sub.Tensor", "sub.Scalar")
def sub(x: Tensor, other: Number, alpha: float = 1) -> Tensor:
    """Return x - alpha * other."""
    return x - _times(other, alpha)


@operator("rsub.Scalar", "rsub.Tensor")
def rsub(x: Tensor, other: Number, alpha: float = 1) -> Tensor:
    """Return other - alpha * x."""
    return other - _times(x, alpha)


def _times(x: N, factor: float) -> N:
    return x if factor == 1 else x * factor


@operator("mul.Tensor", "mul.Scalar")
def mul(x: Tensor, other: Number) -> Tensor:
    """Return x * other."""
    return x * other


@operator("div.Tensor", "div.Scalar")
def div(x: Tensor, other: Number) -> Tensor:
    """Return x / other, without a rounding mode."""
    return x / other


@operator("pow.Tensor_Scalar")
def pow(x: Tensor, exponent: float) -> Tensor:
    """Return x to a power that is a multiple of 1/2; refuse any other power."""
    if not float(2 * exponent).is_integer():
        raise CircuitizeError(f"expected an exponent that is a multiple of 1/2, found {exponent}; write exp(y log(x))")
    return x ** (int(exponent) if float(exponent).is_integer() else exponent)


ONE: dict[str, Callable[[Tensor], Tensor]] = {
    "abs": functions.absolute,
    "ceil": functions.ceil,
    "cos": functions.cos,
    "erf": functions.erf,
    "exp": exp,
    "exp2": functions.exp2,
    "expm1": lambda x: exp(x) - 1.0,
    "floor": functions.floor,
    "hardsigmoid": activations.hard_sigmoid,
    "hardswish": activations.hard_swish,
    "log": log,
    "log1p": lambda x: log(x + 1.0),
    "log2": functions.log2,
    "mish": activations.mish,
    "neg": lambda x: -x,
    "reciprocal": lambda x: 1.0 / x,
    "relu": relu,
    "relu6": activations.relu6,
    "round": functions.round_half_even,
    "rsqrt": functions.reciprocal_square_root,
    "sigmoid": functions.sigmoid,
    "sign": functions.sign,
    "silu": activations.silu,
    "sin": functions.sin,
    "sqrt": square_root,
    "square": functions.square,
    "tanh": functions.tanh,
    "logical_not": lambda x: 1.0 - (x != 0.0),
    "bitwise_not": lambda x: 1.0 - x,
}
"""ATen's functions of one tensor, by name. The operator bitwise_not is read for truth values only."""


def _of_one(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def rule(x: Tensor) -> Tensor:
        return function(x)

    return rule


for _name, _function in ONE.items():
    operator(_name)(_of_one(_function))


@operator("logical_and", "bitwise_and.Tensor")
def both(x: Tensor, other: Tensor) -> Tensor:
    """Return the conjunction of truth values, 0 and 1, as their product."""
    return x * other


@operator("logical_or", "bitwise_or.Tensor")
def either(x: Tensor, other: Tensor) -> Tensor:
    """Return the disjunction of truth values, 0 and 1, as their maximum."""
    return maximum(x, other)


COMPARED: dict[str, Callable[[Tensor, Operand], Tensor]] = {
    "gt": lambda x, y: x > y,
    "lt": lambda x, y: x < y,
    "ge": lambda x, y: x >= y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}


def _compared(name: str) -> Callable[..., Tensor | Known]:
    def rule(x: Tensor, other: Operand) -> Tensor | Known:
        if isinstance(other, float) and not math.isfinite(other):
            # Nothing here is infinite.
            return np.full(x.shape, float(name in ("ne", "lt" if other > 0 else "gt", "le" if other > 0 else "ge")))
        return COMPARED[name](x, other)

    return rule


for _name in COMPARED:
    operator(f"{_name}.Scalar", f"{_name}.Tensor")(_compared(_name))


@operator("maximum", "max.other")
def greater_of(x: Tensor, other: Tensor) -> Tensor:
    """Return the greater of two tensors, element by element."""
    return maximum(x, other)


@operator("minimum", "min.other")
def lesser_of(x: Tensor, other: Tensor) -> Tensor:
    """Return the lesser of two tensors, element by element."""
    return minimum(x, other)


@operator("clamp")
def clamp(x: Tensor, min: float | None = None, max: float | None = None) -> Tensor:
    """Return x clamped between two numbers, either of which may be absent; if `min` is above `max`, the result is
    `max`, as in ATen.
    """
    if min is not None and max is not None and min <= max:
        return functions.clip(x, float(min), float(max))
    if min is not None:
        x = maximum(x, float(min))
    return x if max is None else minimum(x, float(max))


@operator("clamp_min")
def clamp_min(x: Tensor, min: float) -> Tensor:
    """Return the greater of x and a number."""
    return maximum(x, float(min))


@operator("hardtanh")
def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return x clamped between two numbers."""
    return functions.clip(x, float(min_val), float(max_val))


@operator("gelu")
def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """Return GELU, computed exactly from the error function, or with the approximation "tanh"."""
    return functions.gelu(x, approximate == "tanh")


@operator("leaky_relu")
def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return x where it is positive, and the slope times x elsewhere."""
    return activations.leaky_relu(x, negative_slope)


@operator("prelu", "_prelu_kernel")
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """Return x where it is positive, and the slope times x elsewhere; the slope is one number for each channel (axis
    1), or one number for all channels.
    """
    if weight.ndim == 1 and weight.size > 1:
        weight = weight.reshape(weight.size, *[1] * (x.ndim - 2))
    return relu(x) - weight * relu(-x)


@operator("elu")
def elu(x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """Return scale * x where x is positive, and scale * alpha * (exp(x) - 1) elsewhere; refuse an `input_scale` other
    than 1.
    """
    if input_scale != 1:
        raise CircuitizeError(f"expected an input scale of 1, found {input_scale}; scale the input")
    return _times(activations.elu(x, alpha), scale)


@operator("softplus")
def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return softplus; above a threshold torch returns x itself, which differs by less than e^-20."""
    return _times(activations.softplus(_times(x, beta)), 1.0 / beta)


@operator("where.self", "where.ScalarSelf", "where.ScalarOther")
def where_self(condition: Tensor | Known, x: Tensor | Known | float, other: Tensor | Known | float) -> Tensor | Known:
    """Return x where the condition is true, else `other`; a known condition that is equal everywhere needs no
    Select.
    """
    chosen = [bounded(value) if isinstance(value, float) else value for value in (x, other)]
    if isinstance(condition, np.ndarray) and condition.size and (condition == condition.flat[0]).all():
        one = chosen[0 if condition.flat[0] else 1]
        shape = np.broadcast_shapes(*(getattr(value, "shape", ()) for value in (condition, *chosen)))
        return one.broadcast(shape) if isinstance(one, Tensor) else np.broadcast_to(one, shape)
    return where(condition, *chosen)


where_self.takes_known = True  # type: ignore[attr-defined]


@operator("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(x: Tensor | Known, mask: Tensor | Known, value: Tensor | Known | float) -> Tensor:
    """Return x with the value where the mask is 1; minus infinity becomes MASKED."""
    return where(mask, bounded(float(value)) if isinstance(value, (int, float)) else value, x)


masked_fill.takes_known = True  # type: ignore[attr-defined]
