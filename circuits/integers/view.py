"""Views: static, symbolic maps from the indices of a target to those of the source elements that the target reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.parts import part
from circuitize.circuits.types import Shape, check_shape

from .normal_form import normal_form, rows
from .steps import Affine, Indices, Regroup, Step, fibre_sizes, locate
from .windows import Gather, Scatter


@part
@dataclass(frozen=True, eq=False)
class View:
    """A map from target indices to source indices, or to nothing (which reads 0), as a short list of steps.

    The steps of a view lead from its source to its target; they are kept in a normal form, in which neighbouring steps
    that can be merged are merged and identities are removed. Two views are equal if their normal forms are equal. A
    view takes little memory until `indices`, `gather` or `scatter` is called, which make arrays of full size.
    """

    source_shape: Shape
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        check_shape(self.source_shape)
        for before, step in pairwise((Regroup(self.source_shape), *self.steps)):
            check_shape(step.shape)
            if isinstance(step, Regroup):
                if math.prod(step.shape) != math.prod(before.shape):
                    raise TypingError(
                        f"expected a shape of {math.prod(before.shape)} elements, as {list(before.shape)} has, "
                        f"found {list(step.shape)}; change an axis"
                    )
            elif not len(before.shape) == len(step.offsets) == len(step.strides) or any(
                len(row) != len(step.shape) for row in step.strides
            ):
                raise TypingError(
                    f"expected an affine map from {list(step.shape)} to {list(before.shape)}, found {step}"
                )
        object.__setattr__(self, "steps", normal_form(self.source_shape, self.steps))

    @staticmethod
    def reshape(source: Shape, shape: Shape) -> View:
        """Return the view of the same elements in the same order, last axis fastest, in another shape."""
        return View(source, (Regroup(shape),))

    @staticmethod
    def transpose(source: Shape, axes: Sequence[int]) -> View:
        """Return the view that permutes axes: axis j of the target is axis axes[j] of the source."""
        if sorted(axes) != list(range(len(source))):
            raise TypingError(f"expected each axis of {list(source)} once, found axes {list(axes)}")
        return View.select(source, tuple(source[axis] for axis in axes), [axes.index(i) for i in range(len(source))])

    @staticmethod
    def broadcast(shape: Shape, axes: Sequence[int]) -> View:
        """Return the view that copies along new axes: `shape` is the target's, and `axes` are the target axes that the
        source lacks.
        """
        if len(set(axes)) != len(axes) or not set(axes) <= set(range(len(shape))):
            raise TypingError(f"expected distinct axes of {list(shape)}, found {list(axes)}")
        kept = [axis for axis in range(len(shape)) if axis not in axes]
        return View.select(tuple(shape[axis] for axis in kept), shape, kept)

    @staticmethod
    def select(source: Shape, shape: Shape, axes: Sequence[int]) -> View:
        """Return a view in which source axis i follows target axis axes[i]; along target axes that are not named,
        elements are copies.
        """
        return View(source, (Affine(shape, (0,) * len(source), rows(len(shape), axes, (1,) * len(axes))),))

    @staticmethod
    def slice(source: Shape, starts: Sequence[int], stops: Sequence[int], steps: Sequence[int] | None = None) -> View:
        """Return the view of the elements starts[i], starts[i] + steps[i], ... below stops[i] of each axis i; steps are
        at least 1.
        """
        steps = steps if steps is not None else (1,) * len(source)
        if not len(starts) == len(stops) == len(steps) == len(source):
            raise TypingError(f"expected one start, stop and step per axis of {list(source)}, found {starts}, {stops}")
        for axis, (start, stop, step, extent) in enumerate(zip(starts, stops, steps, source, strict=True)):
            if not 0 <= start < stop <= extent or step < 1:
                raise TypingError(
                    f"expected 0 <= start < stop <= {extent} and step >= 1 at axis {axis}, "
                    f"found {start}, {stop} and {step}; stay inside the array"
                )
        shape = tuple(-(-(stop - start) // step) for start, stop, step in zip(starts, stops, steps, strict=True))
        return View(source, (Affine(shape, tuple(starts), rows(len(source), range(len(source)), steps)),))

    @staticmethod
    def take(source: Shape, place: int) -> View:
        """Return the view of the elements at one place of the first axis, which the target lacks."""
        _, *shape = source
        shown = rows(len(shape), range(len(shape)), (1,) * len(shape))
        return View(source, (Affine(tuple(shape), (place, *(0 for _ in shape)), ((0,) * len(shape), *shown)),))

    @staticmethod
    def pad(source: Shape, before: Sequence[int], after: Sequence[int]) -> View:
        """Return the view of the elements with zeros before and after them, as many along each axis as stated."""
        if not len(before) == len(after) == len(source) or min((*before, *after), default=0) < 0:
            raise TypingError(f"expected amounts >= 0, one per axis of {list(source)}, found {before} and {after}")
        shape = tuple(map(sum, zip(before, source, after, strict=True)))
        ones = (1,) * len(source)
        return View(source, (Affine(shape, tuple(-b for b in before), rows(len(source), range(len(source)), ones)),))

    @staticmethod
    def flip(source: Shape, axes: Sequence[int]) -> View:
        """Return the view of the elements with the named axes reversed."""
        signs = [-1 if axis in axes else 1 for axis in range(len(source))]
        offsets = tuple(n - 1 if sign < 0 else 0 for n, sign in zip(source, signs, strict=True))
        return View(source, (Affine(source, offsets, rows(len(source), range(len(source)), signs)),))

    @staticmethod
    def window(
        source: Shape,
        axes: Sequence[int],
        sizes: Sequence[int],
        steps: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
    ) -> View:
        """Return the view of sliding windows: axis axes[k] becomes the window's position, and for each k the target has
        one more axis at its end, the place within the window.

        In a view of windows, target index (p, w) reads x with x_axis = steps[k] * p_axis + dilations[k] * w_k, which is
        always inside x.
        """
        steps, dilations = steps or (1,) * len(axes), dilations or (1,) * len(axes)
        shape, moves = [*source, *sizes], [list(row) for row in rows(len(source) + len(sizes), range(len(source)))]
        for k, (axis, size, step, dilation) in enumerate(zip(axes, sizes, steps, dilations, strict=True)):
            shape[axis] = (source[axis] - dilation * (size - 1) - 1) // step + 1
            moves[axis][axis], moves[axis][len(source) + k] = step, dilation
        return View(source, (Affine(tuple(shape), (0,) * len(source), tuple(map(tuple, moves))),))

    @property
    def target_shape(self) -> Shape:
        """Return the shape of the view's target."""
        return self.steps[-1].shape if self.steps else self.source_shape

    @property
    def is_identity(self) -> bool:
        """Return whether each target element reads the source element of the same index, in the same shape."""
        return not self.steps

    def lifted(self, count: int) -> View:
        """Return the view that applies this view to each of `count` arrays, which lie along a new first axis."""
        steps: list[Step] = []
        for step in self.steps:
            shape = (count, *step.shape)
            if isinstance(step, Regroup):
                steps.append(Regroup(shape))
            else:
                own = tuple((0, *row) for row in step.strides)
                steps.append(Affine(shape, (0, *step.offsets), ((1, *(0,) * len(step.shape)), *own)))
        made = View((count, *self.source_shape), tuple(steps))
        # How often elements are read is known, and counting it anew would look at all of them.
        vars(made)["_facts"] = self._facts
        return made

    def then(self, other: View) -> View:
        """Return this view followed by `other`, whose source is the target of this view."""
        if other.source_shape != self.target_shape:
            raise TypingError(
                f"expected a view of shape {list(self.target_shape)}, found one of {list(other.source_shape)}"
            )
        return View(self.source_shape, self.steps + other.steps)

    def at(self, flat: Indices) -> Indices:
        """Return the flat source index that each of the given flat target indices reads, -1 outside the source; so
        indices can be made in chunks.
        """
        shapes = [self.source_shape, *(step.shape for step in self.steps)]
        for step, source in zip(reversed(self.steps), reversed(shapes[:-1]), strict=True):
            if isinstance(step, Affine):
                found = locate(step, source, np.maximum(flat, 0))
                flat = np.where(flat < 0, -1, found)
        return flat

    def indices(self) -> Indices:
        """Return the flat source index that every target element reads, -1 outside the source, in an array of the
        target's shape.
        """
        shape = self.target_shape
        return self.at(np.arange(math.prod(shape), dtype=np.int64)).reshape(shape)

    def gather(self, array: Values) -> Values:
        """Return the elements y[p] = x[f(p)], and 0 for each p whose f(p) is outside x. The array that a view gathers
        may share the source's memory, and must not be written to.
        """
        for step in self._gathers:
            array = array.reshape(step.shape) if isinstance(step, Regroup) else step(array)
        return array

    def scatter(self, array: Values) -> Values:
        """Return the adjoint of gather: y[q] = sum of x[p] over the p with f(p) = q."""
        for step in self._scatters:
            array = array.reshape(step.shape) if isinstance(step, Regroup) else step(array)
        return array

    @cached_property
    def _gathers(self) -> list[Regroup | Gather]:
        shapes = [self.source_shape, *(step.shape for step in self.steps)]
        pairs = zip(self.steps, shapes, strict=False)
        return [step if isinstance(step, Regroup) else Gather(step, source) for step, source in pairs]

    @cached_property
    def _scatters(self) -> list[Regroup | Scatter]:
        shapes = [self.source_shape, *(step.shape for step in self.steps)]
        pairs = zip(self.steps, shapes, strict=False)
        found = [Regroup(source) if isinstance(step, Regroup) else Scatter(step, source) for step, source in pairs]
        return found[::-1]

    @cached_property
    def fibres(self) -> tuple[int, int]:
        """Return the least and the greatest number of target elements that read one source element."""
        return self._facts[:2]

    @property
    def reads_outside(self) -> bool:
        """Return whether some target element reads 0 because its index lies outside the source."""
        return self._facts[2]

    @property
    def reads_inside(self) -> bool:
        """Return whether some target element reads an element of the source."""
        return self._facts[3]

    @property
    def counted(self) -> int:
        """Return a bound on how many target elements are counted one by one to learn how often source elements are
        read.
        """
        shapes = [self.source_shape, *(step.shape for step in self.steps)]
        affine = [(step, source) for step, source in zip(self.steps, shapes, strict=False) if isinstance(step, Affine)]
        if len(affine) == 1 and all(len(moved) <= 1 for moved in affine[0][0].columns()):
            step, source = affine[0]
            moving = [math.prod(n for n, stride in zip(step.shape, row, strict=True) if stride) for row in step.strides]
            return sum(moving) + sum(source)
        return math.prod(self.target_shape) + sum(map(math.prod, shapes)) if affine else 0

    @cached_property
    def _facts(self) -> tuple[int, int, bool, bool]:
        shapes = [self.source_shape, *(step.shape for step in self.steps)]
        affine = [(step, source) for step, source in zip(self.steps, shapes, strict=False) if isinstance(step, Affine)]
        if not affine:
            return 1, 1, False, True
        facts = fibre_sizes(*affine[0]) if len(affine) == 1 else None
        if facts is None:
            counts = self.scatter(np.ones(self.target_shape, np.int64))
            reached = int(counts.sum())
            facts = int(counts.min()), int(counts.max()), reached < math.prod(self.target_shape), reached > 0
        return facts

    @cached_property
    def _hash(self) -> int:
        return hash((self.source_shape, self.steps))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, View) and self.source_shape == other.source_shape and self.steps == other.steps
        )
