"""The normal form of a view: neighbouring steps are merged if that loses nothing, and identities are removed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from circuitize.circuits.types import Shape

from .steps import Affine, Regroup, Step


@lru_cache(1 << 14)
def normal_form(source: Shape, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return a view with the same map as the given one, with neighbouring steps merged if that changes no element that
    reads outside the source, and without identities.

    The layers of a network read the same views again and again, so the normal form of each view is computed once.
    """
    done: list[Step] = []
    shapes = [source]
    pending = list(reversed(steps))
    while pending:
        step = _tidy(pending.pop(), shapes[-1])
        if step is None:
            continue
        merged = _merge(shapes[-2], done[-1], shapes[-1], step) if done else None
        if merged is None:
            done.append(step)
            shapes.append(step.shape)
        else:
            done.pop()
            shapes.pop()
            pending.append(merged)
    return tuple(done)


def _tidy(step: Step, source: Shape) -> Step | None:
    """Return a step of a view with strides 0 along axes of extent 1, as an affine step if it only adds or removes such
    axes, or None if it is the identity.
    """
    shape = step.shape
    if isinstance(step, Regroup):
        if shape == source:
            return None
        long = [j for j, n in enumerate(shape) if n > 1]
        if [n for n in source if n > 1] != [shape[j] for j in long]:
            return step
        remaining = iter(long)
        axes = [next(remaining) if n > 1 else -1 for n in source]
        return Affine(shape, (0,) * len(source), rows(len(shape), axes))
    step = Affine(
        shape,
        step.offsets,
        tuple(tuple(s if n > 1 else 0 for s, n in zip(row, shape, strict=True)) for row in step.strides),
    )
    return None if shape == source and step.is_regroup(source) else step


def _merge(before: Shape, first: Step, middle: Shape, second: Step) -> Step | None:
    """Return one step that does `first` and then `second`, or None if there is no such step."""
    if isinstance(first, Affine) and isinstance(second, Affine):
        if not second.is_inside(middle) and not _outside_stays_outside(before, first, middle, second):
            return None
        offsets = tuple(
            o + sum(s * x for s, x in zip(row, second.offsets, strict=True))
            for o, row in zip(first.offsets, first.strides, strict=True)
        )
        strides = tuple(
            tuple(
                sum(s * inner[j] for s, inner in zip(row, second.strides, strict=True))
                for j in range(len(second.shape))
            )
            for row in first.strides
        )
        return Affine(second.shape, offsets, strides)
    if all(
        isinstance(step, Regroup) or step.is_regroup(source) for step, source in ((first, before), (second, middle))
    ):
        return Regroup(second.shape)
    return None


def _outside_stays_outside(before: Shape, first: Affine, middle: Shape, second: Affine) -> bool:
    """Return whether each index that step `second` reads outside its source is mapped by step `first` to an index
    outside the source of the whole view, as with padding.
    """
    for axis, extent in enumerate(middle):
        low, high = second.span(axis)
        if low >= 0 and high < extent:
            continue
        alone = [
            (size, offset, row[axis])
            for size, offset, row in zip(before, first.offsets, first.strides, strict=True)
            if row[axis] and not any(stride for j, stride in enumerate(row) if j != axis)
        ]
        for x in ([-1] if low < 0 else []) + ([extent] if high >= extent else []):
            if not any(
                offset + stride * x < 0 if (stride < 0) == (x > 0) else offset + stride * x >= size
                for size, offset, stride in alone
            ):
                return False
    return True


def rows(width: int, axes: Sequence[int], amounts: Sequence[int] | None = None) -> tuple[tuple[int, ...], ...]:
    """Return the stride rows of an affine step, one for each source axis: row i has `amounts[i]` at target axis
    axes[i], and zeros elsewhere.
    """
    amounts = amounts if amounts is not None else (1,) * len(axes)
    return tuple(
        tuple(amount if j == axis else 0 for j in range(width)) for axis, amount in zip(axes, amounts, strict=True)
    )
