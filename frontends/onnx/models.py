"""ONNX networks as models, from which training steps are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array, Shape, Type
from circuitize.frontends import imported
from circuitize.frontends.formats import ONE_HOT, Format
from circuitize.frontends.imported import Reals, constantly, format_for, require_names
from circuitize.frontends.layers import Model, Parameter
from circuitize.frontends.normalization import STATISTICS

from .extents import open_or_fixed
from .model import check, read, shown
from .network import Network, network, with_outputs
from .protos import ModelProto
from .training import Training, in_training
from .whole import Interval


def from_onnx(
    source: object,
    dims: Mapping[str, int] | None = None,
    *,
    constants: Collection[str] = (),
    output: str | None = None,
    intervals: Mapping[str, Interval] | None = None,
    known: Mapping[str, ArrayLike] | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Model:
    """Return an ONNX network as a `Model`, whose parameters start from its initializers, so that `training_step` trains
    it.

    The Model of an ONNX network has one input in addition to parameters, whose first axis counts examples, and one
    output, or the output named by `output`. The argument `dims` gives extents that an ONNX file leaves open, except the
    first. In training, batch norm uses the statistics of its batch, and its running statistics are state that each step
    replaces; dropout reads masks, whose shape follows from `dims`. Raise the errors that `network` raises.
    """
    model = read(source)
    check(model)
    entry, axes = _data(model, known or {})
    first, place = axes[0], f"{entry}:0"
    others = {name: extent for name, extent in dict(dims or {}).items() if name not in (place, first)}
    chosen = [output] if output else _only(model)
    model = with_outputs(model, chosen)
    trained = in_training(model)

    def made(batch: int, whole: ModelProto, wanted: Sequence[str]) -> Network:
        if isinstance(first, int) and batch != first:
            raise CircuitizeError(
                f"input {entry!r}: expected a batch of {first} examples, as the file says, found {batch}; export the "
                "model with its first axis dynamic"
            )
        free = {} if isinstance(first, int) else {place: batch}
        return network(whole, {**others, **free}, constants=constants, outputs=wanted, intervals=intervals, known=known)

    batch = first if isinstance(first, int) else (dims or {}).get(place) or (dims or {}).get(first)
    if trained.rates and batch is None:
        raise CircuitizeError(
            f"dims: expected the batch of a network with dropout, whose masks have its shape, found none for "
            f"{place!r}; give dims={{{place!r}: 4}}, or --dim {place}=4"
        )
    one = made(batch or 1, model, chosen)
    inputs = one.shapes[shown(entry)][1:]
    if trained.model is model:
        return imported.model(one.parameters, lambda x: made(x.shape[0], model, chosen), inputs, "onnx", formats)
    return _with_state(one, model, trained, chosen, made, formats or {}, batch or 1, entry)


def _only(model: ModelProto) -> list[str]:
    names = [entry.name for entry in model.graph.output]
    if len(names) != 1:
        raise CircuitizeError(f"expected one output, found {names}; choose one: output={names[0]!r}, or --only-output")
    return names


def _with_state(
    one: Network,
    plain: ModelProto,
    trained: Training,
    chosen: Sequence[str],
    made: Callable[[int, ModelProto, Sequence[str]], Network],
    formats: Mapping[str, Format],
    batch: int,
    data: str,
) -> Model:
    """Return a Model whose statistics and masks are state, for parameters P, state S and inputs X: P x S x X -> Y x S'
    in training, P x S x X -> Y outside training.
    """
    statistics = [name for name in trained.renewed if name in one.parameters]
    wanted = [*chosen, *(trained.renewed[name] for name in statistics)]
    require_names("formats", formats, one.parameters)
    whole = made(batch, trained.model, wanted)
    parameters: list[Parameter] = []
    state: list[Parameter] = []
    for name, values in one.parameters.items():
        usual = STATISTICS if name in statistics and np.abs(values).max() < 256 else format_for(values)
        kept = Parameter(name, values.shape, constantly(values), formats.get(name) or usual)
        (state if name in statistics else parameters).append(kept)
    state.sort(key=lambda kept: statistics.index(kept.name))
    masks = [name for name in whole.inputs if name not in one.inputs]
    # A name that is taken already has marks behind it.
    rates = [trained.rates[name.rstrip("'")] for name in masks]
    state += [
        Parameter(name, whole.shapes[name], _mask(rate), ONE_HOT, fresh=True)
        for name, rate in zip(masks, rates, strict=True)
    ]
    names = [*(kept.name for kept in (*parameters, *state)), shown(data)]

    def entering(x: Array) -> list[Type]:
        return [*(kept.type for kept in (*parameters, *state)), x]

    def training(x: Array) -> Arrow:
        net = made(x.shape[0], trained.model, wanted)
        places = [names.index(name) for name in (*net.inputs, *masks)]
        return compose(
            permute(entering(x), places), tensor(net.arrow, identity(*(Array(net.shapes[m]) for m in masks)))
        )

    def inference(x: Array) -> Arrow:
        net = made(x.shape[0], plain, chosen)
        return compose(permute(entering(x), [names.index(name) for name in net.inputs]), net.arrow)

    return Model(tuple(parameters), training, "onnx", one.shapes[shown(data)][1:], tuple(state), inference)


def _mask(rate: float) -> Callable[[np.random.Generator, Shape], Reals]:
    return lambda generator, shape: (generator.random(shape) >= rate).astype(np.float64)


def _data(model: ModelProto, known: Collection[str]) -> tuple[str, list[int | str]]:
    """Return the one input of an ONNX graph that is no initializer, and its extents: numbers, or the names of open
    extents.
    """
    held = {entry.name for entry in model.graph.initializer}
    entries = [entry for entry in model.graph.input if entry.name not in held and entry.name not in known]
    if len(entries) != 1:
        raise CircuitizeError(
            f"expected one input besides parameters, found {[entry.name for entry in entries]}; use its program instead"
        )
    tensor = entries[0].type.tensor_type
    axes: list[int | str] = []
    for extent in tensor.shape.dim:
        fixed = open_or_fixed(extent)
        axes.append(str(extent.dim_param) if fixed is None else fixed)
    if not axes:
        raise CircuitizeError(
            f"input {entries[0].name!r}: expected a first axis that counts examples, found none; use its program "
            "instead"
        )
    return entries[0].name, axes
