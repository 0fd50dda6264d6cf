"""Forms, which describe tensors by other tensors, kept by wire, so that the next operation that reads a tensor can
become part of a larger operation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.frontends.tensor import Tensor

from .known import Known
from .products import Factor


@dataclass(frozen=True)
class Form:
    """The statement that a tensor is the result of the pattern `name` applied to another tensor, with the axes, the
    number and the second tensor that belong to the pattern.
    """

    name: str
    of: Tensor
    axes: tuple[int, ...] = ()
    number: float = 0.0
    other: Tensor | None = None


def near(x: float, y: float) -> bool:
    """Return whether two numbers are equal up to float32's rounding."""
    return math.isclose(x, y, rel_tol=1e-6)


class Forms:
    """The forms, which are descriptions by other tensors, of the tensors of one arrow."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.forms: dict[int, Form] = {}
        self.known: dict[int, Known] = {}
        """The elements of constants, by wire."""

    def form(self, tensor: Tensor) -> Form | None:
        """Return the form that is recorded for a tensor; None if there is none."""
        return self.forms.get(tensor.wire)

    def times(self, tensor: Tensor, by: Tensor) -> Tensor | None:
        """Return the other factor, if a tensor is the product of `by` and that factor; None if it is not."""
        form = self.form(tensor)
        if form is None or form.name != "times" or form.other is None:
            return None
        pair = (form.of, form.other)
        return next((pair[1 - place] for place in (0, 1) if pair[place].wire == by.wire), None)

    def noted(self, tensor: Tensor, name: str, of: Tensor, axes: Sequence[int] = (), number: float = 0.0) -> Tensor:
        """Record that a tensor is the result of the pattern `name` applied to another tensor, unless the tensor has a
        form already. Return the tensor whose form was recorded.
        """
        self.forms.setdefault(tensor.wire, Form(name, of, tuple(axes), number))
        return tensor

    def is_(self, factor: Factor, name: str) -> Form | None:
        """Return the form of a factor, if the form has the given name."""
        form = self.form(factor.tensor)
        return form if form is not None and form.name == name else None

    def note_tanh(self, tensor: Tensor, x: Tensor, scale: float) -> None:
        """Record that a hyperbolic tangent of scale * x is the one in GELU, if it is."""
        cubic = self.form(x)
        if cubic is not None and cubic.name == "gelu_cubic" and near(scale, math.sqrt(2 / math.pi)):
            self.noted(tensor, "gelu_tanh", cubic.of)


def ordered(factors: Sequence[Factor]) -> tuple[int, ...]:
    """Return all axes of some factors of a product, in the order of the factor that has all of them if there is one,
    otherwise ascending.
    """
    every = {axis for factor in factors for axis in factor.axes}
    return next((f.axes for f in factors if len(f.axes) == len(every)), tuple(sorted(every)))


def along(whole: Factor, axes: Sequence[int], reduced: Factor) -> bool:
    """Return whether the axes of a factor are those of another factor without the removed ones, where removed axes are
    given by their places among the other factor's axes.
    """
    return reduced.axes == tuple(axis for place, axis in enumerate(whole.axes) if place not in axes)
