"""Activations, statistics and other functions of tensors: values and derivatives are those of JAX, integers follow."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_derivatives import pulled

from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_reals
from circuitize.frontends import activations, functions
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace
from circuitize.sims import integer

Ours = Callable[[Tensor], Tensor]
Theirs = Callable[[Any], Any]


def inside(x: Any, low: float, high: float) -> Any:
    """Clipping with slope 0 at both ends."""
    return jnp.where(x <= low, low, jnp.where(x >= high, high, x))


def best(x: Any) -> Any:
    return -jnp.sort(-x, 1)[:, :2]


FUNCTIONS: dict[str, tuple[Ours, Theirs]] = {
    "leaky_relu": (activations.leaky_relu, lambda x: jnp.where(x > 0, x, 0.01 * x)),
    "relu6": (activations.relu6, lambda x: inside(x, 0, 6)),
    "hard_tanh": (activations.hard_tanh, lambda x: inside(x, -1, 1)),
    "hard_sigmoid": (activations.hard_sigmoid, lambda x: inside(x + 3, 0, 6) / 6),
    "hard_swish": (activations.hard_swish, lambda x: x * inside(x + 3, 0, 6) / 6),
    "silu": (activations.silu, jax.nn.silu),
    "softplus": (activations.softplus, jax.nn.softplus),
    "elu": (lambda x: activations.elu(x, 0.75), lambda x: jax.nn.elu(x, 0.75)),
    "mish": (activations.mish, jax.nn.mish),
    "gelu": (functions.gelu, lambda x: jax.nn.gelu(x, approximate=False)),
    "tanh_gelu": (lambda x: functions.gelu(x, True), jax.nn.gelu),
    "variance": (lambda x: functions.variance(x, -1, 1), lambda x: jnp.var(x, 1, ddof=1)),
    "standard_deviation": (lambda x: functions.standard_deviation(x, (0, 1)), jnp.std),
    "least": (functions.least, lambda x: x.min(1)),
    "product": (functions.product, lambda x: x.prod(1)),
    "power": (lambda x: functions.power(x, 4), lambda x: x**4),
    "absolute": (functions.absolute, jnp.abs),
    "minimum": (lambda x: functions.minimum(x, 0.3), lambda x: jnp.minimum(x, 0.3)),
    "clip": (lambda x: functions.clip(x, -0.5, 0.25), lambda x: inside(x, -0.5, 0.25)),
    "sin": (functions.sin, jnp.sin),
    "cos": (functions.cos, jnp.cos),
    "exp2": (functions.exp2, jnp.exp2),
    "log2": (lambda x: functions.log2(functions.absolute(x) + 1.0), lambda x: jnp.log2(jnp.abs(x) + 1)),
    "erf": (functions.erf, jax.scipy.special.erf),
    "rsqrt": (
        lambda x: functions.reciprocal_square_root(functions.absolute(x) + 1.0),
        lambda x: jax.lax.rsqrt(jnp.abs(x) + 1),
    ),
    "cumulative_sum": (lambda x: functions.cumulative_sum(x, -1), lambda x: jnp.cumsum(x, 1)),
    "top_k": (lambda x: functions.top_k(x, 2)[0], best),
    "normalize": (functions.normalize, lambda x: jax.nn.standardize(x, 1, epsilon=1e-5)),
    "root_mean_square_normalize": (
        functions.root_mean_square_normalize,
        lambda x: x / jnp.sqrt((x * x).mean(1, keepdims=True) + 1e-5),
    ),
    "rounding": (
        lambda x: functions.floor(x) + functions.ceil(x * 2) * 2 + functions.round_half_even(x) * functions.sign(x),
        lambda x: jnp.floor(x) + jnp.ceil(x * 2) * 2 + jnp.round(x) * jnp.sign(x),
    ),
}


def points(seed: int) -> np.ndarray:
    """Distinct numbers of 9 fraction bits, none at a kink."""
    chosen = np.random.default_rng(seed).choice(np.arange(-1800, 1800), (4, 6), replace=False)
    return (2 * chosen + 1) / 1024


@cache
def by_jax() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """By seed: the value of each function at the same points, and its derivative along `cotangent`; compiled as one."""

    def every(xs: dict[str, Any]) -> dict[str, Any]:
        return {name: theirs(xs[name]) for name, (_, theirs) in FUNCTIONS.items()}

    derive, found = pulled(every), []
    for seed in range(3):
        shapes = {name: evaluate(trace(ours, (4, 6)), [points(seed)])[0].shape for name, (ours, _) in FUNCTIONS.items()}
        value, (slope,) = derive([dict.fromkeys(FUNCTIONS, points(seed))], {n: cotangent(s) for n, s in shapes.items()})
        found.append((value, slope))
    return found


def cotangent(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(9).normal(size=shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_are_those_of_jax(name: str) -> None:
    arrow = trace(FUNCTIONS[name][0], (4, 6))
    backward = reverse_derivative(arrow)
    for seed, (values, slopes) in enumerate(by_jax()):
        x, expected, wanted = points(seed), values[name], slopes[name]
        (found,) = evaluate(arrow, [x])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        (slope,) = evaluate(backward, [x, cotangent(found.shape)])
        np.testing.assert_allclose(slope, wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(("ours", "theirs"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_integers_follow_values_and_derivatives(ours: Ours, theirs: Theirs) -> None:
    """With a constant cotangent: within 1 part in 500 of the greatest, with 12 fraction bits."""
    forward = trace(ours, (4, 6))
    backward = reverse_derivative(forward)

    def both(x: Tensor) -> list[Tensor]:
        (value,) = x.builder.splice(forward, [x.wire])
        slopes = np.random.default_rng(9).choice([-0.75, 0.5, 1.25], forward.target[0].shape)
        (slope,) = x.builder.splice(backward, [x.wire, x.constant(slopes).wire])
        return [Tensor(x.builder, value), Tensor(x.builder, slope)]

    arrow = trace(both, (4, 6))
    port = Port("x", Visibility.PUBLIC, Fixed((4, 6), 10, -4096, 4096))
    outputs = (Port("value", Visibility.PUBLIC), Port("slope", Visibility.PUBLIC))
    program = Program(arrow, (port,), outputs, tuple({"x": points(seed)} for seed in range(8)))
    integers = quantize(program)
    for seed in range(3):
        x = points(seed)
        made = integer.run(integers, {"x": x})
        for output, expected in zip(integers.outputs, evaluate(arrow, [x]), strict=True):
            assert output.format is not None
            found = to_reals(output.format, made[output.name])
            np.testing.assert_allclose(found, expected, atol=max(1, np.abs(expected).max()) / 500)


def test_where_the_greatest_are() -> None:
    x = np.array([[3.0, 1.0, 3.0, 2.0], [0.0, -1.0, -1.0, -2.0]])
    values, hot = evaluate(trace(lambda t: list(functions.top_k(t, 3)), (2, 4)), [x])
    np.testing.assert_array_equal(values, [[3, 3, 2], [0, -1, -1]])
    np.testing.assert_array_equal(hot.argmax(-1), [[0, 2, 3], [0, 1, 2]])
    with pytest.raises(TypingError, match="k from 1 to 4 along axis 1, found 5"):
        trace(lambda t: functions.top_k(t, 5)[0], (2, 4))


def test_powers() -> None:
    x = np.array([-2.0, -0.5, 0.5, 3.0])
    for n in range(-4, 8):
        np.testing.assert_allclose(evaluate(trace(lambda t, n=n: functions.power(t, n), (4,)), [x])[0], x**n)
    with pytest.raises(TypingError, match=r"whole exponent, found 0\.5"):
        trace(lambda t: functions.power(t, 0.5), (4,))  # type: ignore[arg-type]
