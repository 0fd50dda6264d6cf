"""Forms of JAX's primitives: functions of arrays, and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import models  # noqa: F401 - it asks for 64 bits
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

GENERATOR = np.random.default_rng(0)


def real(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def positive(*shape: int) -> Any:
    return GENERATOR.uniform(0.5, 2.0, shape)


def places(*shape: int) -> Any:
    return GENERATOR.integers(0, 4, shape).astype(np.int32)


def truths(*shape: int) -> Any:
    return GENERATOR.random(shape) < 0.5


X, Y = real(3, 4), real(3, 4)
IMAGE, KERNEL = real(2, 6, 7, 4), real(3, 2, 4, 6)
NUMBERS = ("NHWC", "HWIO", "NHWC")


def convolution(**options: Any) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        given = {"window_strides": (1, 1), "padding": "VALID", "dimension_numbers": NUMBERS} | options
        return lax.conv_general_dilated(x, y, **given)

    return function


def window(function: Any, start: float, *sizes: int, **options: Any) -> Callable[[Any], Any]:
    def made(x: Any) -> Any:
        given = {"window_dimensions": sizes, "window_strides": (1,) * len(sizes), "padding": "VALID"} | options
        return lax.reduce_window(x, start, function, **given)

    return made


def loop(x: Any, y: Any) -> Any:
    def body(carry: Any, row: Any) -> Any:
        total, count = carry
        return (jnp.tanh(total + row * y[count]), count + 1), total.sum()

    (total, _), sums = lax.scan(body, (jnp.zeros(4), 0), x, reverse=True)
    return total, sums


def known_branch(x: Any) -> Any:
    return lax.cond(x.shape[0] > 2, jnp.sin, jnp.cos, x)


def known_loop(x: Any) -> Any:
    """The bound of the loop is computed of constants alone: it runs when the function is read."""
    return x * lax.while_loop(lambda n: n < 100.0, lambda n: n * 2.0, 1.5)


@jax.custom_vjp
def straight(x: Any) -> Any:
    """Its derivative for JAX is that of the primal, which is ours."""
    return jnp.sin(x) * x


straight.defvjp(lambda x: (straight(x), x), lambda x, dy: (dy * (jnp.cos(x) * x + jnp.sin(x)),))


@jax.custom_jvp
def curved(x: Any) -> Any:
    return x * jnp.tanh(x)


curved.defjvps(lambda dx, y, x: dx * (jnp.tanh(x) + x / jnp.cosh(x) ** 2))


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "arithmetic": (lambda x, y: (x + y, x - y, x * y, x / y, -x, 2.0 * x - 1.0, 3.0 / y, 1.0 / y), (X, positive(3, 4))),
    "zero and one": (lambda x: (x + 0.0, x * 1.0, x * 0.0, x - 0.0, x / 1.0, 0.0 / (x + 9.0)), (X,)),
    "functions": (
        lambda x: (jnp.exp(x), jnp.exp2(x), jnp.log(x), jnp.log1p(x), jnp.expm1(x), jnp.sqrt(x), lax.rsqrt(x)),
        (positive(3, 4),),
    ),
    "curves": (
        lambda x: (jnp.tanh(x), jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.sinh(x), jnp.cosh(x), lax.erf(x), lax.erfc(x)),
        (X,),
    ),
    "activations": (
        lambda x: tuple(f(x) for f in (jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jax.nn.elu)),
        (X,),
    ),
    "more activations": (
        lambda x: tuple(f(x) for f in (jax.nn.leaky_relu, jax.nn.relu6, jax.nn.hard_tanh, jax.nn.log_sigmoid)),
        (X,),
    ),
    "exact gelu": (lambda x: (jax.nn.gelu(x, False), jax.nn.sigmoid(x), jax.nn.mish(x), jax.nn.glu(x)), (X,)),
    "softmax": (lambda x: (jax.nn.softmax(x, 0), jax.nn.log_softmax(x), jax.nn.logsumexp(x, 1)), (X,)),
    "softmax of two axes": (lambda x: (jax.nn.softmax(x, (0, 1)), jax.nn.standardize(x)), (X,)),
    "magnitudes": (lambda x: (jnp.abs(x), jnp.sign(x), jnp.square(x), x**3, x**-1, x**0), (X,)),
    "powers": (lambda x: (x**1.5, x**-0.5, x**1.25, 0.9**x, x**x, jnp.power(2.0, x)), (positive(3, 4),)),
    "rounding": (
        lambda x: (jnp.floor(x), jnp.ceil(x), jnp.round(x), lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)),
        (np.array([-2.5, -1.2, -0.5, 0.0, 0.5, 1.5, 2.7]),),
    ),
    "casts": (
        lambda x: (x.astype(np.int32), x.astype(bool), x.astype(np.float32) * 0.5, (x > 0).astype(np.int32)),
        (np.array([-2.5, -1.25, -0.5, 0.0, 0.5, 1.5, 2.75]),),
    ),
    "comparisons": (
        lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y, x > 1.0, x <= 1.0),
        (np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])),
    ),
    "truths": (lambda x, y: (x & y, x | y, x ^ y, ~x, x & True, x | True, x ^ True), (truths(8), truths(8))),
    "reduced truths": (lambda x: (x.all(0), x.any(1), x.sum()), (truths(3, 4),)),
    "extremes": (
        lambda x, y: (jnp.maximum(x, y), jnp.minimum(x, y), jnp.maximum(x, 0.0), jnp.clip(x, -1, 0.5)),
        (X, Y),
    ),
    "clamp": (lambda x, y: (lax.clamp(y - 1.0, x, y + 1.0), jnp.maximum(-jnp.inf, x), jnp.isfinite(x)), (X, Y)),
    "choice": (lambda x, y: (jnp.where(x > y, x, y), jnp.where(x > 0, x, 0.0), jnp.where(True, x, y)), (X, Y)),
    "cases": (lambda i, x, y: lax.select_n(i, x, y, x * y, y - x), (places(3, 4), X, Y)),
    "nan left out": (lambda x: jnp.where(x > -100.0, x, jnp.nan), (X,)),
    "whole numbers": (
        lambda i, j: (i + j, i - j, i * j, -i, abs(i - j), jnp.sign(i - j), jnp.maximum(i, j), i**2, i @ j),
        (places(5), places(5)),
    ),
    "whole comparisons": (
        lambda i, j: (i < j, i == j, i < 4, i >= 0, i % 4, jnp.clip(i, 1, 2), i.sum(), jnp.cumsum(i), i.max(), i == -1),
        (places(5), places(5)),
    ),
    "indicators": (lambda i: (jax.nn.one_hot(i, 4), jax.nn.one_hot(i, 6), jax.nn.one_hot(i, 3)), (places(2, 3),)),
    "indicators along another axis": (lambda i: jax.nn.one_hot(i, 4, axis=0), (places(2, 3),)),
    "sums": (lambda x: (x.sum(), x.sum(0), x.mean(1), x.var(0), x.std(1), x.prod(1)), (X,)),
    "greatest and least": (lambda x: (x.max(), x.max(1), x.min(0)), (X,)),
    "sums so far": (lambda x: (jnp.cumsum(x, 0), lax.cumsum(x, 1, reverse=True)), (X,)),
    "extremes so far": (lambda x: (lax.cummax(x, 0), lax.cummin(x, 1, reverse=True), jnp.cumprod(x, 1)), (X,)),
    "an associative scan": (lambda x: lax.associative_scan(jnp.multiply, x), (real(5, 2),)),
    "places of extremes": (lambda x: (x.argmax(1), x.argmin(0), *lax.top_k(x, 2)), (X,)),
    "shapes": (lambda x: (x.T, x.reshape(2, 6), x[None], x[:, 0], x[..., ::-1], jnp.squeeze(x[:1]), x.ravel()), (X,)),
    "slices": (
        lambda x: (x[1:, ::2], x[::-1], x[-1], jnp.split(x, 2, 1), jnp.roll(x, 1, 0), jnp.tile(x, (2, 1))),
        (X,),
    ),
    "joins": (lambda x, y: (jnp.concatenate([x, y], 1), jnp.stack([x, y]), jnp.hstack([x, y])), (X, Y)),
    "padding": (
        lambda x: (jnp.pad(x, 1), jnp.pad(x, 1, constant_values=3.0), lax.pad(x, 0.0, ((1, 2, 1), (-1, 2, 2)))),
        (X,),
    ),
    "edges": (lambda x: (jnp.pad(x, 1, "edge"), jnp.pad(x, 2, "reflect"), jnp.triu(x), jnp.diag(x @ x.T)), (X,)),
    "products": (
        lambda x, y: (x @ y.T, jnp.outer(x[0], y[1]), jnp.vdot(x, y), jnp.tensordot(x, y, 2), x[0] @ y[0]),
        (X, Y),
    ),
    "batched products": (
        lambda x, y: (jnp.einsum("bij,bkj->kbi", x, y), jnp.einsum("bij,kj->i", x, y[0]), jnp.matmul(x, y.mT)),
        (real(2, 3, 4), real(2, 5, 4)),
    ),
    "a convolution": (convolution(), (IMAGE, KERNEL)),
    "a padded convolution": (convolution(padding="SAME", window_strides=(2, 3)), (IMAGE, KERNEL)),
    "negative padding": (convolution(padding=((-1, 2), (3, -2))), (IMAGE, KERNEL)),
    "a dilated kernel": (convolution(rhs_dilation=(2, 3)), (IMAGE, KERNEL)),
    "a dilated operand": (convolution(lhs_dilation=(2, 3), padding=((2, 1), (0, 1))), (IMAGE, KERNEL)),
    "both dilated": (convolution(lhs_dilation=(2, 1), rhs_dilation=(1, 2), padding=((-1, 3), (1, 0))), (IMAGE, KERNEL)),
    "dilated with steps": (
        convolution(lhs_dilation=(3, 2), window_strides=(2, 2), padding=((1, 1), (1, 1))),
        (IMAGE, KERNEL),
    ),
    "groups": (convolution(feature_group_count=2), (IMAGE, real(3, 2, 2, 6))),
    "groups of a dilated operand": (
        convolution(feature_group_count=2, lhs_dilation=(2, 2), padding=((0, 1), (1, 0))),
        (IMAGE, real(3, 2, 2, 6)),
    ),
    "groups of examples": (convolution(batch_group_count=2), (IMAGE, KERNEL)),
    "other orders of axes": (
        convolution(dimension_numbers=("NCHW", "OIHW", "NCHW")),
        (real(2, 3, 5, 4), real(6, 3, 2, 2)),
    ),
    "one axis of positions": (
        convolution(window_strides=(2,), dimension_numbers=("NWC", "WIO", "NWC")),
        (real(2, 7, 3), real(3, 3, 2)),
    ),
    "derivatives of a convolution": (
        jax.grad(lambda x, y: (convolution(padding="SAME", window_strides=(2, 2))(x, y) ** 2).sum(), (0, 1)),
        (IMAGE, KERNEL),
    ),
    "derivatives of groups": (
        jax.grad(lambda x, y: (convolution(feature_group_count=2)(x, y) ** 2).sum(), (0, 1)),
        (IMAGE, real(3, 2, 2, 6)),
    ),
    "sums of windows": (window(lax.add, 0.0, 1, 2, 3, 1, padding="SAME"), (IMAGE,)),
    "maxima of windows": (window(lax.max, -np.inf, 1, 3, 2, 1, window_strides=(1, 2, 2, 1), padding="SAME"), (IMAGE,)),
    "minima of windows": (window(lax.min, np.inf, 1, 2, 2, 1, window_dilation=(1, 2, 2, 1)), (IMAGE,)),
    "a derivative of maxima": (
        jax.grad(lambda x: (window(lax.max, -np.inf, 1, 3, 3, 1, padding="SAME")(x) ** 2).sum()),
        (IMAGE,),
    ),
    "known places": (
        lambda x: (x[jnp.array([2, 0, 2])], x[:, jnp.array([3, -1])], x[jnp.array([0, 2]), jnp.array([1, 3])]),
        (X,),
    ),
    "rows at places": (lambda x, i: (x[i], jnp.take(x, i, 1, mode="clip"), x.T[i, :2]), (real(4, 4), places(2, 3))),
    "columns at places": (lambda x, i: x[:, i], (real(3, 4, 2), places(5))),
    "places of two axes": (lambda x, i, j: (x[i, j], x[i, :, j]), (real(4, 4, 4), places(5), places(5))),
    "each row its own": (lambda x, i: jnp.take_along_axis(x, i, 1), (X, places(3, 2))),
    "each column its own": (lambda x, i: jnp.take_along_axis(x, i, 0), (real(4, 3), places(2, 3))),
    "rows and places": (lambda x, i: (x[jnp.arange(3), i], x[jnp.arange(3), -1 - i]), (X, places(3))),
    "derivatives of places": (
        lambda x, i: (
            jax.grad(lambda x: (x[i] ** 2).sum())(x),
            jax.grad(lambda x: (jnp.take_along_axis(x, i, 1) ** 2).sum())(x),
            jax.grad(lambda x: (x[jnp.arange(4), i[:, 0]] ** 2).sum())(x),
        ),
        (real(4, 4), places(4, 2)),
    ),
    "writing": (
        lambda x, y: (x.at[1].set(y[0]), x.at[jnp.array([0, 2]), 1].set(7.0), x.at[:, 1:3].add(y[:, :2])),
        (X, Y),
    ),
    "writing at places": (lambda x, i: (x.at[i].add(1.0), x.at[i[0]].set(2.0)), (real(4, 2), places(3))),
    "moving slices": (
        lambda x, y: (lax.dynamic_slice(x, (1, 2), (2, 2)), lax.dynamic_update_slice(x, y[:2, :2], (1, 1))),
        (X, Y),
    ),
    "a slice at a place": (lambda x, i: lax.dynamic_slice_in_dim(x, i, 2, 1), (X, np.int32(3))),
    "a loop": (loop, (X, Y)),
    "a loop of known length": (lambda x: lax.fori_loop(0, 3, lambda i, y: y * x[i], x[0]), (X,)),
    "a known branch": (known_branch, (X,)),
    "a known loop": (known_loop, (X,)),
    "added derivatives": (jax.grad(lambda x: (x * jnp.sin(x)).sum()), (X,)),
    "computed again": (lambda x: jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x).sum())(x), (X,)),
    "derivatives of their own": (lambda x: (straight(x), curved(x), jax.grad(lambda x: straight(x).sum())(x)), (X,)),
    "names and precision": (lambda x: checkpoint_name(lax.reduce_precision(x, 11, 52), "kept") * 2.0, (X,)),
    "mapped": (lambda x, y: jax.vmap(lambda a, b: jnp.dot(a, b) * jax.nn.softmax(a))(x, y), (X, Y)),
    "stopped": (lambda x: (lax.stop_gradient(x) * x, lax.optimization_barrier(x)), (X,)),
    "captured": (lambda x: x @ jnp.asarray(KERNEL[0, 0])[:, :3] + np.arange(3.0), (X,)),
    "norms": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1), jnp.hypot(x, x + 1.0)), (X,)),
}
