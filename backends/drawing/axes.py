"""The axes on which an operation acts, and the axes over which it is repeated: a picture draws the latter around the
operation's box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from itertools import pairwise

import numpy as np

from circuitize.circuits import arrays, integers
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Shape

from ..axes import HEXAGONS, Pairs, repeated

Label = str
"""A name for an axis of an operation: equal labels are one axis, which enters the operation and leaves it."""


class Form(Enum):
    """The shape with which an operation is drawn."""

    CUP = "strands that meet: a contraction"
    HEXAGON = "elements are moved, copied or left out, none is computed"
    BOX = "anything else"


@dataclass(frozen=True, slots=True)
class Strands:
    """The axes of an operation's sources and targets, by label, and the shape with which the operation is drawn.

    A label that every source and every target has is an axis over which the operation is repeated: the result at a
    place along that axis depends only on the sources' elements at that place. For a contraction, which is drawn as a
    cup, a label may belong to one source only; a label that the target lacks is summed over.
    """

    form: Form
    sources: tuple[tuple[Label, ...], ...]
    targets: tuple[tuple[Label, ...], ...]

    @property
    def around(self) -> tuple[Label, ...]:
        """Return the axes that are drawn around the box, in the order of the first target; for a contraction, these are
        all axes of the target.
        """
        first = self.targets[0] if self.targets else ()
        if self.form is Form.CUP:
            return first
        if not self.sources:
            return ()
        return tuple(label for label in first if all(label in one for one in (*self.sources, *self.targets[1:])))


def strands(operation: Operation, sources: Sequence[Shape], targets: Sequence[Shape]) -> Strands:
    """Return the axes and the shape with which an operation is drawn on arrays of the given shapes. An operation of an
    unknown kind is drawn with all axes entering its box.
    """
    if isinstance(operation, (arrays.Einsum, integers.Contract)):
        *operands, target = (tuple(letters) for letters in operation.letters)
        return Strands(Form.CUP, tuple(operands), (target,))
    form = Form.HEXAGON if isinstance(operation, HEXAGONS) else Form.BOX
    pairs = _in_order(repeated(operation, sources, targets), len(sources[0]) if sources else 0)
    names = {axis: f"around{axis}" for axis, _ in pairs}
    at_target = {axis: names[own] for own, axis in pairs}
    every = set(names)
    return Strands(
        form,
        tuple(
            tuple(names[axis] if axis in every else f"in{place}.{axis}" for axis in range(len(shape)))
            for place, shape in enumerate(sources)
        ),
        tuple(
            tuple(at_target.get(axis, f"out{place}.{axis}") for axis in range(len(shape)))
            for place, shape in enumerate(targets)
        ),
    )


def _in_order(pairs: Pairs, rank: int) -> Pairs:
    """Return the axes to draw around a box: all repeated axes, unless their strands would cross; then only the axes
    that keep their place before and after all axes that change it.
    """
    if all(earlier[1] < later[1] for earlier, later in pairwise(sorted(pairs))):
        return pairs
    stay = {axis for axis, place in pairs if axis == place}
    first = next((axis for axis in range(rank) if axis not in stay), rank)
    last = next((axis for axis in reversed(range(rank)) if axis not in stay), -1)
    return [(axis, axis) for axis in range(rank) if axis in stay and (axis < first or axis > last)]


def _plain(value: object) -> object:
    """Return the number in an array that holds a single number; return any other value unchanged."""
    return value.item() if isinstance(value, (np.ndarray, np.generic)) and not value.ndim else value


def parameters(operation: Operation) -> str:
    """Return the parameters of an operation that its strands do not show and that are short: numbers and words."""
    shown = [
        f"{value:.6g}" if isinstance(value, float) else str(value)
        for one in fields(operation)  # type: ignore[arg-type]
        if one.init and one.name not in ("axis", "axes", "equation", "shape")
        if isinstance(value := _plain(getattr(operation, one.name)), (int, float, str)) and not isinstance(value, bool)
    ]
    return " ".join(word for word in shown if word)
