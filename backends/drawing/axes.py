"""Which axes an operation acts on, and which it repeats over: those go around its box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from itertools import pairwise

import numpy as np

from circuitize.circuits import arrays, integers
from circuitize.circuits.integers.steps import Affine, Regroup
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Shape

Label = str
"""Names an axis of an operation: equal labels are one axis, which enters and leaves."""


class Form(Enum):
    """What an operation is drawn as."""

    CUP = "strands that meet: a contraction"
    HEXAGON = "elements are moved, copied or left out, none is computed"
    BOX = "anything else"


@dataclass(frozen=True, slots=True)
class Strands:
    """The axes of an operation's sources and targets, by label, and its form.

    A label of every source and every target is an axis over which the operation is repeated: the result at a place
    along it depends on the sources at that place alone. In a cup it may be a label of one source; a label that the
    target lacks is summed.
    """

    form: Form
    sources: tuple[tuple[Label, ...], ...]
    targets: tuple[tuple[Label, ...], ...]

    @property
    def around(self) -> tuple[Label, ...]:
        """The axes that go around the box, in the order of the first target; of a cup, all of the target."""
        first = self.targets[0] if self.targets else ()
        if self.form is Form.CUP:
            return first
        if not self.sources:
            return ()
        return tuple(label for label in first if all(label in one for one in (*self.sources, *self.targets[1:])))


def strands(operation: Operation, sources: Sequence[Shape], targets: Sequence[Shape]) -> Strands:
    """How an operation is drawn on arrays of these shapes. What nothing is known of takes all axes into its box."""
    if isinstance(operation, (arrays.Einsum, integers.Contract)):
        *operands, target = (tuple(letters) for letters in operation.letters)
        return Strands(Form.CUP, tuple(operands), (target,))
    form = Form.HEXAGON if isinstance(operation, HEXAGONS) else Form.BOX
    pairs = _repeated(operation, sources, targets)
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


ELEMENTWISE = (
    *(arrays.Add, arrays.Subtract, arrays.Negate, arrays.Detach, arrays.Scale, arrays.Multiply, arrays.Divide),
    *(arrays.Greater, arrays.Select, arrays.ReLU, arrays.Clip, arrays.Floor, arrays.Ceil, arrays.Round, arrays.Exp),
    *(arrays.Reciprocal, arrays.Log, arrays.SquareRoot, arrays.ReciprocalSquareRoot, arrays.Sin, arrays.Cos),
    *(arrays.Softplus, arrays.Erf, arrays.GELU, arrays.GELUSlope, arrays.TanhGELU, arrays.TanhGELUSlope),
    *(arrays.Sigmoid, arrays.Tanh, arrays.Square, arrays.Power, arrays.Maximum, arrays.Minimum, arrays.Abs),
    *(arrays.Sign, arrays.ELU, arrays.Quantize),
)
"""Real operations of each element by itself. Others say so by `pointwise`, as those of integers do."""

HEXAGONS = (
    *(arrays.Reshape, arrays.Transpose, arrays.Broadcast, arrays.Slice, arrays.Pad, arrays.Flip, arrays.Concatenate),
    *(arrays.Window, integers.Reindex, integers.Concatenate),
)

Pairs = list[tuple[int, int]]
"""Axes over which an operation is repeated: of each source, and of each target."""


def _repeated(operation: Operation, sources: Sequence[Shape], targets: Sequence[Shape]) -> Pairs:
    if not sources or len(targets) != 1:
        return []
    source, target = sources[0], targets[0]
    alike = [(axis, axis) for axis in range(len(source))]
    if isinstance(operation, ELEMENTWISE) or getattr(operation, "pointwise", False):
        return alike if all(shape == source for shape in (*sources, *targets)) else []
    if isinstance(operation, (arrays.Concatenate, integers.Concatenate)):
        return [pair for pair in alike if pair[0] != operation.axis]
    if len(sources) != 1:
        return []
    if isinstance(operation, integers.Reindex):
        return _of_steps(operation.view.steps, source, target)
    if isinstance(operation, integers.Sum):
        return [(to, of) for of, to in _of_steps(operation.view.steps, target, source)]
    if isinstance(operation, arrays.Reshape):
        return _regrouped(source, target)
    if isinstance(operation, arrays.Transpose):
        return _ends([pair for pair in alike if operation.axes[pair[0]] == pair[1]], len(source))
    if isinstance(operation, arrays.Slice):
        return [(k, k) for k, _ in alike if (operation.starts[k], operation.stops[k]) == (0, source[k])]
    if isinstance(operation, arrays.Pad):
        return [(k, k) for k, _ in alike if operation.before[k] == operation.after[k] == 0]
    if isinstance(operation, (arrays.Window, arrays.OverlapAdd)):
        return [(k, k) for k in range(min(len(source), len(target))) if k not in operation.axes]
    return _by_fields(operation, source, target)


def _by_fields(operation: Operation, source: Shape, target: Shape) -> Pairs:
    """Of one source: by its field `axis` or `axes`, which go, come, or stay and are acted on."""
    given = getattr(operation, "axes", getattr(operation, "axis", None))
    if isinstance(operation, arrays.Rescale):
        return [(axis, axis) for axis in range(len(source)) if axis != operation.axis]
    acted = (given,) if isinstance(given, int) else given
    if not isinstance(acted, tuple) or not all(isinstance(axis, int) for axis in acted):
        return []
    rest = [axis for axis in range(max(len(source), len(target))) if axis not in acted]
    if source == target:
        return [(axis, axis) for axis in rest]
    if tuple(source[axis] for axis in rest if axis < len(source)) == target:
        return [(axis, place) for place, axis in enumerate(rest)]
    if isinstance(operation, arrays.Broadcast):
        return [(place, axis) for place, axis in enumerate(rest)]
    return []


def _ends(pairs: Pairs, rank: int) -> Pairs:
    """Of axes that stay in place, those before and behind all that move."""
    stay = {axis for axis, _ in pairs}
    first = next((axis for axis in range(rank) if axis not in stay), rank)
    last = next((axis for axis in reversed(range(rank)) if axis not in stay), -1)
    return [pair for pair in pairs if pair[0] < first or pair[0] > last]


def _regrouped(source: Shape, target: Shape) -> Pairs:
    """The axes before and behind those that are split or merged: elements keep their order."""
    least = min(len(source), len(target))
    first = next((k for k in range(least) if source[k] != target[k]), least)
    last = next((k for k in range(least - first) if source[-1 - k] != target[-1 - k]), least - first)
    behind = [(len(source) - 1 - k, len(target) - 1 - k) for k in reversed(range(last))]
    return [(k, k) for k in range(first)] + behind


def _of_steps(steps: Sequence[Regroup | Affine], source: Shape, target: Shape) -> Pairs:
    """The axes of a view that each source axis follows one target axis along, and that no other follows."""
    if len(steps) != 1:
        return [(axis, axis) for axis in range(len(source))] if not steps else []
    (step,) = steps
    if isinstance(step, Regroup):
        return _regrouped(source, target)
    found: Pairs = []
    for axis, (offset, row) in enumerate(zip(step.offsets, step.strides, strict=True)):
        moved = [place for place, stride in enumerate(row) if stride]
        if len(moved) == 1 and row[moved[0]] == 1 and not offset and source[axis] == target[moved[0]]:
            others = [other for other in step.strides if other[moved[0]]]
            found += [(axis, moved[0])] if len(others) == 1 else []
    if any(later[1] < earlier[1] for earlier, later in pairwise(found)):
        return _ends([pair for pair in found if pair[0] == pair[1]], len(source))
    return found


def _plain(value: object) -> object:
    """A number out of an array that is one."""
    return value.item() if isinstance(value, (np.ndarray, np.generic)) and not value.ndim else value


def parameters(operation: Operation) -> str:
    """The short parameters of an operation that strands do not show: numbers and words."""
    shown = [
        f"{value:.6g}" if isinstance(value, float) else str(value)
        for one in fields(operation)  # type: ignore[arg-type]
        if one.init and one.name not in ("axis", "axes", "equation", "shape")
        if isinstance(value := _plain(getattr(operation, one.name)), (int, float, str)) and not isinstance(value, bool)
    ]
    return " ".join(word for word in shown if word)
