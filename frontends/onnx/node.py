"""The view of one ONNX node that the node's translation has, and the table of translations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.attention import MASKED
from circuitize.frontends.provenance import current
from circuitize.frontends.tensor import Tensor

from .elements import EXACT, Element, Known, Value
from .model import MOST
from .protos import AttributeProto, NodeProto
from .whole import Interval, bounded, exact, wrapped


class Made(NamedTuple):
    """A result of an ONNX node with properties that the operator's schema does not state: its element type, and the
    interval of whole numbers.
    """

    content: Tensor | Known
    element: Element | None = None
    interval: Interval | None = None


Result: TypeAlias = Tensor | Known | Made
T = TypeVar("T", bound=Callable[["Node"], Result | Sequence[Result]])


class Translation(NamedTuple):
    """The translation of an ONNX operator, and the kinds of elements that it takes.

    The flag `moves` of a translation says that the results hold only elements of the ONNX node's inputs, or zeros, so
    that whole numbers keep their interval. The `ignores` of a translation are attributes that do not affect the
    results' values; any other attribute that an ONNX node has and the translation does not read is refused. For a
    translation without `folds`, known inputs become wires too: the result has a stated format, which known arrays do
    not have.
    """

    function: Callable[[Node], Result | Sequence[Result]]
    kinds: frozenset[str]
    moves: bool
    ignores: frozenset[str]
    folds: bool = True


MASKS = -(2.0**126)
"""A known float of at most this stands for -infinity: exporters write masks as the least float32, too."""

OPERATORS: dict[str, Translation] = {}
"""The translations by ONNX's name; several opset versions share a translation, which checks `Node.version` where the
versions differ.
"""

FLOATS, NUMBERS, ANY = frozenset({"float"}), frozenset({"float", "int"}), frozenset({"float", "int", "bool"})
BOOLS, WHOLE_NUMBERS = frozenset({"bool"}), frozenset({"int"})


class UnknownValue(CircuitizeError):
    """The error for a value that decides about shapes but is not known when the ONNX graph is read; `wire` is its
    wire.
    """

    def __init__(self, name: str, message: str, wire: int = -1) -> None:
        super().__init__(message)
        self.name = name
        self.wire = wire


def constant(builder: Builder, value: Known) -> Tensor:
    """Return a known array as a wire, with -infinity replaced by `MASKED`, a number that is far below every score.

    Raise CircuitizeError for whole numbers that float64 does not hold, and for floats that are not finite, other than
    -infinity.
    """
    if value.dtype.kind in "iu" and value.size and not exact(int(value.min()), int(value.max())):
        raise CircuitizeError(
            f"expected whole numbers up to 2^52, found some up to {int(value.max())}; use smaller ones"
        )
    held = np.asarray(value, np.float64)
    if value.dtype.kind == "f":
        held = np.where(held <= MASKS, MASKED, held)
        if not np.isfinite(held).all():
            raise CircuitizeError("expected known floats that are finite, found others; replace them")
    builder.provenance = current()
    return Tensor(builder, builder.add(arrays.Constant.of(held)))


def operator(
    *names: str,
    kinds: frozenset[str] = FLOATS,
    moves: bool = False,
    ignores: Sequence[str] = (),
    folds: bool = True,
) -> Callable[[T], T]:
    """Register a translation under ONNX's names, for first inputs of the given kinds of elements."""

    def enter(translation: T) -> T:
        for name in names:
            OPERATORS[name] = Translation(translation, ANY if moves else kinds, moves, frozenset(ignores), folds)
        return translation

    return enter


class Attributes(dict[str, Any]):
    """The attributes of an ONNX node by name, including the schema's defaults, with records of which were given and
    which were read.
    """

    def __init__(self, entries: Mapping[str, object], given: frozenset[str]) -> None:
        super().__init__(entries)
        self.given = given
        self.read: set[str] = set()

    def get(self, name: str, default: object = None) -> Any:
        """Return an attribute of an ONNX node, or the default, and record that the attribute was read."""
        self.read.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.read.add(str(name))
        return super().__contains__(name)


@dataclass(frozen=True)
class Node:
    """An ONNX node: its operator, the opset, attributes with the schema's defaults, the values that it reads, and the
    results' types.

    An input that an ONNX node leaves out is None. The field `proto` is the ONNX node in the file, and `entries` are its
    attributes in the file. Raise CircuitizeError for any part of the ONNX node that its translation does not expect.
    """

    operator: str
    name: str
    opset: int
    attributes: Attributes
    names: Sequence[str]
    inputs: Sequence[Value | None]
    results: Sequence[Element | None]
    builder: Builder
    domain: str = ""
    proto: NodeProto | None = None
    entries: Sequence[AttributeProto] = ()

    @property
    def version(self) -> int:
        """Return the opset that the ONNX graph states for the domain of the node's operator."""
        return self.opset

    @property
    def outputs(self) -> int:
        """Return how many results the ONNX node names, including those left out."""
        return len(self.results)

    @property
    def element(self) -> Element:
        """Return the element type of the ONNX node's first result."""
        found = self.results[0]
        assert found is not None
        return found

    def attribute(self, name: str, default: object) -> Any:
        """Return an attribute of the ONNX node, or its schema's default, or else the given default."""
        return self.attributes.get(name, default)

    def number(self, name: str, default: float) -> float:
        """Return an attribute of the ONNX node that is a number."""
        return float(self.attributes.get(name, default))

    def choice(self, name: str, default: str, *others: str) -> str:
        """Return an attribute of the ONNX node that is one of several words."""
        found = self.attributes.get(name, default)
        if found not in (default, *others):
            raise self.fault(f"expected {name} to be one of {[default, *others]}, found {found!r}; correct it")
        return str(found)

    def flag(self, name: str, default: int) -> bool:
        """Return an attribute of the ONNX node that is 0 or 1."""
        found = self.attributes.get(name, default)
        if found not in (0, 1):
            raise self.fault(f"expected {name} to be 0 or 1, found {found}; correct it")
        return bool(found)

    def has(self, index: int) -> bool:
        """Return whether the ONNX node names an input at the given place."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def value(self, index: int = 0) -> Value:
        """Return an input of the ONNX node with its element type."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None:
            raise self.fault(f"expected an input {index}, found none; name it")
        return found

    def tensor(self, index: int = 0) -> Tensor:
        """Return an input of the ONNX node as a tensor; a known input becomes a constant."""
        content = self.value(index).content
        return content if isinstance(content, Tensor) else constant(self.builder, content)

    def tensors(self) -> list[Tensor]:
        """Return all inputs of the ONNX node as tensors; known arrays become constants."""
        return [self.tensor(index) for index in range(len(self.inputs))]

    def interval(self, index: int = 0) -> Interval:
        """Return the interval of the whole numbers in an input of the ONNX node."""
        value = self.value(index)
        return value.low, value.high

    @property
    def whole(self) -> bool:
        """Return whether the first input of the ONNX node holds whole numbers."""
        return self.value().element.kind == "int"

    def kept(self, made: Tensor, interval: Interval, reach: int = 0, wraps: bool = True) -> Result:
        """Return an ONNX node's result of whole numbers of the given interval, wrapped as the result's element type
        wraps; floats are returned unchanged.

        The argument `reach` is the greatest magnitude of an intermediate result; no number may wrap if `wraps` is
        false, or if the element type has 64 bits. Raise CircuitizeError if float64 does not hold the intermediate
        results exactly.
        """
        element, (low, high) = self.element, interval
        if element.kind == "float":
            return made
        if max(-low, high, reach) > EXACT:
            raise self.fault(
                f"expected {element.name} results of at most 2^52 in magnitude, found an interval up to "
                f"2^{max(-low, high, reach).bit_length()}; give the intervals of the inputs"
            )
        if element.low <= low and high <= element.high:
            return Made(made, element, interval)
        if not wraps or element.bits == 64:
            raise self.fault(
                f"expected results in the interval of {element.name}, found [{low}, {high}]; "
                "give the intervals of the inputs"
            )
        return Made(wrapped(made, element), element, (element.low, element.high))

    def known(self, index: int, what: str) -> Known:
        """Return the value of an ONNX node's input that decides about shapes, which must be known. Raise UnknownValue
        if the input is not known when the ONNX graph is read.
        """
        content = self.value(index).content
        if isinstance(content, Tensor):
            name = self.names[index]
            raise UnknownValue(
                name,
                f"expected {what} of {self.operator} to be known, found input {name!r}; fix its value",
                content.wire,
            )
        return content

    def scalar(self, index: int, what: str) -> Any:
        """Return the single element of an input of an ONNX node whose value is known."""
        found = self.known(index, what)
        if found.size != 1:
            raise self.fault(f"expected {what} as one element, found shape {list(found.shape)}; give a scalar")
        return found.reshape(-1)[0].item()

    def integers(self, index: int, what: str) -> list[int]:
        """Return a known input of the ONNX node as a list of whole numbers."""
        found = self.known(index, what)
        if found.ndim > 1 or found.dtype.kind not in "iu":
            raise self.fault(f"expected {what} as a list of whole numbers, found shape {list(found.shape)}; flatten it")
        return [int(entry) for entry in found.reshape(-1)]

    def axis(self, given: int, rank: int, ends: bool = False) -> int:
        """Return the number of an axis of a tensor, counted from 0; with `ends`, the rank itself counts as an axis."""
        if not -rank <= given < rank + ends:
            raise self.fault(f"expected an axis from {-rank} to {rank - 1 + ends}, found {given}; correct it")
        return int(given) if given == rank or given >= 0 else int(given) + rank

    def along(self, x: Tensor, default: int) -> int:
        """Return the ONNX node's attribute `axis`, the number of an axis of x."""
        return self.axis(self.attribute("axis", default), x.ndim)

    def rows(self, x: Tensor) -> Tensor:
        """Return x as a matrix whose columns run over all axes from the attribute `axis` on."""
        axis = self.along(x, 1)
        return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))

    def distinct(self, given: Sequence[int], rank: int) -> tuple[int, ...]:
        """Return the given axes of a tensor, counted from 0, in the given order, if all are distinct."""
        axes = tuple(self.axis(axis, rank) for axis in given)
        if len(set(axes)) != len(axes):
            raise self.fault(f"expected distinct axes, found {list(given)}; name each once")
        return axes

    def axes(self, rank: int, index: int, default: Sequence[int]) -> tuple[int, ...]:
        """Return axes from the attribute of an ONNX node (older opsets) or from a known input, counted from 0,
        ascending.
        """
        found = self.attributes.get("axes")
        if found is None:
            found = self.integers(index, "the axes") if self.has(index) else default
        return tuple(sorted(self.distinct(found, rank)))

    def several(self, found: Sequence[float], count: int, what: str) -> list[int]:
        """Return the entries of an ONNX node's attribute as whole numbers. Raise CircuitizeError unless the attribute
        of the ONNX node has `count` entries.
        """
        if len(found) != count:
            raise self.fault(f"expected {count} {what}, found {len(found)}; correct the node")
        return [int(entry) for entry in found]

    def ranked(self, x: Tensor, least: int, most: int = 1 << 30) -> Tensor:
        """Return the tensor x, if its rank is from `least` to `most`."""
        if not least <= x.ndim <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}" if most < 1 << 30 else f"at least {least}"
            raise self.fault(f"expected a tensor of rank {wanted}, found shape {list(x.shape)}; reshape it")
        return x

    def bounded(self, count: int, what: str) -> int:
        """Return the number of elements of a tensor, checked before the tensor is made."""
        return bounded(count, MOST, what)

    def fault(self, message: str) -> CircuitizeError:
        """Return an error whose message begins with the ONNX node's operator and name."""
        return CircuitizeError(f"{self}: {message}")

    def __str__(self) -> str:
        return (
            f"{self.operator} {self.name!r} (opset {self.opset})"
            if self.name
            else f"{self.operator} (opset {self.opset})"
        )
