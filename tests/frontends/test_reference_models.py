"""Norms, attention of several heads, a block and GPT-2 whole, against JAX: values, and every parameter's derivative."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Array
from circuitize.frontends.attention import Attention, multi_head_attention, softmax_attention, spherical_attention
from circuitize.frontends.layers import Model
from circuitize.frontends.normalization import batch_norm, group_norm, layer_norm, rms_norm
from circuitize.frontends.transformer import gpt2, transformer_block

jax.config.update("jax_enable_x64", True)

Held = Mapping[str, Any]
EPSILON = 2.0**-10


def softmax_weights(scores: Any, width: int) -> Any:
    kept = jnp.tril(jnp.ones(scores.shape[-2:]))
    return jax.nn.softmax(jnp.where(kept > 0, scores / np.sqrt(width), -jnp.inf))


def spherical_weights(scores: Any, width: int) -> Any:
    kept = scores * jnp.tril(jnp.ones(scores.shape[-2:]))
    return kept / jnp.fmax(jnp.sqrt((kept**2).sum(-1, keepdims=True)), 2.0**-6)


WEIGHTS: dict[Attention, Callable[[Any, int], Any]] = {
    softmax_attention: softmax_weights,
    spherical_attention: spherical_weights,
}


def heads_of(held: Held, x: Any, heads: int, attention: Attention, prefix: str = "") -> Any:
    """Head by head, each its own columns of the three thirds of in_weight."""
    width = x.shape[-1]
    each, made = width // heads, []
    whole = x @ held[f"{prefix}in_weight"] + held[f"{prefix}in_bias"]
    for head in range(heads):
        q, k, v = (whole[..., part * width + head * each : part * width + (head + 1) * each] for part in range(3))
        made.append(WEIGHTS[attention](q @ jnp.swapaxes(k, 1, 2), each) @ v)
    return jnp.concatenate(made, -1) @ held[f"{prefix}out_weight"] + held[f"{prefix}out_bias"]


def standard(x: Any, axes: Any, epsilon: float) -> Any:
    return (x - x.mean(axes, keepdims=True)) / jnp.sqrt(x.var(axes, keepdims=True) + epsilon)


def block_of(held: Held, x: Any, heads: int, attention: Attention, prefix: str = "") -> Any:
    def norm(place: str, x: Any) -> Any:
        name = f"{prefix}{place}.layer_norm1"
        return standard(x, -1, EPSILON) * held[f"{name}.weight"] + held[f"{name}.bias"]

    def dense(number: int, x: Any) -> Any:
        name = f"{prefix}dense1.dense{number}"
        return x @ held[f"{name}.weight"] + held[f"{name}.bias"]

    x = x + heads_of(held, norm("attention1", x), heads, attention, f"{prefix}attention1.multi_head_attention1.")
    return x + dense(2, jax.nn.gelu(dense(1, norm("dense1", x)), approximate=True))


def gpt2_of(held: Held, tokens: Any) -> Any:
    x = held["tokens"][tokens.astype(int)] + held["positions"][: tokens.shape[1]]
    x = block_of(held, x, 2, softmax_attention, "block1.")
    x = standard(x, -1, EPSILON) * held["layer_norm.weight"] + held["layer_norm.bias"]
    return x @ held["tokens"].T


def grouped(held: Held, x: Any) -> Any:
    made = standard(x.reshape(2, 3, 5, 3, 2), (1, 2, 4), EPSILON).reshape(x.shape)
    return made * held["weight"] + held["bias"]


CASES: dict[str, tuple[Model, tuple[int, ...], Callable[[Held, Any], Any]]] = {
    "batch norm": (
        batch_norm(6, epsilon=EPSILON),
        (5, 6),
        lambda held, x: standard(x, 0, EPSILON) * held["weight"] + held["bias"],
    ),
    "batch norm of pictures": (
        batch_norm(6, epsilon=EPSILON),
        (2, 3, 2, 6),
        lambda held, x: standard(x, (0, 1, 2), EPSILON) * held["weight"] + held["bias"],
    ),
    "layer norm": (
        layer_norm(6, EPSILON),
        (2, 5, 6),
        lambda held, x: standard(x, -1, EPSILON) * held["weight"] + held["bias"],
    ),
    "group norm": (group_norm(6, 3, EPSILON), (2, 3, 5, 6), grouped),
    "root mean square norm": (
        rms_norm(6, EPSILON),
        (2, 5, 6),
        lambda held, x: x / jnp.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * held["weight"],
    ),
    "GPT-2": (gpt2(vocabulary=11, context=6, width=8, blocks=1, heads=2, length=4), (3, 4), gpt2_of),
}
for attention, name in ((softmax_attention, "softmax"), (spherical_attention, "spherical")):
    CASES[f"{name} heads"] = (
        multi_head_attention(6, 3, attention, causally=True),
        (2, 5, 6),
        partial(heads_of, heads=3, attention=attention),
    )
    CASES[f"{name} block"] = (
        transformer_block(6, 2, attention=attention, causally=True, epsilon=EPSILON),
        (2, 5, 6),
        partial(block_of, heads=2, attention=attention),
    )


@partial(jax.jit, static_argnums=0)
def referred(theirs: Any, held: Held, x: Any, cotangent: Any) -> Any:
    """The value and the cotangents of parameters and x."""
    made, pullback = jax.vjp(theirs, held, x)
    return made, pullback(cotangent)


WITHIN = {"batch norm of pictures", "softmax heads", "softmax block", "spherical heads", "spherical block"}
"""Within others: heads in blocks, the softmax block in GPT-2; the norm of pictures has the formula of the other. JAX
computes spherical attention in `test_attention.py`, too.
"""


@pytest.mark.parametrize(
    ("model", "shape", "theirs"),
    [pytest.param(*case, id=name, marks=[pytest.mark.deep] * (name in WITHIN)) for name, case in CASES.items()],
)
def test_models_are_those_of_their_papers(model: Model, shape: tuple[int, ...], theirs: Any) -> None:
    random, count = np.random.default_rng(0), len(model.parameters)
    held = {p.name: random.normal(0.0, 0.5, p.shape) for p in model.parameters}
    state = [np.ones(p.shape) for p in model.state]
    tokens = model.kind == "gpt2"
    x = random.integers(0, 11, shape) * 1.0 if tokens else random.normal(size=shape)
    arrow = model.arrow(Array(shape))
    found, *renewed = evaluate(arrow, [*held.values(), *state, x])
    cotangent = random.normal(size=found.shape)
    expected, (of_parameters, of_x) = referred(theirs, held, x, cotangent)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    slopes = evaluate(
        reverse_derivative(arrow), [*held.values(), *state, x, cotangent, *(np.zeros(s.shape) for s in renewed)]
    )
    for slope, parameter in zip(slopes[:count], model.parameters, strict=True):
        np.testing.assert_allclose(slope, of_parameters[parameter.name], rtol=1e-9, atol=1e-11)
    if not tokens:
        np.testing.assert_allclose(slopes[-1], of_x, rtol=1e-9, atol=1e-11)
