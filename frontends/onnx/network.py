"""ONNX networks whose float initializers are parameters: programs, and models that training steps are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array, Shape, Type
from circuitize.frontends import imported
from circuitize.frontends.formats import DATA, ONE_HOT, Format
from circuitize.frontends.imported import Reals, constantly, format_for, require_names
from circuitize.frontends.layers import Model, Parameter
from circuitize.frontends.normalization import STATISTICS

from .elements import ELEMENTS, Known
from .extents import Extents, open_or_fixed
from .graph import UnknownValue, arrow
from .model import check, package, read, shown
from .tensors import value
from .training import Training, in_training
from .whole import Interval

NARROW = 16
"""Inputs of whole numbers up to so many bits have by default the interval of their type."""


@dataclass(frozen=True)
class Network(imported.Imported):
    """An ONNX network: its inputs, as the file orders them, then its parameters; `types` of the inputs by name."""

    types: Mapping[str, str] = field(default_factory=dict)


def network(
    source: Any,
    dims: Mapping[str, int] | None = None,
    *,
    constants: Collection[str] = (),
    outputs: Sequence[str] = (),
    intervals: Mapping[str, Interval] | None = None,
    known: Mapping[str, ArrayLike] | None = None,
) -> Network:
    """The program of an ONNX model (a ModelProto, or the path of a file), its float initializers as parameters.

    Parameters are initializers of finite floats with at least one axis that some node reads; `constants`, names of
    these or "weights" for all, stay in the circuit, and so does what decides about shapes. `dims` says extents that the
    file leaves open: by name, `batch`, or by input and axis, `x:0`. `outputs` are by default all; `known` inputs have
    these values, of their element types. Raises as `arrow` does, and CircuitizeError for a name that the graph has not.
    """
    model = _with_outputs(read(source), outputs)
    check(model)
    parameters = _parameters(model)
    require_names("constants", dict.fromkeys(constants), [*parameters, imported.WEIGHTS])
    told = _typed(model, known or {})
    kept = {} if imported.WEIGHTS in constants else {n: v for n, v in parameters.items() if n not in constants}
    while True:
        try:
            made = arrow(model, told, intervals, dims=dims, parameters=kept)
            break
        except UnknownValue as error:
            deciding = _behind(model, error.name) & set(kept)
            if not deciding:
                raise
            kept = {name: values for name, values in kept.items() if name not in deciding}
    names = tuple(shown(name) for name in made.inputs)
    leaving = tuple(shown(name) for name in made.outputs)
    held = {shown(name): values for name, values in kept.items()}
    return Network(made.arrow, names, leaving, held, dict(zip(names, made.input_types, strict=True)))


def _typed(model: Any, known: Mapping[str, ArrayLike]) -> dict[str, Known]:
    """Values of inputs, of the element types that the model says."""
    require_names("known", known, [entry.name for entry in model.graph.input])
    elements = {entry.name: ELEMENTS.get(entry.type.tensor_type.elem_type) for entry in model.graph.input}
    found = {}
    for name, given in known.items():
        element, array = elements[name], np.asarray(given)
        if element is None:
            raise CircuitizeError(f"known input {name!r}: expected numbers, found another type; leave it out")
        if array.dtype.kind not in "biuf" or (element.kind != "float" and (array != np.rint(array)).any()):
            wanted = "numbers" if element.kind == "float" else "whole numbers"
            raise CircuitizeError(f"known input {name!r}: expected {wanted}, found {excerpt(given)}; correct it")
        found[name] = array.astype(element.dtype)
    return found


def from_onnx(
    source: Any,
    dims: Mapping[str, int] | None = None,
    *,
    constants: Collection[str] = (),
    output: str | None = None,
    intervals: Mapping[str, Interval] | None = None,
    known: Mapping[str, ArrayLike] | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Model:
    """An ONNX network as a `Model`, whose parameters start from its initializers: `training_step` trains it.

    The model has one input beside parameters, whose first axis counts examples, and one output, or `output`. `dims` are
    extents that the file leaves open, but for the first. In training batch norm takes its batch's statistics, and its
    own are state that each step renews; dropout takes masks, of the shape that the first of `dims` gives them. Raises
    as `network` does.
    """
    model = read(source)
    check(model)
    entry, axes = _data(model, known or {})
    first, place = axes[0], f"{entry}:0"
    others = {name: extent for name, extent in dict(dims or {}).items() if name not in (place, first)}
    chosen = [output] if output else _only(model)
    model = _with_outputs(model, chosen)
    trained = in_training(model)

    def made(batch: int, whole: Any, wanted: Sequence[str]) -> Network:
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


def _only(model: Any) -> list[str]:
    names = [entry.name for entry in model.graph.output]
    if len(names) != 1:
        raise CircuitizeError(f"expected one output, found {names}; choose one: output={names[0]!r}, or --only-output")
    return names


def _with_state(
    one: Network,
    plain: Any,
    trained: Training,
    chosen: Sequence[str],
    made: Callable[[int, Any, Sequence[str]], Network],
    formats: Mapping[str, Format],
    batch: int,
    data: str,
) -> Model:
    """A model whose statistics and masks are state: P x S x X -> Y x S' in training, P x S x X -> Y outside."""
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


def shape_of(model: Any, dims: Mapping[str, int], name: str) -> Shape:
    """The shape of an input of a model, with these extents."""
    entry = next(entry for entry in model.graph.input if shown(entry.name) == name)
    return Extents(dims).shape(name, entry.type.tensor_type.shape.dim)


def default_format(name: str, type: str) -> Format:
    """Of an input of that element type: of floats sixteenths from 0 to 1, of narrow whole numbers all of them.

    Raises CircuitizeError for wide whole numbers.
    """
    element = next(element for element in ELEMENTS.values() if element.name == type)
    if element.kind == "float":
        return DATA
    if element.kind == "bool":
        return ONE_HOT
    if element.bits > NARROW:
        raise CircuitizeError(
            f"input {name!r}: expected an interval of its {type}, found none; say --format {name}=LOW:HIGH, or "
            "formats= and intervals= in Python"
        )
    return Format(0, element.low, element.high)


def _with_outputs(model: Any, wanted: Sequence[str]) -> Any:
    """The model with only these of its outputs, and only what they need."""
    if not wanted:
        return model
    onnx = package()
    by_name = {entry.name: entry for entry in model.graph.output}
    require_names("outputs", dict.fromkeys(wanted), by_name)
    producers = {name: node for node in model.graph.node for name in node.output if name}
    waiting, needed = list(wanted), set()
    while waiting:
        node = producers.get(waiting.pop())
        if node is not None and id(node) not in needed:
            needed.add(id(node))
            waiting += node.input
    graph = onnx.GraphProto(name=model.graph.name)
    graph.node.extend(node for node in model.graph.node if id(node) in needed)
    read_names = {name for node in graph.node for name in node.input} | set(wanted)
    graph.initializer.extend(entry for entry in model.graph.initializer if entry.name in read_names)
    graph.input.extend(entry for entry in model.graph.input if entry.name in read_names)
    graph.output.extend(by_name[name] for name in wanted)
    cut = onnx.ModelProto(ir_version=model.ir_version, graph=graph)
    cut.opset_import.extend(model.opset_import)
    cut.functions.extend(model.functions)
    return cut


def _parameters(model: Any) -> dict[str, Reals]:
    """Initializers that may be parameters, by name, with their values."""
    onnx = package()
    used = {name for node in model.graph.node for name in node.input}
    found = {}
    for entry in model.graph.initializer:
        element = ELEMENTS.get(entry.data_type)
        if entry.name in used and entry.dims and element is not None and element.kind == "float":
            values = value(onnx, entry, f"initializer {entry.name!r}").content
            if values.size and np.isfinite(values).all():
                found[entry.name] = np.asarray(values, np.float64)
    return found


def _behind(model: Any, name: str) -> set[str]:
    """What a value is made of: all names that it follows from."""
    producers = {made: node for node in model.graph.node for made in node.output if made}
    waiting, found = [name], {name}
    while waiting:
        node = producers.get(waiting.pop())
        for given in node.input if node is not None else ():
            if given and given not in found:
                found.add(given)
                waiting.append(given)
    return found


def _data(model: Any, known: Collection[str]) -> tuple[str, list[int | str]]:
    """The one input beside initializers, and its extents: numbers, or the names of those that are open."""
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


def types_of(model: Any) -> dict[str, str]:
    """The element types of a model's inputs by name, initializers left out; "" for what is not read."""
    held = {entry.name for entry in model.graph.initializer}
    found = {entry.name: ELEMENTS.get(entry.type.tensor_type.elem_type) for entry in model.graph.input}
    return {shown(name): element.name if element else "" for name, element in found.items() if name not in held}
