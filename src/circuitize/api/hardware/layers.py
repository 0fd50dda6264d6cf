"""The layers of a program of reals, and the same program with its weights bound and with the stated format of each
layer's tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays import Constant
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Port
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array, Fixed
from circuitize.frontends.notation import Stated, formatted
from circuitize.frontends.provenance import part, placed_at
from circuitize.frontends.trace import trace

from .config import RESULT, Config

Reals = NDArray[np.float64]
WHOLE = "network"
"""The name of the layer that stands for wires which no part of a model wrote."""


@dataclass(frozen=True)
class Layers:
    """For each layer, in the order of the program, the wires that carry its results, and the names of the layer's
    tensors whose format can be stated.

    Each input that is not held counts as a layer without wires, and so does each parameter whose name does not begin
    with a layer's name.
    """

    results: Mapping[str, tuple[int, ...]]
    tensors: Mapping[str, tuple[str, ...]]


def layers_of(arrow: Arrow, ports: tuple[Port[Fixed], ...]) -> Layers:
    """Return the layers of an arrow: the parts of a model, named by the provenance of its edges."""
    writer = _written(arrow, ports)
    leaving = dict.fromkeys(arrow.outputs.tolist())
    for row, name in zip(arrow.rows, _names(arrow), strict=True):
        leaving |= dict.fromkeys(wire for wire in row[1] if writer.get(wire, name) != name)
    results: dict[str, list[int]] = {name: [] for name in dict.fromkeys(writer.values())}
    for wire in sorted(leaving):
        if wire in writer:
            results[writer[wire]].append(wire)
    held = [port.name for port in ports if port.held]
    tensors = {
        name: (RESULT, *(port.removeprefix(f"{name}.") for port in held if port.startswith(f"{name}.")))
        for name in results
    }
    orphans = tuple(port for port in held if not any(port.startswith(f"{name}.") for name in results))
    entering = {port.name: (RESULT,) for port in ports if not port.held}
    alone = dict.fromkeys(orphans, (RESULT,))
    return Layers({name: tuple(wires) for name, wires in results.items()}, entering | alone | tensors)


def with_layers(program: Program, config: Config, values: Mapping[str, Reals]) -> Program:
    """Return a program with its held inputs bound to values, and with every tensor in the format that is stated for it.

    A parameter without a stated format keeps its port's format. Raise CircuitizeError if a held input has no value or a
    value of another shape, and for formats that do not fit a tensor.
    """
    arrow, builder = program.arrow, Builder()
    found = layers_of(arrow, program.inputs)
    wires = [-1] * arrow.wire_count
    ports: list[Port[Fixed]] = []
    for wire, port in zip(arrow.inputs.tolist(), program.inputs, strict=True):
        layer, tensor = _owner(port.name, found)
        given = config.format(layer, tensor)
        builder.provenance = Provenance(layer)
        if port.held:
            wires[wire] = _bound(builder, port, values, given)
        else:
            ports.append(port if given is None else replace(port, format=_covering(given, port.format.shape)))
            wires[wire] = builder.input(Array(port.format.shape))
            if given is not None and given.low.ndim:
                wires[wire] = _formatted(builder, wires[wire], given, f"LayerName {layer}, Precision of {tensor}")
    says = {wire: config.format(name, RESULT) for name, leaving in found.results.items() for wire in leaving}
    for row, name in zip(arrow.rows, _names(arrow), strict=True):
        builder.provenance = replace(arrow.provenances[row[3]], part=name)
        made = builder.apply(arrow.operations[row[0]], *[wires[wire] for wire in row[1]])
        for wire, result in zip(row[2], made, strict=True):
            given = says.get(wire)
            where = f"LayerName {name}, Precision of {RESULT}"
            wires[wire] = result if given is None else _formatted(builder, result, given, where)
    stated = builder.build([wires[wire] for wire in arrow.outputs.tolist()])
    names = {port.name for port in ports}
    examples = tuple({name: batch[name] for name in batch if name in names} for batch in program.examples)
    return replace(program, arrow=stated, inputs=tuple(ports), examples=examples)


def _formatted(builder: Builder, wire: int, given: Stated, where: str) -> int:
    label = builder.provenance
    try:
        with placed_at((label.file, label.line)), part(label.part):
            piece = trace(lambda x: formatted(x, given), builder.type(wire))
    except CircuitizeError as error:
        raise CircuitizeError(f"{where}: {error}") from None
    return builder.splice(piece, [wire])[0]


def _bound(builder: Builder, port: Port[Fixed], values: Mapping[str, Reals], given: Stated | None) -> int:
    if port.name not in values:
        raise CircuitizeError(f"expected values of {port.name!r}, found {sorted(values)}; give weights= with it")
    value = np.asarray(values[port.name], np.float64)
    if value.shape != port.format.shape:
        raise CircuitizeError(
            f"weights: expected {port.name!r} of shape {list(port.format.shape)}, found {list(value.shape)}; reshape it"
        )
    own = port.format
    if given is None:
        given = Stated(np.array(own.fraction_bits), np.array(own.low), np.array(own.high))
    return _formatted(builder, builder.add(Constant.of(value)), given, f"Precision of {port.name}")


def _owner(port: str, found: Layers) -> tuple[str, str]:
    """Return the layer and the tensor by which a configuration states the format of a port."""
    owners = [name for name in found.results if port.startswith(f"{name}.")]
    layer = max(owners, key=len, default=port)
    return layer, port.removeprefix(f"{layer}.") if owners else RESULT


def _covering(given: Stated, shape: tuple[int, ...]) -> Fixed:
    """Return the one format of a tensor that covers the formats of all its elements."""
    most = int(given.fraction_bits.max())
    shift = most - given.fraction_bits
    return Fixed(shape, most, int((given.low << shift).min()), int((given.high << shift).max()))


def _names(arrow: Arrow) -> list[str]:
    return [arrow.provenances[row[3]].part or WHOLE for row in arrow.rows]


def _written(arrow: Arrow, ports: tuple[Port[Fixed], ...]) -> dict[int, str]:
    """Return, for each wire that depends on a frame's inputs, the layer to which the wire belongs."""
    entering = {wire for wire, port in zip(arrow.inputs.tolist(), ports, strict=True) if not port.held}
    found: dict[int, str] = {}
    for row, name in zip(arrow.rows, _names(arrow), strict=True):
        if any(wire in entering or wire in found for wire in row[1]):
            found |= dict.fromkeys(row[2], name)
    return found
