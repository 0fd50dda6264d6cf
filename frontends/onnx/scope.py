"""The names that nodes of an ONNX graph can read, and the steps of a walk through the graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

from circuitize.circuits.errors import FormatError
from circuitize.frontends.formats import Format

from .elements import Value
from .model import shown
from .protos import AttributeProto, GraphProto, NodeProto
from .quantized import stated
from .tensors import value


@dataclass(frozen=True)
class Scope:
    """The names that an ONNX node can read: those of its graph, and those around the branch it is in; a function's
    nodes can read only the function's names.

    In a scope, `origins` are the names that the function's inputs have where the function is called, `attributes` are
    the values that its ONNX nodes refer to, and `within` are the functions around it. The `formats` of a scope are
    formats for tensors, by the names under which they are written; each format is removed once it is used.
    """

    values: dict[str, Value]
    versions: Mapping[str, int]
    outer: Scope | None = None
    later: frozenset[str] = frozenset()
    origins: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)
    within: frozenset[tuple[str, str]] = frozenset()
    formats: dict[str, Format] = field(default_factory=dict)

    def find(self, name: str) -> Value | None:
        """Return the value of a name in an ONNX graph, sought in this scope and then in the scopes around it; None if
        no scope has it.
        """
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        return None

    def read(self, name: str, where: str) -> Value | None:
        """Return the value that a name in an ONNX graph stands for; None for the name of an input that is left out.
        Raise FormatError if no ONNX node has written the name.
        """
        if not name:
            return None
        found = self.find(name)
        if found is None:
            said = "it written later" if name in self.later else "nothing of that name"
            raise FormatError(
                f"{where}: expected input {name!r} to be written before it is read, found {said}; sort the nodes"
            )
        return found

    def result(self, name: str, where: str) -> Value:
        """Return the value of a result of an ONNX graph or function. Raise FormatError if the result of an ONNX graph
        or function has no name, or no value.
        """
        found = self.read(name, where)
        if found is None:
            raise FormatError(f"{where}: expected results with names, found one without; name it")
        return found

    def write(self, name: str, found: Value, where: str) -> None:
        """Give a name in an ONNX graph its value, rounded to the format stated for the name if there is one. Raise
        FormatError, with the place in the ONNX file, if the name has a value already.
        """
        if name in self.values:
            raise FormatError(f"{where}: expected outputs with names of their own, found {name!r} again; rename one")
        if name:
            self.values[name] = stated(name, found, self.formats)

    def origin(self, name: str) -> str:
        """Return the name that an ONNX function's input has where the function is called; any other name is returned
        unchanged.
        """
        scope: Scope | None = self
        while scope is not None and name not in scope.origins and scope.outer is not None and name not in scope.values:
            scope = scope.outer
        return name if scope is None else scope.origins.get(name, name)


@dataclass(frozen=True)
class Step:
    """An ONNX node that is still to be read, in its scope; `place` is its place in the file, or the place of the node
    around it.
    """

    proto: NodeProto
    scope: Scope
    place: int
    where: str


@dataclass(frozen=True)
class Leave:
    """The end of an ONNX function or branch: a step that gives the results the names that they have outside."""

    inner: Scope
    results: tuple[tuple[str, str], ...]
    outer: Scope
    where: str


class Turn(ABC):
    """The step between two rounds of an ONNX loop, which ends one round and begins the next."""

    @property
    @abstractmethod
    def place(self) -> int:
        """Return the place of the loop in the file."""

    @abstractmethod
    def steps(self) -> list[Step | Leave | Turn]:
        """Return the steps of an ONNX loop's next round, followed by the present step, or an empty list once the loop's
        results are written.
        """


def called(proto: NodeProto, place: int, inside: str) -> str:
    """Return the name of an ONNX node for messages."""
    name = shown(proto.op_type)
    return inside + (f"{name} {proto.name!r}" if proto.name else f"node {place}, {name}")


def entered(
    onnx: ModuleType, graph: GraphProto, scope: Scope, place: int, where: str, given: Mapping[str, Value]
) -> tuple[Scope, list[Step | Leave | Turn]]:
    """Return the scope of a graph inside an ONNX node, which starts from the given values, and the graph's nodes as
    steps.
    """
    if len(graph.sparse_initializer):
        raise FormatError(f"{where}: expected dense initializers, found sparse ones; make them dense")
    values = {entry.name: value(onnx, entry, f"{where}, initializer {entry.name!r}") for entry in graph.initializer}
    later = frozenset(name for entry in graph.node for name in entry.output)
    inner = Scope({**values, **given}, scope.versions, scope, later, {}, scope.attributes, scope.within)
    steps: list[Step | Leave | Turn] = [
        Step(entry, inner, place, called(entry, number, f"{where}: ")) for number, entry in enumerate(graph.node, 1)
    ]
    return inner, steps
