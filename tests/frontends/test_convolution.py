"""Convolution of any rank, pooling and movement are JAX's and numpy's, derivatives included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiers
from jax_derivatives import pulled

from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Array
from circuitize.frontends import convolution, image_layers, movement
from circuitize.frontends.layers import Model
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace

AXES = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


Case = tuple[Callable[..., Tensor], Callable[..., Any], tuple[np.ndarray, ...]]


def agree(*cases: Case) -> None:
    """Each of ours is theirs, as are its derivatives; JAX compiles all of theirs as one."""
    arrows = [trace(ours, *[value.shape for value in values]) for ours, _, values in cases]
    made = [evaluate(arrow, list(values))[0] for arrow, (_, _, values) in zip(arrows, cases, strict=True)]
    cotangents = [np.random.default_rng(9).normal(size=found.shape) for found in made]

    def every(given: Any) -> list[Any]:
        return [theirs(*values) for (_, theirs, _), values in zip(cases, given, strict=True)]

    expected, (below,) = pulled(every)([[values for _, _, values in cases]], cotangents)
    for arrow, found, cotangent, wanted, derived, (_, _, values) in zip(
        arrows, made, cotangents, expected, below, cases, strict=True
    ):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, atol=1e-12)
        slopes = evaluate(reverse_derivative(arrow), [*values, cotangent])
        for slope, theirs in zip(slopes, derived, strict=True):
            np.testing.assert_allclose(slope, theirs, atol=1e-11)


CONVOLUTIONS = [
    ((2, 9, 4), (3, 4, 5), ((1, 2),), (2,), (1,), 1),
    ((2, 9, 4), (3, 2, 6), ((0, 0),), (1,), (3,), 2),
    ((1, 6, 7, 4), (3, 2, 1, 8), ((1, 1), (0, 2)), (2, 1), (1, 2), 4),
    ((2, 4, 5, 3), (2, 2, 3, 2), ((0, 0), (1, 0)), (1, 2), (1, 1), 1),
    ((1, 4, 3, 4, 2), (2, 2, 2, 1, 2), ((1, 0), (0, 0), (0, 1)), (1, 1, 2), (1, 1, 1), 2),
]


def convolved(shape: Any, kernel: Any, padding: Any, steps: Any, dilations: Any, groups: int) -> Case:
    random = np.random.default_rng(0)

    def theirs(x: Any, k: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x, k, steps, padding, None, dilations, AXES[len(steps)], feature_group_count=groups
        )

    def ours(x: Tensor, k: Tensor) -> Tensor:
        return convolution.convolution(x, k, padding, steps, dilations, groups)

    return ours, theirs, (random.normal(size=shape), random.normal(size=kernel))


def test_convolutions() -> None:
    agree(*[convolved(*given) for given in CONVOLUTIONS[:: tiers.count(2, deep=1)]])


@pytest.mark.parametrize(("shape", "kernel", "padding", "steps", "dilations", "groups"), CONVOLUTIONS)
def test_a_transposed_convolution_is_the_adjoint(
    shape: Any, kernel: Any, padding: Any, steps: Any, dilations: Any, groups: int
) -> None:
    """<conv(x), y> = <x, transposed(y)> for every x and y; `more` restores the extents that steps leave out."""
    random = np.random.default_rng(1)
    x, k = random.normal(size=shape), random.normal(size=kernel)
    forward = trace(lambda x, k: convolution.convolution(x, k, padding, steps, dilations, groups), shape, kernel)
    (made,) = evaluate(forward, [x, k])
    y = random.normal(size=tuple(made.shape))
    more = [
        (extent + sum(side) - dilation * (size - 1) - 1) % step
        for extent, side, size, step, dilation in zip(shape[1:-1], padding, kernel, steps, dilations, strict=False)
    ]
    back = trace(
        lambda y, k: convolution.transposed_convolution(y, k, padding, steps, dilations, groups, more), y.shape, kernel
    )
    (found,) = evaluate(back, [y, k])
    assert found.shape == shape
    np.testing.assert_allclose((made * y).sum(), (x * found).sum(), rtol=1e-12)


POOLED = [
    ((2, 7, 3), (3,), (2,), ((1, 2),)),
    ((1, 6, 5, 2), (2, 3), (1, 2), ((1, 0), (2, 1))),
    ((2, 6, 6, 1), (3, 3), (3, 3), ((0, 0), (0, 0))),
]


def pooled(shape: Any, sizes: Any, steps: Any, padding: Any) -> list[Case]:
    x = np.random.default_rng(2).permutation(np.prod(shape)).reshape(shape) / 7.0
    window, stride, sides = (1, *sizes, 1), (1, *steps, 1), ((0, 0), *padding, (0, 0))

    def reduced(x: Any, start: float, by: Any) -> Any:
        return jax.lax.reduce_window(x, start, by, window, stride, sides)

    def average(x: Any) -> Any:
        return reduced(x, 0.0, jax.lax.add)

    whole = float(np.prod(sizes))
    return [
        (lambda x: convolution.max_pool(x, sizes, steps, padding), lambda x: reduced(x, -jnp.inf, jax.lax.max), (x,)),
        (lambda x: convolution.average_pool(x, sizes, steps, padding), lambda x: average(x) / whole, (x,)),
        (
            lambda x: convolution.average_pool(x, sizes, steps, padding, padding_counts=False),
            lambda x: average(x) / average(np.ones(shape)),
            (x,),
        ),
    ]


def test_pooling() -> None:
    x = np.random.default_rng(3).normal(size=(2, 3, 4, 5))
    agree(
        *[case for given in POOLED[: tiers.count(2, deep=3)] for case in pooled(*given)],
        (convolution.global_average, lambda x: x.mean((1, 2)), (x,)),
        (convolution.global_maximum, lambda x: x.max((1, 2)), (x,)),
    )


def test_movement() -> None:
    random = np.random.default_rng(4)
    x, y = random.normal(size=(2, 6, 3)), random.normal(size=(2, 6, 3))
    cuts = (slice(None, None, 2), slice(4, 0, -1), slice(None, None, -3), slice(1, 6, 4), slice(5, 6, 2))
    strided: list[Case] = [
        (lambda x, cut=cut: movement.strided(x, slice(None), cut), lambda x, cut=cut: x[:, cut], (x,)) for cut in cuts
    ]
    agree(
        (lambda x: movement.flip(x, 0, -1), lambda x: jnp.flip(x, (0, 2)), (x,)),
        (lambda x, y: movement.stack([x, y], 1), lambda x, y: jnp.stack([x, y], 1), (x, y)),
        (lambda x, y: movement.stack([x, y], -1), lambda x, y: jnp.stack([x, y], -1), (x, y)),
        (lambda x: movement.split(x, 3, 1)[1], lambda x: jnp.split(x, 3, 1)[1], (x,)),
        (lambda x: movement.split(x, [1, 4, 1], 1)[1], lambda x: x[:, 1:5], (x,)),
        (lambda x: movement.tile(x, (2, 1, 3)), lambda x: jnp.tile(x, (2, 1, 3)), (x,)),
        *strided,
    )


def test_elements_at_indices_of_their_own() -> None:
    random = np.random.default_rng(5)
    x, indices = random.normal(size=(3, 4, 2)), random.integers(0, 4, (3, 5, 2)).astype(float)
    arrow = trace(lambda x, i: movement.gather_elements(x, i, 1), x.shape, indices.shape)
    places = indices.astype(np.int64)
    np.testing.assert_array_equal(evaluate(arrow, [x, indices])[0], np.take_along_axis(x, places, 1))
    cotangent = random.normal(size=indices.shape)
    expected = jax.vjp(lambda x: jnp.take_along_axis(x, places, 1), x)[1](cotangent)[0]
    slope, of_indices = evaluate(reverse_derivative(arrow), [x, indices, cotangent])
    np.testing.assert_allclose(slope, expected, atol=1e-12)
    assert not of_indices.any()
    with pytest.raises(Undefined, match="expected a whole number from 0 to 3, found 4"):
        evaluate(arrow, [x, np.full(indices.shape, 4.0)])


def run(model: Model, shape: tuple[int, ...]) -> tuple[np.ndarray, list[Any]]:
    weights, x = list(model.initial(0).values()), np.random.default_rng(6).normal(size=shape)
    return evaluate(model.arrow(Array(shape)), [*weights, x])[0], [*weights, x]


def test_layers() -> None:
    made, (weight, bias, x) = run(image_layers.conv1d(4, 6, 3, padding=1, step=2, dilation=1, groups=2), (2, 9, 4))
    bias[:] = 0
    expected = jax.lax.conv_general_dilated(x, weight, (2,), ((1, 1),), None, (1,), AXES[1], feature_group_count=2)
    np.testing.assert_allclose(made, expected, atol=1e-12)
    made, (weight, _, x) = run(image_layers.conv2d(4, 8, 3, padding=2, step=1, dilation=2, groups=4), (1, 6, 6, 4))
    sides = ((2, 2), (2, 2))
    expected = jax.lax.conv_general_dilated(x, weight, (1, 1), sides, None, (2, 2), AXES[2], feature_group_count=4)
    np.testing.assert_allclose(made, expected, atol=1e-12)
    made, (weight, _, x) = run(image_layers.transposed_conv2d(3, 2, 3, padding=1, step=2), (1, 4, 4, 3))
    assert made.shape == (1, 7, 7, 2) and weight.shape == (3, 3, 2, 3)
    made, (x,) = run(image_layers.global_average_pool(), (2, 3, 3, 4))
    np.testing.assert_allclose(made, x.mean((1, 2)))
    made, (x,) = run(image_layers.global_max_pool(), (2, 3, 3, 4))
    np.testing.assert_allclose(made, x.max((1, 2)))


REFUSED: list[tuple[Callable[[Tensor], Any], str]] = [
    (lambda x: movement.split(x, 4, 1), "expected a number of parts that divides 6"),
    (lambda x: movement.split(x, [1, 2], 1), "expected positive extents that add up to 6"),
    (lambda x: movement.tile(x, (2,)), "expected a number of repeats per axis"),
    (lambda x: movement.take(x, 1, 3, 3), "expected a slice with elements"),
    (lambda x: convolution.convolution(x, x.constant(np.ones((2, 2, 2)))), "expected a kernel"),
    (lambda x: convolution.transposed_convolution(x, x.constant(np.ones((2, 2, 2)))), "expected a kernel"),
    (lambda x: convolution.max_pool(x, 2, padding=2), "expected padding below the size 2"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_line(function: Callable[[Tensor], Any], message: str) -> None:
    with pytest.raises(TypingError, match=message) as error:
        trace(lambda x: (function(x), x)[1], (2, 6, 3))
    assert "\n" not in str(error.value)
