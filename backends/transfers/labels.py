"""The axes of one operation by label: those that enter and leave it, those over which it sums, and those that it needs
whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from circuitize.circuits import arrays, integers
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Shape

from ..axes import repeated


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of the axes of an operation's sources and targets. A label that several arrays of the operation have
    stands for the same axis.

    A tile of the targets needs from each source the part with the same places along shared labels, and everything along
    labels that the targets lack. A `summed` axis may be processed in parts, whose results are joined by the operation
    `join`, "add" or "maximum". A `whole` axis of the operation may not be cut into tiles. The `softened` axis of the
    operation is the axis of a softmax.
    """

    sources: tuple[tuple[str, ...], ...]
    targets: tuple[tuple[str, ...], ...]
    summed: frozenset[str] = field(default_factory=frozenset)
    whole: frozenset[str] = field(default_factory=frozenset)
    join: str = "add"
    softened: frozenset[str] = field(default_factory=frozenset)


CUPS = (arrays.Einsum, integers.Contract)


@lru_cache(maxsize=65536)
def labels(operation: Operation, sources: tuple[Shape, ...], targets: tuple[Shape, ...]) -> Labels:
    """Return the labels of an operation on arrays of the given shapes, from its equation, its axes or its view."""
    if isinstance(operation, CUPS):
        x, y, target = (tuple(letters) for letters in operation.letters)
        return Labels((x, y), (target,), frozenset({*x, *y}) - {*target})
    pairs = repeated(operation, sources, targets)
    names = {axis: f"r{axis}" for axis, _ in pairs}
    made = {place: names[axis] for axis, place in pairs}
    own = tuple(
        tuple(names.get(axis, f"s{number}.{axis}") for axis in range(len(shape)))
        for number, shape in enumerate(sources)
    )
    others = tuple(
        tuple(made.get(axis, f"t{number}.{axis}") for axis in range(len(shape))) for number, shape in enumerate(targets)
    )
    if isinstance(operation, arrays.Softmax):
        axis = frozenset({own[0][operation.axis]})
        return Labels(own, own, softened=axis)
    summed, copied = _summed(operation, own), _copied(operation, others)
    known = {*names.values(), *summed, *copied}
    whole = frozenset({label for each in (*own, *others) for label in each} - known)
    join = "maximum" if isinstance(operation, arrays.Max) else "add"
    return Labels(own, others, summed, whole, join)


def _summed(operation: Operation, sources: Sequence[tuple[str, ...]]) -> frozenset[str]:
    """Return the axes that a reduction removes and over which it can reduce in parts."""
    if isinstance(operation, arrays.Sum):
        return frozenset(sources[0][axis] for axis in operation.axes)
    if isinstance(operation, arrays.Max):
        return frozenset({sources[0][operation.axis]})
    if isinstance(operation, integers.Sum):
        return frozenset(sources[0][axis] for axis in _still(operation.view))
    return frozenset()


def _copied(operation: Operation, targets: Sequence[tuple[str, ...]]) -> frozenset[str]:
    """Return the axes along which a broadcast copies its source."""
    if isinstance(operation, arrays.Broadcast):
        return frozenset(targets[0][axis] for axis in operation.axes)
    if isinstance(operation, integers.Reindex):
        return frozenset(targets[0][axis] for axis in _still(operation.view))
    return frozenset()


def _still(view: integers.View) -> list[int]:
    """Return the axes of a view's target along which the view reads the same element repeatedly."""
    step = view.steps[0] if len(view.steps) == 1 else None
    if not isinstance(step, integers.Affine):
        return []
    return [axis for axis in range(len(step.shape)) if not any(row[axis] for row in step.strides)]
