"""A forward function of JAX as a `Model`, which circuitize's derivative trains from the given values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array, Shape
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Reals, constantly, format_for, require_names
from circuitize.frontends.layers import Model, Parameter

from .equation import Draw
from .installed import package
from .translation import Translated, named, translate, whole
from .trees import Leaf, leaves, like, typed


def from_jax(
    forward: Callable[..., object],
    parameters: object,
    inputs: object,
    *,
    state: object = None,
    key: object = None,
    inference: Callable[..., object] | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Model:
    """Return a model, for `training_step` and `predict`, from a function of JAX.

    The function of JAX `forward(parameters, inputs)` returns predictions. With `state`, such as running statistics, the
    function of JAX is `forward(parameters, state, inputs)`, which returns predictions and the new state. With a `key`,
    the last argument of `forward` is the key of random numbers: the numbers drawn with the key become inputs of each
    step, `mask1` and so on. The function `inference` of a JAX model has the same arguments as `forward` except for the
    key, and returns only the predictions that the model gives outside training; without `inference` these are the
    predictions of `forward`.

    The `parameters` and the `state` of a JAX model are pytrees of arrays; their leaves are named by their paths. The
    argument `inputs` is a batch, or its shape and element type, whose first axis counts examples; a model that draws
    takes only batches of this extent. The argument `formats` gives formats of a JAX model's parameters, of its state
    and of whole numbers given as `inputs`; whole numbers are by default from 0 to 2^15 - 1. Raise CircuitizeError, with
    the user's line, for anything in a JAX model that a circuit cannot compute.
    """
    jax = package()
    weights, _ = leaves(jax, parameters, "")
    kept, _ = leaves(jax, state, "")
    batch = typed(jax, inputs, "inputs")
    if not batch.shape:
        raise CircuitizeError("inputs: expected a batch whose first axis counts examples, found one number")
    chosen = dict(formats or {})
    trees = (parameters, *(() if state is None else (state,)))

    def translated(function: Callable[..., object], shape: Shape, draws: bool, renews: bool) -> Translated:
        example = like(jax, batch, shape)
        beside = (key,) if draws and key is not None else ()
        entering = [*weights, *kept, Leaf("inputs", example), *leaves(jax, beside, "key")[0]]
        structure = jax.tree_util.tree_structure((*trees, example, *beside))
        name = named(function)

        def leaving(found: object) -> list[str]:
            return _names(jax, found, state, renews, kept)

        return translate(function, entering, structure, leaving, chosen, name, raises=True)

    first = translated(forward, tuple(batch.shape), True, state is not None)
    first.warn()
    fresh = tuple(_fresh(draw, chosen) for draw in first.draws)
    known = [leaf.name for leaf in (*weights, *kept)]
    require_names("formats", chosen, {*known, "inputs", *(p.name for p in fresh)})
    if fresh and inference is None:
        raise CircuitizeError(
            "forward: expected a function for predictions beside one that draws, found none; give inference=..., "
            "such as the same function without dropout"
        )
    every = len(weights) + len(kept)

    def training(found: Array) -> Arrow:
        if fresh and found.shape[0] != batch.shape[0]:
            raise CircuitizeError(
                f"model: expected a batch of {batch.shape[0]}, as that of its draws, found {found.shape[0]}; "
                "read the function again with such a batch"
            )
        made = first if found.shape == tuple(batch.shape) else translated(forward, found.shape, True, state is not None)
        return _arranged(made, every, len(fresh))

    def predicting(found: Array) -> Arrow:
        assert inference is not None
        return _beside(translated(inference, found.shape, False, False), every, fresh)

    def frozen(found: Array) -> Arrow:
        """Return the arrow to the predictions of a JAX function with state that has no variant for inference; the new
        state is left out.
        """
        made = translated(forward, found.shape, True, True)
        builder = Builder()
        wires = builder.splice(made.arrow, builder.inputs(list(made.arrow.source)))
        return builder.build(wires[:1])

    if len(first.outputs) != 1 + len(kept):
        raise CircuitizeError(
            f"forward: expected one array of predictions, found {len(first.outputs) - len(kept)}; choose one"
        )
    other = predicting if inference is not None else frozen if kept else None
    return Model(
        tuple(_parameter(leaf, chosen) for leaf in weights),
        training,
        named(forward),
        tuple(batch.shape[1:]),
        (*(_parameter(leaf, chosen) for leaf in kept), *fresh),
        other,
    )


def _names(jax: ModuleType, found: object, state: object, renews: bool, kept: list[Leaf]) -> list[str]:
    """Return the names of the predictions and of the new state in what `forward` returns."""
    if not renews:
        count = len(jax.tree_util.tree_leaves(found))
        return ["predictions"] if count == 1 else [f"predictions{n}" for n in range(1, count + 1)]
    wanted = jax.tree_util.tree_structure(state)
    if not isinstance(found, tuple) or len(found) != 2 or jax.tree_util.tree_structure(found[1]) != wanted:
        raise CircuitizeError(
            "forward: expected predictions and the new state, of the structure of the state given, found other "
            "results; return (predictions, state)"
        )
    return [*_names(jax, found[0], None, False, []), *(leaf.name for leaf in kept)]


def _parameter(leaf: Leaf, formats: Mapping[str, Format]) -> Parameter:
    values = leaf.values
    if values is None:
        raise CircuitizeError(f"{leaf.name}: expected the values to start from, found a shape; give an array")
    default = format_for(values) if leaf.kind == "float" else whole(leaf)
    return Parameter(leaf.name, tuple(values.shape), constantly(values), formats.get(leaf.name) or default)


def _fresh(draw: Draw, formats: Mapping[str, Format]) -> Parameter:
    def drawn(generator: np.random.Generator, shape: Shape) -> Reals:
        return draw.drawn(generator)

    return Parameter(draw.name, draw.shape, drawn, formats.get(draw.name) or draw.format, fresh=True)


def _arranged(made: Translated, every: int, draws: int) -> Arrow:
    """Return the arrow P x S x X x draws -> Y x S' with its wires reordered as P x S x draws x X -> Y x S' x draws, for
    parameters P, state S and inputs X.
    """
    if not draws:
        return made.arrow
    source, builder = list(made.arrow.source), Builder()
    before, fresh = builder.inputs(source[:every]), builder.inputs(source[every + 1 :])
    data = builder.input(source[every])
    return builder.build([*builder.splice(made.arrow, [*before, data, *fresh]), *fresh])


def _beside(made: Translated, every: int, fresh: Sequence[Parameter]) -> Arrow:
    """Return the arrow P x S x X -> Y, for parameters P, state S and inputs X, as an arrow P x S x draws x X -> Y that
    does not read the draws.
    """
    source, builder = list(made.arrow.source), Builder()
    before = builder.inputs(source[:every])
    builder.inputs([parameter.type for parameter in fresh])
    data = builder.input(source[every])
    return builder.build(builder.splice(made.arrow, [*before, data]))
