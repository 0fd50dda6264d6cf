"""One random ONNX node under construction: element types, shapes, inputs and attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from circuitize.frontends.onnx.elements import NAMED, Element
from circuitize.frontends.onnx.schema import Signature

Random = np.random.Generator
Shape = tuple[int, ...]
NUMPY = {"float": np.float32, "double": np.float64, "float16": np.float16}
READ = sorted(name for name in NAMED if name != "tensor(bfloat16)")


class Draw:
    """One node under construction: its inputs, which of them are initializers, its attributes."""

    def __init__(self, random: Random, operator: str, opset: int, signature: Signature) -> None:
        self.random, self.operator, self.opset, self.signature = random, operator, opset, signature
        self.inputs: list[tuple[np.ndarray[Any, Any], Element, bool] | None] = []
        self.attributes: dict[str, Any] = {}
        self.outputs = 1
        self.bound: dict[str, Element] = {}

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def shape(self, least: int = 0, most: int = 4, extent: int = 4) -> Shape:
        if self.chance(0.01):
            extent = 0
        return tuple(self.whole(min(1, extent), extent) for _ in range(self.whole(least, most)))

    def element(self, index: int) -> Element:
        """The element type of an input: bound by its variable, or drawn from those that the schema allows."""
        formal = self.signature.formal(index)
        found = self.bound.get(formal.variable)
        if found is None or (not formal.homogeneous):
            allowed = [name for name in READ if name in formal.types]
            name = "tensor(float)" if "tensor(float)" in allowed and self.chance(0.5) else self.one(allowed or READ)
            found = self.bound.setdefault(formal.variable, NAMED[name])
        return found

    def give(self, shape: Shape, domain: str = "any", known: float = 0.2) -> np.ndarray[Any, Any]:
        """One more input of that shape, with elements of a domain; an initializer so often."""
        element = self.element(len(self.inputs))
        array = elements(self.random, element, shape, domain)
        self.inputs.append((array, element, self.chance(known)))
        return array

    def fixed(self, values: Any, known: float = 0.95) -> None:
        """One more input with these elements: what decides about shapes."""
        element = self.element(len(self.inputs))
        array = np.asarray(values)
        array = array.astype(NUMPY.get(element.name, element.name)) if array.size else np.zeros(array.shape, np.int64)
        self.inputs.append((array, element, self.chance(known)))

    def skip(self) -> None:
        self.inputs.append(None)

    def maybe(self, name: str, value: Any, share: float = 0.5) -> Any:
        """An attribute, given so often where the opset has it; its value or None."""
        if name in self.signature.attributes and self.chance(share):
            self.attributes[name] = value
            return value
        return None

    def axis(self, rank: int) -> int:
        """An axis, negative ones among them, seldom one that there is not."""
        if self.chance(0.01):
            return int(self.one([rank, -rank - 1, 1 << 40, -(1 << 62)]))
        return self.whole(-rank if self.opset >= 11 or self.chance(0.05) else 0, rank - 1) if rank else 0

    def axes(self, rank: int) -> list[int]:
        found = [int(axis) for axis in self.random.permutation(rank)[: self.whole(0, rank)]]
        return [axis - rank if self.opset >= 13 and self.chance(0.3) else axis for axis in found]


def elements(random: Random, element: Element, shape: Shape, domain: str) -> np.ndarray[Any, Any]:
    if element.kind == "bool":
        return random.integers(0, 2, shape).astype(np.bool_)
    if element.kind == "int":
        low, high = max(element.low, -(1 << 52)), min(element.high, 1 << 52)
        if domain == "small":
            low, high = max(low, -4), min(high, 4)
        kind = int(random.integers(3))
        near = random.integers(max(low, -9), min(high, 9), shape, endpoint=True)
        anywhere = random.integers(low, high, shape, endpoint=True)
        corners = np.array([low, high, low + 1, high - 1, 0, 1, min(high, 7)])
        chosen = (near, anywhere, corners[random.integers(0, len(corners), shape)])[kind]
        if domain == "nonzero":
            chosen = np.where(chosen == 0, 3, chosen)
        return np.asarray(chosen).astype(element.name)
    values = random.normal(0, 2, shape)
    if random.random() < 0.3:
        values = np.round(values * 2) / 2
    elif random.random() < 0.1:
        values = values * 10
    if domain == "positive":
        values = np.abs(values) + 0.1
    elif domain == "above one":
        values = np.abs(values) + 1.05
    elif domain == "inside one":
        values = np.tanh(values) * 0.9
    elif domain == "nonzero":
        values = np.where(np.abs(values) < 0.1, 0.7, values)
    elif domain == "small":
        values = np.clip(values, -4, 4)
    return np.asarray(values).astype(NUMPY[element.name])


Recipe = Callable[[Draw], None]
"""Draws the inputs and attributes of one node."""
