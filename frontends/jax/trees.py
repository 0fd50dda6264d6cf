"""The names of the leaves of pytrees, taken from their paths, and the types that a trace needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.imported import Reals

from .installed import package
from .jaxprs import Shaped, is_shaped
from .value import kind


@dataclass(frozen=True)
class Leaf:
    """A leaf of a pytree: its name, and the array or its shape and element type."""

    name: str
    content: Shaped

    @property
    def kind(self) -> str:
        """Return the kind of the elements of a pytree's leaf: `float`, `int`, `bool`, `key` or `other`."""
        return kind(self.content.dtype)

    @property
    def is_key(self) -> bool:
        """Return whether a pytree's leaf is a key of random numbers, or several keys, either typed or of two words of
        32 bits each.
        """
        return self.kind == "key" or (str(self.content.dtype) == "uint32" and self.content.shape[-1:] == (2,))

    @property
    def values(self) -> Reals | None:
        """Return the numbers that a pytree's leaf holds, None if it has only a shape and a type."""
        if self.is_key or not hasattr(self.content, "__array__"):
            return None
        return np.asarray(self.content).astype(np.float64)


def leaves(jax: ModuleType, tree: object, root: str) -> tuple[list[Leaf], object]:
    """Return the leaves of a pytree with their names, each prefixed by `root` if that is not empty, and the structure
    of the pytree.

    Raise CircuitizeError for a leaf of a pytree that is no array and for two leaves of one name.
    """
    found, structure = jax.tree_util.tree_flatten_with_path(tree)
    made = []
    for path, content in found:
        inner = jax.tree_util.keystr(path, simple=True, separator=".").replace("/", ".")
        name = f"{root}.{inner}" if root and inner else root or inner
        made.append(Leaf(name, typed(jax, content, name)))
    for name, count in Counter(leaf.name for leaf in made).items():
        if count > 1 or not name:
            raise CircuitizeError(f"expected leaves of distinct names, found {name!r} {count} times; rename one")
    return made, structure


def pytree(like: object, values: Mapping[str, ArrayLike], root: str = "") -> Any:
    """Return values by name, as a program's run gives them, put into the pytree whose leaves have these names.

    The argument `root` is the prefix of the names of a pytree's leaves: for a whole step the name of the function's
    argument, for a model none. Raise CircuitizeError for the name of a leaf without a value.
    """
    jax = package()
    named, structure = leaves(jax, like, root)
    missing = [leaf.name for leaf in named if leaf.name not in values]
    if missing:
        raise CircuitizeError(f"expected a value for {missing[0]!r}, found {sorted(values)}; give it")
    return jax.tree_util.tree_unflatten(structure, [np.asarray(values[leaf.name]) for leaf in named])


def typed(jax: ModuleType, content: object, name: str) -> Shaped:
    """Return an array, or an object with a shape and an element type; a number of Python becomes an array of JAX's type
    for it.
    """
    if is_shaped(content):
        if kind(content.dtype) == "other":
            raise CircuitizeError(
                f"{name}: expected floats, whole numbers or truths, found {content.dtype}; convert it"
            )
        return content
    if isinstance(content, (bool, int, float)):
        return np.asarray(jax.numpy.asarray(content))
    raise CircuitizeError(f"{name}: expected an array or a number, found {type(content).__name__}; convert it")


def like(jax: ModuleType, content: Shaped, shape: tuple[int, ...] | None = None) -> Shaped:
    """Return the shape and the element type of an array, or the same type with another shape."""
    made: Shaped = jax.ShapeDtypeStruct(tuple(content.shape) if shape is None else shape, content.dtype)
    return made
