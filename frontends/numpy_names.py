"""Functions of numpy on tensors of a trace: a function that names an operation is applied, all others raise an error of
one line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING

from .provenance import refused

if TYPE_CHECKING:
    from .tensor import Tensor

OPERATORS: dict[str, tuple[str, str]] = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "true_divide": ("__truediv__", "__rtruediv__"),
    "negative": ("__neg__", ""),
    "positive": ("__pos__", ""),
    "power": ("__pow__", "__rpow__"),
    "float_power": ("__pow__", "__rpow__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
}
"""The method of the left tensor and the method of the right tensor, by numpy's name."""

UFUNCS = {
    "absolute": "absolute",
    "fabs": "absolute",
    "ceil": "ceil",
    "cos": "cos",
    "exp": "exp",
    "exp2": "exp2",
    "floor": "floor",
    "fmax": "maximum",
    "fmin": "minimum",
    "log": "log",
    "log2": "log2",
    "maximum": "maximum",
    "minimum": "minimum",
    "reciprocal": "reciprocal",
    "rint": "round_half_even",
    "sign": "sign",
    "sin": "sin",
    "sqrt": "square_root",
    "square": "square",
    "tanh": "tanh",
}
"""From numpy's name to the name in `functions`."""

METHODS = {"sum": "sum", "mean": "mean", "max": "max", "amax": "max", "reshape": "reshape", "transpose": "transpose"}
FUNCTIONS = {"where": "where", "clip": "clip", "concatenate": "concatenate", "einsum": "einsum"}
SAID = {
    "argmax": "argmax_one_hot",
    "cumsum": "cumulative_sum",
    "min": "least",
    "amin": "least",
    "prod": "product",
    "std": "standard_deviation",
    "var": "variance",
    "take": "gather",
    "outer": "einsum",
    "inner": "einsum",
    "tensordot": "einsum",
    "dot": "@",
    "round": "round_half_even",
    "logaddexp": "log_sum_exp",
    "stack": "movement.stack",
    "flip": "movement.flip",
    "tile": "movement.tile",
    "split": "movement.split",
}
"""The functions of `functions` that stand for functions of numpy with other arguments, by numpy's name."""


OURS: dict[str, Callable[..., object]] = {}
"""The functions of `functions`, by name: `trace` fills this table, since this module cannot import functions of
tensors.
"""


def ufunc(x: Tensor, function: object, method: str, values: Sequence[object], options: Mapping[str, object]) -> object:
    """Apply a ufunc of numpy to tensors, called as `__array_ufunc__` is. Raise TypingError for a ufunc of numpy that
    names no operation.
    """
    name = str(getattr(function, "__name__", function))
    if method == "__call__" and not options:
        if name in OPERATORS:
            left, *others = values
            own, reflected = OPERATORS[name]
            return getattr(left, own)(*others) if hasattr(left, "builder") else getattr(x, reflected)(left)
        if name in UFUNCS:
            return OURS[UFUNCS[name]](*values)
    raise _unknown(name if method == "__call__" else f"{name}.{method}", options)


def function(called: object, values: Sequence[object], options: Mapping[str, object]) -> object:
    """Apply another function of numpy on tensors, called as `__array_function__` is."""
    name = str(getattr(called, "__name__", called))
    own: Callable[..., object] | None = None
    if name in METHODS and values and hasattr(values[0], "builder"):
        own, values = getattr(values[0], METHODS[name]), values[1:]
    elif name in FUNCTIONS:
        own = OURS[FUNCTIONS[name]]
    if own is not None and _takes(own, values, options):
        return own(*values, **options)
    raise _unknown(name, options if name in METHODS or name in FUNCTIONS else {})


def _takes(function: Callable[..., object], values: Sequence[object], options: Mapping[str, object]) -> bool:
    try:
        signature(function).bind(*values, **options)
    except TypeError:
        return False
    return True


def _unknown(name: str, options: Collection[str]) -> Exception:
    given = f" with {', '.join(options)}" if options else ""
    remedy = "use what circuitize.frontends.functions has, or compute it before the trace"
    ours = UFUNCS.get(name) or SAID.get(name)
    if ours is not None:
        module, _, own = ours.rpartition(".")
        remedy = f"use {own}" if own == "@" else f"use {own} of circuitize.frontends.{module or 'functions'}"
    return refused(f"expected a function that tensors understand, found numpy's {name}{given}; {remedy}")
