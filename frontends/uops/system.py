"""The interface that polygrad and tinygrad share: graphs, names and values of tensors, functions traced without
computing.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from types import ModuleType
from typing import Generic, NoReturn, TypeGuard, TypeVar

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.provenance import refused

from .graph import VIEWS, Graph, Node, Port, read
from .known import Known
from .objects import Tensor, U, is_optimizer

F = TypeVar("F")

READS = ("_buffer", "numpy", "item", "tolist", "data")
"""Methods by which a program reads elements; a function that is brought in must call none of them."""
READING = (
    "expected a function that computes tensors only, found .{name}() in it, whose number would be fixed; "
    "return the tensor, and read it afterwards"
)
DRAWS = ("rand", "randn", "randint", "uniform", "normal", "rand_like", "randperm")
DRAWING = (
    "expected a function of its inputs alone, found .{name}() in it, which draws others in every step; "
    "hand the numbers in as an input, or leave dropout out"
)


MOVING = (*VIEWS, "PERMUTE", "SHRINK", "EXPAND", "FLIP", "PAD")
"""Operations that only move elements."""


@cache
def version(package: str) -> str:
    """Return the version of an installed package; the version is read only once. Raise PackageNotFoundError if a
    package is not installed.
    """
    return metadata.version(package)


@dataclass(frozen=True)
class Cuts(Generic[U]):
    """The UOps at which inputs enter a graph, and the buffers of which an input, by name, is only a part."""

    ports: dict[U, Port]
    views: dict[U, str]

    def without(self, names: Collection[str]) -> Cuts[U]:
        """Return the cuts of a graph of UOps without the inputs of the given names."""
        return Cuts({node: port for node, port in self.ports.items() if port.name not in names}, self.views)


class System(ABC, Generic[U]):
    """One of the packages tinygrad and polygrad, in its supported version."""

    name: str
    version: str

    def module(self, path: str = "") -> ModuleType:
        """Return a module of tinygrad or polygrad. Raise CircuitizeError unless tinygrad or polygrad is installed with
        the supported version.
        """
        remedy = f"pip install 'circuitize[{self.name}]'"
        try:
            found = version(self.name)
        except metadata.PackageNotFoundError:
            raise CircuitizeError(f"expected {self.name} {self.version}, found none; {remedy}") from None
        if found != self.version:
            raise CircuitizeError(f"expected {self.name} {self.version}, found {self.name} {found}; {remedy}")
        return importlib.import_module(f"{self.name}.{path}" if path else self.name)

    @property
    def tensor(self) -> type[Tensor[U]]:
        """Return the class of tensors of the system, tinygrad or polygrad."""
        kind: type[Tensor[U]] = self.module("tensor").Tensor
        return kind

    def is_tensor(self, found: object) -> TypeGuard[Tensor[U]]:
        """Return whether an object is a tensor of the system, tinygrad or polygrad."""
        return isinstance(found, self.tensor)

    def live(self) -> list[Tensor[U]]:
        """Return all tensors of the system, tinygrad or polygrad, that are alive in this process."""
        found = (reference() for reference in list(self.module("tensor").all_tensors))
        return [tensor for tensor in found if tensor is not None]

    @abstractmethod
    def sources(self, uop: U) -> Sequence[U]:
        """Return the UOps that a UOp reads; a buffer, at which its graph ends, reads none."""

    @abstractmethod
    def described(self, uop: U, sources: tuple[int, ...]) -> Node:
        """Return a UOp as plain data, given the places of its sources. Raise CircuitizeError if the UOp's shape is not
        static.
        """

    @abstractmethod
    def elements(self, uop: U) -> Known | None:
        """Return the elements of a buffer that is computed already, flat; None for a UOp that is no such buffer."""

    @abstractmethod
    def saved(self, tensor: Tensor[U]) -> Callable[[], None]:
        """Return a function that gives a tensor back the graph and gradient that it has now."""

    @abstractmethod
    def unwrapped(self, function: F) -> F:
        """Return the function inside a compiled function; any other function is returned unchanged."""

    def written(self) -> Mapping[str, Callable[..., object]]:
        """Return replacements for methods of tensors, by name, that are in effect while a function is traced."""
        return {}

    @abstractmethod
    def compiled(self) -> list[type]:
        """Return the classes of compiled functions of the system, tinygrad or polygrad."""

    @abstractmethod
    def operation(self, uop: U) -> str:
        """Return the name of a UOp's operation."""

    @abstractmethod
    def state_dict(self, found: object) -> Mapping[str, Tensor[U]]:
        """Return the tensors that an object of tinygrad or polygrad holds, by name."""

    def same(self, one: U, other: U) -> bool:
        """Return whether two UOps are the same. (In both tinygrad and polygrad, `!=` between UOps makes another
        UOp.)
        """
        return bool(one == other)

    def fresh(self, values: object) -> Tensor[U]:
        """Return a new tensor of the system, tinygrad or polygrad, with the given elements."""
        given = values.numpy() if self.is_tensor(values) else np.asarray(values)
        options = {"dtype": values.dtype} if self.is_tensor(values) else {}
        if not options and given.dtype == np.float64:
            given = given.astype(np.float32)
        made: Tensor[U] = self.module("tensor").Tensor(np.array(given), **options).realize()
        return made

    def cuts(self, inputs: Mapping[str, Tensor[U]]) -> Cuts[U]:
        """Return the cuts at which the given tensors, with their present graphs of UOps, enter a graph."""
        ports: dict[U, Port] = {}
        views: dict[U, str] = {}
        for name, tensor in inputs.items():
            shape = tuple(map(int, tensor.shape))
            ports[tensor.uop] = Port(name, shape)
            below, plain = tensor.uop, True
            while self.operation(below) in MOVING:
                plain = plain and self.operation(below) in VIEWS
                below = self.sources(below)[0]
            if self.operation(below) == "BUFFER" and below not in ports:
                if plain:
                    ports[below] = Port(name, shape, flat=True)
                else:
                    views[below] = name
        return Cuts(ports, views)

    def graph(self, roots: Sequence[U], cuts: Cuts[U]) -> Graph[U]:
        """Return the graph of all UOps that the given UOps depend on, cut at the inputs."""
        return read(roots, self.sources, self.described, cuts.ports, cuts.views)

    def names(self, state: object) -> tuple[dict[str, Tensor[U]], set[str]]:
        """Return tensors by name, and which of them are an optimiser's own tensors, named after its parameters.

        The argument `state` is a mapping from names to tensors, an object that holds tensors, or a list of such
        objects.
        """
        found: dict[str, Tensor[U]] = {}
        own: set[str] = set()
        for each in self._objects(state):
            known = {id(tensor): name for name, tensor in found.items()}
            optimised = list(each.params) if is_optimizer(each) else None
            if isinstance(each, Mapping) and all(map(self.is_tensor, each.values())):
                held: Mapping[str, Tensor[U]] = each
            else:
                held = self.state_dict(each)
            for tensor in held.values():
                tensor.realize()
            seen = {tensor.uop for tensor in found.values()}
            for key, tensor in sorted(held.items(), key=lambda item: item[0].startswith("_")):
                # Another variable may hold what is one tensor inside.
                if id(tensor) in known or tensor.uop in seen:
                    continue
                seen.add(tensor.uop)
                parts = re.fullmatch(r"(\w+)\.(\d+)", key)
                if parts and optimised and int(parts[2]) < len(optimised):
                    key = f"{parts[1]}.{known.get(id(optimised[int(parts[2])]), parts[2])}"
                if key in found:
                    raise CircuitizeError(
                        f"state: expected each name once, found {key!r} twice; give state as a mapping from names"
                    )
                found[key] = tensor
                if optimised is not None:
                    own.add(key)
        return found, own

    def _objects(self, state: object) -> list[object]:
        waiting, found = [state], list[object]()
        while waiting:
            each = waiting.pop(0)
            if each is None:
                continue
            if isinstance(each, (list, tuple)) and not any(map(self.is_tensor, each)):
                waiting[:0] = each
            elif hasattr(each, "optimizers"):
                waiting[:0] = each.optimizers
            else:
                found.append(each)
        return found

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Make a context in which the system, tinygrad or polygrad, computes nothing: `realize` leaves graphs
        unchanged, and elements cannot be read.
        """

        def kept(tensor: object = None, *others: object, **options: object) -> object:
            return tensor

        def plain(compiled: Callable[..., object], *given: object, **named: object) -> object:
            return self.unwrapped(compiled)(*given, **named)

        cls = self.tensor
        changes: list[tuple[type, str, Callable[..., object]]] = [(cls, "realize", kept)]
        changes += [(cls, name, forbidden(name, READING)) for name in READS if hasattr(cls, name)]
        changes += [(cls, name, forbidden(name, DRAWING)) for name in DRAWS if hasattr(cls, name)]
        changes += [(cls, name, method) for name, method in self.written().items()]
        changes += [(compiled, "__call__", plain) for compiled in self.compiled()]
        own = [(where, name, where.__dict__.get(name)) for where, name, _ in changes]
        try:
            for where, name, method in changes:
                setattr(where, name, method)
            yield
        finally:
            for where, name, before in own:
                if before is None:
                    delattr(where, name)
                else:
                    setattr(where, name, before)


def forbidden(name: str, message: str) -> Callable[..., NoReturn]:
    """Return a method for tensors that raises an error with the user's line and the code to write instead."""

    def method(*given: object, **named: object) -> NoReturn:
        raise refused(message.format(name=name))

    return method
