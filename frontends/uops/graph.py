"""Graphs of UOps as plain lists, the same for polygrad and tinygrad: each graph is read once, at the start."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape

Key = TypeVar("Key", bound=Hashable)
Key_co = TypeVar("Key_co", bound=Hashable, covariant=True)

VIEWS = ("RESHAPE", "DETACH", "CONTIGUOUS", "CONTIGUOUS_BACKWARD", "COPY")
"""Operations that leave the elements of a buffer in their order."""


@dataclass(frozen=True)
class Node:
    """A UOp as plain data: its operation's name, the name of its type, its shape, its sources by index, and its
    argument.

    The `dtype` of a UOp is a name such as `float`, `int`, `bool`, `weakint`. The `argument` of a UOp is a number
    (CONST), a tuple of axes (PERMUTE, FLIP), a pair of an operation and a count of axes (REDUCE), or None.
    """

    name: str
    dtype: str
    shape: Shape
    sources: tuple[int, ...] = ()
    argument: object = None

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of PERMUTE in their new order, and of FLIP for each axis whether it is reversed."""
        assert isinstance(self.argument, tuple), self
        return self.argument

    @property
    def reduction(self) -> tuple[str, int]:
        """The operation of REDUCE, and over how many first axes it is taken."""
        assert isinstance(self.argument, tuple), self
        operation, count = self.argument
        return operation, count


@dataclass(frozen=True)
class Port:
    """An input that enters a graph at a UOp, by its name; it is flat if the UOp is the input's buffer."""

    name: str
    shape: Shape
    flat: bool = False


@dataclass(frozen=True)
class Graph(Generic[Key_co]):
    """A graph of UOps in an order in which each comes after its sources, the UOps at which inputs enter, and the UOps
    whose values are wanted.
    """

    nodes: list[Node]
    ports: dict[int, Port]
    roots: list[int]
    keys: Sequence[Key_co]
    """The UOp of each node, as an object of tinygrad or polygrad."""


def read(
    roots: Sequence[Key],
    sources: Callable[[Key], Sequence[Key]],
    described: Callable[[Key, tuple[int, ...]], Node],
    ports: Mapping[Key, Port],
    views: Mapping[Key, str],
) -> Graph[Key]:
    """Return the graph of all UOps that the given roots depend on, cut at `ports`. Reading a graph of UOps takes linear
    time, without recursion.

    Raise CircuitizeError if the graph of UOps reads a buffer of which an input, by name in `views`, is only a view.
    """
    places: dict[Key, int] = {}
    nodes: list[Node] = []
    keys: list[Key] = []
    entering: dict[int, Port] = {}
    for root in roots:
        waiting = [root]
        while waiting:
            key = waiting[-1]
            if key in places:
                waiting.pop()
                continue
            port = ports.get(key)
            below = () if port is not None else tuple(sources(key))
            missing = [source for source in below if source not in places]
            if missing:
                waiting.extend(reversed(missing))
                continue
            waiting.pop()
            if key in views:
                raise CircuitizeError(
                    f"{views[key]}: expected a tensor of its own, found a view of a buffer that is read elsewhere too; "
                    "make it contiguous() and realize() it"
                )
            node = described(key, tuple(places[source] for source in below))
            places[key] = len(nodes)
            if port is not None:
                entering[len(nodes)] = port
            nodes.append(node)
            keys.append(key)
    return Graph(nodes, entering, [places[root] for root in roots], keys)
