"""Weights by number, so that views of the same weights are taken once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from circuitize.backends.tensor.forms import Product

from .arithmetic import Elements
from .weights import Separable, Weights, along

Mix = dict[int, Elements]
"""Weights as a sum: for each number of others its factor."""

Sum = list[tuple[Elements, int, int]]
"""A weighted sum of forms: factors, forms, and the numbers of their weights."""


def add_weights(mix: Mix, number: int, factor: Elements) -> None:
    mix[number] = mix[number] + factor if number in mix else factor


class Numbered:
    """Weights that are numbered, those seen through views among them."""

    def __init__(self, one: Elements) -> None:
        self.one = one
        self.weights: list[Weights] = []
        self.moved: dict[object, int] = {}

    def number(self, weights: Weights) -> int:
        self.weights.append(weights)
        return len(self.weights) - 1

    def behind(self, number: int, path: Iterable[tuple[Any, bool]]) -> int:
        """The number of the weights on what views, or their adjoints, are taken of."""
        for view, sums in path:
            key = (number, view, sums)
            if key not in self.moved:
                self.moved[key] = self.number(along(self.weights[number], view, sums))
            number = self.moved[key]
        return number

    def of_operands(self, product: Product, own: Iterable[tuple[Elements, dict[str, Elements]]]) -> list[Sum]:
        """What is asked of each operand, by factors and weights of letters: of a square's, once."""
        (of_x, of_y, _), (x, y) = product.letters, product.forms
        sides = [(of_x, x)] if x == y and of_x == of_y else [(of_x, x), (of_y, y)]
        wanted: list[Sum] = [[] for _ in sides]
        for place, axes in own:
            for sum, (letters, form) in zip(wanted, sides, strict=True):
                weights = Separable(self.one, tuple(axes[letter] for letter in letters))
                sum.append((place, form, self.number(weights)))
        return wanted
