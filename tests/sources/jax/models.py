"""Models in plain JAX: a perceptron, a convolutional network with batch normalization, a block of a transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

Tree = Any


@dataclass(frozen=True)
class Network:
    """`forward(parameters, inputs)`, `loss(predictions, targets)`, and a batch."""

    parameters: Tree
    forward: Callable[..., Any]
    loss: Callable[..., Any]
    inputs: Any
    targets: Any


def drawn(seed: int, **shapes: tuple[int, ...]) -> Any:
    """Normal parameters of variance 1 / fan-in; those of one axis near one for scales, near zero for others."""
    generator = np.random.default_rng(seed)
    made = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            made[name] = generator.normal(1.0 if name.endswith("scale") else 0.0, 0.1, shape)
        else:
            made[name] = generator.normal(size=shape) / np.sqrt(np.prod(shape[:-1]))
    return made


def cross_entropy(logits: Any, targets: Any) -> Any:
    """The mean over examples, of targets that are probabilities."""
    return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), -1))


def label_cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over all positions, of whole numbers."""
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def perceptron() -> Network:
    def forward(p: Tree, x: Any) -> Any:
        hidden = jax.nn.relu(x @ p["first"]["weight"] + p["first"]["bias"])
        return jnp.tanh(hidden @ p["second"]["weight"] + p["second"]["bias"]) @ p["last"]["weight"]

    layers = {
        "first": drawn(1, weight=(6, 8), bias=(8,)),
        "second": drawn(2, weight=(8, 8), bias=(8,)),
        "last": drawn(3, weight=(8, 3)),
    }
    generator = np.random.default_rng(0)
    return Network(layers, forward, cross_entropy, generator.random((4, 6)), np.eye(3)[[0, 2, 1, 2]])


def convolutional() -> Network:
    """Two convolutions with batch normalization by the batch's own statistics, a maximum and a mean of windows."""

    def normalized(x: Any, p: Tree) -> Any:
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * p["scale"] + p["shift"]

    def convolved(x: Any, p: Tree, stride: int) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        return (
            jax.lax.conv_general_dilated(x, p["kernel"], (stride,) * 2, "SAME", dimension_numbers=numbers) + p["bias"]
        )

    def pooled(x: Any) -> Any:
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")

    def forward(p: Tree, x: Any) -> Any:
        x = pooled(jax.nn.relu(normalized(convolved(x, p["first"], 1), p["first"])))
        x = jax.nn.silu(normalized(convolved(x, p["second"], 2), p["second"]))
        x = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID") / 4.0
        return x.reshape(x.shape[0], -1) @ p["last"]["weight"]

    layers = {
        "first": drawn(1, kernel=(3, 3, 1, 3), bias=(3,), scale=(3,), shift=(3,)),
        "second": drawn(2, kernel=(3, 3, 3, 4), bias=(4,), scale=(4,), shift=(4,)),
        "last": drawn(3, weight=(4, 3)),
    }
    generator = np.random.default_rng(0)
    return Network(layers, forward, cross_entropy, generator.random((3, 7, 7, 1)), np.eye(3)[[0, 2, 1]])


def transformer() -> Network:
    """Words to the scores of the next word: an embedding, one block of causal attention, a tied projection."""
    length, heads, width, words = 5, 2, 8, 11

    def normalized(x: Any, p: Tree) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5) * p["scale"] + p["shift"]

    def attention(x: Any, p: Tree) -> Any:
        query, key, value = jnp.split(x @ p["joint"] + p["bias"], 3, -1)
        shape = (x.shape[0], x.shape[1], heads, width // heads)
        query, key, value = (part.reshape(shape) for part in (query, key, value))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(width // heads)
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
        return mixed.reshape(x.shape) @ p["out"]

    def block(x: Any, p: Tree) -> Any:
        x = x + attention(normalized(x, p["norm1"]), p["attention"])
        return x + jax.nn.gelu(normalized(x, p["norm2"]) @ p["up"]) @ p["down"]

    def forward(p: Tree, tokens: Any) -> Any:
        x = p["words"][tokens] + p["places"][jnp.arange(length)]
        return block(x, p["block"]) @ p["words"].T

    parameters = {
        **drawn(1, words=(words, width), places=(length, width)),
        "block": {
            **drawn(2, up=(width, 4 * width), down=(4 * width, width)),
            "attention": drawn(3, joint=(width, 3 * width), bias=(3 * width,), out=(width, width)),
            "norm1": drawn(4, scale=(width,), shift=(width,)),
            "norm2": drawn(5, scale=(width,), shift=(width,)),
        },
    }
    generator = np.random.default_rng(0)
    tokens = generator.integers(0, words, (2, length + 1)).astype(np.int32)
    return Network(parameters, forward, label_cross_entropy, tokens[:, :-1], tokens[:, 1:])


NETWORKS = {"perceptron": perceptron, "convolutional": convolutional, "transformer": transformer}
