"""The axes over which an operation is repeated: the operation's result at a place along such an axis depends only on
the sources' elements at that place.
"""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits import arrays, integers
from circuitize.circuits.integers.steps import Affine, Regroup
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Shape

ELEMENTWISE = (
    *(arrays.Add, arrays.Subtract, arrays.Negate, arrays.Detach, arrays.Scale, arrays.Multiply, arrays.Divide),
    *(arrays.Greater, arrays.Select, arrays.ReLU, arrays.Clip, arrays.Floor, arrays.Ceil, arrays.Round, arrays.Exp),
    *(arrays.Reciprocal, arrays.Log, arrays.SquareRoot, arrays.ReciprocalSquareRoot, arrays.Sin, arrays.Cos),
    *(arrays.Softplus, arrays.Erf, arrays.GELU, arrays.GELUSlope, arrays.TanhGELU, arrays.TanhGELUSlope),
    *(arrays.Sigmoid, arrays.Tanh, arrays.Square, arrays.Power, arrays.Maximum, arrays.Minimum, arrays.Abs),
    *(arrays.Sign, arrays.ELU, arrays.Quantize),
)
"""Real operations that act on each element separately. Operations without a rule here state by `pointwise`, as integer
operations do, that they act on each element separately.
"""

HEXAGONS = (
    *(arrays.Reshape, arrays.Transpose, arrays.Broadcast, arrays.Slice, arrays.Pad, arrays.Flip, arrays.Concatenate),
    *(arrays.Window, integers.Reindex, integers.Concatenate),
)

Pairs = list[tuple[int, int]]
"""Axes over which an operation is repeated, as pairs of the axis of each source and the axis of each target."""


def repeated(operation: Operation, sources: Sequence[Shape], targets: Sequence[Shape]) -> Pairs:
    """Return the axes of each source and of each target over which an operation on arrays of the given shapes is
    repeated.

    The axes over which a contraction is repeated follow from its equation. An operation of an unknown kind counts as
    repeated over no axis.
    """
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
        return [(axis, place) for place, axis in enumerate(operation.axes)]
    if isinstance(operation, arrays.Slice):
        return [(k, k) for k, _ in alike if (operation.starts[k], operation.stops[k]) == (0, source[k])]
    if isinstance(operation, arrays.Pad):
        return [(k, k) for k, _ in alike if operation.before[k] == operation.after[k] == 0]
    if isinstance(operation, (arrays.Window, arrays.OverlapAdd)):
        return [(k, k) for k in range(min(len(source), len(target))) if k not in operation.axes]
    return _by_fields(operation, source, target)


def _by_fields(operation: Operation, source: Shape, target: Shape) -> Pairs:
    """Return the pairs of source and target axes over which an operation with one source is repeated: all axes except
    those in its field `axis` or `axes`.
    """
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


def _regrouped(source: Shape, target: Shape) -> Pairs:
    """Return the axes over which a reshape is repeated: the axes before and after those that it splits or merges, along
    which elements keep their order.
    """
    least = min(len(source), len(target))
    first = next((k for k in range(least) if source[k] != target[k]), least)
    last = next((k for k in range(least - first) if source[-1 - k] != target[-1 - k]), least - first)
    behind = [(len(source) - 1 - k, len(target) - 1 - k) for k in reversed(range(last))]
    return [(k, k) for k in range(first)] + behind


def _of_steps(steps: Sequence[Regroup | Affine], source: Shape, target: Shape) -> Pairs:
    """Return the axes over which a view is repeated: along each of these a single target axis follows a single source
    axis, and no other target axis follows that source axis.
    """
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
    return found
