"""Functions of JAX as models, losses and whole steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import Program
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import format_for, require_names
from circuitize.frontends.tensor import Tensor

from .equation import Context
from .installed import package
from .translation import Translated, named, traced, translate, whole
from .trees import Leaf, leaves
from .value import Value
from .walk import run

Batch = Mapping[str, NDArray[np.float64]]
Loss = Callable[[Tensor, Tensor], Tensor]


def from_jax_loss(function: Callable[[Any, Any], object], classes: int | None = None) -> Loss:
    """Return a loss for `training_step` from a function of JAX of predictions and targets; the derivative is
    circuitize's.

    With `classes`, the targets of a JAX loss are whole numbers (int32) from 0 to classes - 1: give `target_shape=()` to
    `training_step` as well.
    """
    jax = package()
    if classes is not None and classes < 1:
        raise CircuitizeError(f"loss: expected at least 1 class, found {classes}; count the classes of the targets")

    def measured(predictions: Tensor, targets: Tensor) -> Tensor:
        real = jax.numpy.result_type(float)
        words = (real, real if classes is None else np.dtype(np.int32))
        like = [jax.ShapeDtypeStruct(x.shape, word) for x, word in zip((predictions, targets), words, strict=True)]
        closed, _ = traced(jax, function, like, named(function))
        if len(closed.out_avals) != 1:
            raise CircuitizeError(f"loss: expected one number, found {len(closed.out_avals)} results; return the mean")
        values = [Value(predictions, words[0]), Value(targets, words[1], 0, (classes or 1) - 1)]
        (found,) = run(Context(jax, predictions.builder, raises=True), closed, values)
        return found.content if isinstance(found.content, Tensor) else predictions.constant(found.array())

    return measured


def imported(
    function: Callable[..., object],
    *arguments: object,
    renews: int | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Translated:
    """Return a function of pytrees as an arrow with named wires; `from_jax_step` says how wires are named, and which
    results are new values of arguments.

    The field `parameters` of the imported arrow has the values of those arguments that have new values among the
    results.
    """
    made, _ = _imported(function, arguments, renews, dict(formats or {}))
    return made


def from_jax_step(
    function: Callable[..., object],
    *arguments: object,
    renews: int | None = None,
    formats: Mapping[str, Format] | None = None,
    visibility: Mapping[str, Visibility | str] | None = None,
    examples: Sequence[Batch] | None = None,
) -> Program:
    """Return the program of a whole training step written in JAX, from pytrees to pytrees.

    The inputs of a JAX step are named by the names of the function's arguments and by paths within the arguments:
    `params.dense.kernel`. The first `renews` results of a JAX step are the new values of the program's first arguments,
    and have the arguments' names; by default these are all leading results that have the arguments' structure and
    shapes. A result of a JAX step that is no argument's new value is named `loss`, if it is the only such result and a
    number, or else `output1` and so on with its path. Each draw with a key of random numbers in a JAX step becomes an
    input. Whole-number inputs of a JAX step are from 0 to 2^15 - 1 unless `formats` say otherwise; the formats of the
    step's floats hold values up to twice the given ones. If all arguments of a JAX step hold numbers, these are the
    example to calibrate with, together with draws from a fixed seed. Raise CircuitizeError, with the user's line, for
    anything in a JAX step that a circuit cannot compute.
    """
    chosen = dict(formats or {})
    made, entering = _imported(function, arguments, renews, chosen)
    made.warn()
    require_names("formats", chosen, made.inputs)
    fed: dict[str, NDArray[np.float64]] = {}
    for leaf in entering:
        if leaf.is_key:
            continue
        values = leaf.values
        if leaf.kind != "float":
            chosen.setdefault(leaf.name, whole(leaf))
        elif values is not None:
            chosen.setdefault(leaf.name, format_for(values))
        if values is not None:
            fed[leaf.name] = values
    generator = np.random.default_rng(0)
    for draw in made.draws:
        chosen.setdefault(draw.name, draw.format)
        fed[draw.name] = draw.drawn(generator)
    if examples is None:
        batches: list[Batch] = [fed] if all(name in fed for name in made.inputs) else []
    else:
        batches = [{**{draw.name: fed[draw.name] for draw in made.draws}, **batch} for batch in examples]
    return made.program(chosen, visibility=visibility, examples=batches)


def _imported(
    function: Callable[..., object], arguments: Sequence[object], renews: int | None, formats: Mapping[str, Format]
) -> tuple[Translated, list[Leaf]]:
    jax = package()
    name = named(function)
    groups = [leaves(jax, tree, root) for tree, root in zip(arguments, _roots(function, arguments), strict=True)]
    entering = [leaf for group, _ in groups for leaf in group]
    structure = jax.tree_util.tree_structure(tuple(arguments))

    def leaving(returned: object) -> list[str]:
        parts = list(returned) if type(returned) is tuple else [returned]
        count = _renewed(jax, groups, parts, renews, name)
        names = [leaf.name for group, _ in groups[:count] for leaf in group]
        return names + _others(jax, parts[count:], {leaf.name for leaf in entering})

    made = translate(function, entering, structure, leaving, formats, name, raises=False)
    carried = {leaf.name: leaf.values for leaf in entering if leaf.name in made.outputs and leaf.values is not None}
    return replace(made, parameters=carried), entering


def _roots(function: Callable[..., object], arguments: Sequence[object]) -> list[str]:
    """Return the names that a function of JAX has for its arguments."""
    numbered = [f"argument{place}" for place in range(1, len(arguments) + 1)]
    try:
        bound = inspect.signature(function).bind(*range(len(arguments)))
    except TypeError:
        raise CircuitizeError(
            f"{named(function)}: expected the arguments that the function takes, found "
            f"{len(arguments)}; give one pytree for each"
        ) from None
    except ValueError:
        return numbered
    for name, place in bound.arguments.items():
        if isinstance(place, int):
            numbered[place] = name
    return numbered


def _renewed(
    jax: ModuleType, groups: Sequence[tuple[list[Leaf], object]], parts: Sequence[object], renews: int | None, name: str
) -> int:
    """Return the number of leading results of a JAX function that are new values of its leading arguments."""
    alike = 0
    for (group, structure), part in zip(groups, parts, strict=False):
        found, shape = jax.tree_util.tree_flatten(part)
        if shape != structure or [tuple(f.shape) for f in found] != [tuple(leaf.content.shape) for leaf in group]:
            break
        alike += 1
    if renews is not None and not 0 <= renews <= alike:
        raise CircuitizeError(
            f"{name}: expected the first {renews} results to have the structures and shapes of the first arguments, "
            f"found {alike} that do; return them first, or give renews={alike}"
        )
    return alike if renews is None else renews


def _others(jax: ModuleType, parts: Sequence[object], taken: set[str]) -> list[str]:
    """Return the names of those results of a JAX step that are no argument's new value."""
    every = [leaf for part in parts for leaf in jax.tree_util.tree_leaves(part)]
    if len(every) == 1 and not every[0].shape and "loss" not in taken:
        return ["loss"]
    names = [leaf.name for place, part in enumerate(parts, 1) for leaf in leaves(jax, part, f"output{place}")[0]]
    clash = next((name for name in names if name in taken), None)
    if clash is not None:
        raise CircuitizeError(f"expected names of results that no argument has, found {clash!r}; rename the argument")
    return names
