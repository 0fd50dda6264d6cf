"""Every primitive with a rule, in the forms that functions of JAX have, against what JAX computes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import models  # noqa: F401 - it asks for 64 bits
import numpy as np
import pytest
from jax import lax

import circuitize as cz
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends import jax as imported
from circuitize.frontends.formats import Format, labels
from circuitize.frontends.jax.equation import CALLS, RULES
from circuitize.frontends.jax.translation import Translated

GENERATOR = np.random.default_rng(0)
LABELS = {name: labels(4) for name in "ijk"}


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
    "sums": (lambda x: (x.sum(), x.sum(0), x.mean(1), x.var(0), x.std(1), x.prod(1), x.max(), x.min(0)), (X,)),
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
    "mapped": (lambda x, y: jax.vmap(lambda a, b: jnp.dot(a, b) * jax.nn.softmax(a))(x, y), (X, Y)),
    "stopped": (lambda x: (lax.stop_gradient(x) * x, lax.optimization_barrier(x)), (X,)),
    "captured": (lambda x: x @ jnp.asarray(KERNEL[0, 0])[:, :3] + np.arange(3.0), (X,)),
    "norms": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1), jnp.hypot(x, x + 1.0)), (X,)),
}
SHOWN = {"whole numbers", "a derivative of maxima", "rows and places", "a loop"}
EVERY = [pytest.param(name, marks=[] if name in SHOWN else pytest.mark.deep) for name in CASES]


def arrow(name: str) -> tuple[Translated, list[Any], list[Any]]:
    """The arrow, what enters, and what JAX computes."""
    function, arguments = CASES[name]
    made = imported.imported(function, *arguments, renews=0, formats=LABELS)
    computed = jax.tree.leaves(function(*map(jnp.asarray, arguments)))
    return made, [np.asarray(a, np.float64) for a in arguments], computed


@pytest.mark.parametrize("name", EVERY)
def test_values(name: str) -> None:
    made, arguments, expected = arrow(name)
    for ours, theirs in zip(evaluate(made.arrow, arguments), expected, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, np.asarray(theirs, np.float64), rtol=1e-9, atol=1e-9)


KINKS = {"cases", "casts", "minima of windows"}
"""Of whole numbers; of a cast to single precision; of dilated windows, which JAX does not differentiate."""


@pytest.mark.deep
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    """The reverse derivative of what is real, at random cotangents, is JAX's; ties aside."""
    function, arguments = CASES[name]
    made, entering, expected = arrow(name)
    chosen = [np.asarray(a).dtype.kind == "f" for a in arguments]
    cotangents = [
        GENERATOR.normal(size=e.shape) if e.dtype.kind == "f" else np.zeros(e.shape) for e in map(np.asarray, expected)
    ]
    if not any(chosen) or name in KINKS:
        return

    def dotted(*reals: Any) -> Any:
        given = iter(reals)
        mixed = [next(given) if c else jnp.asarray(a) for c, a in zip(chosen, arguments, strict=True)]
        leaves = jax.tree.leaves(function(*mixed))
        parts = [(leaf * c).sum() for leaf, c in zip(leaves, cotangents, strict=True) if leaf.dtype.kind == "f"]
        return sum(parts, start=jnp.zeros(()))

    reals = [jnp.asarray(a) for a, c in zip(arguments, chosen, strict=True) if c]
    theirs = jax.grad(dotted, tuple(range(len(reals))))(*reals)
    ours = evaluate(reverse_derivative(made.arrow), [*entering, *cotangents])
    for found, exact in zip([o for o, c in zip(ours, chosen, strict=True) if c], theirs, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-8)


def unknown_loop(x: Any) -> Any:
    return lax.while_loop(lambda x: x.sum() < 9.0, lambda x: x * 2.0, x)


def unknown_branch(x: Any) -> Any:
    return lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "a loop": (unknown_loop, r"while: expected a loop whose length is known.*use jax.lax.scan"),
    "a branch": (unknown_branch, r"cond: expected a condition known.*jnp.where"),
    "a primitive": (lambda x: jnp.sort(x), r"sort: expected a primitive of the table in docs/jax.md"),
    "infinity": (lambda x: x + jnp.inf, r"add: expected finite numbers, found inf"),
    "bits": (lambda x: lax.bitcast_convert_type(x, np.int64), r"bitcast_convert_type: expected a primitive"),
    "divided whole numbers": (lambda x: x.argmax(1) // 3, r"div: expected floats, found whole numbers"),
    "wrapping": (
        lambda x: x.argmax(1).astype(np.int8) * np.int8(100),
        r"mul: expected whole numbers that do not wrap in int8",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_line(name: str) -> None:
    function, message = REFUSED[name]
    line = function.__code__.co_firstlineno
    with pytest.raises(CircuitizeError, match=message) as caught:
        imported.imported(function, X)
    found = re.match(r"test_jax_primitives.py:(\d+): ", str(caught.value))
    assert found and 0 <= int(found[1]) - line <= 1 and "\n" not in str(caught.value)


def test_what_does_not_trace() -> None:
    for function, arguments, message in (
        (
            lambda x: x if x.sum() > 0 else -x,
            (X,),
            "lambda>: expected a function that jax.make_jaxpr traces.*found TracerBool",
        ),
        (lambda x: x, (X, X), "expected the arguments that the function takes, found 2"),
        (lambda x: x, ("a",), "x: expected an array or a number, found str"),
        (lambda x: x, (np.ones(2, complex),), "x: expected floats, whole numbers or truths, found complex128"),
        (3, (X,), "expected a function of JAX, found int"),
        (lambda x: (), (X,), "expected a function that returns arrays"),
        (lambda x: x[:0], (X,), r"output1: expected arrays with elements, found shape \[0, 4\]; leave it out"),
        (lambda i: i * 1.0, (X.astype(int),), "i: expected a format of whole numbers, as int64 are, found 2 fraction"),
    ):
        with pytest.raises(CircuitizeError, match=message):
            imported.imported(function, *arguments, formats={"i": Format.signed(8, 2)})  # type: ignore[arg-type]


def dropped(x: Any, key: Any) -> Any:
    first, second = jax.random.split(key)
    x = jnp.where(jax.random.bernoulli(first, 0.75, x.shape), x / 0.75, 0.0)
    return x * jax.random.uniform(second, x.shape, minval=1.0, maxval=2.0) + jax.random.normal(first, (4,))


def test_keys_become_inputs() -> None:
    made = imported.imported(dropped, X, jax.random.key(0))
    assert made.inputs == ("x", "mask1", "uniform1", "normal1")
    assert [draw.bounds for draw in made.draws] == [(0.75,), (1.0, 2.0), ()]
    mask, uniform, normal = (draw.drawn(np.random.default_rng(0)) for draw in made.draws)
    (found,) = evaluate(made.arrow, [X, mask, uniform, normal])
    np.testing.assert_allclose(found, X * mask / 0.75 * uniform + normal)
    assert set(np.unique(mask)) == {0.0, 1.0} and uniform.min() >= 1.0 and uniform.max() < 2.0
    program = cz.from_jax_step(dropped, X, jax.random.key(0))
    assert program.inputs[1].format == Format.between(0.0, 1.0, 0).of((3, 4)) and len(program.examples) == 1


@pytest.mark.deep
def test_a_known_key_is_drawn_with_as_jax_does() -> None:
    made = imported.imported(lambda x: dropped(x, jax.random.key(3)), X)
    (found,) = evaluate(made.arrow, [X])
    np.testing.assert_allclose(found, dropped(X, jax.random.key(3)))


def test_a_mask_that_is_computed_again_is_one_input() -> None:
    """Of a key of two words, as older programs have it; the derivative recomputes the mask."""

    def loss(x: Any, key: Any) -> Any:
        return jax.checkpoint(lambda x: jnp.where(jax.random.bernoulli(key, 0.5, x.shape), jnp.sin(x), 0.0))(x).sum()

    made = imported.imported(jax.grad(loss), X, jax.random.PRNGKey(0))
    assert made.inputs == ("x", "mask1")
    mask = np.random.default_rng(0).integers(0, 2, X.shape).astype(np.float64)
    np.testing.assert_allclose(evaluate(made.arrow, [X, mask])[0], np.cos(X) * mask)


def test_numbers_of_an_unknown_key_are_refused() -> None:
    with pytest.raises(
        CircuitizeError, match=r"test_jax_primitives.py:\d+: .*expected numbers, found a key.*bernoulli"
    ):
        imported.imported(lambda x, key: x * jax.random.bits(key, x.shape), X, jax.random.key(0))


def test_assumptions_are_said_with_their_line() -> None:
    def masked(x: Any) -> Any:
        return jax.nn.softmax(jnp.where(jnp.tri(3, 4, dtype=bool), x, -jnp.inf))

    made = imported.imported(masked, X)
    (said,) = made.assumptions
    assert re.match(r"test_jax_primitives.py:\d+: what is masked by -inf is -64", said)
    np.testing.assert_allclose(evaluate(made.arrow, [X])[0], masked(X), atol=1e-20)


def test_functions_that_we_have_whole_are_raised() -> None:
    """Where the derivative is ours; what only looks alike is left as it is."""

    def applied(function: Callable[[Any], Any]) -> list[str]:
        model = cz.from_jax(lambda p, x: function(x), {}, X)
        arrow = model.arrow(cz.Array(X.shape))
        np.testing.assert_allclose(evaluate(arrow, [X])[0], function(jnp.asarray(X)), rtol=1e-12)
        return [arrow.operations[edge].name for edge in arrow.edge_operations.tolist()]

    assert applied(lambda x: jax.nn.softmax(x, 0)) == applied(jax.nn.softmax) == ["real.softmax"]
    assert applied(jax.nn.log_softmax) == ["real.log_softmax"]
    assert applied(lambda x: jax.nn.logsumexp(x, 1)) == ["real.log_sum_exp"]
    assert applied(jax.nn.gelu) == ["real.tanh_gelu"] and applied(lambda x: jax.nn.gelu(x, False)) == ["real.gelu"]
    assert applied(lambda x: jax.nn.gelu(2.0 * x) + x) == ["real.scale", "real.tanh_gelu", "real.add"]
    for alike in (
        lambda x: jnp.exp(x - x.max(1, keepdims=True)) / jnp.exp(x).sum(1, keepdims=True),
        lambda x: 0.5 * x * (1.0 + jnp.tanh(0.8 * (x + 0.044715 * x**3))),
        lambda x: jnp.exp(x - jax.lax.stop_gradient(x.min(1, keepdims=True))) / 2.0,
    ):
        assert not {"real.softmax", "real.tanh_gelu", "real.gelu"} & set(applied(alike))


def test_every_rule_has_a_case() -> None:
    """What the cases apply is all that the table lists, but for names of older releases and what is refused."""
    seen: set[str] = set()
    for function, arguments in [
        *CASES.values(),
        *((f, (X,)) for f, _ in REFUSED.values()),
        (dropped, (X, jax.random.key(0))),
    ]:
        waiting = [jax.make_jaxpr(function)(*arguments).jaxpr]
        while waiting:
            for equation in waiting.pop().eqns:
                seen.add(equation.primitive.name)
                waiting += inner(equation)
    missing = {*RULES, *CALLS} - seen
    assert missing <= OLDER, missing - OLDER


OLDER = {"pjit", "remat", "checkpoint", "core_call", "custom_vjp_call_jaxpr", "custom_lin", "closed_call", "copy_p"}
OLDER |= {"scatter_add", "tile", "expand_dims", "name", "sharding_constraint", "pvary", "reduce_precision"}
OLDER |= {"custom_vjp_call"}


def inner(equation: Any) -> list[Any]:
    """The jaxprs that an equation holds."""
    found = []
    for value in equation.params.values():
        for one in value if isinstance(value, (tuple, list)) else [value]:
            one = getattr(one, "jaxpr", one)
            if hasattr(one, "eqns"):
                found.append(one)
    return found
