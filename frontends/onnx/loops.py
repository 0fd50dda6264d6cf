"""ONNX's Scan, and Loop if its rounds are known: the inner graph is written out once for each round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.frontends.functions import concatenate
from circuitize.frontends.indexing import Index
from circuitize.frontends.tensor import Tensor

from .elements import BOOL, INT64, Value
from .node import Attributes, Node, constant
from .protos import AttributeProto, GraphProto
from .schema import Misfit, signature
from .scope import Leave, Scope, Step, Turn, entered

MOST_ROUNDS = 1 << 12


@dataclass
class Rounds(Turn):
    """The state of a loop between two rounds: the values that go from round to round, the values that rounds read in
    turn, and the results of the rounds so far.
    """

    onnx: ModuleType
    step: Step
    builder: Builder
    graph: GraphProto
    count: int
    states: list[Value]
    read: list[list[Value]]
    outputs: list[tuple[int, bool]]
    counting: bool
    done: int = 0
    inner: Scope | None = None
    made: list[list[Value]] = field(default_factory=list)

    @property
    def place(self) -> int:
        return self.step.place

    def steps(self) -> list[Step | Leave | Turn]:
        """Return the steps of a loop's next round; a Loop's graph reads the round's number, a condition and the states,
        and its first result is the new condition.
        """
        more = self.inner is None or self._ended(self.inner)
        if not more or self.done == self.count:
            self._write()
            return []
        given = [*self.states, *(parts[self.done] for parts in self.read)]
        if self.counting:
            first = Value.of(np.array(self.done), INT64), Value.of(np.array(True), BOOL)
            given = [*first, *given]
        names = [entry.name for entry in self.graph.input]
        values = dict(zip(names, given, strict=True))
        where = f"{self.step.where}, round {self.done + 1}"
        self.inner, steps = entered(self.onnx, self.graph, self.step.scope, self.step.place, where, values)
        self.done += 1
        return [*steps, self]

    def _ended(self, inner: Scope) -> bool:
        """Take the results of a loop's round; return False if a Loop's condition ends the loop."""
        found = [inner.result(entry.name, self.step.where) for entry in self.graph.output]
        more = True
        if self.counting:
            more = bool(_known(self.step, self.graph.output[0].name, found[0], self.builder, "the condition"))
            found = found[1:]
        self.states = found[: len(self.states)]
        self.made.append(found[len(self.states) :])
        return more

    def _write(self) -> None:
        step = self.step
        results = [*self.states]
        for index, (axis, backward) in enumerate(self.outputs):
            parts = [each[index] for each in self.made]
            results.append(_stacked(step, self.builder, parts[::-1] if backward else parts, axis))
        for name, result in zip(step.proto.output, results, strict=False):
            step.scope.write(name, result, step.where)


def _known(step: Step, name: str, value: Value, builder: Builder, what: str) -> bool | float:
    node = Node(step.proto.op_type, step.proto.name, 0, Attributes({}, frozenset()), [name], [value], [], builder)
    found: bool | float = node.scalar(0, what)
    return found


def _stacked(step: Step, builder: Builder, parts: Sequence[Value], axis: int) -> Value:
    """Return the values that the rounds of a loop have given, joined along a new axis."""
    if not parts or len({(part.shape, part.element) for part in parts}) > 1:
        raise CircuitizeError(f"{step.where}: expected results of one shape and type, found others; pad them")
    first = parts[0]
    at = axis + len(first.shape) + 1 if axis < 0 else axis
    if not 0 <= at <= len(first.shape):
        raise CircuitizeError(f"{step.where}: expected an axis of {list(first.shape)} and one more, found {axis}")
    known = [part.content for part in parts if not isinstance(part.content, Tensor)]
    if len(known) == len(parts):
        return Value.of(np.stack(known, at), first.element)
    tensors = [p.content if isinstance(p.content, Tensor) else constant(builder, p.content) for p in parts]
    wide = [tensor.reshape(*tensor.shape[:at], 1, *tensor.shape[at:]) for tensor in tensors]
    made = concatenate(wide, at) if len(wide) > 1 else wide[0]
    return Value(made, first.element, min(part.low for part in parts), max(part.high for part in parts))


def _sliced(value: Value, axis: int, place: int) -> Value:
    content = value.content
    if isinstance(content, Tensor):
        index: list[Index] = [slice(None)] * content.ndim
        index[axis] = place
        return Value(content[tuple(index)], value.element, value.low, value.high)
    return Value.of(np.take(content, place, axis), value.element)


def rounds(
    onnx: ModuleType,
    step: Step,
    inputs: Sequence[Value | None],
    builder: Builder,
    entries: Sequence[AttributeProto | None],
) -> list[Step | Leave | Turn]:
    """Begin the first round of a Scan or a Loop."""
    proto, where = step.proto, step.where
    version = step.scope.versions.get("", 0)
    chosen = signature(proto.op_type, version, "")
    if chosen is None or version < 9:
        raise FormatError(f"{where}: expected an opset from 9 on, found an older one; convert the model")
    given, kinds = [entry for entry in entries if entry is not None], onnx.AttributeProto.AttributeType
    try:
        chosen.check([(entry.name, kinds.Name(entry.type) if entry.type in kinds.values() else "?") for entry in given])
    except Misfit as error:
        raise FormatError(f"{where}: {error}") from None
    attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in given}
    graph = attributes["body"]
    taken = _loop if proto.op_type == "Loop" else _scan
    return [taken(onnx, step, inputs, builder, graph, attributes)]


def _loop(
    onnx: ModuleType,
    step: Step,
    inputs: Sequence[Value | None],
    builder: Builder,
    graph: GraphProto,
    attributes: dict[str, Any],
) -> Turn:
    names = [step.scope.origin(name) for name in step.proto.input]
    states = [value for value in inputs[2:] if value is not None]
    made = len(graph.output) - 1 - len(states)
    if len(graph.input) != 2 + len(states) or made < 0 or len(inputs) != 2 + len(states):
        raise FormatError(f"{step.where}: expected a body of as many values as the loop has, found others; correct it")
    count, condition = inputs[:2]
    most = MOST_ROUNDS if count is None else int(_known(step, names[0], count, builder, "the number of rounds"))
    if condition is not None and not _known(step, names[1], condition, builder, "the condition"):
        most = 0
    if most > MOST_ROUNDS:
        raise CircuitizeError(f"{step.where}: expected at most {MOST_ROUNDS} rounds, found {most}; shorten it")
    return Rounds(onnx, step, builder, graph, max(most, 0), states, [], [(0, False)] * made, True)


def _scan(
    onnx: ModuleType,
    step: Step,
    inputs: Sequence[Value | None],
    builder: Builder,
    graph: GraphProto,
    attributes: dict[str, Any],
) -> Turn:
    where, values = step.where, [value for value in inputs if value is not None]
    count = int(attributes.get("num_scan_inputs", 0))
    kept = len(values) - count
    made = len(graph.output) - kept
    if count < 1 or kept < 0 or made < 0 or len(values) != len(inputs) or len(graph.input) != len(values):
        raise FormatError(f"{where}: expected a body of as many values as the scan has, found others; correct it")
    axes = list(attributes.get("scan_input_axes", [0] * count))
    backward = list(attributes.get("scan_input_directions", [0] * count))
    out_axes = list(attributes.get("scan_output_axes", [0] * made))
    out_backward = list(attributes.get("scan_output_directions", [0] * made))
    if (len(axes), len(backward), len(out_axes), len(out_backward)) != (count, count, made, made):
        raise FormatError(f"{where}: expected an axis and a direction for each value, found others; correct the node")
    ranks = [len(value.shape) for value in values[kept:]]
    if any(not -rank <= axis < rank for axis, rank in zip(axes, ranks, strict=True)):
        raise FormatError(f"{where}: expected axes of what is scanned, found {axes}; correct scan_input_axes")
    axes = [axis % rank for axis, rank in zip(axes, ranks, strict=True)]
    extents = {value.shape[axis] for value, axis in zip(values[kept:], axes, strict=True)}
    if len(extents) != 1 or max(extents) > MOST_ROUNDS:
        raise CircuitizeError(f"{where}: expected one extent of all that is scanned, found {sorted(extents)}; cut it")
    (rounds,) = extents
    read = []
    for value, axis, turned in zip(values[kept:], axes, backward, strict=True):
        parts = [_sliced(value, axis, place) for place in range(rounds)]
        read.append(parts[::-1] if turned else parts)
    outputs = [(int(axis), bool(turned)) for axis, turned in zip(out_axes, out_backward, strict=True)]
    return Rounds(onnx, step, builder, graph, rounds, values[:kept], read, outputs, False)
