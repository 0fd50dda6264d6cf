"""Composites: what each operation is by numpy and by JAX, and small cases of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from operations.real import Case, Described, Source, on

from circuitize.circuits import arrays


def softmax(x: Any, axis: int) -> Any:
    return np.exp(x) / np.exp(x).sum(axis, keepdims=True)


def log_sum_exp(x: Any, axis: int, keepdims: bool = False) -> Any:
    return np.log(np.exp(x).sum(axis, keepdims=keepdims))


huber = scipy.special.huber


ONE_HOT = Source((3, 4), 0.0, 1.0, fraction_bits=0)

CASES = [
    Described(
        lambda o: lambda x: np.linalg.norm(x, axis=o.axis),
        lambda o: lambda x: jnp.linalg.norm(x, axis=o.axis),
        [
            Case(arrays.Norm(1), (Source((4, 5), -2.0, 2.0, 10),)),
            Case(arrays.Norm(0), (Source((3, 2, 2), -2.0, 2.0, 14),)),
        ],
    ),
    Described(
        lambda o: lambda s, v: (s / np.fmax(np.linalg.norm(s, axis=-1), o.floor)[..., None]) @ v,
        lambda o: lambda s, v: (s / jnp.fmax(jnp.linalg.norm(s, axis=-1), o.floor)[..., None]) @ v,
        [
            Case(
                arrays.SphericalAttention(),
                (Source((2, 3, 4), -2.0, 2.0, 10), Source((2, 4, 2), -2.0, 2.0, 9)),
                units=1,
            ),
            Case(arrays.SphericalAttention(2.0), (Source((2, 3), -2.0, 2.0, 8), Source((3, 2), -2.0, 2.0, 9)), units=1),
            Case(
                arrays.SphericalAttention(tile=2),
                (Source((3, 5), fraction_bits=12), Source((5, 2), fraction_bits=12)),
                units=1,
            ),
        ],
    ),
    Described(
        lambda o: lambda x: softmax(x, o.axis),
        lambda o: lambda x: jax.nn.softmax(x, o.axis),
        [
            Case(arrays.Softmax(1), on((3, 4), low=-6.0, high=6.0)),
            Case(arrays.Softmax(0), on((5,))),
        ],
    ),
    Described(
        lambda o: lambda x: log_sum_exp(x, o.axis),
        lambda o: lambda x: jax.nn.logsumexp(x, o.axis),
        [Case(arrays.LogSumExp(1), on((3, 4), low=-6.0, high=6.0), units=2)],
    ),
    Described(
        lambda o: lambda x: x - log_sum_exp(x, o.axis, keepdims=True),
        lambda o: lambda x: jax.nn.log_softmax(x, o.axis),
        [
            Case(arrays.LogSoftmax(1), on((3, 4), low=-6.0, high=6.0), units=2),
            Case(arrays.LogSoftmax(0), on((5,)), units=2),
        ],
    ),
    Described(
        lambda o: lambda x, t: (log_sum_exp(x, 1) - (t * x).sum(1)).mean(),
        lambda o: lambda x, t: (jax.nn.logsumexp(x, 1) - (t * x).sum(1)).mean(),
        [Case(arrays.CrossEntropy(), (*on((3, 4), low=-6.0, high=6.0), ONE_HOT), units=2)],
    ),
    Described(
        lambda o: lambda x, t: (np.log(1 + np.exp(x)) - t * x).mean(),
        lambda o: lambda x, t: (jax.nn.softplus(x) - t * x).mean(),
        [Case(arrays.BinaryCrossEntropy(), (*on((3, 4), low=-6.0, high=6.0), ONE_HOT), units=1)],
    ),
    Described(
        lambda o: lambda x, y: huber(o.delta, x - y).mean(),
        lambda o: (
            lambda x, y: jnp.where(abs(x - y) <= o.delta, (x - y) ** 2 / 2, o.delta * (abs(x - y) - o.delta / 2)).mean()
        ),
        [
            Case(arrays.Huber(), on((2, 3), (2, 3)), units=0.25),
            Case(arrays.Huber(0.5), on((4,), (4,))),
        ],
    ),
    Described(
        lambda o: lambda x: np.var(x, o.axes, ddof=o.correction),
        lambda o: lambda x: jnp.var(x, o.axes, ddof=o.correction),
        [
            Case(arrays.Variance((0,)), on((4, 2))),
            Case(arrays.Variance((0, 1), 1), on((2, 3)), units=0.25),
        ],
    ),
    Described(
        lambda o: (
            lambda x: (x - x.mean(o.axes, keepdims=True)) / np.sqrt(np.var(x, axis=o.axes, keepdims=True) + o.epsilon)
        ),
        lambda o: lambda x: jax.nn.standardize(x, o.axes, epsilon=o.epsilon),
        [Case(arrays.Normalize((1,), 2.0**-6), on((3, 5)))],
    ),
    Described(
        lambda o: lambda x: x / np.sqrt((x**2).mean(o.axes, keepdims=True) + o.epsilon),
        lambda o: lambda x: x / jnp.sqrt(jnp.square(x).mean(o.axes, keepdims=True) + o.epsilon),
        [Case(arrays.RootMeanSquareNormalize((0,), 2.0**-6), on((5, 2)))],
    ),
]
