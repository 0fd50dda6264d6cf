"""One node of an ONNX graph as its translation sees it, and the table of translations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.provenance import current
from circuitize.frontends.trace import Tensor

Known: TypeAlias = NDArray[Any]
Value: TypeAlias = Tensor | Known
Translation: TypeAlias = Callable[["Node"], "Value | Sequence[Value]"]
T = TypeVar("T", bound=Callable[["Node"], Any])

OPERATORS: dict[str, Translation] = {}
"""By ONNX's name; several opset versions share a translation, which looks at `Node.version` where they differ."""


class UnknownValue(CircuitizeError):
    """A value that decides about shapes, and is not known when the graph is read."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def constant(builder: Builder, value: Known) -> Tensor:
    """A known array as a wire."""
    builder.provenance = current()
    return Tensor(builder, builder.add(arrays.Constant.of(np.asarray(value, np.float64))))


def operator(*names: str) -> Callable[[T], T]:
    """Enters a translation under ONNX's names."""

    def enter(translation: T) -> T:
        for name in names:
            OPERATORS[name] = translation
        return translation

    return enter


@dataclass(frozen=True)
class Node:
    """A node: its operator, the opset's version, its attributes, what it reads, and the element types of that.

    An input that is left out is None. `integer` says which inputs hold whole numbers or truth values.
    """

    operator: str
    version: int
    attributes: dict[str, Any]
    names: Sequence[str]
    inputs: Sequence[Value | None]
    integer: Sequence[bool]
    outputs: int
    builder: Builder

    def attribute(self, name: str, default: Any) -> Any:
        found = self.attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def number(self, name: str, default: float) -> float:
        """An attribute that is a number."""
        return float(self.attributes.get(name, default))

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def tensor(self, index: int = 0) -> Tensor:
        """An input as a tensor; what is known becomes a constant."""
        if not self.has(index):
            raise self.fault(f"expected an input {index}, found none")
        value = self.inputs[index]
        assert value is not None
        return value if isinstance(value, Tensor) else constant(self.builder, value)

    def tensors(self) -> list[Tensor]:
        return [self.tensor(index) for index in range(len(self.inputs))]

    def known(self, index: int, what: str) -> Known:
        """An input that decides about shapes. Raises UnknownValue where it is not known when the graph is read."""
        value = self.inputs[index]
        if isinstance(value, Tensor) or value is None:
            name = self.names[index]
            raise UnknownValue(
                name, f"expected {what} of {self.operator} to be known, found input {name!r}; fix its value"
            )
        return value

    def integers(self, index: int, what: str) -> list[int]:
        """A known list of whole numbers."""
        return [int(entry) for entry in np.atleast_1d(self.known(index, what)).reshape(-1)]

    def axes(self, rank: int, index: int, default: Sequence[int]) -> tuple[int, ...]:
        """Axes out of an attribute (older opsets) or a known input, counted from 0, ascending."""
        found = self.attributes.get("axes")
        if found is None:
            found = self.integers(index, "the axes") if self.has(index) else default
        return tuple(sorted(int(axis) % rank for axis in found))

    def fault(self, message: str) -> CircuitizeError:
        return CircuitizeError(f"{self.operator}: {message}")
