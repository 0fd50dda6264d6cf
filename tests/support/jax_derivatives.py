"""Values and reverse derivatives by JAX, compiled once for each function and its shapes, not once a primitive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def pulled(function: Callable[..., Any]) -> Callable[[Sequence[Any], Any], tuple[Any, list[Any]]]:
    """(sources, cotangent) -> (value, cotangents of the sources), arrays or trees of them."""

    @jax.jit
    def compiled(sources: Any, cotangent: Any) -> Any:
        value, pullback = jax.vjp(function, *sources)
        return value, pullback(cotangent)

    def call(sources: Sequence[Any], cotangent: Any) -> tuple[Any, list[Any]]:
        value, below = compiled(*jax.tree.map(jnp.asarray, (list(sources), cotangent)))
        return jax.tree.map(np.asarray, value), jax.tree.map(np.asarray, list(below))

    return call
