"""Views and their adjoints by slices, pads and transposes are those that numpy takes by strides."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
import tiers

from circuitize.circuits.integers import Affine, View
from circuitize.sims.xla import views


def random_view(random: np.random.Generator) -> View:
    """A few steps of every sort, one after the other, on an array of up to three axes."""
    source = tuple(random.integers(1, 6, random.integers(1, 4)).tolist())
    view = View(source)
    for _ in range(random.integers(1, 4)):
        shape = view.target_shape
        rank = len(shape)
        axis = int(random.integers(rank)) if rank else 0
        if rank and rank < 4 and np.prod(shape) < 400:
            starts = [int(random.integers(n)) for n in shape]
            stops = [int(random.integers(start + 1, n + 1)) for start, n in zip(starts, shape, strict=True)]
            amounts = random.integers(0, 3, (2, rank)).tolist()
            size = int(random.integers(1, shape[axis] + 1))
            step = int(random.integers(1, 4))
            choices = [
                View.flip(shape, (axis,)),
                View.transpose(shape, random.permutation(rank).tolist()),
                View.slice(shape, starts, stops, random.integers(1, 4, rank).tolist()),
                View.pad(shape, *amounts),
                View.broadcast((*shape, 3), (rank,)),
                View.window(shape, (axis,), (size,), (step,)),
                View.reshape(shape, (int(np.prod(shape)),)),
                View.take(shape, starts[0]),
                View(shape, (affine(random, shape),)),
            ]
            view = view.then(choices[int(random.integers(len(choices)))])
    return view


def affine(random: np.random.Generator, source: tuple[int, ...]) -> Affine:
    """Any map of indices: strides of any sign, offsets outside, axes that move many or none."""
    shape = tuple(random.integers(1, 5, random.integers(1, 4)).tolist())
    strides = random.integers(-2, 3, (len(source), len(shape))) * (random.random((len(source), len(shape))) < 0.5)
    return Affine(shape, tuple(random.integers(-2, 4, len(source)).tolist()), tuple(map(tuple, strides.tolist())))


def test_views_are_those_of_numpy() -> None:
    count = tiers.count(36, deep=3024)
    lengths: set[int] = set()
    for start in range(0, count, 36):
        some = [random_view(np.random.default_rng(seed)) for seed in range(start, start + 36)]
        random = np.random.default_rng(start)
        sources = [random.integers(-9, 9, view.source_shape).astype(np.int32) for view in some]
        targets = [random.integers(-9, 9, view.target_shape).astype(np.int32) for view in some]

        def both(sources: list[Any], targets: list[Any], some: list[View] = some) -> tuple[list[Any], list[Any]]:
            return (
                [views.gather(view, array) for view, array in zip(some, sources, strict=True)],
                [views.scatter(view, array) for view, array in zip(some, targets, strict=True)],
            )

        with jax.enable_x64(True):
            gathered, scattered = jax.jit(both)(sources, targets)
        for view, source, target, one, other in zip(some, sources, targets, gathered, scattered, strict=True):
            np.testing.assert_array_equal(one, view.gather(source), str(view.steps))
            np.testing.assert_array_equal(other, view.scatter(target), str(view.steps))
        lengths |= {len(view.steps) for view in some}
    assert len(lengths) > 2


def test_long_windows_are_those_of_numpy() -> None:
    """Of more places than are taken one by one; and of axes that move together, which have no slices."""
    long = View.window((90,), (0,), (70,))
    together = View((40, 40), (Affine((40,), (0, 0), ((1,), (1,))),))
    for view in (long, together):
        source = np.arange(np.prod(view.source_shape)).reshape(view.source_shape)
        target = np.arange(np.prod(view.target_shape)).reshape(view.target_shape)
        with jax.enable_x64(True):
            gathered = jax.jit(partial(views.gather, view))(source)
            scattered = jax.jit(partial(views.scatter, view))(target)
        np.testing.assert_array_equal(gathered, view.gather(source))
        np.testing.assert_array_equal(scattered, view.scatter(target))
