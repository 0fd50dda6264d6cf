"""A function of JAX as an arrow: JAX traces the function, each equation is translated, and inputs and outputs get
names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from warnings import warn

import numpy as np

from circuitize.circuits.arrays import Constant
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Array
from circuitize.frontends.formats import ONE_HOT, Format, labels
from circuitize.frontends.imported import Imported
from circuitize.frontends.tensor import Tensor

from .equation import Context, Draw
from .installed import package
from .jaxprs import ClosedJaxpr
from .trees import Leaf, like
from .value import Key, Value, range_of
from .walk import run

COUNT = labels(1 << 15)
"""The default format of whole-number inputs: from 0 to 2^15 - 1."""


@dataclass(frozen=True)
class Translated(Imported):
    """An arrow that is made from a function of JAX.

    The `draws` of a traced function of JAX are the random numbers that it draws with given keys; they are the arrow's
    last inputs. The `assumptions` of a traced function of JAX are facts that were taken to hold, each with the line
    that needs it.
    """

    draws: tuple[Draw, ...] = ()
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """The assumptions that may change the function's meaning, about which a user is warned."""

    def warn(self) -> None:
        """Warn of the given assumptions at the line of the user's call."""
        for text in self.warnings:
            warn(text, stacklevel=3)


def named(function: object) -> str:
    """Return the name of a Python function. Raise CircuitizeError if the Python function has no name."""
    if not callable(function):
        raise CircuitizeError(f"expected a function of JAX, found {type(function).__name__}; give one")
    return str(getattr(function, "__name__", type(function).__name__))


def traced(
    jax: ModuleType, function: Callable[..., object], arguments: Sequence[object], name: str
) -> tuple[ClosedJaxpr, object]:
    """Return the jaxpr of a function of JAX, and the shapes of the values that the function returns. Raise
    CircuitizeError if JAX raises an error while it traces the function.
    """
    try:
        closed, returned = jax.make_jaxpr(function, return_shape=True)(*arguments)
    except CircuitizeError:
        raise
    except Exception as error:  # Whatever the user's function, or JAX, raises.
        found = (str(error).strip().splitlines() or [""])[0]
        raise CircuitizeError(
            f"{name}: expected a function that jax.make_jaxpr traces with these arguments, found "
            f"{type(error).__name__}: {found}; call it with them first"
        ) from error
    return closed, returned


def translate(
    function: Callable[..., object],
    entering: Sequence[Leaf],
    structure: object,
    leaving: Callable[[object], list[str]],
    formats: Mapping[str, Format],
    name: str,
    raises: bool,
) -> Translated:
    """Return the arrow of a function of JAX whose arguments have the given leaves; `leaving` names the leaves of its
    results.

    Keys of random numbers are neither inputs nor outputs of the arrow: the numbers drawn with them are inputs. With
    `raises`, functions of JAX that circuitize has as operations are recognised and become these operations. The arrow
    of a JAX function is simplified.
    """
    jax = package()
    arguments = jax.tree_util.tree_unflatten(structure, [like(jax, leaf.content) for leaf in entering])
    closed, returned = traced(jax, function, arguments, name)
    context = Context(jax, Builder(), raises=raises)
    results = run(context, closed, [_entering(context.builder, leaf, formats) for leaf in entering])
    made = [
        (name, _wire(context.builder, value, name))
        for name, value in zip(leaving(returned), results, strict=True)
        if not (isinstance(value.content, Key) or value.kind == "key")
    ]
    if not made:
        raise CircuitizeError(f"{name}: expected a function that returns arrays, found one that returns none")
    draws = tuple(context.draws.values())
    inputs = (*(leaf.name for leaf in entering if not leaf.is_key), *(draw.name for draw in draws))
    arrow = simplify(context.builder.build([wire for _, wire in made]))
    loud = tuple(text for text, warned in context.assumptions.items() if warned)
    outputs = tuple(name for name, _ in made)
    return Translated(arrow, inputs, outputs, {}, draws, tuple(context.assumptions), loud)


def _entering(builder: Builder, leaf: Leaf, formats: Mapping[str, Format]) -> Value:
    """Return the Value of a pytree's leaf: a key of random numbers, or a wire with the interval of its format."""
    shape = tuple(leaf.content.shape)
    if leaf.is_key:
        return Value(Key(("input", leaf.name), shape), leaf.content.dtype)
    wire = Tensor(builder, builder.input(Array(shape)))
    if leaf.kind == "float":
        return Value(wire, leaf.content.dtype)
    format = formats.get(leaf.name) or whole(leaf)
    if format.fraction_bits:
        raise CircuitizeError(
            f"{leaf.name}: expected a format of whole numbers, as {leaf.content.dtype} are, found "
            f"{format.fraction_bits} fraction bits; give 0"
        )
    least, greatest = range_of(leaf.content.dtype)
    if format.low < least or format.high > greatest:
        raise CircuitizeError(
            f"{leaf.name}: expected a format within {leaf.content.dtype}, found {format.low} to {format.high}; "
            "narrow it"
        )
    return Value(wire, leaf.content.dtype, format.low, format.high)


def whole(leaf: Leaf) -> Format:
    """Return the default format of whole numbers, or of truth values: the part of COUNT's interval that their type
    holds.
    """
    _, greatest = range_of(leaf.content.dtype)
    return ONE_HOT if leaf.kind == "bool" else labels(min(COUNT.high, greatest) + 1)


def _wire(builder: Builder, value: Value, name: str) -> int:
    """Return a result of a jaxpr as a wire: a result that is known while tracing becomes a constant."""
    if isinstance(value.content, Tensor):
        return value.content.wire
    array = np.asarray(value.content).astype(np.float64)
    if not array.size:
        raise CircuitizeError(f"{name}: expected arrays with elements, found shape {list(array.shape)}; leave it out")
    return builder.add(Constant.of(array))
