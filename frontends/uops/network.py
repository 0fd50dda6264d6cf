"""Models of tinygrad and polygrad as `Model`s, which are trained with circuitize's derivative and optimisers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, compose, permute
from circuitize.circuits.types import Array
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Imported, constantly, format_for, require_names
from circuitize.frontends.layers import Model, Parameter
from circuitize.frontends.normalization import STATISTICS

from .objects import U
from .system import System
from .taken import taken


def network(system: System[U], source: object, example: object, formats: Mapping[str, Format] | None = None) -> Model:
    """Return a `Model` that starts from the values of a tinygrad or polygrad model, for `training_step` and `predict`,
    on examples like the given one.

    Tensors that layers update while they train, such as the statistics of batch norms, are state; whole numbers, such
    as counts of batches, keep their values. A parameter whose format is not given has a format that holds values up to
    twice the parameter's. Raise CircuitizeError for a tinygrad or polygrad model of several inputs or outputs, and for
    a format of a tensor that the model does not have.
    """
    given = np.asarray(example.numpy() if system.is_tensor(example) else example)
    names, _ = system.names(getattr(system.unwrapped(source), "__self__", source))
    whole = [name for name, tensor in names.items() if "int" in str(tensor.dtype) or "long" in str(tensor.dtype)]

    @cache
    def found(shape: tuple[int, ...], training: int) -> Imported:
        with system.module("helpers").Context(TRAINING=training):
            return taken(system, source, [np.zeros(shape, given.dtype)], None, None, whole)

    trained = found(given.shape, 1)
    renewed = [name for name in trained.outputs if name in names]
    parameters = [name for name in trained.parameters if name not in renewed]
    outputs = [name for name in trained.outputs if name not in names]
    data = [name for name in trained.inputs if name not in names]
    if (len(data), len(outputs)) != (1, 1):
        raise CircuitizeError(
            f"{system.name}: expected a model of one input and one output, found {len(data)} and {len(outputs)}; "
            "give a function that returns one"
        )
    chosen = dict(formats or {})
    require_names("formats", chosen, (*parameters, *renewed))

    def parameter(name: str, otherwise: Format | None = None) -> Parameter:
        values = trained.parameters[name]
        return Parameter(name, values.shape, constantly(values), chosen.get(name) or otherwise or format_for(values))

    def arrow(batch: Array, training: int = 1) -> Arrow:
        made = found(batch.shape, training)
        kept = [Array(trained.shapes[name]) for name in (*parameters, *renewed)]
        places = {name: place for place, name in enumerate((*parameters, *renewed, *data))}
        ordered = compose(permute([*kept, batch], [places[name] for name in made.inputs]), made.arrow)
        leaving = [made.outputs.index(name) for name in (*outputs, *(renewed if training else []))]
        return compose(ordered, permute(ordered.target, leaving))

    return Model(
        tuple(map(parameter, parameters)),
        arrow,
        system.name,
        tuple(given.shape[1:]),
        tuple(parameter(name, STATISTICS) for name in renewed),
        (lambda batch: arrow(batch, 0)) if renewed else None,
    )
