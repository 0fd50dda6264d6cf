"""Arithmetic: what each operation is by numpy and by JAX, and small cases of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from operations.real import Case, Described, Source, on

from circuitize.circuits import arrays


def triangle(extent: int, o: Any) -> Any:
    lower = np.tril(np.ones((extent, extent)), -1 if o.exclusive else 0)
    return lower.T if o.backward else lower


def jax_cumulative(x: Any, o: Any) -> Any:
    turned = jnp.flip(x, o.axis) if o.backward else x
    found = jnp.cumsum(turned, o.axis) - (turned if o.exclusive else 0)
    return jnp.flip(found, o.axis) if o.backward else found


def along(o: arrays.Rescale, x: Any, module: Any) -> Any:
    """Place by place: x times its factor, or divided by it."""
    factors = np.broadcast_to(o.factors, x.shape[o.axis : o.axis + 1]).tolist()
    parts = module.split(x, len(factors), o.axis)
    return module.concatenate([p / f if o.divides else p * f for p, f in zip(parts, factors, strict=True)], o.axis)


CASES = [
    Described(
        lambda o: np.add,
        lambda o: jnp.add,
        [
            Case(arrays.Add(), on((3, 4), (3, 4))),
            Case(arrays.Add(), on((), ())),
        ],
    ),
    Described(
        lambda o: np.subtract,
        lambda o: jnp.subtract,
        [Case(arrays.Subtract(), on((3, 4), (3, 4)))],
    ),
    Described(
        lambda o: np.negative,
        lambda o: jnp.negative,
        [
            Case(arrays.Negate(), on((5,))),
            Case(arrays.Negate(), (Source((5,), 0.0, 1.0),)),
        ],
    ),
    Described(
        lambda o: lambda x: x,
        lambda o: jax.lax.stop_gradient,
        [Case(arrays.Detach(), on((5,)))],
    ),
    Described(
        lambda o: lambda x: x * o.factor,
        lambda o: lambda x: o.factor * x,
        [
            Case(arrays.Scale(0.375), on((2, 3))),
            Case(arrays.Scale(-48.0), on((2, 3))),
            Case(arrays.Scale(0.0), on((4,))),
            Case(arrays.Scale(0.1), on((4,)), units=1),
        ],
    ),
    Described(
        lambda o: lambda x: along(o, x, np),
        lambda o: lambda x: along(o, x, jnp),
        [
            Case(arrays.Rescale(np.array(0.375)), on((2, 3))),
            Case(arrays.Rescale(np.array(-8.0), divides=True), on((5,))),
            Case(arrays.Rescale(np.array([0.5, -4.0]), 0, divides=True), on((2, 3))),
            Case(arrays.Rescale(np.array([0.5, 1.5, -20.0]), 1), on((2, 3, 2))),
        ],
    ),
    Described(
        lambda o: np.multiply,
        lambda o: jnp.multiply,
        [
            Case(arrays.Multiply(), on((3, 4), (3, 4))),
            Case(arrays.Multiply(), (Source((6,), 0.0, 1.0), Source((6,), -1.0, 0.0))),
        ],
    ),
    Described(
        lambda o: lambda x, y: np.einsum(o.equation, x, y),
        lambda o: lambda x, y: jnp.einsum(o.equation, x, y),
        [
            Case(arrays.Einsum("bi,ij->bj"), on((3, 4), (4, 2))),
            Case(arrays.Einsum("bi,bj->ij"), on((3, 4), (3, 2))),
            Case(arrays.Einsum("bj,ij->bi"), on((3, 4), (2, 4))),
            Case(arrays.Einsum("abi,abij->jab"), on((2, 3, 4), (2, 3, 4, 2))),
            Case(arrays.Einsum("i,j->ji"), on((3,), (4,))),
            Case(arrays.Einsum("i,i->"), on((5,), (5,))),
            Case(arrays.Einsum("ij,ij->ij"), on((2, 3), (2, 3))),
        ],
    ),
    Described(
        lambda o: lambda: np.full(o.shape, o.amounts),
        lambda o: lambda: jnp.broadcast_to(o.amounts, o.shape),
        [
            Case(arrays.Constant.of([[0.5, -1.25], [3.0, 0.0]]), ()),
            Case(arrays.Constant.of([0.1, -0.7, 1 / 3]), ()),
            Case(arrays.Constant.splat(0.3, (2, 3)), ()),
            Case(arrays.Constant.zeros((4,)), ()),
        ],
    ),
    Described(
        lambda o: lambda x, y: x * (1 / y),
        lambda o: jnp.divide,
        [
            Case(arrays.Divide(), (Source((16,), -2.0, 2.0, 10), Source((16,), 0.25, 4.0, 8))),
            Case(arrays.Divide(), (Source((4, 4), -2.0, 2.0, 4), Source((4, 4), -4.0, 4.0, 12, gap=0.125))),
            Case(arrays.Divide(), (Source((6,), 0.0, 2.0, 16), Source((6,), -4.0, -0.5, 2))),
        ],
    ),
    Described(
        lambda o: lambda x: np.prod([x ** np.sign(o.exponent)] * abs(o.exponent), axis=0) * np.ones(x.shape),
        lambda o: lambda x: x**o.exponent,
        [
            Case(arrays.Power(0), (Source((3,)),)),
            Case(arrays.Power(3), (Source((4,)),), units=1),
            Case(arrays.Power(-2), (Source((4,), 0.5, 2.0),), units=2),
        ],
    ),
    Described(
        lambda o: lambda x: np.prod(x, o.axis),
        lambda o: lambda x: x.prod(o.axis),
        [Case(arrays.Product(0), on((5, 2)), units=9)],
    ),
    Described(
        lambda o: lambda x: np.moveaxis(np.tensordot(triangle(x.shape[o.axis], o), x, (1, o.axis)), 0, o.axis),
        lambda o: lambda x: jax_cumulative(x, o),
        [
            Case(arrays.CumulativeSum(0), on((4, 2)), units=None),
            Case(arrays.CumulativeSum(1, exclusive=True), on((2, 3)), units=None),
            Case(arrays.CumulativeSum(0, backward=True), on((3,)), units=None),
            Case(arrays.CumulativeSum(0, exclusive=True, backward=True), on((4,)), units=None),
        ],
    ),
    Described(
        lambda o: lambda x: x**2,
        lambda o: jnp.square,
        [Case(arrays.Square(), on((2, 3)))],
    ),
    Described(
        lambda o: lambda x: x.mean(o.axes),
        lambda o: lambda x: x.mean(o.axes),
        [
            Case(arrays.Mean((0,)), on((4, 3))),
            Case(arrays.Mean((0, 1)), on((3, 5))),
        ],
    ),
]
