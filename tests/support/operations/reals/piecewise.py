"""Piecewise functions: what each operation is by numpy and by JAX, and small cases of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from operations.real import Case, Described, Source, on

from circuitize.circuits import arrays

HALF = Fraction(1, 2)


def first_greatest(x: Any, axis: int) -> Any:
    def hot(row: Any) -> Any:
        best = min(range(len(row)), key=lambda i: (-row[i], i))
        return np.eye(len(row))[best]

    return np.apply_along_axis(hot, axis, x)


def top(x: Any, o: Any) -> Any:
    def hot(row: Any) -> Any:
        best = sorted(range(len(row)), key=lambda i: (-row[i], i))
        return np.eye(len(row))[best[: o.k]]

    rows = np.moveaxis(x, o.axis, -1)
    made = np.array([hot(row) for row in rows.reshape(-1, rows.shape[-1])])
    made = made.reshape(*rows.shape[:-1], o.k, rows.shape[-1])
    return np.moveaxis(made, (-2, -1), (o.axis, o.axis + 1))


def jax_hot(x: Any, axis: int) -> Any:
    return jax.nn.one_hot(jnp.argmax(x, axis), x.shape[axis], axis=axis, dtype=x.dtype)


def jax_first_max(x: Any, axis: int) -> Any:
    """jnp.max splits the cotangent evenly between ties; ours gives it to the first, as indexing does."""
    return jnp.take_along_axis(x, jnp.argmax(x, axis, keepdims=True), axis).squeeze(axis)


def jax_top(x: Any, o: Any) -> Any:
    order = jnp.argsort(-x, o.axis, stable=True).take(jnp.arange(o.k), o.axis)
    return jax.nn.one_hot(order, x.shape[o.axis], axis=o.axis + 1, dtype=x.dtype)


def near_whole(operation: arrays.RealOperation) -> list[Case]:
    """With a fraction, and without."""
    return [Case(operation, (Source(shape, fraction_bits=bits),), units=None) for shape, bits in (((6,), 2), ((4,), 0))]


RULES: dict[str, Callable[[Fraction], int]] = {
    "half even": round,
    "half up": lambda x: math.floor(x + HALF),
    "half down": lambda x: math.ceil(x - HALF),
    "half away": lambda x: math.floor(x + HALF) if x > 0 else math.ceil(x - HALF),
    "half zero": lambda x: math.ceil(x - HALF) if x > 0 else math.floor(x + HALF),
    "floor": math.floor,
    "ceil": math.ceil,
    "zero": math.trunc,
    "away": lambda x: math.ceil(x) if x > 0 else math.floor(x),
}


def in_format(o: arrays.Quantize) -> Callable[[Any], Any]:
    def one(x: float) -> float:
        whole = RULES[o.rule](Fraction(x) * Fraction(2) ** o.fraction_bits)
        return float(min(max(whole, o.low), o.high) * Fraction(2) ** -o.fraction_bits)

    return np.vectorize(one, otypes=[float])


JAX_RULES: dict[str, Callable[[Any], Any]] = {
    "half even": jnp.round,
    "half up": lambda x: jnp.floor(x + 0.5),
    "half down": lambda x: jnp.ceil(x - 0.5),
    "half away": lambda x: jnp.sign(x) * jnp.floor(abs(x) + 0.5),
    "half zero": lambda x: jnp.sign(x) * jnp.ceil(abs(x) - 0.5),
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "zero": jnp.trunc,
    "away": lambda x: jnp.sign(x) * jnp.ceil(abs(x)),
}


def straight_through(o: arrays.Quantize) -> Callable[[Any], Any]:
    def value(x: Any) -> Any:
        whole = jax.lax.stop_gradient(JAX_RULES[o.rule](x * 2.0**o.fraction_bits))
        inside = (whole >= o.low) & (whole <= o.high)
        return (
            jnp.where(inside, x - jax.lax.stop_gradient(x), 0.0) + jnp.clip(whole, o.low, o.high) / 2.0**o.fraction_bits
        )

    return value


ZERO_ONE = Source((3, 4), 0.0, 1.0, fraction_bits=0)

CASES = [
    Described(
        lambda o: lambda x, y: 1.0 * (x > y),
        lambda o: lambda x, y: (x > y).astype(x.dtype),
        [
            Case(arrays.Greater(), on((3, 4), (3, 4)), units=None),
            Case(arrays.Greater(), (Source((8,), 0.0, 1.0), Source((8,), 0.0, 0.0)), units=None),
        ],
    ),
    Described(
        lambda o: lambda c, x, y: (c > 0) * x + (c <= 0) * y,
        lambda o: lambda c, x, y: jnp.where(c > 0, x, y),
        [
            Case(arrays.Select(), (ZERO_ONE, *on((3, 4), (3, 4)))),
            Case(arrays.Select(), on((7,), (7,), (7,))),
        ],
    ),
    Described(
        lambda o: lambda x: (x > 0) * x,
        lambda o: jax.nn.relu,
        [
            Case(arrays.ReLU(), on((4, 5)), units=None),
            Case(arrays.ReLU(), (Source((5,), -2.0, -1.0),), units=None),
        ],
    ),
    Described(
        lambda o: lambda x: np.sort(x, o.axis).take(-1, o.axis),
        lambda o: lambda x: jax_first_max(x, o.axis),
        [
            Case(arrays.Max(1), on((3, 5)), units=None),
            Case(arrays.Max(0), on((4, 2, 2)), units=None),
            Case(arrays.Max(0), on((1,)), units=None),
        ],
    ),
    Described(
        lambda o: lambda x: first_greatest(x, o.axis),
        lambda o: lambda x: jax_hot(x, o.axis),
        [
            Case(arrays.ArgMaxOneHot(1), on((3, 5)), units=None),
            Case(arrays.ArgMaxOneHot(0), on((4, 2)), units=None),
        ],
    ),
    Described(
        lambda o: lambda x: x // 1,
        lambda o: jnp.floor,
        [*near_whole(arrays.Floor())],
    ),
    Described(
        lambda o: lambda x: -(-x // 1),
        lambda o: jnp.ceil,
        [*near_whole(arrays.Ceil())],
    ),
    Described(
        lambda o: np.vectorize(round, otypes=[float]),
        lambda o: jnp.round,
        [*near_whole(arrays.Round())],
    ),
    Described(
        lambda o: lambda x: np.clip(x, o.low, o.high),
        lambda o: lambda x: jnp.where(x <= o.low, o.low, jnp.where(x >= o.high, o.high, x)),
        [
            Case(arrays.Clip(-1.0, 1.5), (Source((12,)),), units=None),
            Case(arrays.Clip(0.0, 6.0), (Source((6,), -8.0, 8.0, 6),), units=None),
            Case(arrays.Clip(-0.5, 0.5), (Source((4,), 0.5, 2.0, 6),), units=None),
        ],
    ),
    Described(
        in_format,
        straight_through,
        [
            *(Case(arrays.Quantize(2, -5, 6, rule), (Source((9,), fraction_bits=5),), units=None) for rule in RULES),
            Case(arrays.Quantize(12, -9000, 5001), (Source((6,)),), units=None),
            Case(arrays.Quantize(-1, -1, 0, "floor"), (Source((6,)),), units=None),
            Case(arrays.Quantize(3, -16, 16, "zero", "check"), (Source((6,)),), units=None),
            Case(arrays.Quantize(2, -8, 8, "half even", "wrap"), (Source((6,)),), units=None),
            Case(arrays.Quantize(6, -100, 90), (Source((5,)),), units=None),
        ],
    ),
    Described(
        lambda o: lambda x: np.maximum(x, -x),
        lambda o: lambda x: x * jnp.sign(x),
        [Case(arrays.Abs(), (Source((8,)),), units=None)],
    ),
    Described(
        lambda o: np.sign,
        lambda o: jnp.sign,
        [Case(arrays.Sign(), (Source((8,), fraction_bits=2),), units=None)],
    ),
    Described(
        lambda o: lambda x, y: (x + y - np.abs(x - y)) / 2,
        lambda o: lambda x, y: jnp.where(y < x, y, x),
        [Case(arrays.Minimum(), on((3, 2), (3, 2)), units=None)],
    ),
    Described(
        lambda o: lambda x: np.where(x > 0, x, o.alpha * np.expm1(x)),
        lambda o: lambda x: jax.nn.elu(x, o.alpha),
        [
            Case(arrays.ELU(), (Source((6,)),)),
            Case(arrays.ELU(0.5), (Source((6,), -8.0, 2.0, 12),), units=0.5),
        ],
    ),
    Described(
        lambda o: lambda x: np.sort(x, o.axis).take(0, o.axis),
        lambda o: lambda x: -jax_first_max(-x, o.axis),
        [Case(arrays.Min(1), on((2, 3)), units=None)],
    ),
    Described(
        lambda o: lambda x: top(x, o),
        lambda o: lambda x: jax_top(x, o),
        [
            Case(arrays.TopKOneHot(2, 1), on((2, 4)), units=None),
            Case(arrays.TopKOneHot(3, 0), on((3,)), units=None),
        ],
    ),
    Described(
        lambda o: lambda x, y: (x + y + np.abs(x - y)) / 2,
        lambda o: lambda x, y: jnp.where(y > x, y, x),
        [Case(arrays.Maximum(), on((3, 4), (3, 4)), units=None)],
    ),
]
