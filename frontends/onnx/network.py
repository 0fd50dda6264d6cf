"""ONNX networks as programs: float initializers are parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.types import Shape
from circuitize.frontends import imported
from circuitize.frontends.formats import DATA, ONE_HOT, Format
from circuitize.frontends.imported import Reals, require_names

from .batch_norm import folded
from .elements import ELEMENTS, Known
from .extents import Extents
from .graph import UnknownValue, arrow
from .model import check, package, read, shown
from .protos import ModelProto
from .tensors import value
from .whole import Interval

NARROW = 16
"""The most bits of whole-number inputs that have by default the interval of their type."""


@dataclass(frozen=True)
class Network(imported.Imported):
    """An ONNX network: its inputs, as the file orders them, then its parameters; `types` are the element types of the
    inputs by name.
    """

    types: Mapping[str, str] = field(default_factory=dict)


def network(
    source: object,
    dims: Mapping[str, int] | None = None,
    *,
    constants: Collection[str] = (),
    outputs: Sequence[str] = (),
    intervals: Mapping[str, Interval] | None = None,
    known: Mapping[str, ArrayLike] | None = None,
    fold_batch_norms: bool = False,
) -> Network:
    """Return the program of an ONNX model (a ModelProto, or the path of a file), with its float initializers as
    parameters.

    The parameters of an ONNX network are initializers of finite floats with at least one axis that some node reads;
    those that `constants` names, or all if it names "weights", become constants of the circuit instead, and so do
    initializers that decide about shapes. The argument `dims` gives extents that an ONNX file leaves open: by name,
    `batch`, or by input and axis, `x:0`. The argument `outputs` lists the outputs of the program, by default all; the
    inputs in `known` have the given values, of their element types. With `fold_batch_norms`, the batch norms after
    convolutions are folded into them, as `batch_norm.folded` says. Raise the errors that `arrow` raises, and
    CircuitizeError for a name that the ONNX graph does not have.
    """
    model = with_outputs(read(source), outputs)
    check(model)
    if fold_batch_norms:
        model = folded(model)
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


def _typed(model: ModelProto, known: Mapping[str, ArrayLike]) -> dict[str, Known]:
    """Return the values of inputs, in the element types that the ONNX model declares."""
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


def shape_of(model: ModelProto, dims: Mapping[str, int], name: str) -> Shape:
    """Return the shape of an input of an ONNX model, with the given extents."""
    entry = next(entry for entry in model.graph.input if shown(entry.name) == name)
    return Extents(dims).shape(name, entry.type.tensor_type.shape.dim)


def default_format(name: str, type: str) -> Format:
    """Return the format of an input of the given element type: for floats sixteenths from 0 to 1, for narrow whole
    numbers all numbers of their type.

    Raise CircuitizeError for an input of whole numbers of a wide element type.
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


def with_outputs(model: ModelProto, wanted: Sequence[str]) -> ModelProto:
    """Return the ONNX model with only the given outputs, and only the nodes that these need."""
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
    cut: ModelProto = onnx.ModelProto(ir_version=model.ir_version, graph=graph)
    cut.opset_import.extend(model.opset_import)
    cut.functions.extend(model.functions)
    return cut


def _parameters(model: ModelProto) -> dict[str, Reals]:
    """Return the initializers of an ONNX model that may be parameters, by name, with their values."""
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


def _behind(model: ModelProto, name: str) -> set[str]:
    """Return all names of an ONNX graph from which a value is computed."""
    producers = {made: node for node in model.graph.node for made in node.output if made}
    waiting, found = [name], {name}
    while waiting:
        node = producers.get(waiting.pop())
        for given in node.input if node is not None else ():
            if given and given not in found:
                found.add(given)
                waiting.append(given)
    return found


def types_of(model: ModelProto) -> dict[str, str]:
    """Return the element types of an ONNX model's inputs by name, without those of initializers; "" for a type that is
    not read.
    """
    held = {entry.name for entry in model.graph.initializer}
    found = {entry.name: ELEMENTS.get(entry.type.tensor_type.elem_type) for entry in model.graph.input}
    return {shown(name): element.name if element else "" for name, element in found.items() if name not in held}
