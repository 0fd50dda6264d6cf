"""Reverse derivatives of real operations against finite differences and against JAX, at smooth points and at ties."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiers
from arrays_cases import Case, cases
from jax_derivatives import pulled

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.types import Array


def hot(x: Any, axis: int) -> Any:
    return jax.nn.one_hot(jnp.argmax(x, axis), x.shape[axis], axis=axis, dtype=x.dtype)


def first_max(x: Any, axis: int) -> Any:
    """jnp.max splits the cotangent evenly between ties; ours gives it to the first, as indexing does."""
    return jnp.take_along_axis(x, jnp.argmax(x, axis, keepdims=True), axis).squeeze(axis)


def at(indices: Any) -> Any:
    return jnp.asarray(indices, jnp.int32)


def windows(x: Any, o: Any) -> Any:
    """Window k of each axis by a slice, all stacked in new last axes."""
    for axis, size, step, gap in zip(o.axes, o.sizes, o.steps, o.dilations, strict=True):
        count = (x.shape[axis] - gap * (size - 1) - 1) // step + 1
        rows = [jax.lax.slice_in_dim(x, gap * w, gap * w + (count - 1) * step + 1, step, axis) for w in range(size)]
        x = jnp.stack(rows, -1)
    return x


def overlapped(x: Any, o: Any) -> Any:
    return jax.linear_transpose(lambda y: windows(y, o), jnp.zeros(o.shape))(x)[0]


def scattered(x: Any, indices: Any, axis: int, size: int) -> Any:
    return (
        jnp.zeros((*x.shape[:axis], size, *x.shape[axis + indices.ndim :]))
        .at[(slice(None),) * axis + (at(indices),)]
        .add(x)
    )


def cumulative(x: Any, o: Any) -> Any:
    turned = jnp.flip(x, o.axis) if o.backward else x
    found = jnp.cumsum(turned, o.axis) - (turned if o.exclusive else 0)
    return jnp.flip(found, o.axis) if o.backward else found


def top(x: Any, o: Any) -> Any:
    order = jnp.argsort(-x, o.axis, stable=True).take(jnp.arange(o.k), o.axis)
    return jax.nn.one_hot(order, x.shape[o.axis], axis=o.axis + 1, dtype=x.dtype)


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    return jax.grad(lambda y: function(y).sum())(x)


JAX: dict[type[arrays.RealOperation], Callable[[Any], Callable[..., Any]]] = {
    arrays.Add: lambda o: jnp.add,
    arrays.Subtract: lambda o: jnp.subtract,
    arrays.Negate: lambda o: jnp.negative,
    arrays.Scale: lambda o: lambda x: o.factor * x,
    arrays.Multiply: lambda o: jnp.multiply,
    arrays.Reshape: lambda o: lambda x: x.reshape(o.shape),
    arrays.Transpose: lambda o: lambda x: x.transpose(o.axes),
    arrays.Broadcast: lambda o: lambda x: jnp.broadcast_to(jnp.expand_dims(x, o.axes), o.shape),
    arrays.Sum: lambda o: lambda x: x.sum(o.axes),
    arrays.Slice: lambda o: lambda x: jax.lax.slice(x, o.starts, o.stops),
    arrays.Flip: lambda o: lambda x: jnp.flip(x, o.axes),
    arrays.Pad: lambda o: lambda x: jnp.pad(x, list(zip(o.before, o.after, strict=True))),
    arrays.Concatenate: lambda o: lambda *xs: jnp.concatenate(xs, o.axis),
    arrays.Einsum: lambda o: lambda x, y: jnp.einsum(o.equation, x, y),
    arrays.Greater: lambda o: lambda x, y: (x > y).astype(x.dtype),
    arrays.Select: lambda o: lambda c, x, y: jnp.where(c > 0, x, y),
    arrays.ReLU: lambda o: jax.nn.relu,
    arrays.Max: lambda o: lambda x: first_max(x, o.axis),
    arrays.ArgMaxOneHot: lambda o: lambda x: hot(x, o.axis),
    arrays.Constant: lambda o: lambda: jnp.broadcast_to(o.amounts, o.shape),
    arrays.Exp: lambda o: jnp.exp,
    arrays.Reciprocal: lambda o: jnp.reciprocal,
    arrays.Window: lambda o: lambda x: windows(x, o),
    arrays.OverlapAdd: lambda o: lambda x: overlapped(x, o),
    arrays.Gather: lambda o: lambda x, i: jnp.take(x, at(i), o.axis),
    arrays.OneHot: lambda o: lambda i: jax.nn.one_hot(at(i), o.size),
    arrays.ScatterAdd: lambda o: lambda x, i: scattered(x, i, o.axis, o.size),
    arrays.Norm: lambda o: lambda x: jnp.linalg.norm(x, axis=o.axis),
    arrays.SphericalAttention: lambda o: (
        lambda s, v: (s / jnp.fmax(jnp.linalg.norm(s, axis=-1), o.floor)[..., None]) @ v
    ),
    arrays.Divide: lambda o: jnp.divide,
    arrays.Log: lambda o: jnp.log,
    arrays.SquareRoot: lambda o: jnp.sqrt,
    arrays.Sigmoid: lambda o: jax.nn.sigmoid,
    arrays.Tanh: lambda o: jnp.tanh,
    arrays.LogSumExp: lambda o: lambda x: jax.nn.logsumexp(x, o.axis),
    arrays.LogSoftmax: lambda o: lambda x: jax.nn.log_softmax(x, o.axis),
    arrays.CrossEntropy: lambda o: lambda x, t: (jax.nn.logsumexp(x, 1) - (t * x).sum(1)).mean(),
    arrays.BinaryCrossEntropy: lambda o: lambda x, t: (jax.nn.softplus(x) - t * x).mean(),
    arrays.Maximum: lambda o: lambda x, y: jnp.where(y > x, y, x),
    arrays.Square: lambda o: jnp.square,
    arrays.Mean: lambda o: lambda x: x.mean(o.axes),
    arrays.Softmax: lambda o: lambda x: jax.nn.softmax(x, o.axis),
    arrays.ReciprocalSquareRoot: lambda o: jax.lax.rsqrt,
    arrays.Erf: lambda o: jax.scipy.special.erf,
    arrays.GELU: lambda o: lambda x: jax.nn.gelu(x, approximate=False),
    arrays.GELUSlope: lambda o: lambda x: slope(lambda y: jax.nn.gelu(y, approximate=False), x),
    arrays.TanhGELU: lambda o: lambda x: jax.nn.gelu(x, approximate=True),
    arrays.TanhGELUSlope: lambda o: lambda x: slope(lambda y: jax.nn.gelu(y, approximate=True), x),
    arrays.Softplus: lambda o: jax.nn.softplus,
    arrays.Sin: lambda o: jnp.sin,
    arrays.Cos: lambda o: jnp.cos,
    arrays.Exp2: lambda o: jnp.exp2,
    arrays.Log2: lambda o: jnp.log2,
    arrays.Floor: lambda o: jnp.floor,
    arrays.Ceil: lambda o: jnp.ceil,
    arrays.Round: lambda o: jnp.round,
    arrays.Clip: lambda o: lambda x: jnp.where(x <= o.low, o.low, jnp.where(x >= o.high, o.high, x)),
    arrays.Abs: lambda o: lambda x: x * jnp.sign(x),
    arrays.Sign: lambda o: jnp.sign,
    arrays.Minimum: lambda o: lambda x, y: jnp.where(y < x, y, x),
    arrays.ELU: lambda o: lambda x: jax.nn.elu(x, o.alpha),
    arrays.Power: lambda o: lambda x: x**o.exponent,
    arrays.Min: lambda o: lambda x: -first_max(-x, o.axis),
    arrays.Product: lambda o: lambda x: x.prod(o.axis),
    arrays.CumulativeSum: lambda o: lambda x: cumulative(x, o),
    arrays.TopKOneHot: lambda o: lambda x: top(x, o),
    arrays.Huber: lambda o: (
        lambda x, y: jnp.where(abs(x - y) <= o.delta, (x - y) ** 2 / 2, o.delta * (abs(x - y) - o.delta / 2)).mean()
    ),
    arrays.Variance: lambda o: lambda x: jnp.var(x, o.axes, ddof=o.correction),
    arrays.Normalize: lambda o: lambda x: jax.nn.standardize(x, o.axes, epsilon=o.epsilon),
    arrays.RootMeanSquareNormalize: lambda o: (
        lambda x: x / jnp.sqrt(jnp.square(x).mean(o.axes, keepdims=True) + o.epsilon)
    ),
}


def own_derivative(case: Case) -> Arrow:
    """(sources, cotangent) -> (target, cotangents of the sources), from the operation's own `reverse`."""
    builder = Builder()
    sources = builder.inputs([source.array for source in case.sources])
    targets = builder.apply(case.operation, *sources)
    cotangents = builder.inputs([case.target])
    below = case.operation.reverse(builder, sources, targets, cotangents)
    assert len(below) == len(sources)
    zeros = [builder.add(arrays.Constant.zeros(source.shape)) for source in case.sources]
    return builder.build(targets + [zero if wire is None else wire for wire, zero in zip(below, zeros, strict=True)])


def difference_quotient(case: Case, values: list[Any], cotangent: Any) -> list[Any]:
    """Central differences of <cotangent, f>, element by element; zero for an index."""
    step, slopes, arrow = 2.0**-18, [], case.arrow
    for position, value in enumerate(values):
        slope = np.zeros(value.shape)
        for index in np.ndindex(value.shape) if not case.sources[position].index else ():
            ends = []
            for sign in (1, -1):
                moved = [v.copy() for v in values]
                moved[position][index] += sign * step
                ends.append(float(np.sum(cotangent * evaluate(arrow, moved)[0])))
            slope[index] = (ends[0] - ends[1]) / (2 * step)
        slopes.append(slope)
    return slopes


@pytest.mark.parametrize("case", cases(), ids=str)
def test_derivative_agrees_with_finite_differences(case: Case) -> None:
    random = np.random.default_rng(4)
    values, cotangent = case.smooth(random), random.normal(size=case.target.shape)
    target, *found = evaluate(own_derivative(case), [*values, cotangent])
    np.testing.assert_array_equal(target, evaluate(case.arrow, values)[0])
    for slope, expected in zip(found, difference_quotient(case, values, cotangent), strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-7)


CASES = tiers.of_each(cases())
TOGETHER = 19
"""Functions that JAX compiles as one."""


@cache
def drawn_with_jax(first: int) -> list[list[tuple[Any, ...]]]:
    """By case of some, by draw: sources, cotangent, and JAX's value and derivative there."""
    some = CASES[first : first + TOGETHER]
    functions = [JAX[type(case.operation)](case.operation) for case in some]
    by_jax = pulled(lambda *sources: [function(*each) for function, each in zip(functions, sources, strict=True)])
    draws: list[list[tuple[Any, Any]]] = []
    for case in some:
        random = np.random.default_rng(5)
        values = case.smooth(random), case.reals(case.awkward(random)), case.reals(case.awkward(random))
        draws.append([(each, random.normal(size=case.target.shape)) for each in values])
    found = [by_jax(*map(list, zip(*(draw[number] for draw in draws), strict=True))) for number in range(3)]
    return [
        [(*draw[number], found[number][0][place], found[number][1][place]) for number in range(3)]
        for place, draw in enumerate(draws)
    ]


@pytest.mark.parametrize(("place", "case"), list(enumerate(CASES)), ids=list(map(str, CASES)))
def test_derivative_agrees_with_jax_ties_included(place: int, case: Case) -> None:
    derivative = own_derivative(case)
    for values, cotangent, value, expected in drawn_with_jax(place - place % TOGETHER)[place % TOGETHER]:
        target, *found = evaluate(derivative, [*values, cotangent])
        np.testing.assert_allclose(target, value, rtol=1e-13, atol=1e-13)
        for slope, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", cases(), ids=str)
def test_own_derivative_is_that_of_the_arrow(case: Case) -> None:
    random = np.random.default_rng(6)
    values, cotangent = case.smooth(random), random.normal(size=case.target.shape)
    _, *own = evaluate(own_derivative(case), [*values, cotangent])
    derived = evaluate(reverse_derivative(case.arrow), [*values, cotangent])
    for slope, expected in zip(derived, own, strict=True):
        np.testing.assert_allclose(slope, expected, rtol=1e-11, atol=1e-11)


def derivative_at(operation: arrays.RealOperation, *values: Any) -> list[Any]:
    """Each source's cotangent, for a cotangent of ones."""
    arrow = generator(operation, *(Array(value.shape) for value in values))
    return evaluate(reverse_derivative(arrow), [*values, np.ones(arrow.target[0].shape)])


def test_relu_has_slope_zero_at_zero() -> None:
    (slope,) = derivative_at(arrays.ReLU(), np.array([-1.0, -0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(slope, [0.0, 0.0, 0.0, 1.0])


def test_max_sends_the_cotangent_to_the_first_of_several_greatest() -> None:
    (slope,) = derivative_at(arrays.Max(0), np.array([1.0, 3.0, 3.0, 2.0, 3.0]))
    np.testing.assert_array_equal(slope, [0.0, 1.0, 0.0, 0.0, 0.0])


def test_comparisons_have_slope_zero() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    assert not any(slope.any() for slope in derivative_at(arrays.Greater(), x, y))
    assert not derivative_at(arrays.ArgMaxOneHot(0), x)[0].any()
    assert not derivative_at(arrays.Select(), x - 1, x, y)[0].any()


def test_select_at_condition_zero_takes_the_third() -> None:
    _, second, third = derivative_at(arrays.Select(), np.array([-1.0, 0.0, 0.5]), np.zeros(3), np.zeros(3))
    np.testing.assert_array_equal(second, [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(third, [1.0, 1.0, 0.0])


@pytest.mark.parametrize(
    "case", [case for case in cases() if isinstance(case.operation, arrays.LinearOperation)], ids=str
)
def test_a_dagger_is_the_adjoint_and_its_dagger_the_operation(case: Case) -> None:
    """<f x, c> = <x, f* c>, and f** = f."""
    random = np.random.default_rng(7)
    values, cotangent = case.smooth(random), random.normal(size=case.target.shape)
    target, *found = evaluate(own_derivative(case), [*values, cotangent])
    inner = sum(float(np.sum(x * slope)) for x, slope in zip(values, found, strict=True))
    assert inner == pytest.approx(float(np.sum(target * cotangent)), rel=1e-12, abs=1e-12)
    if len(case.sources) == 1:
        builder = Builder()
        (seed,) = builder.inputs([case.target])
        assert isinstance(case.operation, arrays.LinearOperation)
        (below,) = case.operation.dagger(builder, [case.sources[0].array], [seed])
        assert below is not None
        again = reverse_derivative(builder.build([below]))
        np.testing.assert_allclose(evaluate(again, [cotangent, values[0]])[0], target, rtol=1e-14, atol=1e-14)
