"""Curves: what each operation is by numpy and by JAX, and small cases of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from operations.real import Case, Described, Source

from circuitize.circuits import arrays


def normal(x: Any) -> Any:
    return (1 + erf(x / np.sqrt(2))) / 2


def bent(x: Any) -> Any:
    return np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)


erf = np.vectorize(math.erf, otypes=[float])


def jax_slope(function: Callable[[Any], Any], x: Any) -> Any:
    return jax.grad(lambda y: function(y).sum())(x)


def curve(operation: arrays.RealOperation) -> list[Case]:
    """Both lowerings: one table, and polynomials on segments, with operands beyond the function's reach."""
    return [
        Case(operation, (Source((16,), -2.0, 1.75, 8),)),
        Case(operation, (Source((16,), -8.0, 8.0, 12),), units=1),
    ]


CASES = [
    Described(
        lambda o: lambda x: np.e**x,
        lambda o: jnp.exp,
        [
            Case(arrays.Exp(), (Source((4, 3), -2.0, 1.5, fraction_bits=7),)),
            Case(arrays.Exp(), (Source((64,), -8.0, 4.0, fraction_bits=12),), units=1),
            Case(arrays.Exp(), (Source((64,), -16.0, 0.0, fraction_bits=16),), units=1),
            Case(arrays.Exp(), (Source((64,), -1.0, 1.0, fraction_bits=24),), units=1),
        ],
    ),
    Described(
        lambda o: lambda x: 1 / x,
        lambda o: jnp.reciprocal,
        [
            Case(arrays.Reciprocal(), (Source((16,), 0.5, 16.0),)),
            Case(arrays.Reciprocal(), (Source((16,), -4.0, -0.25),)),
            Case(arrays.Reciprocal(), (Source((4, 4), -4.0, 4.0, gap=0.125),)),
        ],
    ),
    Described(
        lambda o: lambda x: np.log2(x) / np.log2(np.e),
        lambda o: jnp.log,
        [
            Case(arrays.Log(), (Source((32,), 0.25, 4.0, 7),)),
            Case(arrays.Log(), (Source((64,), 2.0**-12, 16.0, 12),), units=1),
            Case(arrays.Log(), (Source((64,), 0.25, 2.0, 24),), units=1),
        ],
    ),
    Described(
        lambda o: lambda x: x**0.5,
        lambda o: jnp.sqrt,
        [
            Case(arrays.SquareRoot(), (Source((32,), 0.015625, 4.0, 10),)),
            Case(arrays.SquareRoot(), (Source((32,), 0.015625, 2.0, 27),)),
        ],
    ),
    Described(
        lambda o: lambda x: 1 / (1 + np.exp(-x)),
        lambda o: jax.nn.sigmoid,
        [
            Case(arrays.Sigmoid(), (Source((32,), -2.0, 1.5, 8),)),
            Case(arrays.Sigmoid(), (Source((64,), -16.0, 16.0, 12),), units=1),
            Case(arrays.Sigmoid(), (Source((16,), -40.0, 40.0, 4),)),
        ],
    ),
    Described(
        lambda o: lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)),
        lambda o: jnp.tanh,
        [
            Case(arrays.Tanh(), (Source((32,), -1.5, 2.0, 8),)),
            Case(arrays.Tanh(), (Source((64,), -8.0, 8.0, 12),), units=1),
        ],
    ),
    Described(
        lambda o: lambda x: x**-0.5,
        lambda o: jax.lax.rsqrt,
        [
            Case(arrays.ReciprocalSquareRoot(), (Source((16,), 0.25, 16.0, 10),)),
            Case(arrays.ReciprocalSquareRoot(), (Source((16,), 2.0**-8, 2.0, 20),)),
        ],
    ),
    Described(
        lambda o: erf,
        lambda o: jax.scipy.special.erf,
        [*curve(arrays.Erf())],
    ),
    Described(
        lambda o: lambda x: x * normal(x),
        lambda o: lambda x: jax.nn.gelu(x, approximate=False),
        [*curve(arrays.GELU())],
    ),
    Described(
        lambda o: lambda x: normal(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi),
        lambda o: lambda x: jax_slope(lambda y: jax.nn.gelu(y, approximate=False), x),
        [*curve(arrays.GELUSlope())],
    ),
    Described(
        lambda o: lambda x: x * (1 + np.tanh(bent(x))) / 2,
        lambda o: lambda x: jax.nn.gelu(x, approximate=True),
        [*curve(arrays.TanhGELU())],
    ),
    Described(
        lambda o: (
            lambda x: (
                (1 + np.tanh(bent(x))) / 2
                + x * np.sqrt(0.5 / np.pi) * (1 + 0.134145 * x * x) * (1 - np.tanh(bent(x)) ** 2)
            )
        ),
        lambda o: lambda x: jax_slope(lambda y: jax.nn.gelu(y, approximate=True), x),
        [*curve(arrays.TanhGELUSlope())],
    ),
    Described(
        lambda o: lambda x: np.log1p(np.exp(x)),
        lambda o: jax.nn.softplus,
        [*curve(arrays.Softplus())],
    ),
    Described(
        lambda o: lambda x: np.exp(1j * x).imag,
        lambda o: jnp.sin,
        [*curve(arrays.Sin())],
    ),
    Described(
        lambda o: lambda x: np.exp(1j * x).real,
        lambda o: jnp.cos,
        [*curve(arrays.Cos())],
    ),
    Described(
        lambda o: lambda x: 2.0**x,
        lambda o: jnp.exp2,
        [
            Case(arrays.Exp2(), (Source((6,), -2.0, 1.5, fraction_bits=7),)),
            Case(arrays.Exp2(), (Source((8,), -8.0, 4.0, fraction_bits=12),), units=1),
        ],
    ),
    Described(
        lambda o: lambda x: np.log(x) / np.log(2),
        lambda o: jnp.log2,
        [
            Case(arrays.Log2(), (Source((6,), 0.25, 4.0, 7),)),
            Case(arrays.Log2(), (Source((8,), 2.0**-12, 16.0, 12),), units=1),
        ],
    ),
]
