"""Every primitive with a rule, in the forms that functions of JAX have, against what JAX computes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import CASES, GENERATOR, X
from jax import lax

import circuitize as cz
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends import jax as imported
from circuitize.frontends.formats import Format, labels
from circuitize.frontends.jax.equation import CALLS, RULES
from circuitize.frontends.jax.translation import Translated

LABELS = {name: labels(4) for name in "ijk"}
SHOWN = {"rows and places", "a loop", "batched products", "greatest and least"}
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


@pytest.mark.deep
@pytest.mark.parametrize("name", CASES)
def test_integers(name: str) -> None:
    """As a program in integers, calibrated on the case itself: within 2^-8 of the reals, absolute or relative."""
    function, arguments = CASES[name]
    given = {word: format for word, format in LABELS.items() if word in inspect.signature(function).parameters}
    program = cz.from_jax_step(function, *arguments, renews=0, formats=given)
    found, exact = (cz.run(program, executor=executor) for executor in ("integer", "real"))
    for output, reals in exact.items():
        assert np.max(np.abs(found[output] - reals) / np.maximum(1.0, np.abs(reals))) <= 2.0**-8, output


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
        (lambda j: j * 1.0, (X.astype(np.int8),), "j: expected a format within int8, found 0 to 255; narrow it"),
        (lambda x: x[:0], (X,), r"output1: expected arrays with elements, found shape \[0, 4\]; leave it out"),
        (lambda i: i * 1.0, (X.astype(int),), "i: expected a format of whole numbers, as int64 are, found 2 fraction"),
    ):
        with pytest.raises(CircuitizeError, match=message):
            imported.imported(function, *arguments, formats={"i": Format.signed(8, 2), "j": labels(256)})  # type: ignore[arg-type]


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
    with pytest.warns(UserWarning, match=r"test_jax_primitives.py:\d+: what is masked by -inf is -64") as caught:
        cz.from_jax(lambda p, x: masked(x), {}, X)
        cz.from_jax_step(masked, X)
    assert [Path(one.filename).name for one in caught] == ["test_jax_primitives.py"] * 2


def applied(function: Callable[[Any], Any]) -> list[str]:
    """The names of the operations of a function of X, whose values are compared."""
    model = cz.from_jax(lambda p, x: function(x), {}, X)
    arrow = model.arrow(cz.Array(X.shape))
    np.testing.assert_allclose(evaluate(arrow, [X])[0], function(jnp.asarray(X)), rtol=1e-12)
    return [arrow.operations[edge].name for edge in arrow.edge_operations.tolist()]


def test_functions_that_we_have_whole_are_raised() -> None:
    """Where the derivative is ours."""
    assert applied(lambda x: jax.nn.softmax(x, 0)) == applied(jax.nn.softmax) == ["real.softmax"]
    assert applied(jax.nn.log_softmax) == ["real.log_softmax"]


@pytest.mark.deep
def test_more_functions_that_we_have_whole_are_raised() -> None:
    """What only looks alike is left as it is."""
    assert applied(lambda x: jax.nn.logsumexp(x, 1)) == ["real.log_sum_exp"]
    assert applied(jax.nn.gelu) == ["real.tanh_gelu"] and applied(lambda x: jax.nn.gelu(x, False)) == ["real.gelu"]
    assert applied(lambda x: jax.nn.gelu(2.0 * x) + x) == ["real.scale", "real.tanh_gelu", "real.add"]
    for alike in (
        lambda x: jnp.exp(x - x.max(1, keepdims=True)) / jnp.exp(x).sum(1, keepdims=True),
        lambda x: 0.5 * x * (1.0 + jnp.tanh(0.8 * (x + 0.044715 * x**3))),
        lambda x: jnp.exp(x - jax.lax.stop_gradient(x.min(1, keepdims=True))) / 2.0,
    ):
        assert not {"real.softmax", "real.tanh_gelu", "real.gelu"} & set(applied(alike))


@pytest.mark.deep
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
OLDER |= {"scatter_add", "tile", "expand_dims", "sharding_constraint", "pvary"}


def inner(equation: Any) -> list[Any]:
    """The jaxprs that an equation holds."""
    found = []
    for value in equation.params.values():
        for one in value if isinstance(value, (tuple, list)) else [value]:
            one = getattr(one, "jaxpr", one)
            if hasattr(one, "eqns"):
                found.append(one)
    return found
