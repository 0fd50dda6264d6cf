"""Views: symbolic index maps agree with a naive reading of their steps, compose, and are adjoint to their sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from operations.integers.layout import views
from plain_integers import every, flat, reads
from tiers import examples

from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers import Affine, Regroup, View
from circuitize.circuits.integers.steps import Step

Shape = tuple[int, ...]
SHAPES = st.lists(st.integers(1, 4), max_size=3).map(tuple)


@st.composite
def regroups(draw: st.DrawFn, shape: Shape) -> Regroup:
    extents, rest = [], math.prod(shape)
    while rest > 1:
        extent = draw(st.sampled_from([n for n in range(2, rest + 1) if rest % n == 0]))
        extents.append(extent)
        rest //= extent
    for _ in range(draw(st.integers(0, 2))):
        extents.insert(draw(st.integers(0, len(extents))), 1)
    return Regroup(tuple(extents))


@st.composite
def affines(draw: st.DrawFn, shape: Shape) -> Affine:
    target = draw(SHAPES)
    sparse = st.sampled_from([0, 0, 0, 1, 1, -1, 2, -3])
    offsets = tuple(draw(st.integers(-3, n + 1)) for n in shape)
    return Affine(target, offsets, tuple(tuple(draw(sparse) for _ in target) for _ in shape))


@st.composite
def ordinary(draw: st.DrawFn, shape: Shape) -> Affine | None:
    """One step of a transpose, slice, pad or flip."""
    kind = draw(st.sampled_from(["transpose", "slice", "pad", "flip"]))
    axes = range(len(shape))
    if kind == "transpose":
        view = View.transpose(shape, draw(st.permutations(axes)))
    elif kind == "slice":
        starts = [draw(st.integers(0, n - 1)) for n in shape]
        stops = [draw(st.integers(start + 1, n)) for start, n in zip(starts, shape, strict=True)]
        view = View.slice(shape, starts, stops, [draw(st.integers(1, 2)) for _ in shape])
    elif kind == "pad":
        view = View.pad(shape, *[[draw(st.integers(0, 2)) for _ in shape] for _ in range(2)])
    else:
        view = View.flip(shape, draw(st.lists(st.sampled_from(axes), unique=True)) if shape else [])
    step = view.steps[0] if view.steps else None
    return step if isinstance(step, Affine) else None


@st.composite
def step_lists(draw: st.DrawFn, shape: Shape, most: int = 4) -> list[Step]:
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, most))):
        step: Step | None = draw(st.one_of(regroups(shape), ordinary(shape), ordinary(shape), affines(shape)))
        if step is not None and math.prod(step.shape) <= 200:
            steps.append(step)
            shape = step.shape
    return steps


@st.composite
def maps(draw: st.DrawFn) -> tuple[Shape, list[Step]]:
    shape = draw(SHAPES)
    return shape, draw(step_lists(shape))


def naive(shape: Shape, steps: list[Step]) -> NDArray[np.int64]:
    target = steps[-1].shape if steps else shape
    found = [reads(shape, steps, p) for p in every(target)]
    return np.array([-1 if q is None else flat(q, shape) for q in found]).reshape(target)


@settings(max_examples=examples(25, deep=7500), deadline=None)
@given(maps())
def test_indices_equal_a_naive_reading(map: tuple[Shape, list[Step]]) -> None:
    shape, steps = map
    view, expected = View(shape, tuple(steps)), naive(shape, steps)
    assert view.target_shape == expected.shape
    np.testing.assert_array_equal(view.indices(), expected)
    np.testing.assert_array_equal(view.at(np.arange(expected.size)[::-1]), expected.reshape(-1)[::-1])


@settings(max_examples=examples(25, deep=7500), deadline=None)
@given(maps())
def test_gather_and_scatter_follow_the_indices(map: tuple[Shape, list[Step]]) -> None:
    shape, steps = map
    view, at = View(shape, tuple(steps)), naive(shape, steps)
    x = np.random.default_rng(0).integers(-(1 << 61), 1 << 61, shape)
    y = np.random.default_rng(1).integers(-(1 << 50), 1 << 50, at.shape)
    np.testing.assert_array_equal(view.gather(x), np.where(at < 0, 0, x.reshape(-1)[np.maximum(at, 0)]))
    summed = np.zeros(math.prod(shape), np.int64)
    for q, value in zip(at.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True):
        if q >= 0:
            summed[q] += value
    np.testing.assert_array_equal(view.scatter(y), summed.reshape(shape))


@settings(max_examples=examples(30, deep=10000), deadline=None)
@given(maps())
def test_scatter_is_the_adjoint_of_gather(map: tuple[Shape, list[Step]]) -> None:
    shape, steps = map
    view = View(shape, tuple(steps))
    x = np.random.default_rng(2).integers(-(1 << 20), 1 << 20, shape)
    y = np.random.default_rng(3).integers(-(1 << 20), 1 << 20, view.target_shape)
    assert (view.gather(x) * y).sum() == (x * view.scatter(y)).sum()


@settings(max_examples=examples(30, deep=10000), deadline=None)
@given(st.data())
def test_composition_composes_index_maps(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    first = View(shape, tuple(data.draw(step_lists(shape, 2))))
    second = View(first.target_shape, tuple(data.draw(step_lists(first.target_shape, 2))))
    third = View(second.target_shape, tuple(data.draw(step_lists(second.target_shape, 2))))
    inner, outer = first.indices().reshape(-1), second.indices()
    both = first.then(second)
    np.testing.assert_array_equal(both.indices(), np.where(outer < 0, -1, inner[np.maximum(outer, 0)]))
    left, right = both.then(third), first.then(second.then(third))
    np.testing.assert_array_equal(left.indices(), right.indices())
    assert View(first.source_shape).then(first) == first == first.then(View(first.target_shape))
    assert len(both.steps) <= len(first.steps) + len(second.steps)


@settings(max_examples=examples(25, deep=7500), deadline=None)
@given(maps())
def test_fibre_sizes_are_exact(map: tuple[Shape, list[Step]]) -> None:
    shape, steps = map
    view, at = View(shape, tuple(steps)), naive(shape, steps)
    counts = np.bincount(at[at >= 0], minlength=math.prod(shape))
    assert view.fibres == (counts.min(), counts.max())
    assert view.reads_outside == bool((at < 0).any())
    assert view.reads_inside == bool((at >= 0).any())
    assert {type(n) for n in view.fibres} == {int}


@settings(max_examples=examples(40, deep=5000), deadline=None)
@given(maps())
def test_the_normal_form_is_stable_and_hashes(map: tuple[Shape, list[Step]]) -> None:
    shape, steps = map
    view = View(shape, tuple(steps))
    again = View(shape, view.steps)
    assert again.steps == view.steps and again == view and hash(again) == hash(view)
    assert view.is_identity == (not view.steps)
    if view.is_identity:
        np.testing.assert_array_equal(naive(shape, steps), np.arange(math.prod(shape)).reshape(shape))


def test_constructors_mean_what_numpy_means() -> None:
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    pairs = [
        (View.reshape((2, 3, 4), (4, 6)), x.reshape(4, 6)),
        (View.transpose((2, 3, 4), (2, 0, 1)), x.transpose(2, 0, 1)),
        (View.broadcast((5, 2, 3, 6, 4), (0, 3)), np.broadcast_to(x[None, :, :, None], (5, 2, 3, 6, 4))),
        (View.slice((2, 3, 4), (0, 1, 0), (2, 3, 4), (1, 1, 3)), x[0:2, 1:3, 0:4:3]),
        (View.pad((2, 3, 4), (1, 0, 2), (0, 3, 1)), np.pad(x, ((1, 0), (0, 3), (2, 1)))),
        (View.flip((2, 3, 4), (0, 2)), np.flip(x, (0, 2))),
        (View.window((2, 3, 4), (1, 2), (2, 3)), sliding_window_view(x, (2, 3), (1, 2))),
        (View.window((2, 3, 4), (2,), (2,), (2,)), sliding_window_view(x, 2, 2)[:, :, ::2]),
        (View.window((2, 3, 4), (2,), (2,), (1,), (2,)), sliding_window_view(x, 3, 2)[..., ::2]),
    ]
    for view, expected in pairs:
        np.testing.assert_array_equal(view.gather(x), expected)


def test_compositions_stay_short() -> None:
    shape = (4, 6)
    heads = View.reshape(shape, (4, 2, 3)).then(View.transpose((4, 2, 3), (1, 0, 2)))
    assert len(heads.steps) == 2
    back = heads.then(View.transpose((2, 4, 3), (1, 0, 2))).then(View.reshape((4, 2, 3), shape))
    assert back.is_identity
    padded = View.pad((4,), (1,), (1,)).then(View.pad((6,), (2,), (3,)))
    assert padded == View.pad((4,), (3,), (4,)) and len(padded.steps) == 1
    convolution = View.pad((9, 9), (1, 1), (1, 1)).then(View.window((11, 11), (0, 1), (3, 3)))
    assert len(convolution.steps) == 1
    assert View.reshape((3, 4), (3, 1, 4)).then(View.transpose((3, 1, 4), (1, 2, 0))).then(
        View.reshape((1, 4, 3), (4, 3))
    ) == View.transpose((3, 4), (1, 0))
    lost = View.slice((6,), (2,), (4,)).then(View.pad((2,), (2,), (2,)))
    assert len(lost.steps) == 2
    np.testing.assert_array_equal(lost.gather(np.arange(6)), [0, 0, 2, 3, 0, 0])


def test_views_of_large_arrays_stay_symbolic() -> None:
    huge = (1 << 20, 1 << 20)
    view = View.transpose(huge, (1, 0)).then(View.pad((1 << 20, 1 << 20), (1, 1), (1, 1)))
    assert view.reads_outside and view.fibres == (1, 1)
    rows = View.broadcast(huge, (0,))
    assert rows.fibres == (1 << 20, 1 << 20) and not rows.reads_outside
    assert rows.at(np.array([0, 1, (1 << 40) - 1])).tolist() == [0, 1, (1 << 20) - 1]


@every_case(views())
def test_a_gathered_value_can_be_gathered_again(view: View) -> None:
    """Strided results, negative strides among them, are ordinary arrays to the next view."""
    x = (
        np.arange(math.prod(view.source_shape)).reshape(view.source_shape)[..., ::-1]
        if view.source_shape
        else np.array(3)
    )
    y = view.gather(x)
    turned = View.flip(view.target_shape, range(len(view.target_shape)))
    np.testing.assert_array_equal(turned.gather(y), np.flip(y.copy()))
    np.testing.assert_array_equal(view.gather(x.copy()), y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: View.reshape((2, 3), (7,)),
        lambda: View.transpose((2, 3), (0, 0)),
        lambda: View.broadcast((2, 3), (2,)),
        lambda: View.slice((2, 3), (0, 2), (2, 2)),
        lambda: View.slice((2, 3), (0, 0), (2, 4)),
        lambda: View.slice((2, 3), (0,), (2,)),
        lambda: View.pad((2, 3), (0, -1), (0, 0)),
        lambda: View.window((4,), (0,), (5,)),
        lambda: View((2, 3), (Affine((2,), (0,), ((1,),)),)),
        lambda: View((2, 0)),
        lambda: View((2, 3)).then(View((3, 2))),
    ],
)
def test_views_that_make_no_sense_are_refused(make: object) -> None:
    with pytest.raises(TypingError):
        make()  # type: ignore[operator]
